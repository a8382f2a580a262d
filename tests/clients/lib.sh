# Shared by the shell programs here. Sourced, not run.
# usage of each: PROGRAM HOST PORT USER PASSWORD SOCKET
HOST=$1 PORT=$2 DBUSER=$3 DBPASS=${4:-} SOCKET=${5:-}
HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
WORK=$(mktemp -d)
trap 'rm -rf "$WORK"' EXIT
PASSED=0 FAILED=0
export MYSQL_PWD=$DBPASS
ok() { PASSED=$((PASSED + 1)); echo "ok   $*"; }
bad() { FAILED=$((FAILED + 1)); echo "FAIL $*"; }
# check NAME COMMAND...: the command succeeds
check() {
  local name=$1; shift
  if timeout 120 "$@" >"$WORK/out" 2>&1 </dev/null; then ok "$name"; else
    bad "$name: $(grep -v '^$' "$WORK/out" | grep -iE 'fatal|error|denied' | head -n 1 | cut -c1-300) $(grep -v '^$' "$WORK/out" | tail -n 1 | cut -c1-200)"
  fi
}
# want NAME TEXT COMMAND...: the command prints exactly this
want() {
  local name=$1 text=$2 got; shift 2
  got=$(timeout 120 "$@" 2>"$WORK/err" </dev/null)
  if [ "$got" = "$text" ]; then ok "$name"; else
    bad "$name: got '${got:0:200}', want '${text:0:200}' $(tail -n 1 "$WORK/err")"
  fi
}
# has NAME PATTERN COMMAND...: what the command prints matches
has() {
  local name=$1 pattern=$2; shift 2
  timeout 120 "$@" >"$WORK/out" 2>&1 </dev/null
  if grep -qE -- "$pattern" "$WORK/out"; then ok "$name"; else
    bad "$name: no '$pattern' in: $(tail -n 2 "$WORK/out" | tr '\n' ' ' | cut -c1-300)"
  fi
}
total() { echo "passed/failed/total: $PASSED/$FAILED/$((PASSED + FAILED))"; [ "$FAILED" = 0 ]; }
