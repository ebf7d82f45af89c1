#!/usr/bin/env bash
# The chart: its values, install, upgrade and uninstall, and the operator under the rights, the
# arguments and the image that it has from there.
source "$(dirname "$0")/operator_cluster.sh"

chart=${WEFT_SOURCE_DIR:-$here/../..}/charts/weft
export WEFT_AUDIT_POLICY=$here/chart_audit_policy.yaml
# Then owning an object that blocks a deletion needs a right of its own; and, as in every
# distribution, the chart's policies alone refuse privileged containers.
WEFT_API_SERVER_FLAGS='--enable-admission-plugins=OwnerReferencesPermissionEnforcement'
export WEFT_API_SERVER_FLAGS+=' --allow-privileged=true'

expect_exit 0 "$local_cluster" up --name operator --nodes 32
eval "$(<"$work/stdout")"
export HELM_CONFIG_HOME=$work/helm HELM_CACHE_HOME=$work/helm HELM_DATA_HOME=$work/helm

# As where the Prometheus operator is installed.
python3 -B "$here/chart_monitoring_crds.py" >"$work/monitoring.json"
expect_exit 0 kubectl apply --server-side -f "$work/monitoring.json"
expect_exit 0 kubectl wait --for=condition=Established --timeout=180s -f "$work/monitoring.json"

# Values.
for values in "" ci/full-values.yaml ci/namespaced-values.yaml; do
  expect_exit 0 helm lint --strict "$chart" ${values:+--values "$chart/$values"}
  expect_exit 0 helm template weft "$chart" ${values:+--values "$chart/$values"} -n default \
    --api-versions monitoring.coreos.com/v1
  cp "$work/stdout" "$work/rendered.yaml"
  expect_exit 0 kubectl apply --server-side --force-conflicts --dry-run=server \
    --validate=strict -f "$work/rendered.yaml"
  expect_text "$work/stdout" 'deployment.apps/'
  expect_text "$work/stdout" 'prometheusrule.monitoring.coreos.com/'
  expect_text "$work/stdout" 'monitor.monitoring.coreos.com/'
  ! grep -q 'Warning' "$work/stderr" || fail "the API server warns"
done
expect_exit 0 diff <(sed -n 's/^version: //p' "$chart/Chart.yaml") \
  <("$WEFT" --version | sed 's/.* //')
expect_exit 1 helm template weft "$chart" --set probes.prt=1
expect_text "$work/stderr" "at '/probes': additional properties 'prt' not allowed"
expect_exit 1 helm template weft "$chart" --set config.namespace=x
expect_text "$work/stderr" 'config.namespace: the chart has a value of its own'
expect_exit 1 helm template weft "$chart" --set grpc.enabled=true
expect_text "$work/stderr" 'grpc.secretName: the Secret with'
expect_exit 1 helm template weft "$chart" --set leaderElection.enabled=false
expect_text "$work/stderr" 'leaderElection.enabled'
# Without a Lease two pods of an upgrade would both write, unless they only read.
expect_exit 0 helm template weft "$chart" --set leaderElection.enabled=false,replicas=1 \
  -s templates/deployment.yaml
expect_text "$work/stdout" 'type: Recreate'
for values in replicas=1 leaderElection.enabled=false,readOnly=true; do
  expect_exit 0 helm template weft "$chart" --set $values -s templates/deployment.yaml
  expect_text "$work/stdout" 'type: RollingUpdate'
  expect_no_text "$work/stdout" 'Recreate'
done
# Pods get a gate only where the operator would remove it.
gated() { # VALUES: the operator and the namespaces in the policy's binding, in one line
  expect_exit 0 helm template weft "$chart" -n weft-system --kube-version 1.36.0 --set "$1" \
    -s templates/gate-policy.yaml
  sed -n '/operator: \(In\|NotIn\)$/,$p' "$work/stdout" | tr -s ' \n' ' '
}
for case in 'watchNamespace=a: operator: In values: - a ' \
  'rbac.namespaces={a,b}: operator: In values: - a - b ' \
  'excludedNamespaces={c}: operator: NotIn values: - c - weft-system '; do
  [ "$(gated "${case%%:*}")" = "${case#*:}" ] || fail "the gate: ${case%%:*}"
  checks=$((checks + 1))
done
expect_exit 0 helm template weft "$chart" --set config.requests-per-second=1000000
expect_text "$work/stdout" 'requests-per-second: 1000000'
expect_exit 0 helm template weft "$chart" --values "$chart/ci/full-values.yaml" \
  -s templates/configmap.yaml
