#!/usr/bin/env bash
# The operator's page /map in a headless Chromium, on a cluster of deploy/local-cluster.sh: jobs in
# colour, why they are there, a picture.
source "$(dirname "$0")/operator_cluster.sh"

chromium=''
for name in chromium chromium-browser google-chrome chromium-headless-shell; do
  chromium=$(command -v "$name") && break
done
if [ -z "$chromium" ]; then
  echo "NOT RUN: no Chromium to look at the page with" >&2
  [ "${CI:-}" != true ] || exit 1
  exit 0
fi
# Pictures are kept, to be looked at.
export WEFT_CHROMIUM=$chromium WEFT_SCREENSHOTS=${WEFT_SCREENSHOTS:-$(dirname "$WEFT")/../screenshots}
mkdir -p "$WEFT_SCREENSHOTS"
run_scenarios 96 map_page.py
passed
