/**
 * Declares the values that keep tenants apart from the service and from networks that are not theirs. Pure: no I/O, no
 * clock.
 */
import { flag, group, list, native, strings, text } from './schema.ts';

const DNS_LABEL = '^([a-z0-9]([-a-z0-9]*[a-z0-9])?)?$';

export const streamsNamespace = group(
  'The namespace of the streams, where `namespaces` names none: beside no secret of the service.',
  {
    name: text(
      'Its name. When empty: `<release namespace>-streams`, or the release’s own namespace where a release before this one keeps its streams there.',
      '',
      { pattern: DNS_LABEL, maxLength: 63 },
    ),
    create: flag(
      'Make it, unless it is the release’s own. It stays when the release is uninstalled. Otherwise it must exist.',
      true,
    ),
    labels: strings('Labels of it besides `pod-security.kubernetes.io/enforce: restricted`.'),
    annotations: strings('Annotations of it.'),
  },
);

export const networkPolicy = group('NetworkPolicies.', {
  enabled: flag('Make them: what listens is reached by those who need it.', true),
  apiFrom: native('Who may reach the API (NetworkPolicyPeer); everybody when empty.', []),
  metricsFrom: native('Who may reach the metrics (NetworkPolicyPeer); any pod of the cluster unless told.', [
    { namespaceSelector: {} },
  ]),
  mediaTo: native(
    'Where streams, imports and destination tests may connect to (NetworkPolicyEgressRule), in place of all public addresses; `[{}]` is anywhere.',
    [],
  ),
  mediaAlsoTo: native(
    'Where they may connect to besides, e.g. an RTMP server with a private address (NetworkPolicyEgressRule).',
    [],
  ),
  storageTo: native(
    'Where streams and Jobs find S3 (NetworkPolicyEgressRule). When empty: the address or the `*.svc` namespace in `storage.s3.endpoint`, or public addresses. A host name that leads to a private address needs this value.',
    [],
  ),
  dnsTo: native('Who answers DNS, at port 53 (NetworkPolicyPeer): kube-dns and the cache on the node unless told.', [
    {
      namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'kube-system' } },
      podSelector: { matchLabels: { 'k8s-app': 'kube-dns' } },
    },
    { ipBlock: { cidr: '169.254.20.10/32' } },
  ]),
  privateNetworks: list(
    'Networks that count as private besides the usual ones: those of pods, Services and nodes where they are public, e.g. `198.51.100.0/24`.',
    { type: 'string', pattern: '^[0-9a-fA-F.:]+/[0-9]{1,3}$' },
  ),
});

const QUANTITY = '^[0-9]+(\\.[0-9]+)?(m|k|Ki|M|Mi|G|Gi|T|Ti|P|Pi)?$';

export const policies = group('ValidatingAdmissionPolicies, which bound what RBAC cannot.', {
  enabled: flag(
    'Bound what the service’s own accounts may write: Secrets of our names alone, pods and Jobs of our image without rights, volumes of the host or a token.',
    true,
  ),
  images: list(
    'Repositories besides `image` whose images pods of streams and Jobs may have, e.g. `registry.example.com/loopstream-old` while it is left.',
    { type: 'string', minLength: 1 },
  ),
  template: group('What people may say in `spec.template` of a LoopStream, for clusters that several teams share.', {
    enabled: flag('Bound it. What was stored before stays until it is edited.', false),
    priorityClassNames: list('PriorityClasses that may be named.', { type: 'string', minLength: 1 }),
    runtimeClassNames: list('RuntimeClasses that may be named.', { type: 'string', minLength: 1 }),
    placement: flag('Let people choose nodes: `nodeSelector`, `tolerations` and `affinity`.', false),
    metadata: flag('Let people add labels and annotations to pods.', true),
    maxCpu: text('The most that `limits.cpu` may be.', '2', { pattern: QUANTITY }),
    maxMemory: text('The most that `limits.memory` may be.', '2Gi', { pattern: QUANTITY }),
  }),
  destinations: group('Which Secrets a Destination may name.', {
    secretPrefix: text(
      'What their names begin with, e.g. `rtmp-`; those that the API server makes (`dst-…`) are always allowed. Any Secret when empty.',
      '',
      { pattern: '^([a-z0-9]([-a-z0-9.]*)?)?$', maxLength: 200 },
    ),
  }),
});
