{{/* URL of the media of a watched namespace: `dict "root" $ "namespace" …`. */}}
{{- define "loopstream.storageUrl" -}}
{{- $storage := .root.Values.storage -}}
{{- if eq $storage.type "file" -}}
file://{{ $storage.file.mountPath }}
{{- else -}}
{{- with $storage.s3 -}}
{{- $path := list .bucket -}}
{{- if .prefix }}{{ $path = append $path .prefix }}{{ end -}}
{{- if .perNamespace }}{{ $path = append $path $.namespace }}{{ end -}}
{{- $query := list -}}
{{- if .endpoint }}{{ $query = append $query (printf "endpoint=%s" (urlquery .endpoint)) }}{{ end -}}
{{- if .region }}{{ $query = append $query (printf "region=%s" (urlquery .region)) }}{{ end -}}
{{- if .forcePathStyle }}{{ $query = append $query "forcePathStyle=true" }}{{ end -}}
s3://{{ join "/" $path }}{{ if $query }}?{{ join "&" $query }}{{ end }}
{{- end -}}
{{- end -}}
{{- end }}

{{/* Name of the Secret for S3; empty when the pods' own identity counts. */}}
{{- define "loopstream.storageSecret" -}}
{{- with .Values.storage.s3 -}}
{{- if .existingSecret -}}
{{- .existingSecret -}}
{{- else if .accessKeyId -}}
{{- include "loopstream.fullname" $ }}-storage
{{- end -}}
{{- end -}}
{{- end }}

{{/* The volume source of the media, as JSON. */}}
{{- define "loopstream.storageVolume" -}}
{{- with .Values.storage.file -}}
{{- if .volume -}}
{{- .volume | toJson -}}
{{- else -}}
{{- dict "persistentVolumeClaim" (dict "claimName" (.existingClaim | default (printf "%s-media" (include "loopstream.fullname" $)))) | toJson -}}
{{- end -}}
{{- end -}}
{{- end }}
