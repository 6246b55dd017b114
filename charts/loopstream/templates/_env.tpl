{{/* The operator's settings (docs/settings.md). It knows the namespace of an object where the URL of the storage names one. */}}
{{- define "loopstream.operatorEnv" -}}
{{- $storage := .Values.storage -}}
{{- $env := include "loopstream.settings.operator" . | fromYaml -}}
{{- $env = set $env "LOOPSTREAM_LOG_LEVEL" .Values.logLevel -}}
{{- $place := "{namespace}" -}}
{{- if not .Values.watchNamespaces }}{{ $place = include "loopstream.streamsNamespace" . }}{{ end -}}
{{- $env = set $env "LOOPSTREAM_REPORTS_URL" (printf "http://%s.%s.svc:9406" (include "loopstream.reportsName" .) .Release.Namespace) -}}
{{- $env = set $env "LOOPSTREAM_IMAGE" (include "loopstream.image" .) -}}
{{- $env = set $env "LOOPSTREAM_PREPARE_IMAGE" (include "loopstream.prepareImage" .) -}}
{{- $env = set $env "LOOPSTREAM_STORAGE_URL" (include "loopstream.storageUrl" (dict "root" . "namespace" $place)) -}}
{{- if eq $storage.type "file" -}}
{{- $env = set $env "LOOPSTREAM_STORAGE_MOUNT_PATH" $storage.file.mountPath -}}
{{- $env = set $env "LOOPSTREAM_STORAGE_VOLUME" (include "loopstream.storageVolume" .) -}}
{{- else -}}
{{- with include "loopstream.storageSecret" . }}{{ $env = set $env "LOOPSTREAM_STORAGE_SECRET" . }}{{ end -}}
{{- with $storage.s3.readOnlySecret }}{{ $env = set $env "LOOPSTREAM_STORAGE_READ_SECRET" . }}{{ end -}}
{{- $env = set $env "LOOPSTREAM_CACHE_BYTES" ($storage.s3.cacheBytes | int64 | toString) -}}
{{- end -}}
{{- with $storage.scratchVolume }}{{ $env = set $env "LOOPSTREAM_SCRATCH_VOLUME" (toJson .) }}{{ end -}}
{{- $placement := dict -}}
{{- with .Values.jobs -}}
{{- with .runtimeClassName }}{{ $placement = set $placement "runtimeClassName" . }}{{ end -}}
{{- with .nodeSelector }}{{ $placement = set $placement "nodeSelector" . }}{{ end -}}
{{- with .tolerations }}{{ $placement = set $placement "tolerations" . }}{{ end -}}
{{- with .affinity }}{{ $placement = set $placement "affinity" . }}{{ end -}}
{{- with .priorityClassName }}{{ $placement = set $placement "priorityClassName" . }}{{ end -}}
{{- end -}}
{{- with $placement }}{{ $env = set $env "LOOPSTREAM_JOB_PLACEMENT" (toJson .) }}{{ end -}}
{{- with .Values -}}
{{- $env = set $env "LOOPSTREAM_METERED" (toString (or .operator.metered .billing.enabled)) -}}
{{- if and .billing.enabled (not .operator.metered) }}{{ $env = set $env "LOOPSTREAM_METERED_NAMESPACES" (include "loopstream.accountNamespaces" $ | fromJsonArray | join ",") }}{{ end -}}
{{- $env = set $env "LOOPSTREAM_LIMITS" (dict "trial" .limits.trial "full" .limits.full | toJson) -}}
{{- end -}}
{{- include "loopstream.watchEnv" . }}
{{- range $name, $value := $env }}
- name: {{ $name }}
  value: {{ $value | quote }}
{{- end }}
{{- end }}

{{/* Where the operator and the role platform work. */}}
{{- define "loopstream.watchEnv" -}}
{{- if .Values.watchNamespaces }}
- name: LOOPSTREAM_WATCH_NAMESPACES
  value: {{ ternary "*" (join "," (include "loopstream.namespaces" . | fromJsonArray)) (not (empty (include "loopstream.watchesAll" .))) | quote }}
{{- else }}
- name: LOOPSTREAM_NAMESPACE
  value: {{ include "loopstream.streamsNamespace" . | quote }}
{{- end }}
- name: LOOPSTREAM_OPERATOR_NAMESPACE
  value: {{ .Release.Namespace | quote }}
{{- end }}

