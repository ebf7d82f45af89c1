# The processes of a local cluster: each has a log and a record in the cluster's folder ($dir).
# shellcheck shell=bash

# Seconds that a server has to become ready, and to end when asked.
ready_seconds=60
stop_seconds=15

# Between these two a signal waits, so that no process runs without a record. Not ignored: children
# would inherit that.
held_signal=''
hold_signals() {
  trap 'held_signal=130' INT
  trap 'held_signal=143' TERM
}
release_signals() {
  trap 'exit 130' INT
  trap 'exit 143' TERM
  [ -z "$held_signal" ] || exit "$held_signal"
}

# start NAME COMMAND...: outlives this shell.
start() {
  local server=$1
  shift
  hold_signals
  setsid "$@" >>"$dir/logs/$server.log" 2>&1 </dev/null 9<&- &
  echo "$! $(begin_of $!)" >"$dir/pids/$server"
  release_signals
}

# begin_of PID: when the process began, in clock ticks since boot; "" where there is none. A number
# may be given to another process later, never with the same beginning.
begin_of() { sed 's/.*) //' "/proc/$1/stat" 2>/dev/null | cut -d ' ' -f 20; }

process_of() { cut -d ' ' -f 1 "$dir/pids/$1" 2>/dev/null || echo -; }

running() {
  local pid begin
  [ -s "$dir/pids/$1" ] || return 1
  read -r pid begin <"$dir/pids/$1"
  [ -n "$begin" ] && [ "$(begin_of "$pid")" = "$begin" ] && ! zombie "$pid"
}

zombie() { [ "$(sed 's/.*) //' "/proc/$1/stat" 2>/dev/null | cut -c 1)" = Z ]; }

# stop NAME...: asks them to end, then makes them.
stop() {
  local server signal
  for signal in TERM KILL; do
    for server in "$@"; do
      ! running "$server" || kill -"$signal" "$(process_of "$server")" 2>/dev/null || true
    done
    ended "$@" && break
  done
  for server in "$@"; do rm -f "$dir/pids/$server"; done
}

# ended NAME...: waits for that.
ended() {
  local deadline=$((SECONDS + stop_seconds)) server
  for server in "$@"; do
    while running "$server"; do
      [ $SECONDS -lt $deadline ] || return 1
      sleep 0.05
    done
  done
}

# The API server ends sooner when its clients are gone.
stop_all() {
  stop kwok kube-scheduler kube-controller-manager
  stop kube-apiserver
  stop etcd
}

# wait_for WHAT LOG COMMAND...: until the command succeeds.
wait_for() {
  local what=$1 log=$2 deadline=$((SECONDS + ready_seconds))
  shift 2
  until "$@" >/dev/null 2>&1; do
    [ $SECONDS -lt $deadline ] || { show_log "$log"; die "no $what after $ready_seconds s"; }
    sleep 0.1
  done
}

show_log() { { echo "--- the end of $1:"; tail -n 20 "$1"; } >&2 || true; }

seconds_since() { awk -v from="$1" -v to="$EPOCHREALTIME" 'BEGIN {printf "%.1f", to - from}'; }
