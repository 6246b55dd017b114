/**
 * Declares the settings that users may give the pod of a stream: its node, resources and labels. None of them can
 * weaken the Pod Security level `restricted`. Pure: no I/O, no clock.
 */
import { type Static, Type } from 'typebox';
import { OWN_PREFIXES } from '../common/names.ts';

/** A Kubernetes quantity, such as 500m or 2Gi; a bare number is one too. */
type Quantity = string | number;
const MAX_ENTRIES = 64;

const quantities = (description: string) =>
  Type.Unsafe<Record<string, Quantity>>({
    type: 'object',
    maxProperties: 16,
    additionalProperties: { 'x-kubernetes-int-or-string': true, maxLength: 64 },
    description,
  });
const texts = (maxLength: number, description: string) =>
  Type.Unsafe<Record<string, string>>({
    type: 'object',
    maxProperties: MAX_ENTRIES,
    additionalProperties: { type: 'string', maxLength },
    description,
  });

export const Toleration = Type.Object({
  key: Type.Optional(Type.String({ maxLength: 317, description: 'Key of the taint; every key, if left out.' })),
  operator: Type.Optional(Type.Enum(['Exists', 'Equal'], { description: 'How the value is compared.' })),
  value: Type.Optional(Type.String({ maxLength: 63, description: 'Value of the taint, for Equal.' })),
  effect: Type.Optional(
    Type.Enum(['NoSchedule', 'PreferNoSchedule', 'NoExecute'], { description: 'Effect; every one, if left out.' }),
  ),
  tolerationSeconds: Type.Optional(
    Type.Integer({ minimum: 0, description: 'How long a NoExecute taint is borne; for ever, if left out.' }),
  ),
});
export type Toleration = Static<typeof Toleration>;

export const Template = Type.Object(
  {
    resources: Type.Optional(
      Type.Object(
        {
          requests: Type.Optional(quantities('What is kept free for it, such as cpu: 50m and memory: 96Mi.')),
          limits: Type.Optional(quantities('What it may take at most.')),
        },
        { description: 'Of the container, in place of the operator’s own.' },
      ),
    ),
    nodeSelector: Type.Optional(texts(63, 'Labels that a node must have to be given the pod.')),
    tolerations: Type.Optional(
      Type.Array(Toleration, { maxItems: 32, description: 'Taints of nodes that the pod bears.' }),
    ),
    affinity: Type.Optional(
      Type.Unsafe<Record<string, unknown>>({
        type: 'object',
        'x-kubernetes-preserve-unknown-fields': true,
        description: 'As in a pod: nodeAffinity, podAffinity, podAntiAffinity.',
      }),
    ),
    labels: Type.Optional(texts(63, `Labels of the pod, besides the operator’s own (${OWN_PREFIXES.join(', ')}).`)),
    annotations: Type.Optional(texts(4096, 'Annotations of the pod, besides the operator’s own.')),
    runtimeClassName: Type.Optional(
      Type.String({ minLength: 1, maxLength: 253, description: 'RuntimeClass that runs the pod.' }),
    ),
    priorityClassName: Type.Optional(
      Type.String({ minLength: 1, maxLength: 253, description: 'PriorityClass: which pods give way to which.' }),
    ),
  },
  { description: 'What the pod is made with. An edit exchanges the pod for a new one, which takes over in a moment.' },
);
export type Template = Static<typeof Template>;

/** The part of a template that says where the pod may run. */
export const Placement = Type.Pick(
  Template,
  ['runtimeClassName', 'nodeSelector', 'tolerations', 'affinity', 'priorityClassName'],
  { additionalProperties: false },
);
export type Placement = Static<typeof Placement>;