{{/* The keys that the role platform has of the platforms, as far as the Secret has them. */}}
{{- define "loopstream.platformEnv" -}}
{{- with .Values.platform.existingSecret }}
{{- range $name, $key := dict "LOOPSTREAM_YOUTUBE_API_KEY" "youtubeApiKey" "LOOPSTREAM_YOUTUBE_CLIENT_SECRET" "youtubeClientSecret" "LOOPSTREAM_TWITCH_CLIENT_SECRET" "twitchClientSecret" }}
- name: {{ $name }}
  valueFrom:
    secretKeyRef:
      name: {{ $.Values.platform.existingSecret }}
      key: {{ $key }}
      optional: true
{{- end }}
{{- end }}
{{- end }}

{{/* Where traces go. The pod's names are set before what refers to them. */}}
{{- define "loopstream.tracingEnv" -}}
{{- with .Values.tracing }}
{{- if .endpoint }}
- name: OTEL_EXPORTER_OTLP_ENDPOINT
  value: {{ .endpoint | quote }}
{{- if .existingSecret }}
- name: OTEL_EXPORTER_OTLP_HEADERS
  valueFrom:
    secretKeyRef:
      name: {{ .existingSecret }}
      key: {{ .existingSecretKey }}
{{- end }}
- name: OTEL_TRACES_SAMPLER
  value: {{ .sampler | quote }}
- name: OTEL_TRACES_SAMPLER_ARG
  value: {{ .ratio | quote }}
- name: POD_NAME
  valueFrom:
    fieldRef:
      fieldPath: metadata.name
- name: POD_NAMESPACE
  valueFrom:
    fieldRef:
      fieldPath: metadata.namespace
- name: OTEL_RESOURCE_ATTRIBUTES
  value: k8s.namespace.name=$(POD_NAMESPACE),k8s.pod.name=$(POD_NAME)
{{- end }}
{{- end }}
{{- end }}

{{/* Settings that come from values of the same meaning: `dict "root" $ "role" …`. */}}
{{- define "loopstream.settingsEnv" -}}
{{- range $name, $value := include (printf "loopstream.settings.%s" .role) .root | fromYaml }}
- name: {{ $name }}
  value: {{ $value | quote }}
{{- end }}
{{- end }}

{{/* Where the database is: `dict "root" $ "made" …`. */}}
{{- define "loopstream.databaseUrlEnv" -}}
- name: LOOPSTREAM_DATABASE_URL
  valueFrom:
    secretKeyRef:
      name: {{ .root.Values.database.existingSecret | default .made }}
      key: {{ ternary .root.Values.database.existingSecretKey "databaseUrl" (not (empty .root.Values.database.existingSecret)) }}
{{- end }}

{{/* What the API server and billing know alike of money. */}}
{{- define "loopstream.moneyEnv" -}}
- name: LOOPSTREAM_CURRENCY
  value: {{ .Values.billing.currency | quote }}
{{- with .Values.billing.prices }}
- name: LOOPSTREAM_PRICES
  value: {{ toJson . | quote }}
{{- end }}
{{- with .Values.billing.stripe }}
{{- if .existingSecret }}
- name: LOOPSTREAM_STRIPE_KEY
  valueFrom:
    secretKeyRef:
      name: {{ .existingSecret }}
      key: {{ .existingSecretKey }}
- name: LOOPSTREAM_STRIPE_WEBHOOK_SECRET
  valueFrom:
    secretKeyRef:
      name: {{ .existingSecret }}
      key: {{ .webhookSecretKey }}
- name: LOOPSTREAM_TOP_UP_MIN_MINOR
  value: {{ .minMinor | int64 | quote }}
- name: LOOPSTREAM_TOP_UP_MAX_MINOR
  value: {{ .maxMinor | int64 | quote }}
{{- end }}
{{- end }}
{{- with .Values.billing.invoices.seller }}
- name: LOOPSTREAM_SELLER
  value: {{ toJson . | quote }}
{{- end }}
{{- with .Values.billing.crypto }}
{{- if or .existingSecret .networks }}
- name: LOOPSTREAM_CRYPTO_NETWORKS
  valueFrom:
    secretKeyRef:
      name: {{ .existingSecret | default (printf "%s-api" (include "loopstream.fullname" $)) }}
      key: {{ ternary .existingSecretKey "cryptoNetworks" (not (empty .existingSecret)) }}
