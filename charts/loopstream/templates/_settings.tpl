{{/* From src/core/settings/. Made by `npm run generate`; a test fails when it is not current. */}}
{{- define "loopstream.settings.operator" -}}
LOOPSTREAM_ALLOW_PRIVATE_LINKS: {{ .Values.operator.allowPrivateLinks | toString | quote }}
LOOPSTREAM_ALLOW_PRIVATE_DESTINATIONS: {{ .Values.operator.allowPrivateDestinations | toString | quote }}
LOOPSTREAM_MAX_SOURCE_BYTES: {{ .Values.uploads.maxSizeBytes | int64 | toString | quote }}
LOOPSTREAM_WORKERS: {{ .Values.operator.workers | int64 | toString | quote }}
LOOPSTREAM_SCRAPE_ANNOTATIONS: {{ .Values.monitoring.scrapeAnnotations | toString | quote }}
LOOPSTREAM_LEADER_ELECTION: {{ .Values.operator.leaderElection | toString | quote }}
LOOPSTREAM_ROLLOUT_SECONDS: {{ .Values.operator.rolloutSeconds | int64 | toString | quote }}
LOOPSTREAM_IMPORT_CONCURRENCY: {{ .Values.operator.importConcurrency | int64 | toString | quote }}
LOOPSTREAM_PREPARE_CONCURRENCY: {{ .Values.operator.prepareConcurrency | int64 | toString | quote }}
LOOPSTREAM_PREPARE_PODS: {{ .Values.operator.preparePods | int64 | toString | quote }}
LOOPSTREAM_MAX_PREPARE_SECONDS: {{ .Values.operator.maxPrepareSeconds | int64 | toString | quote }}
LOOPSTREAM_SHARE_RENDITIONS: {{ .Values.operator.shareRenditions | toString | quote }}
LOOPSTREAM_SWEEP: {{ .Values.operator.sweep.enabled | toString | quote }}
LOOPSTREAM_SWEEP_GRACE_HOURS: {{ .Values.operator.sweep.graceHours | int64 | toString | quote }}
LOOPSTREAM_KEEP_UNUSED_DAYS: {{ .Values.operator.sweep.keepUnusedDays | int64 | toString | quote }}
LOOPSTREAM_CONFINE: {{ .Values.confine | toString | quote }}
LOOPSTREAM_MAX_DURATION_SECONDS: {{ .Values.uploads.limits.durationSeconds | int64 | toString | quote }}
LOOPSTREAM_MAX_PIXELS: {{ .Values.uploads.limits.pixels | int64 | toString | quote }}
LOOPSTREAM_MAX_PROBE_SECONDS: {{ .Values.uploads.limits.probeSeconds | int64 | toString | quote }}
LOOPSTREAM_FETCH_TIMEOUT_SECONDS: {{ .Values.uploads.link.timeoutSeconds | int64 | toString | quote }}
LOOPSTREAM_MIN_FETCH_BYTES_PER_SECOND: {{ .Values.uploads.link.minBytesPerSecond | int64 | toString | quote }}
{{- end }}

