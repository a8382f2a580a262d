#!/usr/bin/env bash
# The command line client and its small relatives.
. "$(dirname "$0")/lib.sh"
A=(--no-defaults --protocol=tcp "-h$HOST" "-P$PORT" "-u$DBUSER")
DB=client_mariadb
q() { mariadb "${A[@]}" -N -B "$@"; }
export -f q
q_in() { timeout 60 mariadb "${A[@]}" -N -B --default-character-set=utf8mb4 "$DB"; }

check create_database mariadb "${A[@]}" -e "DROP DATABASE IF EXISTS $DB; CREATE DATABASE $DB CHARACTER SET utf8mb4"
cat >"$WORK/script.sql" <<'SQL'
-- a script with comments, several lines, and another delimiter
CREATE TABLE t (id INT PRIMARY KEY AUTO_INCREMENT, a VARCHAR(20) NOT NULL COMMENT 'name', b DECIMAL(10,2) DEFAULT '0.00',
  d DATETIME DEFAULT CURRENT_TIMESTAMP, bl BLOB, e ENUM('x','y') DEFAULT 'x', u BIGINT UNSIGNED, f DOUBLE,
  KEY k (a), UNIQUE KEY ub (b)) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;
INSERT INTO t (a, b, bl, u, f) VALUES ('a', 1.5, x'00ff270a0d5c', 18446744073709551615, 1.5e100), ('b''c 日本😀', 2, NULL, 0, 0.1);
DELIMITER //
INSERT INTO t (a, b) VALUES ('semi;colon', 3)//
DELIMITER ;
/*!40101 SET NAMES utf8mb4 */;
SQL
if q_in <"$WORK/script.sql" >"$WORK/out" 2>&1; then ok script; else bad "script: $(tail -n 1 "$WORK/out")"; fi
want rows $'1\ta\n2\tb\'c 日本😀\n3\tsemi;colon' mariadb "${A[@]}" -N -B --default-character-set=utf8mb4 $DB -e "SELECT id, a FROM t ORDER BY id"
want blob_is_whole 00FF270A0D5C mariadb "${A[@]}" -N -B $DB -e "SELECT HEX(bl) FROM t WHERE id = 1"
want numbers $'18446744073709551615\t1.5e100' mariadb "${A[@]}" -N -B $DB -e "SELECT u, f FROM t WHERE id = 1"
want several_statements $'1\n2\n3' mariadb "${A[@]}" -N -B -e "SELECT 1; SELECT 2; SELECT 3"
has table_output '\| id \| a ' mariadb "${A[@]}" -t $DB -e "SELECT id, a FROM t"
has vertical '1\. row' mariadb "${A[@]}" $DB -E -e "SELECT * FROM t"
has xml '<field name="id">1</field>' mariadb "${A[@]}" $DB --xml -e "SELECT id FROM t"
has html '<TD>1</TD>' mariadb "${A[@]}" $DB -H -e "SELECT id FROM t"
has column_types 'Type: +(LONG|NEWDECIMAL|VAR_STRING)' mariadb "${A[@]}" $DB -t --column-type-info -e "SELECT id, a, b FROM t LIMIT 1"
has status 'Threads: [0-9]+' mariadb "${A[@]}" $DB -e "\\s"
has status_names_the_server 'Server version:.*[0-9]+\.[0-9]+' mariadb "${A[@]}" $DB -e "\\s"
has use_command t mariadb "${A[@]}" -e "use $DB; show tables"
has warnings 'Division by 0|division by zero' mariadb "${A[@]}" --show-warnings -e "SELECT 1/0"
has error_unknown_table 'ERROR 1146 \(42S02\)' mariadb "${A[@]}" $DB -e "SELECT * FROM nosuch"
has error_syntax 'ERROR 1064 \(42000\)' mariadb "${A[@]}" -e "SELEC 1"
has error_duplicate 'ERROR 1062 \(23000\).*Duplicate entry' mariadb "${A[@]}" $DB -e "INSERT INTO t (id, a) VALUES (1, 'x')"
has error_unknown_database "ERROR 1049 \(42000\).*nosuchdb" mariadb "${A[@]}" nosuchdb -e "SELECT 1"
has error_denied "ERROR 1045 \(28000\)" env MYSQL_PWD=wrong mariadb "${A[@]}" -e "SELECT 1"
has goes_on_with_force '^7$' bash -c "echo 'SELEC 1; SELECT 7;' | mariadb ${A[*]} -f -N -B"
has compress '^7$' mariadb "${A[@]}" -C -N -B -e "SELECT 7"
has compress_is_on 'Compression.ON' mariadb "${A[@]}" -C -N -B -e "SHOW SESSION STATUS LIKE 'Compression'"
has compress_is_off 'Compression.OFF' mariadb "${A[@]}" -N -B -e "SHOW SESSION STATUS LIKE 'Compression'"
has compress_large_result '^2000000$' bash -c "mariadb ${A[*]} -C -N -B -e \"SELECT REPEAT('abc ', 500000)\" | tr -d '\n' | wc -c"
has compress_large_statement '^1000000$' bash -c "{ printf \"SELECT LENGTH('\"; head -c 1000000 /dev/zero | tr '\\0' x; echo \"');\"; } | mariadb ${A[*]} -C -N -B"
has compress_error 'ERROR 1064' mariadb "${A[@]}" -C -e "SELEC 1"
has quick '^3$' mariadb "${A[@]}" -q -N -B $DB -e "SELECT id FROM t"
has auto_rehash 'client_mariadb' mariadb "${A[@]}" --auto-rehash $DB -e "SELECT DATABASE()"
has safe_updates 'ERROR 1175|t' mariadb "${A[@]}" --safe-updates $DB -e "SELECT 't'"
has interactive '\| *4 *\|' script -qec "mariadb ${A[*]} $DB -e 'SELECT 2 + 2'" /dev/null
has transaction_is_kept '^3$' mariadb "${A[@]}" -N -B $DB -e "BEGIN; DELETE FROM t; ROLLBACK; SELECT COUNT(*) FROM t"
has reads_a_long_line '^1000000$' bash -c "{ printf \"SELECT LENGTH('\"; head -c 1000000 /dev/zero | tr '\\0' x; echo \"');\"; } | mariadb ${A[*]} -N -B"
printf '10\tx\n11\ty\\\nz\n12\t\\N\n' >"$WORK/rows.tsv"
L=(mariadb "${A[@]}" --local-infile=1 -N -B $DB)
check load_table "${L[@]}" -e "SET GLOBAL local_infile = ON; CREATE TABLE f (id INT PRIMARY KEY, s VARCHAR(20))"
has load_data_local 'Records: 3  Deleted: 0  Skipped: 0  Warnings: 0' "${L[@]}" -vvv -e "LOAD DATA LOCAL INFILE '$WORK/rows.tsv' INTO TABLE f"
want load_rows '10,x,11,y~z,12' "${L[@]}" -e "SELECT REPLACE(GROUP_CONCAT(CONCAT_WS(',', id, s) ORDER BY id), CHAR(10), '~') FROM f"
has load_again 'Records: 3  Deleted: 0  Skipped: 3  Warnings: 3' "${L[@]}" -C -vvv -e "LOAD DATA LOCAL INFILE '$WORK/rows.tsv' INTO TABLE f"
has load_missing_file 'ERROR 2 |not found' "${L[@]}" -e "LOAD DATA LOCAL INFILE '$WORK/none' INTO TABLE f; SELECT 1"
cp "$WORK/rows.tsv" "$WORK/f.tsv"
has load_import 'Records: 3  Deleted: 0' mariadb-import "${A[@]}" --local --replace --columns=id,s $DB "$WORK/f.tsv"
if [ -n "$SOCKET" ]; then
  has unix_socket '^5$' mariadb --no-defaults -S "$SOCKET" "-u$DBUSER" -N -B -e "SELECT 5"
  has unix_socket_default_host 'UNIX|socket' mariadb --no-defaults -S "$SOCKET" "-u$DBUSER" -e "\\s"
