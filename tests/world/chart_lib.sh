# The chart as the world models it. Source it.
# shellcheck shell=bash

# rendered_chart ROOT [FLAG...]: on stdout; `helm` is in PATH.
rendered_chart() {
  helm template weft "$1/charts/weft" --namespace weft-system --kube-version 1.36.0 \
    --set kueue.enabled=true "${@:2}"
}
