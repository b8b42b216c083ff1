{{- define "rdtd.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" }}
{{- end }}

{{- define "rdtd.fullname" -}}
{{- if .Values.fullnameOverride }}
{{- .Values.fullnameOverride | trunc 63 | trimSuffix "-" }}
{{- else }}
{{- $name := default .Chart.Name .Values.nameOverride }}
{{- if contains $name .Release.Name }}
{{- .Release.Name | trunc 63 | trimSuffix "-" }}
{{- else }}
{{- printf "%s-%s" .Release.Name $name | trunc 63 | trimSuffix "-" }}
{{- end }}
{{- end }}
{{- end }}

{{- define "rdtd.chart" -}}
{{- printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" }}
{{- end }}

{{- define "rdtd.selectorLabels" -}}
app.kubernetes.io/name: {{ include "rdtd.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- /* Of a list: the root, and labels that override commonLabels. */ -}}
{{- define "rdtd.labels" -}}
{{- $root := first . -}}
helm.sh/chart: {{ include "rdtd.chart" $root }}
{{ include "rdtd.selectorLabels" $root }}
app.kubernetes.io/component: agent
app.kubernetes.io/part-of: rdtd
app.kubernetes.io/version: {{ $root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ $root.Release.Service }}
{{- with merge (dict) (last . | default dict) ($root.Values.commonLabels | default dict) }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- /* Name, labels and annotations of an object, of the same list. */ -}}
{{- define "rdtd.metadata" -}}
{{- $root := first . -}}
name: {{ include "rdtd.fullname" $root }}
labels:
  {{- include "rdtd.labels" . | nindent 2 }}
{{- with $root.Values.commonAnnotations }}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{- define "rdtd.image" -}}
image: {{ printf "%s:%s" .Values.image.repository (.Values.image.tag | default .Chart.AppVersion) | quote }}
{{- with .Values.image.pullPolicy }}
imagePullPolicy: {{ . }}
{{- end }}
{{- end }}

{{- /* What the containers beside rdtd may do. */ -}}
{{- define "rdtd.confined" -}}
capabilities:
  drop: [ALL]
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
seccompProfile:
  type: RuntimeDefault
{{- end }}

{{- define "rdtd.validate" -}}
{{- if and .Values.policy .Values.existingConfigMap }}
{{- fail "policy and existingConfigMap: set one of them" }}
{{- end }}
{{- if and .Values.metrics.textfile.enabled .Values.metrics.podMonitor.enabled }}
{{- fail "metrics.textfile and metrics.podMonitor: enable one of them, or Prometheus gets each series twice" }}
{{- end }}
{{- end }}
