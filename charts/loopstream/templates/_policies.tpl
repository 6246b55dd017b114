{{/* name and metadata of a policy and its binding, which belong to the cluster: `dict "root" $ "name" …`. */}}
{{- define "loopstream.policyName" -}}
{{ printf "%s-%s-%s" (include "loopstream.fullname" .root) .name .root.Release.Namespace }}
{{- end }}

{{- define "loopstream.policyMetadata" -}}
{{- include "loopstream.metadata" (dict "root" .root "component" "policy" "cluster" true "name" (include "loopstream.policyName" .)) -}}
{{- end }}

{{/* The binding of a policy: `dict "root" $ "name" … ["watched" true]`, in the watched namespaces or everywhere. */}}
{{- define "loopstream.policyBinding" -}}
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata:
  {{- include "loopstream.policyMetadata" . | nindent 2 }}
spec:
  policyName: {{ include "loopstream.policyName" . }}
  validationActions: [Deny]
  {{- if and .watched (not (include "loopstream.watchesAll" .root)) }}
  matchResources:
    namespaceSelector:
      matchExpressions:
        - key: kubernetes.io/metadata.name
          operator: In
          values:
            {{- include "loopstream.namespaces" .root | fromJsonArray | toYaml | nindent 12 }}
  {{- end }}
{{- end }}

{{/* The name by which kube-apiserver knows the account of a component: `dict "root" $ "component" …`. */}}
{{- define "loopstream.userName" -}}
system:serviceaccount:{{ .root.Release.Namespace }}:{{ include "loopstream.serviceAccount" . }}
{{- end }}

{{/* Repositories of the images that pods may have, as JSON: an upgrade changes the tag while the operator before it still works. */}}
{{- define "loopstream.podImages" -}}
{{- $own := list (include "loopstream.repository" .Values.image) (include "loopstream.prepareRepository" .) -}}
{{- concat $own .Values.policies.images | uniq | toJson -}}
{{- end }}

{{/* CEL: whether a volume `v` is of a kind that the operator makes. A path of the host is allowed where the values name it. */}}
{{- define "loopstream.podVolumes" -}}
{{- $kinds := list "emptyDir" "secret" "downwardAPI" "persistentVolumeClaim" "ephemeral" -}}
{{- $paths := list -}}
{{- range list .Values.storage.file.volume .Values.storage.scratchVolume -}}
{{- range $kind, $source := . -}}
{{- if eq $kind "hostPath" }}{{ $paths = append $paths $source.path }}{{ else }}{{ $kinds = append $kinds $kind }}{{ end -}}
{{- end -}}
{{- end -}}
{{- $tests := list -}}
{{- range uniq $kinds }}{{ $tests = append $tests (printf "has(v.%s)" .) }}{{ end -}}
{{- /* What a stream plays, and its Secret. No token of a ServiceAccount. */ -}}
{{- $tests = append $tests "(has(v.projected) && has(v.projected.sources) && v.projected.sources.all(s, has(s.secret) || has(s.downwardAPI)))" -}}
{{- if $paths }}{{ $tests = append $tests (printf "(has(v.hostPath) && v.hostPath.path in %s)" (toJson $paths)) }}{{ end -}}
{{- join " || " $tests -}}
{{- end }}