{{- define "loopstream.settings.api" -}}
LOOPSTREAM_ALLOW_PRIVATE_LINKS: {{ .Values.operator.allowPrivateLinks | toString | quote }}
LOOPSTREAM_ALLOW_PRIVATE_DESTINATIONS: {{ .Values.operator.allowPrivateDestinations | toString | quote }}
LOOPSTREAM_MAX_SOURCE_BYTES: {{ .Values.uploads.maxSizeBytes | int64 | toString | quote }}
LOOPSTREAM_ALLOW_PRIVATE_WATCH: {{ .Values.platform.allowPrivateWatch | toString | quote }}
{{- if .Values.api.cellNamespaces }}
LOOPSTREAM_CELL_NAMESPACES: {{ join "," .Values.api.cellNamespaces | quote }}
{{- end }}
{{- if .Values.api.fullNamespaces }}
LOOPSTREAM_FULL_NAMESPACES: {{ join "," .Values.api.fullNamespaces | quote }}
{{- end }}
{{- if .Values.api.publicUrl }}
LOOPSTREAM_PUBLIC_URL: {{ .Values.api.publicUrl | toString | quote }}
{{- end }}
LOOPSTREAM_RATE_LIMIT_REQUESTS: {{ .Values.api.rateLimit.requests | int64 | toString | quote }}
{{- if .Values.api.trustProxy }}
LOOPSTREAM_TRUST_PROXY: {{ join "," .Values.api.trustProxy | quote }}
{{- end }}
LOOPSTREAM_TRUST_TRACEPARENT: {{ .Values.tracing.trustTraceparent | toString | quote }}
{{- if .Values.api.corsOrigins }}
LOOPSTREAM_CORS_ORIGINS: {{ join "," .Values.api.corsOrigins | quote }}
{{- end }}
LOOPSTREAM_SIGN_UP: {{ .Values.api.signUp | toString | quote }}
{{- if .Values.api.supportUrl }}
LOOPSTREAM_SUPPORT_URL: {{ .Values.api.supportUrl | toString | quote }}
{{- end }}
LOOPSTREAM_SIGN_IN_ATTEMPTS: {{ .Values.api.accessLimits.signInAttempts | int64 | toString | quote }}
LOOPSTREAM_CLIENT_REGISTRATIONS: {{ .Values.api.accessLimits.clientRegistrations | int64 | toString | quote }}
LOOPSTREAM_MAILS_PER_HOUR: {{ .Values.api.accessLimits.mailsPerHour | int64 | toString | quote }}
LOOPSTREAM_UNUSED_CLIENT_DAYS: {{ .Values.api.accessLimits.unusedClientDays | int64 | toString | quote }}
LOOPSTREAM_UPLOAD_QUOTA_COUNT: {{ .Values.uploads.quota.count | int64 | toString | quote }}
LOOPSTREAM_UPLOAD_QUOTA_BYTES: {{ .Values.uploads.quota.bytes | int64 | toString | quote }}
LOOPSTREAM_UPLOADS_AT_ONCE_PER_ACCOUNT: {{ .Values.uploads.sending.atOncePerAccount | int64 | toString | quote }}
LOOPSTREAM_UPLOADS_AT_ONCE: {{ .Values.uploads.sending.atOnce | int64 | toString | quote }}
LOOPSTREAM_UPLOAD_MEMORY_BYTES: {{ .Values.uploads.sending.memoryBytes | int64 | toString | quote }}
LOOPSTREAM_UPLOAD_MIN_BYTES_PER_SECOND: {{ .Values.uploads.sending.minBytesPerSecond | int64 | toString | quote }}
LOOPSTREAM_PREVIEWS_PER_SERVER: {{ .Values.api.previews.perServer | int64 | toString | quote }}
LOOPSTREAM_FEEDS_PER_SERVER: {{ .Values.api.feedsPerServer | int64 | toString | quote }}
LOOPSTREAM_WELCOME_GRANT_MINOR: {{ .Values.billing.welcomeGrant.minor | int64 | toString | quote }}
LOOPSTREAM_WELCOME_GRANTS_PER_DAY: {{ .Values.billing.welcomeGrant.perDay | int64 | toString | quote }}
{{- end }}

{{- define "loopstream.settings.billing" -}}
{{- if .Values.api.cellNamespaces }}
LOOPSTREAM_CELL_NAMESPACES: {{ join "," .Values.api.cellNamespaces | quote }}
{{- end }}
LOOPSTREAM_CREDIT_GRACE_SECONDS: {{ .Values.billing.graceSeconds | int64 | toString | quote }}
{{- end }}

{{- define "loopstream.settings.platform" -}}
LOOPSTREAM_LEADER_ELECTION: {{ .Values.operator.leaderElection | toString | quote }}
LOOPSTREAM_CONFINE: {{ .Values.confine | toString | quote }}
LOOPSTREAM_ALLOW_PRIVATE_WATCH: {{ .Values.platform.allowPrivateWatch | toString | quote }}
{{- if .Values.platform.youtube.clientId }}
LOOPSTREAM_YOUTUBE_CLIENT_ID: {{ .Values.platform.youtube.clientId | toString | quote }}
{{- end }}
LOOPSTREAM_YOUTUBE_BUDGET_UNITS: {{ .Values.platform.youtube.budgetUnits | int64 | toString | quote }}
{{- if .Values.platform.twitch.clientId }}
LOOPSTREAM_TWITCH_CLIENT_ID: {{ .Values.platform.twitch.clientId | toString | quote }}
{{- end }}
{{- end }}