fi
has show_create 'CREATE TABLE `t`' mariadb "${A[@]}" $DB -e "SHOW CREATE TABLE t"
has show_index 'PRIMARY' mariadb "${A[@]}" $DB -e "SHOW INDEX FROM t"
has show_processlist 'Query' mariadb "${A[@]}" $DB -e "SHOW PROCESSLIST"
has show_status 'Uptime' mariadb "${A[@]}" -e "SHOW STATUS LIKE 'Uptime'"
has show_databases $DB mariadb "${A[@]}" -e "SHOW DATABASES"
has explain '.' mariadb "${A[@]}" $DB -e "EXPLAIN SELECT * FROM t WHERE id = 1"
has admin_ping 'is alive' mariadb-admin "${A[@]}" ping
has admin_status 'Uptime: [0-9]+' mariadb-admin "${A[@]}" status
has admin_variables 'max_allowed_packet' mariadb-admin "${A[@]}" variables
has admin_extended 'Threads_connected' mariadb-admin "${A[@]}" extended-status
has admin_processlist 'Query' mariadb-admin "${A[@]}" processlist
has admin_version 'Protocol version' mariadb-admin "${A[@]}" version
check admin_create mariadb-admin "${A[@]}" create ${DB}_made
check admin_drop mariadb-admin "${A[@]}" -f drop ${DB}_made
has list_databases $DB mariadb-show "${A[@]}"
has list_tables '\bt\b' mariadb-show "${A[@]}" $DB
has list_columns 'decimal\(10,2\)' mariadb-show "${A[@]}" $DB t
# A dump loads again: the same definitions and the same rows.
check dump_tables mariadb "${A[@]}" $DB -e "CREATE TABLE k (id INT PRIMARY KEY, t INT, j JSON, ts TIMESTAMP(6) NULL, b BIT(9), y YEAR, s SET('p','q'),
  CONSTRAINT kf FOREIGN KEY (t) REFERENCES t (id) ON DELETE CASCADE, CONSTRAINT kc CHECK (id > 0), KEY d (y DESC, t));
  INSERT INTO k VALUES (1, 1, '{\"a\": [1, null]}', '2024-02-29 12:00:00.123456', b'101010101', 1999, 'p,q'), (2, NULL, NULL, NULL, NULL, NULL, NULL);
  CREATE EVENT once ON SCHEDULE AT '2035-01-01 02:30:00' DO SELECT 1; CREATE EVENT often ON SCHEDULE EVERY 3 HOUR STARTS '2035-01-01' ON COMPLETION PRESERVE DISABLE COMMENT 'it''s' DO SELECT 2"