- name: LOOPSTREAM_CRYPTO_QUOTE_SECONDS
  value: {{ .quoteSeconds | int | quote }}
{{- with .rates }}
- name: LOOPSTREAM_CRYPTO_RATES
  value: {{ toJson . | quote }}
{{- end }}
{{- with .ratesUrl }}
- name: LOOPSTREAM_CRYPTO_RATES_URL
  value: {{ . | quote }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}

{{/* Where the font for invoices is, in the API server. */}}
{{- define "loopstream.invoiceFontEnv" -}}
{{- if and .Values.billing.enabled .Values.billing.invoices.font }}
- name: LOOPSTREAM_INVOICE_FONT
  value: {{ printf "/fonts/%s" .Values.billing.invoices.font | quote }}
{{- end }}
{{- end }}

{{/* What the API server and the migration read of Secrets. */}}
{{- define "loopstream.databaseEnv" -}}
{{ include "loopstream.databaseUrlEnv" . }}
- name: LOOPSTREAM_AUTH_SECRET
  valueFrom:
    secretKeyRef:
      name: {{ .root.Values.api.auth.existingSecret | default .made }}
      key: {{ ternary .root.Values.api.auth.existingSecretKey "authSecret" (not (empty .root.Values.api.auth.existingSecret)) }}
{{- end }}

{{/* Whether the chart makes a Secret for the API server. */}}
{{- define "loopstream.apiSecretData" -}}
{{- with .Values.database.url }}
databaseUrl: {{ . | quote }}
{{- end }}
{{- with .Values.api.auth.secret }}
authSecret: {{ . | quote }}
{{- end }}
{{- end }}

{{/* What of money is in that Secret; the migration needs none of it. */}}
{{- define "loopstream.moneySecretData" -}}
{{- if .Values.billing.enabled }}
{{- with .Values.billing.crypto.networks }}
cryptoNetworks: {{ toJson . | quote }}
{{- end }}
{{- end }}
{{- end }}

{{/* Where the API server counts requests for all replicas: `dict "root" $ "made" …`. */}}
{{- define "loopstream.redisEnv" -}}
{{- with .root.Values.redis -}}
{{- if or .existingSecret .url -}}
- name: LOOPSTREAM_REDIS_URL
  valueFrom:
    secretKeyRef:
      name: {{ .existingSecret | default $.made }}
      key: {{ ternary .existingSecretKey "redisUrl" (not (empty .existingSecret)) }}
{{- end -}}
{{- end -}}
{{- end }}

{{/* By which server the API server sends mail: `dict "root" $ "made" …`. */}}
{{- define "loopstream.mailEnv" -}}
{{- with .root.Values.mail -}}
{{- if or .existingSecret .url -}}
- name: LOOPSTREAM_SMTP_URL
  valueFrom:
    secretKeyRef:
      name: {{ .existingSecret | default $.made }}
      key: {{ ternary .existingSecretKey "smtpUrl" (not (empty .existingSecret)) }}
- name: LOOPSTREAM_MAIL_FROM
  value: {{ .from | quote }}
{{- end -}}
{{- end -}}
{{- end }}

{{/* Where else people may sign in: `dict "root" $ "made" …`. */}}
{{- define "loopstream.oidcEnv" -}}
{{- with .root.Values.oidc -}}
{{- if .issuer -}}
- name: LOOPSTREAM_OIDC_ISSUER
  value: {{ .issuer | quote }}
- name: LOOPSTREAM_OIDC_CLIENT_ID
  value: {{ .clientId | quote }}
- name: LOOPSTREAM_OIDC_SIGN_UP
  value: {{ .signUp | quote }}
- name: LOOPSTREAM_OIDC_TRUST_EMAIL
  value: {{ .trustEmail | quote }}
{{- with .emailClaims }}
- name: LOOPSTREAM_OIDC_EMAIL_CLAIMS
  value: {{ join "," . | quote }}
{{- end }}
{{- with .name }}
- name: LOOPSTREAM_OIDC_NAME
  value: {{ . | quote }}
{{- end }}
{{- if or .existingSecret .clientSecret }}
- name: LOOPSTREAM_OIDC_CLIENT_SECRET
  valueFrom:
    secretKeyRef:
      name: {{ .existingSecret | default $.made }}
      key: {{ ternary .existingSecretKey "oidcClientSecret" (not (empty .existingSecret)) }}
{{- end }}
{{- end -}}
{{- end -}}
{{- end }}
