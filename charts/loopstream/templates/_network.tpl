{{/* Where pods of streams and Jobs may connect to: lists of NetworkPolicyEgressRule and their parts, as JSON. */}}

{{/*
Every public address. IPv6 is 2000::/3, the global unicast addresses, without those that lead to an IPv4 address (Teredo,
6to4) or stand in documents: fc00::/7, fe80::/10, ::1, 64:ff9b::/96 and ff00::/8 lie outside of it.
*/}}
{{- define "loopstream.publicPeers" -}}
{{- $four := list "0.0.0.0/8" "10.0.0.0/8" "100.64.0.0/10" "127.0.0.0/8" "169.254.0.0/16" "172.16.0.0/12" "192.0.0.0/24" "192.88.99.0/24" "192.168.0.0/16" "198.18.0.0/15" "224.0.0.0/4" "240.0.0.0/4" -}}
{{- $six := list "2001::/23" "2001:db8::/32" "2002::/16" "3fff::/20" -}}
{{- range .Values.networkPolicy.privateNetworks -}}
{{- if regexMatch "^[23]...:" . }}{{ $six = append $six . }}{{ else if not (contains ":" .) }}{{ $four = append $four . }}{{ end -}}
{{- end -}}
{{- list (dict "ipBlock" (dict "cidr" "0.0.0.0/0" "except" $four)) (dict "ipBlock" (dict "cidr" "2000::/3" "except" $six)) | toJson -}}
{{- end }}

{{- define "loopstream.dnsRules" -}}
{{- $ports := list (dict "port" 53 "protocol" "UDP") (dict "port" 53 "protocol" "TCP") -}}
{{- list (dict "to" .Values.networkPolicy.dnsTo "ports" $ports) | toJson -}}
{{- end }}

{{- define "loopstream.mediaRules" -}}
{{- $public := list (dict "to" (include "loopstream.publicPeers" . | fromJsonArray)) -}}
{{- concat (.Values.networkPolicy.mediaTo | default $public) .Values.networkPolicy.mediaAlsoTo | toJson -}}
{{- end }}

{{/* The pods on air, where the operator watches: peers that may report to it. */}}
{{- define "loopstream.streamerPeers" -}}
{{- $pods := dict "matchLabels" (dict "app.kubernetes.io/name" "loopstream" "app.kubernetes.io/managed-by" "loopstream" "app.kubernetes.io/component" "streamer") -}}
{{- $namespaces := dict -}}
{{- if not (include "loopstream.watchesAll" .) -}}
{{- $namespaces = dict "matchExpressions" (list (dict "key" "kubernetes.io/metadata.name" "operator" "In" "values" (include "loopstream.namespaces" . | fromJsonArray))) -}}
{{- end -}}
{{- list (dict "namespaceSelector" $namespaces "podSelector" $pods) | toJson -}}
{{- end }}

{{/* Where the pods on air report. */}}
{{- define "loopstream.reportRules" -}}
{{- $operators := dict
  "namespaceSelector" (dict "matchLabels" (dict "kubernetes.io/metadata.name" .Release.Namespace))
  "podSelector" (dict "matchLabels" (include "loopstream.selector" (dict "root" . "component" "operator") | fromYaml)) -}}
{{- list (dict "to" (list $operators) "ports" (list (dict "port" 9406 "protocol" "TCP"))) | toJson -}}
{{- end }}

{{/* kubelet mounts a volume, so that storage in files needs no rule. A Service's namespace is open at every port: policies
see the ports of its pods. */}}
{{- define "loopstream.storageRules" -}}
{{- $rules := list -}}
{{- if .Values.networkPolicy.storageTo -}}
{{- $rules = .Values.networkPolicy.storageTo -}}
{{- else if eq .Values.storage.type "s3" -}}
{{- $endpoint := .Values.storage.s3.endpoint | default "https://s3.amazonaws.com" -}}
{{- $url := urlParse $endpoint -}}
{{- $given := regexFind ":[0-9]+$" $url.host | trimPrefix ":" -}}
{{- $port := $given | default (ternary "443" "80" (eq $url.scheme "https")) | int -}}
{{- $ports := list (dict "port" $port "protocol" "TCP") -}}
{{- $host := $url.hostname | trimPrefix "[" | trimSuffix "]" -}}
{{- if regexMatch "^[0-9]+(\\.[0-9]+){3}$" $host -}}
{{- $rules = list (dict "to" (list (dict "ipBlock" (dict "cidr" (printf "%s/32" $host)))) "ports" $ports) -}}
{{- else if contains ":" $host -}}
{{- $rules = list (dict "to" (list (dict "ipBlock" (dict "cidr" (printf "%s/128" $host)))) "ports" $ports) -}}
{{- else if regexMatch "^[^.]+\\.[^.]+\\.svc(\\.|$)" $host -}}
{{- $namespace := index (splitList "." $host) 1 -}}
{{- $rules = list (dict "to" (list (dict "namespaceSelector" (dict "matchLabels" (dict "kubernetes.io/metadata.name" $namespace))))) -}}
{{- else -}}
{{- $rules = list (dict "to" (include "loopstream.publicPeers" . | fromJsonArray) "ports" $ports) -}}
{{- end -}}
{{- end -}}
{{- $rules | toJson -}}
{{- end }}

{{/* What a Job may reach that reads storage alone. An installation that has said where media goes, and not where storage is,
has storage among the former. */}}
{{- define "loopstream.renditionRules" -}}
{{- with .Values.networkPolicy -}}
{{- if and .mediaTo (not .storageTo) -}}
{{- concat .mediaTo (include "loopstream.storageRules" $ | fromJsonArray) | toJson -}}
{{- else -}}
{{- include "loopstream.storageRules" $ -}}
{{- end -}}
{{- end -}}
{{- end }}

{{/* Where the role platform looks: at Kubernetes, at the pods on air, and at what viewers see. A policy sees the addresses behind the
Service of Kubernetes, which a cloud may change at any time. */}}
{{- define "loopstream.platformRules" -}}
{{- $kubernetes := dict "ports" (list (dict "port" 443 "protocol" "TCP") (dict "port" 6443 "protocol" "TCP")) -}}
{{- with .Values.networkPolicy.kubernetesTo }}{{ $kubernetes = dict "to" . }}{{ end -}}
{{- $streamers := dict "to" (include "loopstream.streamerPeers" . | fromJsonArray) "ports" (list (dict "port" 9400 "protocol" "TCP")) -}}
{{- concat (list $kubernetes $streamers) (include "loopstream.mediaRules" . | fromJsonArray) | toJson -}}
{{- end }}
