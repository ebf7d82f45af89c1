#!/usr/bin/env bash
# /metrics on an address of its own: TLS, and bearer tokens that the API server of
# deploy/local-cluster.sh reviews; certificates that are replaced while it runs.
source "$(dirname "$0")/cluster_lib.sh"
: "${WEFT_OPERATOR:?the weft-operator binary to test}"
enter_cluster
own_namespace

operator=''
stop_operator() {
  [ -z "$operator" ] || kill "$operator" 2>/dev/null || true
  [ -z "$operator" ] || wait "$operator" || true
  operator=''
}
trap 'stop_operator; kubectl delete clusterrole,clusterrolebinding -l weft.test=metrics-access \
  >/dev/null 2>&1; kubectl delete namespace "$namespace" --wait=false >/dev/null; rm -rf "$work"' EXIT

free_port() { "$WEFT_SOURCE_DIR/deploy/local-cluster/free_ports.py" 1; }

# start_operator FLAG...: until it answers on $port, with TLS.
start_operator() {
  stop_operator
  "$WEFT_OPERATOR" --read-only --leader-elect=false --namespace "$namespace" --probe-address '' \
    --metrics-address "$@" 2>"$work/operator.log" &
  operator=$!
  for _ in $(seq 3000); do
    curl -sk -o "$work/answer" "https://127.0.0.1:$port/metrics" && return
    kill -0 "$operator" 2>/dev/null || break
    sleep 0.1
  done
  cat "$work/operator.log" >&2
  fail "the operator does not answer"
}

# expect_status CODE [curl's arguments]
expect_status() {
  local want=$1 got
  shift
  got=$(curl -s -o "$work/stdout" -w '%{http_code}' "$@" "https://127.0.0.1:$port/metrics") || true
  [ "$got" = "$want" ] || fail "HTTP status $got, not $want: $*"
  checks=$((checks + 1))
}

kubectl create serviceaccount scraper >/dev/null
kubectl create serviceaccount stranger >/dev/null
kubectl create clusterrole weft-metrics-access --verb=get --non-resource-url=/metrics >/dev/null
kubectl create clusterrolebinding weft-metrics-access --clusterrole=weft-metrics-access \
  --serviceaccount="$namespace:scraper" >/dev/null
kubectl label clusterrole/weft-metrics-access clusterrolebinding/weft-metrics-access \
  weft.test=metrics-access >/dev/null
scraper=$(kubectl create token scraper)
stranger=$(kubectl create token stranger)

# An address that others reach has TLS and authentication by itself.
port=$(free_port)
start_operator ":$port"
expect_status 401 -k
expect_text "$work/stdout" 'a valid bearer token is required'
expect_status 401 -k -H 'Authorization: Bearer made-up'
expect_status 403 -k -H "Authorization: Bearer $stranger"
expect_status 200 -k -H "Authorization: Bearer $scraper"
expect_exit 0 promtool check metrics <"$work/stdout"
curl -sk -H "Authorization: Bearer $scraper" "https://127.0.0.1:$port/metrics" >"$work/metrics"
expect_text "$work/metrics" 'weft_leader 1'
! curl -s "http://127.0.0.1:$port/metrics" >"$work/stdout" || fail 'plain HTTP is answered'
expect_empty "$work/stdout"
! grep -qF "$scraper" "$work/operator.log" || fail "a token stands in the log"

# A certificate of an authority, replaced while the operator runs.
authority() {
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj "/CN=$1" \
    -keyout "$work/$1.key" -out "$work/$1.crt" 2>/dev/null
  openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=weft-operator \
    -keyout "$work/$1.leaf.key" -out "$work/$1.leaf.csr" 2>/dev/null
  openssl x509 -req -in "$work/$1.leaf.csr" -CA "$work/$1.crt" -CAkey "$work/$1.key" -days 2 \
    -CAcreateserial -extfile <(echo 'subjectAltName=IP:127.0.0.1') -out "$work/$1.leaf.crt" 2>/dev/null
}
mount_certificate() {
  mkdir -p "$work/mounted"
  cp "$work/$1.leaf.crt" "$work/mounted/tls.crt"
  cp "$work/$1.leaf.key" "$work/mounted/tls.key"
}
authority old
authority new
mount_certificate old
port=$(free_port)
start_operator "127.0.0.1:$port" --metrics-security tls --metrics-cert-dir "$work/mounted"
expect_status 200 --cacert "$work/old.crt" -H "Authorization: Bearer $scraper"
mount_certificate new
expect_status 000 --cacert "$work/old.crt" -H "Authorization: Bearer $scraper"
expect_status 200 --cacert "$work/new.crt" -H "Authorization: Bearer $scraper"
echo broken >"$work/mounted/tls.crt"
expect_status 200 --cacert "$work/new.crt" -H "Authorization: Bearer $scraper"
expect_status 000 --cacert "$work/new.crt" --tls-max 1.1 --ciphers DEFAULT@SECLEVEL=0

# Bad settings are named, and nothing is served.
stop_operator
expect_exit 2 "$WEFT_OPERATOR" --read-only --leader-elect=false --probe-address '' \
  --metrics-address "127.0.0.1:$port" --metrics-security tls --metrics-cert-dir "$work/nowhere"
expect_text "$work/stderr" "$work/nowhere: must hold tls.crt and tls.key"
passed
