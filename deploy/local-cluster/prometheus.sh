#!/usr/bin/env bash
# Runs Prometheus on this machine's loopback. It scrapes the operator that the chart installed on a
# cluster of local-cluster.sh, as in a real cluster: over TLS, with the token of an account that may
# get /metrics, and with the chart's rules. Ctrl-C ends it; it leaves no files behind.
#
#   deploy/local-cluster/prometheus.sh [--listen ADDRESS:PORT] [--target ADDRESS:PORT]
#
# Defaults: 127.0.0.1:9090, and the chart's 127.0.0.1:8443; on a cluster with real nodes, the pods of
# the operator there.
set -euo pipefail
rules=$(cd "$(dirname "$0")/../../charts/weft/files/rules" && pwd)
listen=127.0.0.1:9090 target=''
while [ $# -gt 0 ]; do
  case $1 in
    --listen) listen=${2:?--listen ADDRESS:PORT} ;;
    --target) target=${2:?--target ADDRESS:PORT} ;;
    *) sed -n '2,/^set/s/^# \{0,1\}//p' "$0"; [ "$1" = --help ] && exit; exit 2 ;;
  esac
  shift 2
done
command -v prometheus >/dev/null ||
  { echo 'prometheus.sh: no prometheus: apt-get install prometheus' >&2; exit 1; }

work=$(mktemp -d)
trap 'kill $server $refresher 2>/dev/null || true; wait; rm -rf "$work"' EXIT
trap 'exit 0' INT TERM
server='' refresher=''
kubectl apply -f - >/dev/null <<END
apiVersion: v1
kind: ServiceAccount
metadata: {name: prometheus, namespace: weft-system}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: prometheus-reads-weft}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: weft-operator-metrics-reader}
subjects: [{kind: ServiceAccount, name: prometheus, namespace: weft-system}]
END
(umask 077 && kubectl create token -n weft-system prometheus --duration 24h >"$work/token")
cluster=$(dirname "${KUBECONFIG:-$HOME/.kube/config}")
in_pods=no
[ -n "$target" ] || [ ! -s "$cluster/real" ] || in_pods=yes

# Where the operator runs in pods: through the gateway of their nodes. Debian's Prometheus cannot ask
# Kubernetes for them.
write_targets() {
  kubectl get pods -n weft-system -l app.kubernetes.io/name=weft \
    -o 'jsonpath={range .items[*]}{.status.podIP}{"\n"}{end}' >"$work/pods" 2>/dev/null || return 0
  # A pod has no address at first.
  sed -n 's/..*/"&:8443"/p' "$work/pods" | paste -sd , | sed 's/.*/[{"targets": [&]}]/' \
    >"$work/targets.new"
  mv "$work/targets.new" "$work/targets.json"
}
if [ $in_pods = yes ]; then
  write_targets
  (while sleep 5; do write_targets; done) &
  refresher=$!
  targets="  proxy_url: http://127.0.0.1:$(sed -n 's/^gateway_port=//p' "$cluster/ports")
  file_sd_configs: [{files: [\"$work/targets.json\"], refresh_interval: 5s}]"
else
  targets="  static_configs: [{targets: [\"${target:-127.0.0.1:8443}\"]}]"
fi
cat >"$work/prometheus.yaml" <<END
global: {scrape_interval: 2s, scrape_timeout: 2s, evaluation_interval: 2s}
rule_files: ["$rules/*.yaml"]
scrape_configs:
- job_name: weft-operator
  scheme: https
  tls_config: {insecure_skip_verify: true}  # it signs its certificate itself
  authorization: {credentials_file: "$work/token"}
$targets
END
prometheus --config.file="$work/prometheus.yaml" --storage.tsdb.path="$work/data" \
  --web.listen-address="$listen" --log.level=warn &
server=$!
echo "prometheus.sh: http://$listen/" >&2
wait "$server"
