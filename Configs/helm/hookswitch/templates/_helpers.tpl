{{- define "hookswitch.name" -}}
{{- if contains .Chart.Name .Release.Name }}{{ .Release.Name | trunc 40 | trimSuffix "-" }}
{{- else }}{{ printf "%s-%s" .Release.Name .Chart.Name | trunc 40 | trimSuffix "-" }}
{{- end }}
{{- end }}

{{- define "hookswitch.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "hookswitch.labels" -}}
{{ include "hookswitch.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end }}

{{- define "hookswitch.secret" -}}
{{ .Values.secrets.existing | default (include "hookswitch.name" .) }}
{{- end }}

{{/* The settings that the chart makes beside those of the values; these win. */}}
{{- define "hookswitch.configuration" -}}
{{- $made := dict "drain" .Values.drain "data" "/data" }}
{{- if .Values.database.url }}
{{- $_ := set $made "data" (list "/data" .Values.database.url) }}
{{- end }}
{{- if .Values.database.passwordKey }}
{{- $_ := set $made "data-password-file" (printf "/run/secrets/hookswitch/%s" .Values.database.passwordKey) }}
{{- end }}
{{- toYaml (mergeOverwrite (deepCopy .Values.configuration) $made) }}
{{- end }}
