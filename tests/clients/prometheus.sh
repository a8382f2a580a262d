#!/usr/bin/env bash
# Prometheus scrapes the console, without a login and as an account with PROCESS; promtool reads the text.
# $CONSOLE is the console's address.
. "$(dirname "$0")/lib.sh"
A=(--no-defaults --protocol=tcp "-h$HOST" "-P$PORT" "-u$DBUSER")
read_metrics() { python3 -c 'import sys, urllib.request as u; r = u.Request(sys.argv[1], headers=dict(h.split("=", 1) for h in sys.argv[2:])); sys.stdout.write(u.urlopen(r).read().decode())' "$@"; }

check account mariadb "${A[@]}" -e "CREATE USER monitor@localhost IDENTIFIED BY 'of metrics'; GRANT PROCESS, SELECT ON *.* TO monitor@localhost;
  CREATE DATABASE seen; CREATE TABLE seen.t (id INT PRIMARY KEY AUTO_INCREMENT); INSERT INTO seen.t VALUES (1), (2)"
read_metrics "http://$CONSOLE/metrics" >"$WORK/open"
read_metrics "http://$CONSOLE/metrics" "Authorization=Basic $(printf 'monitor:of metrics' | base64)" >"$WORK/named"
for text in open named; do
  # What it says of names is about those of mysqld_exporter: these stay. Anything else is an error of the text.
  promtool check metrics <"$WORK/$text" >"$WORK/out" 2>&1
  if grep -vE '^mysql_' "$WORK/out" | grep -q .; then bad "promtool_$text: $(grep -vE '^mysql_' "$WORK/out" | head -n 1)"; else ok "promtool_$text"; fi
done

free_address() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print("127.0.0.1:%d" % s.getsockname()[1])'; }
AT=$(free_address)
cat >"$WORK/prometheus.yml" <<YAML
global: {scrape_interval: 1s, scrape_timeout: 1s}
scrape_configs:
  - job_name: open
    static_configs: [{targets: ['$CONSOLE']}]
  - job_name: named
    basic_auth: {username: monitor, password: 'of metrics'}
    static_configs: [{targets: ['$CONSOLE']}]
  - job_name: wrong
    basic_auth: {username: monitor, password: wrong}
    static_configs: [{targets: ['$CONSOLE']}]
YAML
check configuration promtool check config "$WORK/prometheus.yml"
prometheus --config.file="$WORK/prometheus.yml" --storage.tsdb.path="$WORK/tsdb" --web.listen-address="$AT" >"$WORK/log" 2>&1 &
PROMETHEUS=$!
# With native histograms, which it asks for in protocol buffers and stores in place of those with bounds.
NATIVE=$(free_address)
sed '/job_name: named/,$d' "$WORK/prometheus.yml" >"$WORK/native.yml"
prometheus --config.file="$WORK/native.yml" --storage.tsdb.path="$WORK/native" --web.listen-address="$NATIVE" \
  --enable-feature=native-histograms >"$WORK/native.log" 2>&1 &
PROMETHEUS="$PROMETHEUS $!"
trap 'kill $PROMETHEUS 2>/dev/null; wait $PROMETHEUS 2>/dev/null; rm -rf "$WORK"' EXIT
# query EXPRESSION: asks until there is an answer, for half a minute
query() {
  for _ in $(seq 60); do
    mariadb --no-defaults --protocol=tcp "-h$HOST" "-P$PORT" "-u$DBUSER" -N -B -e "SELECT COUNT(*) FROM seen.t" >"$WORK/rows" 2>&1
    promtool query instant "http://$AT" "$1" >"$WORK/answer" 2>&1
    if grep -q '=>' "$WORK/answer"; then cat "$WORK/answer"; return; fi
    sleep 0.5
  done
  cat "$WORK/answer"
}
export -f query
export AT WORK HOST PORT DBUSER
# asked NAME PATTERN EXPRESSION
asked() { has "$1" "$2" bash -c 'query "$0"' "$3"; }
asked scrapes '=> 1 ' 'up{job="open"} == 1'
asked scrapes_as_an_account '=> 1 ' 'up{job="named"} == 1'
asked a_wrong_password_scrapes_nothing '=> 0 ' 'up{job="wrong"} == 0'
asked counters_grow '=>' 'rate(mysql_global_status_questions{job="open"}[10s]) > 0'
asked commands '=>' 'mysql_global_status_commands_total{job="open",command="select"} > 0'
asked histogram '=>' 'histogram_quantile(0.95, rate(heddle_statement_duration_seconds_bucket{job="open"}[10s])) > 0'
asked rows_of_a_table '=>' 'mysql_info_schema_table_rows{job="named",schema="seen",table="t"} > 0'
asked statements_by_digest '=>' 'rate(mysql_perf_schema_events_statements_total{job="named"}[10s]) > 0'
NAMES=$AT
AT=$NATIVE
asked native_scrapes '=> 1 ' 'up{job="open"} == 1'
asked native_counters '=>' 'mysql_global_status_commands_total{job="open",command="select"} > 0'
asked native_histogram '=>' 'histogram_quantile(0.95, rate(heddle_statement_duration_seconds{job="open"}[10s])) > 0'
asked native_histogram_counts '=>' 'histogram_count(heddle_statement_duration_seconds{job="open"}) > 5'
AT=$NAMES
has names_need_a_login '^$' promtool query instant "http://$AT" 'mysql_info_schema_table_rows{job="open"}'
total
