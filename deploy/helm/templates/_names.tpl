{{/* What objects of one release are called. */}}
{{- define "ebb.name" -}}
{{- if contains "ebb" .Release.Name -}}
{{- .Release.Name | trunc 52 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-ebb" (.Release.Name | trunc 48 | trimSuffix "-") -}}
{{- end -}}
{{- end -}}

{{/* What finds the pod of a release. */}}
{{- define "ebb.selector" -}}
app.kubernetes.io/name: ebb
app.kubernetes.io/instance: {{ .Release.Name | quote }}
{{- end -}}

{{- define "ebb.labels" -}}
{{ include "ebb.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end -}}

{{/* The names by which others in the cluster know the service. */}}
{{- define "ebb.hosts" -}}
{{- $name := include "ebb.name" . -}}
{{- $in := printf "%s.%s" $name .Release.Namespace -}}
{{ printf "%s,%s,%s.svc,%s.svc.cluster.local" $name $in $in $in }}
{{- end -}}
