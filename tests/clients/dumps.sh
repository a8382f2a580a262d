#!/usr/bin/env bash
# Moving in and out: a dump of a MySQL database is loaded here, a dump of ours is loaded there, and all is compared row by row.
# MySQL's server is $REFERENCE, `HOST PORT USER PASSWORD`; programs of $CLIENTS (a folder) come before those of PATH. They have to be MySQL's own:
# what MariaDB's mysqldump writes of a MySQL gives values to generated columns, which MySQL itself does not load.
. "$(dirname "$0")/lib.sh"
[ -z "${CLIENTS:-}" ] || PATH=$CLIENTS:$PATH
read -r REF_HOST REF_PORT REF_USER REF_PASSWORD <<<"${REFERENCE:?HOST PORT USER PASSWORD of a MySQL}"
OURS=(--no-defaults --protocol=tcp "-h$HOST" "-P$PORT" "-u$DBUSER" "--password=$DBPASS")
THEIRS=(--no-defaults --protocol=tcp "-h$REF_HOST" "-P$REF_PORT" "-u$REF_USER" "--password=$REF_PASSWORD")
FROM=dumps_from TO=dumps_to
DUMP=(--loose-set-gtid-purged=OFF --routines --triggers --events --hex-blob --skip-dump-date --skip-comments --single-transaction --no-tablespaces)
ROWS=(--loose-set-gtid-purged=OFF --no-create-info --skip-triggers --skip-extended-insert --order-by-primary --hex-blob --skip-comments --compact --no-tablespaces --complete-insert)

theirs() { timeout 300 mysql "${THEIRS[@]}" --default-character-set=utf8mb4 "$@"; }
ours() { timeout 300 mysql "${OURS[@]}" --default-character-set=utf8mb4 "$@"; }
load() { # NAME SIDE DATABASE FILE
  if "$2" "$3" <"$4" >"$WORK/out" 2>&1; then ok "$1"; else bad "$1: $(tail -n 1 "$WORK/out" | cut -c1-300)"; fi
}
dump() { # NAME FILE COMMAND...
  local name=$1 file=$2; shift 2
  if timeout 300 "$@" >"$file" 2>"$WORK/err"; then ok "$name"; else bad "$name: $(tail -n 1 "$WORK/err" | cut -c1-300)"; fi
}
# The tables of a database: those of ours, so that each one has a name.
tables() { ours -N -B -e "SELECT table_name FROM information_schema.tables WHERE table_schema = '$1' AND table_type = 'BASE TABLE' ORDER BY table_name"; }
# same NAME OUR_DATABASE THEIR_DATABASE: every table has the same rows, every view the same, everything the same definition
same() {
  local name=$1 here=$2 there=$3 table
  for table in $(tables "$here"); do
    mysqldump "${OURS[@]}" "${ROWS[@]}" "$here" "$table" 2>/dev/null | sort >"$WORK/here"
    mysqldump "${THEIRS[@]}" "${ROWS[@]}" "$there" "$table" 2>/dev/null | sort >"$WORK/there"
    if cmp -s "$WORK/here" "$WORK/there"; then ok "$name: $table, $(wc -l <"$WORK/here") rows"; else
      bad "$name: $table: $(diff "$WORK/here" "$WORK/there" | head -n 2 | cut -c1-200 | tr '\n' ' ')"
    fi
  done
  for table in joined over_view checked; do
    local query="SELECT * FROM $table ORDER BY 1, 2"
    if ours -N -B "$here" -e "$query" >"$WORK/here" 2>"$WORK/err" && theirs -N -B "$there" -e "$query" >"$WORK/there" 2>"$WORK/err" &&
      cmp -s "$WORK/here" "$WORK/there"; then ok "$name: view $table, $(wc -l <"$WORK/here") rows"; else
      bad "$name: view $table: $(tail -n 1 "$WORK/err") $(diff "$WORK/here" "$WORK/there" | head -n 2 | cut -c1-200 | tr '\n' ' ')"
    fi
  done
  definitions "${OURS[@]}" "$here" >"$WORK/here"
  definitions "${THEIRS[@]}" "$there" >"$WORK/there"
  if cmp -s "$WORK/here" "$WORK/there"; then ok "$name: definitions, $(wc -l <"$WORK/here") lines"; else
    bad "$name: definitions: $(diff "$WORK/here" "$WORK/there" | head -n 4 | cut -c1-200 | tr '\n' ' ')"
  fi
}
# What a dump says but for rows: without remarks of the program, and without definers, which are other accounts.
definitions() { mysqldump "${@:1:$#-1}" --loose-set-gtid-purged=OFF --no-data --routines --triggers --events --no-tablespaces "${@: -1}" 2>/dev/null | grep -v '^--' | sed -E 's/DEFINER=`[^`]*`@`[^`]*`//g'; }