expect_text "$work/stdout" 'prices: "/etc/weft/prices.yaml"'
expect_text "$work/stdout" 'accelerator: H100'
expect_text "$work/stdout" 'prometheus: "https://prometheus.monitoring.svc:9091"'
expect_text "$work/stdout" 'prometheus-token-file: "/var/run/secrets/'
expect_exit 1 helm template weft "$chart" --set prometheus.url=prometheus:9090
expect_text "$work/stderr" "at '/prometheus/url': 'prometheus:9090' does not match pattern"

# The rights that the world gives the operator (tests/world/chart_rights.json) are the chart's.
source "$here/../world/chart_lib.sh"
rendered_chart "$chart/../.." >"$work/rendered.yaml"
expect_exit 0 python3 -B "$here/../world/chart_rights.py" "$work/rendered.yaml" --check

# A namespace that refuses what is not restricted; a cluster that knows nothing of Weft.
kubectl create namespace weft-system >/dev/null
kubectl label namespace weft-system pod-security.kubernetes.io/enforce=restricted >/dev/null
# An API server that has not read what is stored of a kind yet would put its end off for minutes.
kubectl get fabrics,trainingjobs,placements -A >/dev/null
kubectl delete -f "$chart/../../crds" >/dev/null

# What is installed has one definition less to show, and an older number.
cp -RL "$chart" "$work/older"
sed -i 's/^version: .*/version: 0.0.1/' "$work/older/Chart.yaml"
sed -i 's/name: Cross-Node/name: Crossing/' "$work"/older/files/crds/*.yaml
expect_exit 0 helm package "$work/older" --destination "$work"
columns() {
  kubectl get crd trainingjobs.weft.dev \
    -o 'jsonpath={.spec.versions[0].additionalPrinterColumns[*].name}'
}

expect_exit 0 helm install weft "$work/weft-0.0.1.tgz" -n weft-system --wait --timeout 180s
expect_text "$work/stdout" 'kubectl rollout status -n weft-system deployment/weft-operator'
[[ $(columns) == *Crossing* ]] || fail "the definitions are not those of the chart: $(columns)"
expect_exit 0 kubectl get prometheusrules -n weft-system weft-alerts
expect_exit 0 kubectl get pods -n weft-system -l app.kubernetes.io/instance=weft -o name
[ "$(wc -l <"$work/stdout")" = 2 ] || fail 'not two pods'
kubectl create namespace kept >/dev/null
sed '/namespace:/s/team-a/kept/' "${chart%/charts/weft}/deploy/examples/trainingjob.yaml" \
  >"$work/job.yaml"
expect_exit 0 kubectl apply -f "$work/job.yaml"

expect_exit 0 helm upgrade weft "$chart" -n weft-system --wait --timeout 180s
[[ $(columns) == *Cross-Node* ]] || fail "the definitions were not upgraded: $(columns)"
expect_exit 0 kubectl get trainingjob -n kept llama3-8b

# Uninstalled, it leaves the definitions and the job.
expect_exit 0 helm uninstall weft -n weft-system --wait --timeout 180s
expect_exit 0 kubectl get trainingjob -n kept llama3-8b
for definition in fabrics placements trainingjobs; do
  echo "customresourcedefinition.apiextensions.k8s.io/$definition.weft.dev"
done >"$work/kept"
everywhere=clusterroles,clusterrolebindings,priorityclasses,validatingadmissionpolicies
everywhere+=,validatingadmissionpolicybindings,customresourcedefinitions
expect_exit 0 kubectl get "$everywhere" -l app.kubernetes.io/instance=weft -o name
expect_same "$work/stdout" "$work/kept"
# The garbage collector deletes the ReplicaSet in its own time.
for _ in $(seq 600); do
  expect_exit 0 kubectl get -n weft-system -o name -l app.kubernetes.io/instance=weft \
    deployments,replicasets,configmaps,serviceaccounts,roles,rolebindings,poddisruptionbudgets,\
prometheusrules,servicemonitors
  [ -s "$work/stdout" ] || break
  sleep 0.2
done
expect_empty "$work/stdout"
kubectl delete namespace kept --wait=false >/dev/null

# Under its own rights, from the image.
expect_exit 0 "$WEFT_SOURCE_DIR/deploy/image.sh" --rootfs "$work/rootfs" --bin "$(dirname "$WEFT")"
export WEFT_ROOTFS=$work/rootfs WEFT_CHART=$chart
for file in chart_rights.py chart_policies.py chart_plugin.py chart_modes.py chart_grpc.py; do
  [ $file != chart_grpc.py ] || source "$here/rpc_stubs.sh" # from there on, with its Python
  python3 "$here/$file" || fail "$file"
  checks=$((checks + 1))
done
expect_exit 0 "$local_cluster" down --name operator
passed
