{{/* What the names of all objects begin with: `loopstream` for a release of that name. */}}
{{- define "loopstream.fullname" -}}
{{- $name := default .Chart.Name .Values.nameOverride -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride -}}
{{- else if contains $name .Release.Name -}}
{{- .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name $name | trunc 40 | trimSuffix "-" -}}
{{- end -}}
{{- end }}

{{/* The watched namespaces, as JSON. */}}
{{- define "loopstream.namespaces" -}}
{{- .Values.namespaces | default (list .Release.Namespace) | toJson -}}
{{- end }}

{{/* Where the API server writes. */}}
{{- define "loopstream.apiNamespace" -}}
{{- .Values.api.namespace | default (first (include "loopstream.namespaces" . | fromJsonArray)) -}}
{{- end }}

{{/* The operator of a namespace: `dict "root" $ "namespace" …`. Names of 63 characters at most, each namespace its own. */}}
{{- define "loopstream.operatorName" -}}
{{- $name := printf "%s-operator" (include "loopstream.fullname" .root) -}}
{{- if ne .namespace .root.Release.Namespace -}}
{{- $name = printf "%s-%s" $name .namespace -}}
{{- if gt (len $name) 63 -}}
{{- $name = printf "%s-%s" ($name | trunc 54 | trimSuffix "-") (sha256sum .namespace | trunc 8) -}}
{{- end -}}
{{- end -}}
{{- $name -}}
{{- end }}

{{/* The parts that are installed, as JSON. */}}
{{- define "loopstream.components" -}}
{{- $components := list "operator" -}}
{{- if .Values.api.enabled }}{{ $components = append $components "api" }}{{ end -}}
{{- if .Values.billing.enabled }}{{ $components = append $components "billing" }}{{ end -}}
{{- toJson $components -}}
{{- end }}

{{- define "loopstream.serviceAccount" -}}
{{- $settings := index .root.Values .component -}}
{{- $settings.serviceAccount.name | default (printf "%s-%s" (include "loopstream.fullname" .root) .component) -}}
{{- end }}

{{- define "loopstream.image" -}}
{{- with .Values.image -}}
{{- if .registry }}{{ trimSuffix "/" .registry }}/{{ end }}{{ .repository -}}
{{- if .digest }}@{{ .digest }}{{ else }}:{{ .tag | default $.Chart.AppVersion }}{{ end -}}
{{- end -}}
{{- end }}

{{/* Labels that pods are selected by; they never change. */}}
{{- define "loopstream.selector" -}}
app.kubernetes.io/name: {{ default .root.Chart.Name .root.Values.nameOverride }}
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end }}

{{/* Labels of every object: `dict "root" $ "component" … ["labels" (dict …)]`. Those that we select by are ours. */}}
{{- define "loopstream.labels" -}}
{{- $own := dict
  "app.kubernetes.io/version" .root.Chart.AppVersion
  "app.kubernetes.io/managed-by" .root.Release.Service
  "app.kubernetes.io/part-of" "loopstream"
  "helm.sh/chart" (printf "%s-%s" .root.Chart.Name .root.Chart.Version | replace "+" "_") -}}
{{- mustMergeOverwrite (dict) $own .root.Values.commonLabels (.labels | default dict) (include "loopstream.selector" . | fromYaml) | toYaml -}}
{{- end }}

{{/* metadata of an object: `dict "root" $ "name" … "component" … ["namespace" …] ["labels" …] ["annotations" (dict …)]`. */}}
{{- define "loopstream.metadata" -}}
name: {{ .name }}
{{- if not .cluster }}
namespace: {{ .namespace | default .root.Release.Namespace }}
{{- end }}
labels:
  {{- include "loopstream.labels" . | nindent 2 }}
{{- with mustMergeOverwrite (dict) .root.Values.commonAnnotations (.annotations | default dict) }}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}
