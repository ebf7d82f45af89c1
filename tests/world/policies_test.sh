#!/usr/bin/env bash
# The world's rights and policies are those of the chart: random requests of the operator's account
# and of others, here and on a real API server where the rendered chart is installed. Longer:
#   tests/world/policies_test.sh --seed 1000 --questions 5000
set -euo pipefail
# shellcheck source=tests/world/api_server_lib.sh
source "$(dirname "$0")/api_server_lib.sh"
# shellcheck source=tests/world/chart_lib.sh
source "$root/tests/world/chart_lib.sh"
: "${WEFT_POLICIES_FAITHFUL:=$root/build/bin/policies-faithful}"
work=$(mktemp -d)
trap 'api_server_down "$work"; rm -rf "$work"' EXIT
# Then the chart's policies alone refuse privileged containers.
export WEFT_API_SERVER_FLAGS='--allow-privileged=true'
api_server_up "$work"
"$WEFT_POLICIES_FAITHFUL" --definitions >"$work/kueue.json"
kubectl create -f "$work/kueue.json" >>"$work/logs/kubectl.log"
kubectl create namespace weft-system >>"$work/logs/kubectl.log"
parts=()
for part in rbac-operator rbac-users metrics operator-policies admission-policies gate-policy; do
  parts+=(--show-only "templates/$part.yaml")
done
rendered_chart "$root" "${parts[@]}" >"$work/chart.yaml"
kubectl apply -f "$work/chart.yaml" >>"$work/logs/kubectl.log"
# Without controllers nothing aggregates the roles `edit` and `admin`: their parts are bound.
for space in team-a team-p; do
  kubectl create namespace $space >>"$work/logs/kubectl.log"
  for role in system:aggregate-to-edit system:aggregate-to-view weft-editor; do
    kubectl create rolebinding -n $space "tenant-${role#system:}" --clusterrole=$role \
      --user=tenant >>"$work/logs/kubectl.log"
  done
done
for role in system:aggregate-to-edit system:aggregate-to-view weft-admin; do
  kubectl create rolebinding -n team-a "pipeline-${role#system:}" --clusterrole=$role \
    --serviceaccount=team-a:pipeline >>"$work/logs/kubectl.log"
done
kubectl label namespace team-p pod-security.kubernetes.io/enforce=privileged \
  >>"$work/logs/kubectl.log"
[ $# -gt 0 ] || set -- --seed 1 --questions 800
"$WEFT_POLICIES_FAITHFUL" "$@"
