# The servers of a local cluster and their flags. What is missing runs afterwards, at its old ports.
# shellcheck shell=bash

servers=(etcd kube-apiserver kube-controller-manager kube-scheduler kwok)
real_flags=() # of kube-apiserver, for real nodes

# Ports on which nobody listens now; kept in the folder, so that a kubeconfig stays right.
choose_ports() {
  local names=(etcd peer apiserver controllers scheduler kwok gateway)
  [ -e "$dir/ports" ] || paste -d= <(printf '%s_port\n' "${names[@]}") \
    <("$root/deploy/local-cluster/free_ports.py" "${#names[@]}") >"$dir/ports"
  # shellcheck disable=SC1091
  source "$dir/ports"
}

# Another program may take a port before we do: then once more, with others.
start_servers() {
  local attempt
  for attempt in 1 2 3; do
    choose_ports
    write_kubeconfigs
    if start_missing; then return; fi
    [ "$fresh" = yes ] && [ $attempt != 3 ] || break
    stop_all
    rm -rf "$dir/ports" "$dir/etcd"
    say 'a port was taken meanwhile: starting again with others'
  done
  die 'could not start'
}

write_kubeconfigs() {
  local user
  write_kubeconfig admin "$dir/kubeconfig"
  for user in kube-controller-manager kube-scheduler kwok; do
    write_kubeconfig $user "$dir/certificates/$user.kubeconfig"
  done
}

# 1 where a port is taken; other failures end the script.
start_missing() {
  bring_up etcd etcd_answers || return 1
  bring_up kube-apiserver apiserver_answers || return 1
  kubectl apply --server-side -f "$parts/kwok-rbac.yaml" >>"$dir/logs/kubectl.log" ||
    die "kwok's role could not be created"
  # Side by side: none needs another.
  local server
  for server in kube-controller-manager kube-scheduler kwok; do
    running $server || "start_$server"
  done
  bring_up kube-controller-manager controllers_answer || return 1
  bring_up kube-scheduler scheduler_answers || return 1
  bring_up kwok kwok_answers
}

# bring_up NAME PROBE: one that was killed a moment ago may end only now; then it starts here too.
bring_up() {
  local server=$1 probe=$2 begun=$EPOCHREALTIME deadline=$((SECONDS + ready_seconds))
  local log=$dir/logs/$server.log started=no
  until running "$server" && "$probe" >/dev/null 2>&1; do
    if ! running "$server"; then
      [ $started = no ] || { explain_end "$server" "$log"; return 1; }
      "start_$server"
      started=yes
    fi
    [ $SECONDS -lt $deadline ] ||
      { show_log "$log"; die "$server is not ready after $ready_seconds s"; }
    sleep 0.1
  done
  say "$server ready in $(seconds_since "$begun") s"
}

# explain_end NAME LOG: of a server that ended at its start. Where its port was taken, the caller
# may choose others.
explain_end() {
  grep -q 'address already in use' "$2" || { show_log "$2"; die "$1 has ended"; }
  rm -f "$2"
}

ask() { kubectl get --raw "$2" --server "https://127.0.0.1:$1" --request-timeout=5s; }
etcd_answers() { [ -n "$(exec 3<>"/dev/tcp/127.0.0.1/$etcd_port" && echo open)" ]; }
apiserver_answers() { ask "$apiserver_port" /readyz; }
scheduler_answers() { ask "$scheduler_port" /readyz; }
kwok_answers() { kubectl get --raw /healthz --server "http://127.0.0.1:$kwok_port"; }
# Pods are refused in a namespace until the controllers have made its service account.
controllers_answer() { ask "$controllers_port" /healthz && kubectl get serviceaccount default; }

# A crash of this machine may cost the data, in exchange for speed. With progress notifications every
# 5 s, as kubeadm sets it, a streamed list of a resource that nothing happens to ends soon.
start_etcd() {
  start etcd "$bin/etcd" --name local --data-dir "$dir/etcd" --unsafe-no-fsync \
    --watch-progress-notify-interval 5s \
    --listen-client-urls "http://127.0.0.1:$etcd_port" \
    --advertise-client-urls "http://127.0.0.1:$etcd_port" \
    --listen-peer-urls "http://127.0.0.1:$peer_port" \
    --initial-advertise-peer-urls "http://127.0.0.1:$peer_port" \
    --initial-cluster "local=http://127.0.0.1:$peer_port" \
    --quota-backend-bytes $((8 << 30)) --log-level warn
}

