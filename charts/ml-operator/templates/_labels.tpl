{{- define "ml-operator.name" -}}
{{ .Values.nameOverride | default .Chart.Name }}
{{- end }}

{{- define "ml-operator.fullname" -}}
{{ .Values.fullnameOverride | default (include "ml-operator.name" .) }}
{{- end }}

{{- /* Name of cluster-scoped objects. Several operators with namespaces of their own have different names. */}}
{{- define "ml-operator.clusterName" -}}
{{ include "ml-operator.fullname" . }}{{ if .Values.watchNamespaces }}-{{ .Release.Namespace }}{{ end }}
{{- end }}

{{- define "ml-operator.labels" -}}
app.kubernetes.io/name: {{ include "ml-operator.name" . }}
app.kubernetes.io/part-of: ml-operator
app.kubernetes.io/managed-by: {{ .Release.Service }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end }}

{{- define "ml-operator.monitoringLabels" -}}
{{ include "ml-operator.labels" . }}
{{- with .Values.monitoring.labels }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- /* The instance distinguishes operators in one namespace, which need a name of their own. */}}
{{- define "ml-operator.selector" -}}
app.kubernetes.io/name: {{ include "ml-operator.name" . }}
{{- if .Values.fullnameOverride }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}
{{- end }}

{{- define "ml-operator.image" -}}
{{- with .Values.image.registry }}{{ trimSuffix "/" . }}/{{ end -}}
{{ .Values.image.repository }}
{{- if .Values.image.digest }}@{{ .Values.image.digest }}{{ else }}:{{ .Values.image.tag | default .Chart.AppVersion }}{{ end }}
{{- end }}

{{- /* Settings of the operator as YAML; empty if there are none. Users that `config` sets take precedence. */}}
{{- define "ml-operator.config" -}}
{{- $config := deepCopy .Values.config }}
{{- if .Values.clusterUsers }}
{{- $users := dict "training" (dict "user" "cluster") "serving" (dict "user" "cluster") }}
{{- $config = mergeOverwrite $users $config }}
{{- end }}
{{- with $config }}{{ toYaml . }}{{ end }}
{{- end }}

{{- define "ml-operator.podSecurityContext" -}}
{{- $context := .Values.podSecurityContext }}
{{- if .Values.clusterUsers }}{{ $context = omit $context "runAsUser" "runAsGroup" "fsGroup" }}{{ end }}
{{- with $context }}{{ toYaml . }}{{ end }}
{{- end }}

{{- /* Secret with a certificate that others provide; empty if the operator issues it. */}}
{{- define "ml-operator.certificateSecret" -}}
{{- if .Values.webhook.enabled }}
{{- with .Values.webhook.certificate }}
{{- if and .secretName .certManager.enabled }}
{{- fail "webhook.certificate.secretName and webhook.certificate.certManager.enabled exclude each other: remove one" }}
{{- end }}
{{- if .certManager.enabled }}{{ include "ml-operator.fullname" $ }}-webhook-tls{{ else }}{{ .secretName }}{{ end }}
{{- end }}
{{- end }}
{{- end }}

{{- /*
The rules of a role, with the names of this release, and without those that its values make unnecessary. The argument is a
dict of `rules` and `root`.
*/}}
{{- define "ml-operator.rules" -}}
{{- $fullname := include "ml-operator.fullname" .root }}
{{- $issues := and .root.Values.webhook.enabled (not (include "ml-operator.certificateSecret" .root)) }}
{{- $reports := and .root.Values.webhook.enabled .root.Values.reports.enabled }}
{{- range .rules }}
{{- $needed := or .forWebhook false | ternary $issues true }}
{{- $needed = and $needed (or $reports .forMetricsAuth (not (has "tokenreviews" .resources))) }}
{{- $wanted := or .forMetricsAuth false | ternary $.root.Values.metrics.authentication true }}
{{- if and $needed $wanted (or $.root.Values.mlops.enabled (not (has "mlops.sathvik.dev" .apiGroups))) }}
{{- $rule := omit . "forWebhook" "forMetricsAuth" }}
{{- with .resourceNames }}
{{- $names := list }}
{{- range . }}
{{- $names = append $names (regexReplaceAll "^ml-operator($|-)" . (printf "%s$1" $fullname)) }}
{{- end }}
{{- $rule = set (deepCopy $rule) "resourceNames" $names }}
{{- end }}
{{ toYaml (list $rule) }}
{{- end }}
{{- end }}
{{- end }}