D=(mariadb-dump "${A[@]}" --skip-dump-date --skip-comments --hex-blob --routines --triggers --events --default-character-set=utf8mb4)
check dump "${D[@]}" --single-transaction --result-file="$WORK/d1.sql" $DB
check dump_target mariadb "${A[@]}" -e "DROP DATABASE IF EXISTS ${DB}_again; CREATE DATABASE ${DB}_again CHARACTER SET utf8mb4"
check reload mariadb "${A[@]}" --default-character-set=utf8mb4 ${DB}_again -e "source $WORK/d1.sql"
check dump_again "${D[@]}" --result-file="$WORK/d2.sql" ${DB}_again
check dumps_are_equal cmp "$WORK/d1.sql" "$WORK/d2.sql"
sums() { mariadb "${A[@]}" -N -B "$1" -e "CHECKSUM TABLE f, k, t" | sed 's/^[^.]*\.//'; }
want sums_are_equal "$(sums $DB)" echo "$(sums ${DB}_again)"
check dump_plain "${D[@]}" --skip-opt --complete-insert --result-file="$WORK/d3.sql" $DB t
has check_tables "${DB}_again.k +OK" mariadb-check "${A[@]}" ${DB}_again
# What REQUIRE asks of the client's certificate. The data directory is beside the socket.
if [ -n "$SOCKET" ]; then
  T=$(dirname "$SOCKET")/data SUBJECT=/CN=Heddle_Server_Auto_Generated_Client_Certificate ISSUER=/CN=Heddle_Server_Auto_Generated_CA_Certificate
  U=(env MYSQL_PWD= mariadb --no-defaults --protocol=tcp "-h$HOST" "-P$PORT" -N -B)
  TLS=("${U[@]}" "--ssl-ca=$T/ca.pem" --ssl-verify-server-cert) OWN=("--ssl-cert=$T/client-cert.pem" "--ssl-key=$T/client-key.pem")
  # Signed by the same authority, but for another name.
  SERVERS=("--ssl-cert=$T/server-cert.pem" "--ssl-key=$T/server-key.pem")
  check tls_accounts mariadb "${A[@]}" -e "CREATE USER by_subject REQUIRE SUBJECT '$SUBJECT'; CREATE USER by_issuer REQUIRE ISSUER '$ISSUER';
    CREATE USER by_both REQUIRE SUBJECT '$SUBJECT' AND ISSUER '$ISSUER'; CREATE USER by_x509 REQUIRE X509; CREATE USER by_ssl REQUIRE SSL;
    CREATE USER of_other_subject REQUIRE SUBJECT '/CN=nobody'; CREATE USER of_other_issuer REQUIRE SUBJECT '$SUBJECT' AND ISSUER '$SUBJECT'"
  for user in by_subject by_issuer by_both by_x509; do
    want tls_$user "$user" "${TLS[@]}" "${OWN[@]}" "-u$user" -e "SELECT SUBSTRING_INDEX(CURRENT_USER(), '@', 1)"
    has tls_${user}_needs_a_certificate "ERROR 1045 \(28000\): Access denied for user '$user'" "${TLS[@]}" "-u$user" -e "SELECT 1"
    has tls_${user}_needs_tls "ERROR 1045 \(28000\): Access denied for user '$user'" "${U[@]}" --skip-ssl "-u$user" -e "SELECT 1"
  done
  want tls_by_ssl 1 "${TLS[@]}" -uby_ssl -e "SELECT 1"
  has tls_by_ssl_needs_tls 'ERROR 1045' "${U[@]}" --skip-ssl -uby_ssl -e "SELECT 1"
  has tls_other_subject 'ERROR 1045' "${TLS[@]}" "${OWN[@]}" -uof_other_subject -e "SELECT 1"
  has tls_other_issuer 'ERROR 1045' "${TLS[@]}" "${OWN[@]}" -uof_other_issuer -e "SELECT 1"
  has tls_by_subject_of_another 'ERROR 1045' "${TLS[@]}" "${SERVERS[@]}" -uby_subject -e "SELECT 1"
  want tls_by_issuer_of_another 1 "${TLS[@]}" "${SERVERS[@]}" -uby_issuer -e "SELECT 1"
  has tls_shown "REQUIRE SUBJECT '$SUBJECT' ISSUER '$ISSUER'" mariadb "${A[@]}" -N -B -e "SHOW CREATE USER by_both"
  check tls_accounts_go mariadb "${A[@]}" -e "DROP USER by_subject, by_issuer, by_both, by_x509, by_ssl, of_other_subject, of_other_issuer"
fi
check cleanup mariadb "${A[@]}" -e "DROP DATABASE $DB; DROP DATABASE ${DB}_again"
total
