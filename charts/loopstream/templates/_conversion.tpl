{{/* Whether the operator of this release converts between versions: the definitions of this release call it. */}}
{{- define "loopstream.converts" -}}
{{- if and .Values.crds.install .Values.crds.alpha }}yes{{ end -}}
{{- end }}

{{/* Name of the Service, and of what keeps the certificate. */}}
{{- define "loopstream.conversionName" -}}
{{ include "loopstream.fullname" . }}-conversion
{{- end }}

{{- define "loopstream.conversionSecret" -}}
{{- .Values.conversion.existingSecret | default (include "loopstream.conversionName" .) -}}
{{- end }}

{{/* The version in which objects of a definition, by its name, can be read without a webhook: v1alpha1 while any may be stored so. */}}
{{- define "loopstream.readVersion" -}}
{{- $live := lookup "apiextensions.k8s.io/v1" "CustomResourceDefinition" "" . | default dict -}}
{{- if has "v1alpha1" (dig "status" "storedVersions" (list) $live) }}v1alpha1{{ else }}v1beta1{{ end -}}
{{- end }}

{{/*
The storage version of a definition: `dict "root" $ "name" …`. While objects may be stored as v1alpha1, v1alpha1 stays, so that the release
before goes on without a webhook during an upgrade, and after a rollback.
*/}}
{{- define "loopstream.storageVersion" -}}
{{- $wanted := .root.Values.crds.storageVersion -}}
{{- $read := include "loopstream.readVersion" .name -}}
{{- if not .root.Values.crds.alpha -}}
{{- if eq $wanted "v1alpha1" -}}
{{- fail "crds.storageVersion is v1alpha1, so crds.alpha must be true: Kubernetes serves the version that it stores." -}}
{{- else if eq $read "v1alpha1" -}}
{{- fail (printf "objects of %s may be stored as v1alpha1, so crds.alpha must be true. Migrate them first: loopstream crds migrate." .name) -}}
{{- end -}}
{{- end -}}
{{- ternary $read $wanted (eq $wanted "auto") -}}
{{- end }}

{{/* The pod that keeps the certificate: `dict "root" $ "args" (list …)`. */}}
{{- define "loopstream.conversionPod" -}}
{{- $name := include "loopstream.conversionName" .root -}}
serviceAccountName: {{ .account }}
automountServiceAccountToken: true
{{ include "loopstream.podSecurity" .root }}
{{- with .root.Values.operator.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .root.Values.operator.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
restartPolicy: Never
containers:
  - name: certificate
    {{- include "loopstream.containerBase" .root | nindent 4 }}
    args:
      - crds
      - certificate
      - --namespace={{ .root.Release.Namespace }}
      - --service={{ $name }}
      - --secret={{ include "loopstream.conversionSecret" .root }}
      {{- range .args }}
      - {{ . }}
      {{- end }}
    {{- with .root.Values.operator.resources }}
    resources:
      {{- toYaml . | nindent 6 }}
    {{- end }}
{{ include "loopstream.volumes" .root }}
{{- end }}
