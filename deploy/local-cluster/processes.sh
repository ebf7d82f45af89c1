# The processes of a local cluster: each has a log and a record in the cluster's folder ($dir).
# shellcheck shell=bash

# Seconds that a server has to become ready, and to end when asked.
ready_seconds=${WEFT_READY_SECONDS:-60}
stop_seconds=15

# start NAME COMMAND...: outlives this shell. It writes its record before it leaves this shell's
# process group, so that a signal to the group leaves nothing that has none. Returns once the record
# is there: the substitution ends when nobody holds its output.
start() {
  local server=$1
  shift
  : "$(run_recorded "$server" "$@" &)"
}

run_recorded() {
  local server=$1 self=$BASHPID
  shift
  echo "$self $(begin_of "$self")" >"$dir/pids/$server"
  exec setsid "$@" >>"$dir/logs/$server.log" 2>&1 </dev/null 8<&- 9<&-
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

# zombie PID: it has ended, and its parent has not asked. While another thread of it still ends, its
# ports are taken.
zombie() {
  [ "$(sed 's/.*) //' "/proc/$1/stat" 2>/dev/null | cut -c 1)" = Z ] &&
    [ "$(find "/proc/$1/task" -mindepth 1 -maxdepth 1 2>/dev/null | wc -l)" -le 1 ]
}

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
  [ ! -s "$dir/real" ] || stop_real_nodes
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
