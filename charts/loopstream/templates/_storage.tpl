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

{{/*
Whether the API server can keep what clients send: its pod must be in the namespace whose media that is, because a claim or
a Secret cannot be mounted from another one. Elsewhere uploads come from links alone.
*/}}
{{- define "loopstream.apiStores" -}}
{{- $bound := or (eq .Values.storage.type "file") (include "loopstream.storageSecret" .) -}}
{{- if or (not $bound) (eq (include "loopstream.apiNamespace" .) .Release.Namespace) }}yes{{ end -}}
{{- end }}

{{- define "loopstream.apiStorageEnv" -}}
{{- if include "loopstream.apiStores" . -}}
- name: LOOPSTREAM_STORAGE_URL
  value: {{ include "loopstream.storageUrl" (dict "root" . "namespace" (include "loopstream.apiNamespace" .)) | quote }}
{{- if and (eq .Values.storage.type "s3") (include "loopstream.storageSecret" .) }}
- name: LOOPSTREAM_STORAGE_CREDENTIALS_DIR
  value: /etc/loopstream/storage
{{- end }}
{{- end -}}
{{- end }}

{{- define "loopstream.apiStorageMounts" -}}
{{- if include "loopstream.apiStores" . -}}
{{- if eq .Values.storage.type "file" -}}
- name: storage
  mountPath: {{ .Values.storage.file.mountPath }}
{{- else if include "loopstream.storageSecret" . -}}
- name: storage-credentials
  mountPath: /etc/loopstream/storage
  readOnly: true
{{- end -}}
{{- end -}}
{{- end }}

{{- define "loopstream.apiStorageVolumes" -}}
{{- if include "loopstream.apiStores" . -}}
{{- if eq .Values.storage.type "file" -}}
- {{ merge (dict "name" "storage") (include "loopstream.storageVolume" . | fromJson) | toJson }}
{{- else if include "loopstream.storageSecret" . -}}
- name: storage-credentials
  secret:
    secretName: {{ include "loopstream.storageSecret" . }}
    defaultMode: 0440
    items:
      - key: accessKeyId
        path: accessKeyId
      - key: secretAccessKey
        path: secretAccessKey
{{- end -}}
{{- end -}}
{{- end }}
