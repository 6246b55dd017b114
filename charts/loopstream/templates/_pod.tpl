{{/* What every pod of the chart has in common; it fits Pod Security `restricted`. */}}
{{- define "loopstream.podSecurity" -}}
enableServiceLinks: false
securityContext:
  runAsNonRoot: true
  runAsUser: 10001
  runAsGroup: 10001
  fsGroup: 10001
  # The media volume may hold millions of files: their owner is not set again at each start.
  fsGroupChangePolicy: OnRootMismatch
  seccompProfile:
    type: RuntimeDefault
{{- with .Values.imagePullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{- define "loopstream.containerBase" -}}
image: {{ include "loopstream.image" . | quote }}
{{ include "loopstream.containerSecurity" . }}
{{- end }}

{{/* A container of any image. */}}
{{- define "loopstream.containerSecurity" -}}
imagePullPolicy: {{ .Values.image.pullPolicy }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities:
    drop: [ALL]
volumeMounts:
  - name: tmp
    mountPath: /tmp
{{- end }}

{{- define "loopstream.volumes" -}}
volumes:
  - name: tmp
    emptyDir:
      sizeLimit: 64Mi
{{- end }}

{{/* The port of the metrics of a component. */}}
{{- define "loopstream.opsPort" -}}
{{- get (dict "operator" "9401" "api" "9402" "billing" "9404" "platform" "9407") . -}}
{{- end }}

{{/* metadata of the pods of a Deployment: `dict "root" $ "component" … "selector" <yaml> "checksum" …`. */}}
{{- define "loopstream.podMetadata" -}}
{{- $settings := index .root.Values .component -}}
{{- $scraped := dict -}}
{{- if .root.Values.monitoring.scrapeAnnotations }}{{ $scraped = dict "prometheus.io/scrape" "true" "prometheus.io/port" (include "loopstream.opsPort" .component) "prometheus.io/path" "/metrics" }}{{ end -}}
{{- $annotations := mustMergeOverwrite $scraped .root.Values.commonAnnotations $settings.podAnnotations -}}
{{- with .checksum }}{{ $annotations = set $annotations "checksum/config" . }}{{ end -}}
labels:
  {{- mustMergeOverwrite (dict) $settings.podLabels (include "loopstream.labels" . | fromYaml) (.selector | fromYaml) | toYaml | nindent 2 }}
{{- with $annotations }}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{/*
Each replica on a node of its own, and in a zone of its own, where possible. Constraints of topology would not do: the scheduler ignores
those for nodes without one of the keys, and many clusters have no zones (pkg/scheduler/framework/plugins/podtopologyspread/scoring.go).
The context is the selector.
*/}}
{{- define "loopstream.apart" -}}
preferredDuringSchedulingIgnoredDuringExecution:
  {{- range $key, $weight := dict "kubernetes.io/hostname" 100 "topology.kubernetes.io/zone" 50 }}
  - weight: {{ $weight }}
    podAffinityTerm:
      topologyKey: {{ $key }}
      matchLabelKeys: [pod-template-hash]
      labelSelector:
        matchLabels:
          {{- $ | nindent 10 }}
  {{- end }}
{{- end }}

{{/* Where the pods of a Deployment may run: `dict "root" $ "component" … "selector" <yaml>`. */}}
{{- define "loopstream.placement" -}}
{{- $settings := index .root.Values .component -}}
{{- with $settings.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $settings.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- $affinity := deepCopy $settings.affinity -}}
{{- if not (or $settings.topologySpreadConstraints (hasKey $affinity "podAntiAffinity")) -}}
{{- $affinity = set $affinity "podAntiAffinity" (include "loopstream.apart" .selector | fromYaml) -}}
{{- end -}}
{{- with $affinity }}
affinity:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $settings.topologySpreadConstraints }}
topologySpreadConstraints:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $settings.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- end }}

{{/* Alive: with time for a machine under load. Ready: looked at often. */}}
{{- define "loopstream.probes" -}}
startupProbe:
  httpGet: { path: /healthz, port: ops }
  periodSeconds: 2
  timeoutSeconds: 2
  failureThreshold: 60
readinessProbe:
  httpGet: { path: /readyz, port: ops }
  periodSeconds: 5
  timeoutSeconds: 4
livenessProbe:
  httpGet: { path: /healthz, port: ops }
  periodSeconds: 10
  timeoutSeconds: 5
  failureThreshold: 6
{{- end }}
