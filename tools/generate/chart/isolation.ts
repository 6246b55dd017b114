/**
 * Declares the values that keep tenants apart from the service and from networks that are not theirs. Pure: no I/O, no
 * clock.
 */
import { flag, group, list, native, strings, text } from './schema.ts';

const DNS_LABEL = '^([a-z0-9]([-a-z0-9]*[a-z0-9])?)?$';

export const streamsNamespace = group(
  'The namespace of the streams, apart from the Secrets of the service. Used if `watchNamespaces` names none.',
  {
    name: text(
      'Its name. Defaults to `<release namespace>-streams`, or to the namespace of the release if an older release has its streams there.',
      '',
      { pattern: DNS_LABEL, maxLength: 63 },
    ),
    create: flag(
      'Create it, unless it is the namespace of the release. It stays when the release is uninstalled. If false, it must exist.',
      true,
    ),
    labels: strings('Its labels, in addition to `pod-security.kubernetes.io/enforce: restricted`.'),
    annotations: strings('Its annotations.'),
  },
);

export const networkPolicy = group('NetworkPolicies.', {
  enabled: flag('Create NetworkPolicies, which restrict the connections of every pod.', true),
  apiFrom: native('Peers that may connect to the API (NetworkPolicyPeer). Empty for all.', []),
  metricsFrom: native('Peers that may connect to the metrics (NetworkPolicyPeer). By default any pod of the cluster.', [
    { namespaceSelector: {} },
  ]),
  mediaTo: native(
    'Targets of streams, imports and destination tests (NetworkPolicyEgressRule), instead of all public addresses. `[{}]` allows every address.',
    [],
  ),
  mediaAlsoTo: native('Additional targets, e.g. an RTMP server with a private address (NetworkPolicyEgressRule).', []),
  storageTo: native(
    'Location of S3 for streams and Jobs (NetworkPolicyEgressRule). Defaults to the address or the `*.svc` namespace in `storage.s3.endpoint`, or else to public addresses. A host name with a private address needs this value.',
    [],
  ),
  dnsTo: native('DNS servers, at port 53 (NetworkPolicyPeer). By default kube-dns and the cache on the node.', [
    {
      namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'kube-system' } },
      podSelector: { matchLabels: { 'k8s-app': 'kube-dns' } },
    },
    { ipBlock: { cidr: '169.254.20.10/32' } },
  ]),
  kubernetesTo: native(
    'The API server of Kubernetes for the role `platform` (NetworkPolicyPeer), e.g. `[{ipBlock: {cidr: 192.0.2.1/32}}]`. By default every address at the ports 443 and 6443.',
    [],
  ),
  privateNetworks: list(
    'Additional private networks: those of pods, Services and nodes if they have public addresses, e.g. `198.51.100.0/24`.',
    { type: 'string', pattern: '^[0-9a-fA-F.:]+/[0-9]{1,3}$' },
  ),
});

const QUANTITY = '^[0-9]+(\\.[0-9]+)?(m|k|Ki|M|Mi|G|Gi|T|Ti|P|Pi)?$';

export const policies = group('ValidatingAdmissionPolicies, for limits that RBAC cannot express.', {
  enabled: flag(
    'Restrict the writes of the service accounts of loopstream: Secrets only with names of loopstream; pods and Jobs only with its images, and without privileges, host volumes or a token.',
    true,
  ),
  images: list(
    'Additional repositories for the images of streams and Jobs, e.g. `registry.example.com/loopstream-old` during a move.',
    { type: 'string', minLength: 1 },
  ),
  accountLabel: flag(
    'Let only the API server change the label `loopstream.dev/account`, and users with the right `assign` on `accounts` in the API group `loopstream.dev`, as administrators of the cluster have it. With `policies.enabled`.',
    true,
  ),
  template: group('Allowed values in `spec.template` of a LoopStream, for clusters that several teams share.', {
    enabled: flag('Restrict it. Existing objects stay valid until they are edited.', false),
    priorityClassNames: list('Allowed PriorityClasses.', { type: 'string', minLength: 1 }),
    runtimeClassNames: list('Allowed RuntimeClasses.', { type: 'string', minLength: 1 }),
    placement: flag('Allow `nodeSelector`, `tolerations` and `affinity`.', false),
    metadata: flag(
      'Allow labels and annotations of pods. Other admission controllers read them: a network beside the NetworkPolicies (Multus), a sidecar, or an identity.',
      false,
    ),
    maxCpu: text('Maximum of `limits.cpu`.', '2', { pattern: QUANTITY }),
    maxMemory: text('Maximum of `limits.memory`.', '2Gi', { pattern: QUANTITY }),
    maxEphemeralStorage: text('Maximum of `limits.ephemeral-storage`.', '10Gi', { pattern: QUANTITY }),
  }),
  destinations: group('Secrets that a Destination may name.', {
    secretPrefix: text(
      'Prefix of their names, e.g. `rtmp-`. Secrets of the API server (`dst-…`) are always allowed. Empty for any Secret.',
      '',
      { pattern: '^([a-z0-9]([-a-z0-9.]*)?)?$', maxLength: 200 },
    ),
  }),
});
