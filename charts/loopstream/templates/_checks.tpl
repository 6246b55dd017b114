{{/* Refuses a cluster whose objects may be stored as v1alpha1. Without a look into the cluster, Kubernetes itself refuses the definitions. */}}
{{- define "loopstream.refuseOldVersion" -}}
{{- $old := list -}}
{{- range list "loopstreams" "playlists" "uploads" "destinations" -}}
{{- $name := printf "%s.loopstream.dev" . -}}
{{- $live := lookup "apiextensions.k8s.io/v1" "CustomResourceDefinition" "" $name | default dict -}}
{{- if has "v1alpha1" (dig "status" "storedVersions" (list) $live) -}}{{- $old = append $old $name -}}{{- end -}}
{{- end -}}
{{- with $old -}}
{{- fail (printf "Kubernetes may hold objects of %s as v1alpha1, which loopstream does not read any more. Migrate or delete them first: see docs/upgrade.md, \"From v1alpha1\"." (join ", " .)) -}}
{{- end -}}
{{- end }}

{{/* What the schema cannot say: values that do not go together. Each sentence names the value to change. */}}
{{- define "loopstream.checks" -}}
{{- include "loopstream.refuseOldVersion" . -}}
{{- $gone := ternary (list "conversion") list (hasKey .Values "conversion") -}}
{{- range $path := list "crds.alpha" "crds.storageVersion" "networkPolicy.conversionFrom" -}}
{{- $names := splitList "." $path -}}
{{- if hasKey (index $.Values (first $names)) (last $names) -}}{{- $gone = append $gone $path -}}{{- end -}}
{{- end -}}
{{- with $gone -}}
{{- fail (printf "%s: v1beta1 is the only version now, and nothing converts any more. Remove these values, or upgrade with --reset-then-reuse-values if you have set none of them: see docs/upgrade.md, \"From v1alpha1\"." (join ", " .)) -}}
{{- end -}}
{{- with .Values.namespaces -}}
{{- fail (printf "namespaces is watchNamespaces now, and one operator watches them all. Write watchNamespaces: %s instead: see README.md of the chart, \"Several namespaces\"." (toJson .)) -}}
{{- end -}}
{{- if and (include "loopstream.namedNamespaces" . | fromJsonArray) .Values.streamsNamespace.name -}}
{{- fail "watchNamespaces and streamsNamespace.name exclude each other: name all namespaces in watchNamespaces." -}}
{{- end -}}
{{- $namespaces := include "loopstream.namespaces" . | fromJsonArray -}}
{{- with lookup "apps/v1" "Deployment" .Release.Namespace (printf "%s-operator" (include "loopstream.fullname" .)) -}}
{{- $watched := get .spec.selector.matchLabels "loopstream.dev/watches" -}}
{{- if and $watched (not (has $watched $namespaces)) -}}
{{- if $.Values.watchNamespaces -}}
{{- if not (include "loopstream.watchesAll" $) -}}
{{- fail (printf "watchNamespaces does not name %s, where streams of this release are. No operator would manage them. Add it." $watched) -}}
{{- end -}}
{{- else -}}
{{- fail (printf "streamsNamespace.name is %s, but the streams of this release are in %s, where no operator would manage them. Set it to %s, or move the service: see README.md of the chart, \"Streams in a namespace of their own\"." (first $namespaces) $watched $watched) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- with .Values.operator -}}
{{- if and (gt (int .replicas) 1) (not .leaderElection) -}}
{{- fail "operator.replicas is more than 1, so operator.leaderElection must be true. Without it, two operators conflict with each other." -}}
{{- end -}}
{{- end -}}
{{- if eq .Values.storage.type "s3" -}}
{{- with .Values.storage.s3 -}}
{{- if not .bucket -}}
{{- fail "storage.s3.bucket is empty. Set the bucket, because storage.type is s3." -}}
{{- end -}}
{{- if ne (empty .accessKeyId) (empty .secretAccessKey) -}}
{{- fail "storage.s3.accessKeyId and storage.s3.secretAccessKey go together: set both or neither." -}}
{{- end -}}
{{- if and .existingSecret .accessKeyId -}}
{{- fail "storage.s3.existingSecret and storage.s3.accessKeyId exclude each other." -}}
{{- end -}}
{{- if and (include "loopstream.watchesSeveral" $) (not .perNamespace) $.Values.operator.sweep.enabled -}}
{{- fail "several namespaces share one prefix of the bucket, so a sweep of one would delete the media of the others. Set storage.s3.perNamespace=true or operator.sweep.enabled=false." -}}
{{- end -}}
{{- end -}}
{{- else if and .Values.storage.file.existingClaim .Values.storage.file.volume -}}
{{- fail "storage.file.existingClaim and storage.file.volume exclude each other." -}}
{{- else if and .Values.storage.file.volume (not .Values.storage.file.volume.persistentVolumeClaim) (include "loopstream.watchesSeveral" .) .Values.operator.sweep.enabled -}}
{{- fail "several namespaces share storage.file.volume, so a sweep of one would delete the media of the others. Use a claim in each namespace (storage.file.existingClaim), or set operator.sweep.enabled=false." -}}
{{- end -}}
{{- if and .Values.billing.enabled (not .Values.api.enabled) -}}
{{- fail "billing needs the API server: set api.enabled=true or billing.enabled=false." -}}
{{- end -}}
{{- if .Values.billing.enabled -}}
{{- with .Values.billing.stripe -}}
{{- if and (gt (int64 .maxMinor) 0) (gt (int64 .minMinor) (int64 .maxMinor)) -}}
{{- fail "billing.stripe.minMinor is more than billing.stripe.maxMinor." -}}
{{- end -}}
{{- end -}}
{{- with .Values.billing.invoices -}}
{{- if and .font (not .fontVolume) -}}
{{- fail "billing.invoices.fontVolume is empty. Set the volume that contains the file billing.invoices.font." -}}
{{- end -}}
{{- end -}}
{{- with .Values.billing.crypto -}}
{{- if and .networks .existingSecret -}}
{{- fail "billing.crypto.networks and billing.crypto.existingSecret exclude each other." -}}
{{- end -}}
{{- if and (or .networks .existingSecret) (eq (empty .rates) (empty .ratesUrl)) -}}
{{- fail "crypto deposits need prices: set one of billing.crypto.rates and billing.crypto.ratesUrl." -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- if .Values.api.enabled -}}
{{- if not (or .Values.database.url .Values.database.existingSecret) -}}
{{- fail "the API server needs PostgreSQL: set database.existingSecret or database.url, or disable the API server with api.enabled=false." -}}
{{- end -}}
{{- if and .Values.database.url .Values.database.existingSecret -}}
{{- fail "database.url and database.existingSecret exclude each other." -}}
{{- end -}}
{{- if and .Values.redis.url .Values.redis.existingSecret -}}
{{- fail "redis.url and redis.existingSecret exclude each other." -}}
{{- end -}}
{{- if and .Values.mail.url .Values.mail.existingSecret -}}
{{- fail "mail.url and mail.existingSecret exclude each other." -}}
{{- end -}}
{{- if and (or .Values.mail.url .Values.mail.existingSecret) (not .Values.mail.from) -}}
{{- fail "mail.from is empty. Set the sender, because mail servers reject mails without one." -}}
{{- end -}}
{{- if and .Values.oidc.clientSecret .Values.oidc.existingSecret -}}
{{- fail "oidc.clientSecret and oidc.existingSecret exclude each other." -}}
{{- end -}}
{{- if and .Values.oidc.issuer (not .Values.oidc.clientId) -}}
{{- fail "oidc.clientId is empty. Set the client id of this service at the provider." -}}
{{- end -}}
{{- if not (or .Values.api.auth.secret .Values.api.auth.existingSecret) -}}
{{- fail "the API server needs a key that signs sessions: set api.auth.existingSecret, or set api.auth.secret to 32 random characters (openssl rand -hex 32)." -}}
{{- end -}}
{{- if and .Values.api.auth.secret .Values.api.auth.existingSecret -}}
{{- fail "api.auth.secret and api.auth.existingSecret exclude each other." -}}
{{- end -}}
{{- if not (has (include "loopstream.apiNamespace" .) $namespaces) -}}
{{- fail (printf "api.namespace is %s, which is not among the watched namespaces. No operator would manage the objects of the API server there." .Values.api.namespace) -}}
{{- end -}}
{{- if .Values.api.cellNamespaces -}}
{{- if and (eq .Values.storage.type "file") (not .Values.storage.file.volume) (include "loopstream.apiStores" .) -}}
{{- fail "api.cellNamespaces needs a storage that the API server reaches for each of them: the claim of one namespace cannot be mounted from another. Set storage.type=s3, or a shared storage.file.volume." -}}
{{- end -}}
{{- if and (eq .Values.storage.type "s3") (not .Values.storage.s3.perNamespace) .Values.operator.sweep.enabled -}}
{{- fail "the namespaces of api.cellNamespaces share one prefix of the bucket, so a sweep of one would delete the media of the others. Set storage.s3.perNamespace=true or operator.sweep.enabled=false." -}}
{{- end -}}
{{- end -}}
{{- $isOpen := false -}}
{{- range include "loopstream.accountNamespaces" . | fromJsonArray -}}
{{- if not (has . $.Values.api.fullNamespaces) -}}{{- $isOpen = true -}}{{- end -}}
{{- end -}}
{{- if not $isOpen -}}
{{- fail "api.fullNamespaces names all namespaces of accounts, so a new account would have none. Leave one of them out, or add one to api.cellNamespaces." -}}
{{- end -}}
{{- with .Values.api.autoscaling -}}
{{- if and .enabled (gt (int .minReplicas) (int .maxReplicas)) -}}
{{- fail "api.autoscaling.minReplicas is more than api.autoscaling.maxReplicas." -}}
{{- end -}}
{{- end -}}
{{- with .Values.api.httpRoute -}}
{{- if and .enabled (not .parentRefs) -}}
{{- fail "api.httpRoute.parentRefs is empty. Name the Gateway of the HTTPRoute." -}}
{{- end -}}
{{- end -}}
{{- with .Values.api.ingress -}}
{{- if and .enabled (not .hosts) -}}
{{- fail "api.ingress.hosts is empty. Name the hosts of the Ingress." -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end }}
