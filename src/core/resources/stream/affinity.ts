/**
 * Declares the affinity of a stream's pod, as in a pod's spec, with bounds on each list and text: a field without a schema takes a
 * megabyte into the memory of every process that watches streams. Pure: no I/O, no clock.
 *
 * https://kubernetes.io/docs/reference/kubernetes-api/workload-resources/pod-v1/#scheduling
 */
import { type Static, Type } from 'typebox';

const MAX_TERMS = 16;
const MAX_EXPRESSIONS = 16;
const MAX_VALUES = 64;
/** A prefix of 253 characters, a slash, and a name of 63. */
const KEY_LENGTH = 317;

const list = <T extends Parameters<typeof Type.Array>[0]>(item: T, maxItems: number, description: string) =>
  Type.Optional(Type.Array(item, { maxItems, description }));
const key = (description: string) => Type.String({ maxLength: KEY_LENGTH, description });
const weight = Type.Integer({ minimum: 1, maximum: 100, description: 'Weight of the term, from 1 to 100.' });

const requirement = (operators: string[]) =>
  Type.Object({
    key: key('Key of the label.'),
    operator: Type.Enum(operators, { description: `Comparison with the values: ${operators.join(', ')}.` }),
    values: list(Type.String({ maxLength: 253 }), MAX_VALUES, 'Values of the label.'),
  });

const NodeRequirement = requirement(['In', 'NotIn', 'Exists', 'DoesNotExist', 'Gt', 'Lt']);
const NodeTerm = Type.Object(
  {
    matchExpressions: list(NodeRequirement, MAX_EXPRESSIONS, 'Requirements of the labels of a node.'),
    matchFields: list(NodeRequirement, MAX_EXPRESSIONS, 'Requirements of the fields of a node.'),
  },
  { description: 'Requirements that a node fulfils together.' },
);

const LabelSelector = Type.Object(
  {
    matchLabels: Type.Optional(
      Type.Unsafe<Record<string, string>>({
        type: 'object',
        maxProperties: MAX_EXPRESSIONS,
        additionalProperties: { type: 'string', maxLength: 63 },
        description: 'Labels with their values.',
      }),
    ),
    matchExpressions: list(
      requirement(['In', 'NotIn', 'Exists', 'DoesNotExist']),
      MAX_EXPRESSIONS,
      'Requirements of labels.',
    ),
  },
  { description: 'Labels of the objects that are meant.' },
);

const PodTerm = Type.Object(
  {
    labelSelector: Type.Optional(LabelSelector),
    matchLabelKeys: list(
      Type.String({ maxLength: KEY_LENGTH }),
      MAX_EXPRESSIONS,
      'Keys of labels whose values are those of the new pod.',
    ),
    mismatchLabelKeys: list(
      Type.String({ maxLength: KEY_LENGTH }),
      MAX_EXPRESSIONS,
      'Keys of labels whose values differ from those of the new pod.',
    ),
    namespaceSelector: Type.Optional(LabelSelector),
    namespaces: list(Type.String({ maxLength: 63 }), MAX_VALUES, 'Namespaces of the other pods.'),
    topologyKey: key('Label of nodes that says which of them are together.'),
  },
  { description: 'Other pods, and the nodes that count as one place.' },
);

const podAffinity = (description: string) =>
  Type.Optional(
    Type.Object(
      {
        preferredDuringSchedulingIgnoredDuringExecution: list(
          Type.Object({ weight, podAffinityTerm: PodTerm }),
          MAX_TERMS,
          'Terms that a node should fulfil.',
        ),
        requiredDuringSchedulingIgnoredDuringExecution: list(PodTerm, MAX_TERMS, 'Terms that a node must fulfil.'),
      },
      { description },
    ),
  );

export const Affinity = Type.Object(
  {
    nodeAffinity: Type.Optional(
      Type.Object(
        {
          preferredDuringSchedulingIgnoredDuringExecution: list(
            Type.Object({ weight, preference: NodeTerm }),
            MAX_TERMS,
            'Terms that a node should fulfil.',
          ),
          requiredDuringSchedulingIgnoredDuringExecution: Type.Optional(
            Type.Object(
              {
                nodeSelectorTerms: Type.Array(NodeTerm, {
                  maxItems: MAX_TERMS,
                  description: 'Terms of which a node must fulfil one.',
                }),
              },
              { description: 'Nodes that the pod may run on at all.' },
            ),
          ),
        },
        { description: 'Nodes that the pod may run on.' },
      ),
    ),
    podAffinity: podAffinity('Pods beside which the pod runs.'),
    podAntiAffinity: podAffinity('Pods beside which the pod does not run.'),
  },
  { description: 'Affinity of the pod: nodeAffinity, podAffinity and podAntiAffinity, as in a pod’s spec.' },
);
export type Affinity = Static<typeof Affinity>;
