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

{{/* The namespaces that `watchNamespaces` names, as JSON. */}}
{{- define "loopstream.namedNamespaces" -}}
{{- without .Values.watchNamespaces "*" | toJson -}}
{{- end }}

{{/* The namespaces in which the release makes what streams need, as JSON. */}}
{{- define "loopstream.namespaces" -}}
{{- $named := include "loopstream.namedNamespaces" . | fromJsonArray -}}
{{- if $named }}{{ toJson $named }}{{ else }}{{ list (include "loopstream.streamsNamespace" .) | toJson }}{{ end -}}
{{- end }}

{{/* Whether the operator watches the namespaces of the whole cluster. */}}
{{- define "loopstream.watchesAll" -}}
{{- if has "*" .Values.watchNamespaces }}yes{{ end -}}
{{- end }}

{{/* Whether media of several namespaces may come together: with `*`, others turn up. */}}
{{- define "loopstream.watchesSeveral" -}}
{{- if or (include "loopstream.watchesAll" .) (gt (len (include "loopstream.namespaces" . | fromJsonArray)) 1) }}yes{{ end -}}
{{- end }}

{{- define "loopstream.separateNamespace" -}}
{{ .Release.Namespace | trunc 55 | trimSuffix "-" }}-streams
{{- end }}

{{/* Where streams are when `watchNamespaces` names nothing. The cluster is asked once. */}}
{{- define "loopstream.streamsNamespace" -}}
{{- $settings := .Values.streamsNamespace -}}
{{- if not $settings.name -}}
{{- $kept := include "loopstream.keepsOwnNamespace" . -}}
{{- $_ := set $settings "name" (ternary .Release.Namespace (include "loopstream.separateNamespace" .) (not (empty $kept))) -}}
{{- $_ := set $settings "found" $kept -}}
{{- end -}}
{{- $settings.name -}}
{{- end }}

{{/*
Whether streams are in the namespace of the release since one of before has left them there: nobody would look after them
elsewhere. The budget tells where a release has its streams; after an uninstall what it left behind does. Where no cluster can
be asked (helm template) nothing is found.
*/}}
{{- define "loopstream.keepsOwnNamespace" -}}
{{- $budget := printf "%s-never" (include "loopstream.fullname" .) -}}
{{- $separate := include "loopstream.separateNamespace" . -}}
{{- if lookup "policy/v1" "PodDisruptionBudget" .Release.Namespace $budget -}}
yes
{{- else if lookup "policy/v1" "PodDisruptionBudget" $separate $budget -}}
{{- else if and (include "loopstream.hasResources" (dict "root" . "namespace" .Release.Namespace)) (not (include "loopstream.hasResources" (dict "root" . "namespace" $separate))) -}}
yes
{{- end -}}
{{- end }}

{{/* Whether a namespace has any of our resources: `dict "root" $ "namespace" …`. */}}
{{- define "loopstream.hasResources" -}}
{{- include "loopstream.refuseOldVersion" . -}}
{{- $version := "loopstream.dev/v1beta1" -}}
{{- if .root.Capabilities.APIVersions.Has $version -}}
{{- range list "LoopStream" "Upload" "Destination" "Playlist" -}}
{{- if (lookup $version . $.namespace "").items }}yes{{ end -}}
{{- end -}}
{{- end -}}
{{- end }}

{{/* Where the API server writes. */}}
{{- define "loopstream.apiNamespace" -}}
{{- .Values.api.namespace | default (first (include "loopstream.namespaces" . | fromJsonArray)) -}}
{{- end }}

{{/* The namespaces of accounts, as JSON: where the API server writes first. */}}
{{- define "loopstream.accountNamespaces" -}}
{{- concat (list (include "loopstream.apiNamespace" .)) .Values.api.cellNamespaces | uniq | toJson -}}
{{- end }}

{{/* Name of the operator; with `watchNamespaces`, another one: a Deployment's selector never changes. */}}
{{- define "loopstream.operatorName" -}}
{{ include "loopstream.fullname" . }}-operator{{ if .Values.watchNamespaces }}-shared{{ end }}
{{- end }}

{{/* Name of the Service at which the pods of streams report to it. */}}
{{- define "loopstream.reportsName" -}}
{{ include "loopstream.fullname" . }}-reports
{{- end }}

{{/* The label that tells its pods by what they watch: a namespace, or `Several`, which none can be called. */}}
{{- define "loopstream.watches" -}}
{{- if .Values.watchNamespaces }}Several{{ else }}{{ include "loopstream.streamsNamespace" . }}{{ end -}}
{{- end }}

{{/* The parts that are installed, as JSON. */}}
{{- define "loopstream.components" -}}
{{- $components := list "operator" -}}
{{- if .Values.api.enabled }}{{ $components = append $components "api" }}{{ end -}}
{{- if .Values.billing.enabled }}{{ $components = append $components "billing" }}{{ end -}}
{{- if .Values.platform.enabled }}{{ $components = append $components "platform" }}{{ end -}}
{{- toJson $components -}}
{{- end }}

{{- define "loopstream.serviceAccount" -}}
{{- $settings := index .root.Values .component -}}
{{- $settings.serviceAccount.name | default (printf "%s-%s" (include "loopstream.fullname" .root) .component) -}}
{{- end }}

{{/* The repository of an image, with its registry: `dict "registry" … "repository" …`. */}}
{{- define "loopstream.repository" -}}
{{- with .registry }}{{ trimSuffix "/" . }}/{{ end }}{{ .repository -}}
{{- end }}

{{- define "loopstream.image" -}}
{{- include "loopstream.repository" .Values.image -}}
{{- with .Values.image }}{{ if .digest }}@{{ .digest }}{{ else }}:{{ .tag | default $.Chart.AppVersion }}{{ end }}{{ end -}}
{{- end }}

{{- define "loopstream.prepareRepository" -}}
{{- $main := .Values.image -}}
{{- with .Values.prepareImage -}}
{{- $repository := .repository | default (printf "%s-prepare" $main.repository) -}}
{{- include "loopstream.repository" (dict "registry" (.registry | default $main.registry) "repository" $repository) -}}
{{- end -}}
{{- end }}

{{/* The image of Jobs. In the repository of the other image it is that image, unless it has a tag or a digest of its own. */}}
{{- define "loopstream.prepareImage" -}}
{{- $repository := include "loopstream.prepareRepository" . -}}
{{- $main := .Values.image -}}
{{- with .Values.prepareImage -}}
{{- if .digest }}{{ $repository }}@{{ .digest -}}
{{- else if or .tag (ne $repository (include "loopstream.repository" $main)) }}{{ $repository }}:{{ .tag | default $main.tag | default $.Chart.AppVersion -}}
{{- else }}{{ include "loopstream.image" $ -}}
{{- end -}}
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
