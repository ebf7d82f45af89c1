{{- define "weft.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 50 | trimSuffix "-" }}
{{- end }}

{{- define "weft.fullname" -}}
{{- $name := include "weft.name" . }}
{{- if .Values.fullnameOverride }}
{{- .Values.fullnameOverride | trunc 50 | trimSuffix "-" }}
{{- else if contains $name .Release.Name }}
{{- .Release.Name | trunc 50 | trimSuffix "-" }}
{{- else }}
{{- printf "%s-%s" .Release.Name $name | trunc 50 | trimSuffix "-" }}
{{- end }}
{{- end }}

{{- define "weft.operator" -}}
{{ include "weft.fullname" . }}-operator
{{- end }}

{{- define "weft.serviceAccount" -}}
{{- if .Values.serviceAccount.create }}
{{- default (include "weft.operator" .) .Values.serviceAccount.name }}
{{- else }}
{{- required "serviceAccount.name: which one, where the chart creates none?" .Values.serviceAccount.name }}
{{- end }}
{{- end }}

{{- define "weft.selectorLabels" -}}
app.kubernetes.io/name: {{ include "weft.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "weft.labels" -}}
{{ include "weft.selectorLabels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- with .Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- define "weft.image" -}}
{{- $registry := default .Values.image.registry .Values.global.imageRegistry }}
{{- $name := ternary (printf "%s/%s" $registry .Values.image.repository) .Values.image.repository (ne $registry "") }}
{{- if .Values.image.digest }}
{{- printf "%s@%s" $name .Values.image.digest }}
{{- else }}
{{- printf "%s:%s" $name (default .Chart.AppVersion .Values.image.tag) }}
{{- end }}
{{- end }}

{{/* Namespaces in which the operator writes: a list, or none where it writes in all. */}}
{{- define "weft.namespaces" -}}
{{- if .Values.watchNamespace }}
{{- list .Values.watchNamespace | toJson }}
{{- else }}
{{- .Values.rbac.namespaces | toJson }}
{{- end }}
{{- end }}

{{/* Namespaces whose jobs are refused: those of the values and the operator's own, without those
that the values name as places for jobs. */}}
{{- define "weft.excludedNamespaces" -}}
{{- $excluded := list }}
{{- range append .Values.excludedNamespaces .Release.Namespace | uniq }}
{{- if not (has . (include "weft.namespaces" $ | fromJsonArray)) }}
{{- $excluded = append $excluded . }}
{{- end }}
{{- end }}
{{- toJson $excluded }}
{{- end }}

{{/* Conditions of a policy that concerns nobody else. */}}
{{- define "weft.byTheOperator" -}}
- name: by-the-operator
  expression: >-
    request.userInfo.username ==
    'system:serviceaccount:{{ .Release.Namespace }}:{{ include "weft.serviceAccount" . }}'
{{- end }}

{{/* list ROOT NAME: the policy of that name denies, in the whole cluster. */}}
{{- define "weft.binding" }}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata:
  name: {{ last . }}
  labels: {{- include "weft.labels" (first .) | nindent 4 }}
spec:
  policyName: {{ last . }}
  validationActions: [Deny]
{{- end }}

{{/* The Service before /metrics, and the Secret with the certificate that the replicas share. */}}
{{- define "weft.metrics" -}}
{{ include "weft.operator" . }}-metrics
{{- end }}

{{/* list ROOT CHOSEN: how Prometheus knows the certificate, unless CHOSEN says otherwise. */}}
{{- define "weft.tlsConfig" -}}
{{- $root := first . }}
{{- $secret := $root.Values.metrics.secretName | default (include "weft.metrics" $root) }}
{{- $verified := dict
  "serverName" (printf "%s.%s.svc" (include "weft.metrics" $root) $root.Release.Namespace)
  "ca" (dict "secret" (dict "name" $secret "key" "ca.crt")) }}
tlsConfig: {{- toYaml (last . | default $verified) | nindent 2 }}
{{- end }}

{{/* The settings of weft-operator, for its configuration file. */}}
{{- define "weft.config" -}}
{{- $chosen := dict
  "leader-elect" .Values.leaderElection.enabled
  "lease-namespace" .Release.Namespace
  "log-format" .Values.log.format
  "log-level" .Values.log.level
  "namespace" .Values.watchNamespace
  "probe-address" (printf ":%v" .Values.probes.port)
  "prometheus" .Values.prometheus.url
  "read-only" .Values.readOnly }}
{{- if .Values.metrics.enabled }}
{{- $_ := set $chosen "metrics-address" (printf ":%v" .Values.metrics.port) }}
{{- $_ := set $chosen "metrics-security" "tls" }}
{{- if .Values.metrics.secretName }}
{{- $_ := set $chosen "metrics-cert-dir" "/etc/weft-metrics" }}
{{- else }}
{{- $_ := set $chosen "metrics-secret" (include "weft.metrics" .) }}
{{- end }}
{{- end }}
{{- if .Values.verification.enabled }}
{{- $_ := set $chosen "verify-image" (.Values.verification.image | default (include "weft.image" .)) }}
{{- end }}
{{- if not .Values.podGroups.enabled }}
{{- $_ := set $chosen "pod-groups" false }}
{{- end }}
{{- if .Values.kueue.enabled }}
{{- $_ := set $chosen "kueue" true }}
{{- $_ := set $chosen "kueue-hold" (int .Values.kueue.holdSeconds) }}
{{- end }}
{{- with .Values.acceleratorResources }}
{{- $_ := set $chosen "accelerator-resources" (join "," .) }}
{{- end }}
{{- if .Values.prices }}
{{- $_ := set $chosen "prices" "/etc/weft/prices.yaml" }}
{{- end }}
{{- with .Values.prometheus.tokenFile }}
{{- $_ := set $chosen "prometheus-token-file" . }}
{{- end }}
{{- with .Values.prometheus.certificateAuthority }}
{{- $_ := set $chosen "prometheus-certificate-authority" . }}
{{- end }}
{{- if .Values.grpc.enabled }}
{{- $_ := required "grpc.secretName: the Secret with tls.crt, tls.key and ca.crt" .Values.grpc.secretName }}
{{- $_ := set $chosen "grpc-address" (printf ":%v" .Values.grpc.port) }}
{{- $_ := set $chosen "grpc-network" true }}
{{- $_ := set $chosen "grpc-certificate" "/etc/weft-grpc/tls.crt" }}
{{- $_ := set $chosen "grpc-key" "/etc/weft-grpc/tls.key" }}
{{- $_ := set $chosen "grpc-client-ca" "/etc/weft-grpc/ca.crt" }}
{{- $_ := set $chosen "grpc-require-token" .Values.grpc.requireToken }}
{{- end }}
{{- range $name, $value := .Values.config }}
{{- if hasKey $chosen $name }}
{{- fail (printf "config.%s: the chart has a value of its own for it (see README.md)" $name) }}
{{- end }}
{{- $_ := set $chosen $name $value }}
{{- end -}}
apiVersion: config.weft.dev/v1alpha1
kind: OperatorConfiguration
{{- range $name, $value := $chosen }}
{{ $name }}: {{ toJson $value }}
{{- end }}
{{- end }}

{{/* What ServiceMonitor and PodMonitor have in common, of an endpoint. */}}
{{- define "weft.scrape" -}}
path: /metrics
{{- with .interval }}
interval: {{ . }}
{{- end }}
{{- with .scrapeTimeout }}
scrapeTimeout: {{ . }}
{{- end }}
{{- with .relabelings }}
relabelings: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .metricRelabelings }}
metricRelabelings: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}
