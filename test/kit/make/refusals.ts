/** Makes what refuses objects in a namespace of a real control plane (policies, webhooks, quotas), and removes it again. */
import { PODS } from '../../../src/core/kube/core.ts';
import type { Kube, KubeObject, Resource } from '../../../src/core/kube/types.ts';
import { until } from '../wait.ts';

const resource = (group: string, kind: string, plural: string, namespaced = false): Resource => ({
  group,
  version: 'v1',
  kind,
  plural,
  namespaced,
});
export const LIMIT_RANGES = resource('', 'LimitRange', 'limitranges', true);
export const QUOTAS = resource('', 'ResourceQuota', 'resourcequotas', true);
export const PRIORITY_CLASSES = resource('scheduling.k8s.io', 'PriorityClass', 'priorityclasses');
export const RUNTIME_CLASSES = resource('node.k8s.io', 'RuntimeClass', 'runtimeclasses');
const ADMISSION = 'admissionregistration.k8s.io';
const POLICIES = resource(ADMISSION, 'ValidatingAdmissionPolicy', 'validatingadmissionpolicies');
const BINDINGS = resource(ADMISSION, 'ValidatingAdmissionPolicyBinding', 'validatingadmissionpolicybindings');
const WEBHOOKS = resource(ADMISSION, 'ValidatingWebhookConfiguration', 'validatingwebhookconfigurations');

/** The words of a policy. */
export const NEEDS_TEAM = 'Everything needs the label team.';
/** The Secret that a test makes itself is accepted, also while a policy of the test before still counts for a moment. */
const HAS_TEAM =
  "object.metadata.name == 'tv-secret' || (has(object.metadata.labels) && has(object.metadata.labels.team))";

export interface Policy {
  group?: string;
  resources: string;
  operation?: 'CREATE' | 'DELETE';
  /** In CEL: what is accepted. Objects with a label `team` by default. */
  accepts?: string;
  /** The reason of its refusals. Kubernetes says Invalid where a policy has none. */
  reason?: string;
}

export type Refusals = ReturnType<typeof createRefusals>;

export function createRefusals(kube: Kube, namespace: string) {
  const made: [Resource, string][] = [];
  /** kube-apiserver may take a policy of the same name for the one that is gone. */
  let serial = 0;
  const namespaceSelector = { matchLabels: { 'kubernetes.io/metadata.name': namespace } };
  const match = (group: string, resources: string, operation: string) => ({
    apiGroups: [group],
    apiVersions: ['v1'],
    operations: [operation],
    resources: [resources],
  });

  async function make(kind: Resource, name: string, body: object): Promise<void> {
    const apiVersion = kind.group === '' ? 'v1' : `${kind.group}/v1`;
    const object = { apiVersion, kind: kind.kind, metadata: { name }, ...body };
    await kube.create(kind, kind.namespaced ? namespace : '', object as unknown as KubeObject);
    made.push([kind, name]);
  }

  /** kube-apiserver knows of a policy a moment after it is made, and forgets it a moment after it is gone. Nothing is written. */
  const untilRefused = (kind: Resource, object: object, words: string, isRefused = true) =>
    until(`${kind.plural} are ${isRefused ? 'refused' : 'accepted'}`, async () => {
      const prefix = kind.group === '' ? '/api/v1' : `/apis/${kind.group}/v1`;
      const path = `${prefix}/namespaces/${namespace}/${kind.plural}?dryRun=All`;
      const answer = await kube.raw('POST', path, {
        apiVersion: kind.group === '' ? 'v1' : `${kind.group}/v1`,
        kind: kind.kind,
        ...object,
      });
      return answer.text.includes(words) === isRefused;
    });

  return {
    make,
    async makePolicy({ group = '', resources, operation = 'CREATE', accepts = HAS_TEAM, reason }: Policy) {
      serial += 1;
      const name = `team-${serial}`;
      await make(POLICIES, name, {
        spec: {
          failurePolicy: 'Fail',
          matchConstraints: { resourceRules: [match(group, resources, operation)] },
          validations: [{ expression: accepts, message: NEEDS_TEAM, ...(reason && { reason }) }],
        },
      });
      const spec = { policyName: name, validationActions: ['Deny'], matchResources: { namespaceSelector } };
      await make(BINDINGS, name, { spec });
    },
    /** Nothing listens there. */
    makeWebhook: () =>
      make(WEBHOOKS, 'team.example.com', {
        webhooks: [
          {
            name: 'team.example.com',
            clientConfig: { url: 'https://127.0.0.1:1/' },
            rules: [match('', 'pods', 'CREATE')],
            namespaceSelector,
            failurePolicy: 'Fail',
            sideEffects: 'None',
            admissionReviewVersions: ['v1'],
          },
        ],
      }),
    untilRefused,
    untilPodsRefused: (words = NEEDS_TEAM) => untilRefused(PODS as Resource, PROBE, words),
    untilPodsAccepted: (words = NEEDS_TEAM) => untilRefused(PODS as Resource, PROBE, words, false),
    /** Removes all that was made. */
    async remove(): Promise<void> {
      for (const [kind, name] of made.splice(0).toReversed())
        await kube.delete(kind, kind.namespaced ? namespace : '', name);
    },
  };
}

/** A pod that the standard of Pod Security `restricted` accepts. */
export const PROBE = {
  metadata: { name: 'probe' },
  spec: {
    securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
    containers: [
      {
        name: 'x',
        image: 'x',
        resources: { requests: { cpu: '100m' } },
        securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
      },
    ],
  },
};