for side in theirs ours; do
  $side -e "DROP DATABASE IF EXISTS $FROM; DROP DATABASE IF EXISTS $TO; CREATE DATABASE $FROM CHARACTER SET utf8mb4; CREATE DATABASE $TO CHARACTER SET utf8mb4" 2>/dev/null
done
# Views are read in their definer's name, so that account moves first.
definer=$(theirs -N -B -e "SELECT CONCAT(QUOTE(SUBSTRING_INDEX(CURRENT_USER(), '@', 1)), '@', QUOTE(SUBSTRING_INDEX(CURRENT_USER(), '@', -1)))" 2>/dev/null)
check 'the definer' mysql "${OURS[@]}" -e "CREATE USER IF NOT EXISTS $definer; GRANT ALL ON $FROM.* TO $definer; GRANT ALL ON $TO.* TO $definer"
load 'a database in MySQL' theirs $FROM "$HERE/dump_schema.sql"
dump 'dump of MySQL' "$WORK/in.sql" mysqldump "${THEIRS[@]}" "${DUMP[@]}" $FROM
load 'load here' ours $FROM "$WORK/in.sql"
same 'moved in' $FROM $FROM
dump 'dump of ours' "$WORK/out.sql" mysqldump "${OURS[@]}" "${DUMP[@]}" $FROM
load 'load into MySQL' theirs $TO "$WORK/out.sql"
same 'moved out' $FROM $TO
load 'load here again' ours $TO "$WORK/out.sql"
same 'moved back' $TO $TO
for side in theirs ours; do $side -e "DROP DATABASE $FROM; DROP DATABASE $TO" 2>/dev/null; done

# Whole servers, with accounts: a recorded dump of MySQL, and one of ours, which is to change nothing.
accounts() { ours -N -B -e "SELECT CONCAT('SHOW GRANTS FOR ', QUOTE(user), '@', QUOTE(host), '; SHOW CREATE USER ', QUOTE(user), '@', QUOTE(host), ';') FROM mysql.user ORDER BY user, host" | ours -N -B; }
load 'a whole MySQL' ours mysql "$HERE/dump_all.sql"
accounts >"$WORK/before"
for expected in 'GRANT SELECT (`name`), UPDATE (`price`) ON `shop`.`item` TO `eve`@`10.0.0.0/255.0.0.0`' 'GRANT CONNECTION_ADMIN ON *.* TO `bob`@`localhost` WITH GRANT OPTION' \
  'GRANT EXECUTE ON PROCEDURE `shop`.`p` TO `anna`@`%`' 'GRANT `boss`@`%` TO `bob`@`localhost` WITH ADMIN OPTION' 'GRANT PROXY ON `anna`@`%` TO `bob`@`localhost`'; do
  if grep -qF "$expected" "$WORK/before"; then ok "$expected"; else bad "missing: $expected"; fi
done
check 'an account of the dump logs in, with its role' mysql --no-defaults --protocol=tcp "-h$HOST" "-P$PORT" -uanna --password=a-secret -e 'SELECT * FROM shop.item; CALL shop.p(1)'
check 'an event of the dump' mysql "${OURS[@]}" -e "SHOW CREATE EVENT shop.e; SHOW CREATE TRIGGER shop.ti; SELECT shop.f(1)"
dump 'a whole dump of ours' "$WORK/all.sql" mysqldump "${OURS[@]}" --all-databases --routines --events --triggers
ours -e "DROP DATABASE shop; DROP USER anna, bob@localhost, eve@'10.0.0.0/255.0.0.0', clerk, boss" 2>/dev/null
load 'a whole dump of ours, loaded' ours mysql "$WORK/all.sql"
accounts >"$WORK/after"
if cmp -s "$WORK/before" "$WORK/after"; then ok 'the accounts came back'; else bad "accounts: $(diff "$WORK/before" "$WORK/after" | head -n 4 | cut -c1-200 | tr '\n' ' ')"; fi
check 'mysqladmin refresh' mysqladmin "${OURS[@]}" refresh
ours -e "DROP DATABASE shop; DROP USER anna, bob@localhost, eve@'10.0.0.0/255.0.0.0', clerk, boss, d, \`mysql.sys\`@localhost, \`mysql.session\`@localhost, \`mysql.infoschema\`@localhost" 2>/dev/null
total
