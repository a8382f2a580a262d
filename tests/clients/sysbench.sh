#!/usr/bin/env bash
# Every bundled sysbench script: prepare, run, cleanup; prepared and as text; unix socket and TCP; 1 to 256 threads.
. "$(dirname "$0")/lib.sh"
ALL="oltp_read_write oltp_read_only oltp_write_only oltp_point_select oltp_insert oltp_delete oltp_update_index
  oltp_update_non_index select_random_points select_random_ranges bulk_insert"
SECONDS_RUN=${SYSBENCH_SECONDS:-2}
mariadb --no-defaults --protocol=tcp "-h$HOST" "-P$PORT" "-u$DBUSER" \
  -e "DROP DATABASE IF EXISTS sbtest; CREATE DATABASE sbtest CHARACTER SET utf8mb4" || exit 2
tcp=("--mysql-host=$HOST" "--mysql-port=$PORT")
unix=("--mysql-socket=$SOCKET")
[ -n "$SOCKET" ] || unix=("${tcp[@]}")
# sb SCRIPT PS THREADS VERB CONNECTION...: one sysbench command
sb() {
  local script=$1 ps=$2 threads=$3 verb=$4 tables=2; shift 4
  case $script in select_random_*) tables=1 ;; esac
  sysbench "$script" --db-driver=mysql "--mysql-user=$DBUSER" "--mysql-password=$DBPASS" --mysql-db=sbtest "--tables=$tables" \
    --table-size=2000 "--threads=$threads" "--time=$SECONDS_RUN" --events=0 "--db-ps-mode=$ps" "$@" "$verb"
}
export -f sb
# A run is good when sysbench ends well and did something.
good_run() { sb "$@" >"$WORK/run" 2>&1; local code=$?; cat "$WORK/run"; [ $code = 0 ] && ! grep -qE '^ *transactions: +0 ' "$WORK/run"; }
counted() { # NAME COMMAND...: like check, for functions
  local name=$1; shift
  if "$@" >"$WORK/out" 2>&1 </dev/null; then ok "$name"; else bad "$name: $(grep -E 'FATAL|error' "$WORK/out" | head -n 1 | cut -c1-300)"; fi
}
for ps in auto disable; do
  for script in $ALL; do
    counted "$script.$ps.prepare" sb "$script" $ps 4 prepare "${unix[@]}"
    counted "$script.$ps.run" good_run "$script" $ps 4 run "${unix[@]}"
    counted "$script.$ps.cleanup" sb "$script" $ps 4 cleanup "${unix[@]}"
  done
done
counted tcp.prepare sb oltp_read_write auto 2 prepare "${tcp[@]}"
for threads in 1 16 64 256; do
  for script in oltp_point_select oltp_read_write; do
    counted "$script.tcp.$threads" good_run "$script" auto $threads run "${tcp[@]}"
  done
done
counted oltp_read_only.unix.256 good_run oltp_read_only disable 256 run "${unix[@]}"
counted oltp_update_index.unix.64 good_run oltp_update_index disable 64 run "${unix[@]}"
counted tcp.cleanup sb oltp_read_write auto 1 cleanup "${tcp[@]}"
mariadb --no-defaults --protocol=tcp "-h$HOST" "-P$PORT" "-u$DBUSER" -e "DROP DATABASE sbtest"
total
