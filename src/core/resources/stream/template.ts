/**
 * Declares the settings that users may give the pod of a stream: its node, resources and labels. None of them can
 * weaken the Pod Security level `restricted`. Pure: no I/O, no clock.
 */
import { type Static, Type } from 'typebox';
import { OWN_PREFIXES } from '../common/names.ts';
import { Affinity } from './affinity.ts';

/** A Kubernetes quantity, such as 500m or 2Gi; a bare number is one too. */
type Quantity = string | number;
const MAX_ENTRIES = 64;
/** A template of this many characters of JSON is 100 times an ordinary one. */
export const MAX_TEMPLATE_CHARACTERS = 64 * 1024;

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

export const PodToleration = Type.Object({
  key: Type.Optional(Type.String({ maxLength: 317, description: 'Key of the taint. If not set, every key matches.' })),
  operator: Type.Optional(
    Type.Enum(['Exists', 'Equal'], { description: 'Comparison with the value of the taint: Exists or Equal.' }),
  ),
  value: Type.Optional(Type.String({ maxLength: 63, description: 'Value of the taint, used with Equal.' })),
  effect: Type.Optional(
    Type.Enum(['NoSchedule', 'PreferNoSchedule', 'NoExecute'], {
      description: 'Effect of the taint. If not set, every effect matches.',
    }),
  ),
  tolerationSeconds: Type.Optional(
    Type.Integer({
      minimum: 0,
      description: 'Time for which a NoExecute taint is tolerated, in seconds. If not set, there is no limit.',
    }),
  ),
});
export type PodToleration = Static<typeof PodToleration>;

export const Template = Type.Object(
  {
    resources: Type.Optional(
      Type.Object(
        {
          requests: Type.Optional(quantities('Resources reserved for the container, e.g. cpu: 50m and memory: 96Mi.')),
          limits: Type.Optional(quantities('Upper limits of the container’s resources.')),
        },
        { description: 'Resources of the container. They replace the operator’s defaults.' },
      ),
    ),
    nodeSelector: Type.Optional(texts(63, 'Labels that a node must have to run the pod.')),
    tolerations: Type.Optional(
      Type.Array(PodToleration, { maxItems: 32, description: 'Taints that the pod tolerates. At most 32.' }),
    ),
    affinity: Type.Optional(Affinity),
    labels: Type.Optional(
      texts(
        63,
        `Additional labels of the pod. Keys below ${OWN_PREFIXES.join(' and ')} are reserved for the operator.`,
      ),
    ),
    annotations: Type.Optional(texts(4096, 'Additional annotations of the pod.')),
    runtimeClassName: Type.Optional(
      Type.String({ minLength: 1, maxLength: 253, description: 'RuntimeClass of the pod.' }),
    ),
    priorityClassName: Type.Optional(
      Type.String({ minLength: 1, maxLength: 253, description: 'PriorityClass of the pod.' }),
    ),
  },
  { description: 'Settings of the streamer pod. After an edit, a new pod takes over from the running one.' },
);
export type Template = Static<typeof Template>;

/** The part of a template that says where the pod may run. */
export const PodPlacement = Type.Pick(
  Template,
  ['runtimeClassName', 'nodeSelector', 'tolerations', 'affinity', 'priorityClassName'],
  { additionalProperties: false },
);
export type PodPlacement = Static<typeof PodPlacement>;
