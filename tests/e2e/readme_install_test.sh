#!/usr/bin/env bash
# The README's "Install" on a cluster of this machine, command by command as it is printed there: the
# job has run, its figures are in Prometheus, and the map shows it. How long that took is printed: on
# a machine at rest less than three minutes.
source "$(dirname "$0")/operator_cluster.sh"

root=${WEFT_SOURCE_DIR:-$here/../..}
trap '"$local_cluster" down >/dev/null 2>&1; rm -rf "$work"' EXIT

commands_of '^## Install' '^## The operator' "$root/README.md" >"$work/commands"
for word in local-cluster.sh 'helm install' prometheus.sh '--serve' 'kubectl apply' 'sleep 6; promtool'; do
  expect_text "$work/commands" "$word"
done

# Each command must succeed; what runs in the background ends with the shell. The figures are waited
# for, as Prometheus may take longer than six seconds, and looked for in the last minutes, as the job
# may have ended by then.
figures='s/sleep 6; (promtool query instant [^ ]+) ([^ ]+)$/'
figures+='until \1 "last_over_time(\2[3m])" | grep .; do sleep 1; done/'
{
  echo 'set -euo pipefail; trap '\''kill $(jobs -p) 2>/dev/null; wait'\'' EXIT'
  sed '/^kubectl get tj/a curl -sf http://127.0.0.1:8001/ >"$WEFT_SEEN/map"' "$work/commands" |
    sed -E "s/--timeout=60s/--timeout=600s/; $figures"
  cat <<'END'
query='last_over_time(weft_trainingjob_predicted_step_bytes[3m])'
promtool query instant http://127.0.0.1:9090 "$query" >"$WEFT_SEEN/figures"
END
} >"$work/script"
begin=$SECONDS
export WEFT_SEEN=$work
expect_exit 0 env --chdir "$root" timeout 800 bash "$work/script"
echo "from no cluster to a job that has run, seen in Prometheus and on the map: $((SECONDS - begin)) s"
expect_text "$work/stdout" 'llama3-8b condition met'
expect_text "$work/stdout" 'weft_trainingjob_predicted_cross_node_bytes{'
expect_text "$work/figures" 'trainingjob="llama3-8b"'
expect_text "$work/map" '<title>Fabric map'
expect_text "$work/map" 'team-a/llama3-8b'
passed
