# The certificates and kubeconfigs of a local cluster, in its folder ($dir). P-256: made in no time.
# shellcheck shell=bash

make_certificates() {
  local made=$dir/certificates.new begun=$EPOCHREALTIME
  rm -rf "$made"
  (umask 077 && mkdir "$made" && cd "$made" && make_all) >>"$dir/logs/openssl.log" 2>&1 ||
    { show_log "$dir/logs/openssl.log"; die 'openssl could not make the certificates'; }
  mv "$made" "$dir/certificates"
  say "certificates made in $(seconds_since "$begun") s"
}

make_all() {
  new_key ca
  openssl req -x509 -new -key ca.key -days 365 -subj /CN=weft-local-cluster -out ca.crt
  new_key service-accounts
  local names=IP:127.0.0.1,IP:10.96.0.1,DNS:localhost,DNS:kubernetes
  names+=,DNS:kubernetes.default,DNS:kubernetes.default.svc
  sign server /CN=kube-apiserver "subjectAltName=$names
    extendedKeyUsage=serverAuth"
  sign_client admin /O=system:masters/CN=admin
  sign_client kube-scheduler /CN=system:kube-scheduler
  sign_client kube-controller-manager /CN=system:kube-controller-manager
  sign_client kwok /CN=kwok
  [ -s ../real ] || return 0
  sign_client coredns /CN=coredns
  local node
  for node in $(real_names); do
    sign_client "$node" "/O=system:nodes/CN=system:node:$node"
  done
}

new_key() { openssl ecparam -name prime256v1 -genkey -noout -out "$1.key"; }

# sign NAME SUBJECT EXTENSIONS
sign() {
  new_key "$1"
  openssl req -new -key "$1.key" -subj "$2" -out "$1.csr"
  openssl x509 -req -in "$1.csr" -CA ca.crt -CAkey ca.key -CAcreateserial -days 365 \
    -extfile <(sed 's/^ *//' <<<"$3") -out "$1.crt"
  rm "$1.csr"
}

sign_client() { sign "$1" "$2" 'extendedKeyUsage=clientAuth'; }

# write_kubeconfig NAME FILE: complete in itself, so that it can be copied.
write_kubeconfig() {
  local certificates=$dir/certificates
  (
    umask 077
    cat >"$2" <<EOF
apiVersion: v1
kind: Config
clusters:
- name: $name
  cluster:
    server: https://127.0.0.1:$apiserver_port
    certificate-authority-data: $(base64 -w0 "$certificates/ca.crt")
users:
- name: $1
  user:
    client-certificate-data: $(base64 -w0 "$certificates/$1.crt")
    client-key-data: $(base64 -w0 "$certificates/$1.key")
contexts:
- name: $name
  context: {cluster: $name, user: $1}
current-context: $name
EOF
  )
}
