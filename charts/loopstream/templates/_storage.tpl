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

{{/* Whether the API server's pod is elsewhere than what it writes: no claim and no Secret is mounted from another namespace. */}}
{{- define "loopstream.apiIsApart" -}}
{{- if ne (include "loopstream.apiNamespace" .) .Release.Namespace }}yes{{ end -}}
{{- end }}

{{/* Name of the Secret for S3 in the namespace of the API server's pod; empty where there is none. */}}
{{- define "loopstream.apiStorageSecret" -}}
{{- with .Values.storage.s3 -}}
{{- if not (include "loopstream.apiIsApart" $) -}}
{{- include "loopstream.storageSecret" $ -}}
{{- else if .apiSecret -}}
{{- .apiSecret -}}
{{- else if or .accessKeyId (not (include "loopstream.namedNamespaces" $ | fromJsonArray)) -}}
{{- include "loopstream.storageSecret" $ -}}
{{- end -}}
{{- end -}}
{{- end }}

{{/* The volume of the media in the API server's pod, as JSON; empty where it can have none. */}}
{{- define "loopstream.apiStorageVolume" -}}
{{- with .Values.storage.file -}}
{{- if or (not (include "loopstream.apiIsApart" $)) .volume -}}
{{- include "loopstream.storageVolume" $ -}}
{{- else if .apiClaim -}}
{{- dict "persistentVolumeClaim" (dict "claimName" .apiClaim) | toJson -}}
{{- end -}}
{{- end -}}
{{- end }}

{{/* Whether the API server can keep what clients send; elsewhere uploads come from links alone. */}}
{{- define "loopstream.apiStores" -}}
{{- if eq .Values.storage.type "file" -}}
{{- include "loopstream.apiStorageVolume" . -}}
{{- else if or (not (include "loopstream.storageSecret" .)) (include "loopstream.apiStorageSecret" .) -}}
yes
{{- end -}}
{{- end }}

{{- define "loopstream.apiStorageEnv" -}}
{{- if include "loopstream.apiStores" . -}}
- name: LOOPSTREAM_STORAGE_URL
  value: {{ include "loopstream.storageUrl" (dict "root" . "namespace" (ternary "{namespace}" (include "loopstream.apiNamespace" .) (not (empty .Values.api.cellNamespaces)))) | quote }}
{{- if and (eq .Values.storage.type "s3") (include "loopstream.apiStorageSecret" .) }}
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
{{- else if include "loopstream.apiStorageSecret" . -}}
- name: storage-credentials
  mountPath: /etc/loopstream/storage
  readOnly: true
{{- end -}}
{{- end -}}
{{- end }}

{{- define "loopstream.apiStorageVolumes" -}}
{{- if include "loopstream.apiStores" . -}}
{{- if eq .Values.storage.type "file" -}}
- {{ merge (dict "name" "storage") (include "loopstream.apiStorageVolume" . | fromJson) | toJson }}
{{- else if include "loopstream.apiStorageSecret" . -}}
- name: storage-credentials
  secret:
    secretName: {{ include "loopstream.apiStorageSecret" . }}
    defaultMode: 0440
    items:
      - key: accessKeyId
        path: accessKeyId
      - key: secretAccessKey
        path: secretAccessKey
{{- end -}}
{{- end -}}
{{- end }}