start_kube-apiserver() {
  local certificates=$dir/certificates audit=()
  [ -z "${WEFT_AUDIT_POLICY:-}" ] ||
    audit=(--audit-policy-file "$WEFT_AUDIT_POLICY" --audit-log-path "$dir/logs/audit.log")
  # shellcheck disable=SC2086
  start kube-apiserver "$bin/kube-apiserver" --etcd-servers "http://127.0.0.1:$etcd_port" \
    --bind-address 127.0.0.1 --advertise-address 127.0.0.1 --secure-port "$apiserver_port" \
    --tls-cert-file "$certificates/server.crt" --tls-private-key-file "$certificates/server.key" \
    --client-ca-file "$certificates/ca.crt" --authorization-mode RBAC \
    --service-account-issuer https://kubernetes.default.svc \
    --service-account-key-file "$certificates/service-accounts.key" \
    --service-account-signing-key-file "$certificates/service-accounts.key" \
    --service-cluster-ip-range 10.96.0.0/16 --endpoint-reconciler-type none --profiling=false \
    "${real_flags[@]}" "${audit[@]}" ${WEFT_API_SERVER_FLAGS:-}
}

start_kube-controller-manager() {
  local certificates=$dir/certificates kubeconfig
  kubeconfig=$certificates/kube-controller-manager.kubeconfig
  # shellcheck disable=SC2086
  start kube-controller-manager "$bin/kube-controller-manager" --kubeconfig "$kubeconfig" \
    --bind-address 127.0.0.1 --secure-port "$controllers_port" --leader-elect=false \
    --tls-cert-file "$certificates/server.crt" --tls-private-key-file "$certificates/server.key" \
    --root-ca-file "$certificates/ca.crt" --use-service-account-credentials \
    --service-account-private-key-file "$certificates/service-accounts.key" \
    --node-monitor-grace-period "$(($(lease_seconds) + 10))s" \
    --kube-api-qps 200 --kube-api-burst 400 --profiling=false ${WEFT_CONTROLLER_FLAGS:-}
}

start_kube-scheduler() {
  local certificates=$dir/certificates config=$dir/kube-scheduler.yaml
  write_scheduler_config "$certificates/kube-scheduler.kubeconfig" >"$config"
  # shellcheck disable=SC2086
  start kube-scheduler "$bin/kube-scheduler" --config "$config" \
    --bind-address 127.0.0.1 --secure-port "$scheduler_port" \
    --tls-cert-file "$certificates/server.crt" --tls-private-key-file "$certificates/server.key" \
    ${WEFT_SCHEDULER_FLAGS:-}
}

# write_scheduler_config KUBECONFIG. The profile quiet-nodes has a rule that stands in no pod: tests
# need one that only kube-scheduler knows.
write_scheduler_config() {
  cat <<EOF
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
clientConnection: {kubeconfig: $1, qps: 1000, burst: 1000}
leaderElection: {leaderElect: false}
enableProfiling: false
profiles:
- schedulerName: default-scheduler
- schedulerName: quiet-nodes
  pluginConfig:
  - name: NodeAffinity
    args:
      addedAffinity:
        requiredDuringSchedulingIgnoredDuringExecution:
          nodeSelectorTerms:
          - matchExpressions: [{key: weft.test/noisy, operator: DoesNotExist}]
EOF
}

start_kwok() {
  start kwok "$bin/kwok" --kubeconfig "$dir/certificates/kwok.kubeconfig" \
    --config "$parts/kwok.yaml" --manage-nodes-with-label-selector '!weft.test/lost,!weft.test/kubelet' \
    --node-lease-duration-seconds "$(lease_seconds)" --cidr 10.128.0.0/9 --node-ip 10.64.0.1 \
    --server-address "127.0.0.1:$kwok_port"
}

# Of a node's lease. kwok renews it four times as often: at most 20 writes a second for all nodes
# that the cluster began with.
lease_seconds() {
  [ -e "$dir/lease-seconds" ] || echo $((nodes > 100 ? nodes / 5 : 20)) >"$dir/lease-seconds"
  cat "$dir/lease-seconds"
}
