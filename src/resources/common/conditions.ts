/**
 * Declares conditions as Kubernetes writes them (KEP-1623; `metav1.Condition`) and the one list of reasons that keep a
 * stream off air. A readiness issue is a condition with status False: the same code, message and fix in REST, GraphQL
 * and `kubectl describe`. Pure: no I/O, no clock.
 */
import { type Static, Type } from 'typebox';

export const Condition = Type.Object({
  type: Type.String({ maxLength: 316, description: 'Type of the condition, e.g. MediaReady.' }),
  status: Type.Enum(['True', 'False', 'Unknown'], { description: 'Status of the condition: True, False or Unknown.' }),
  observedGeneration: Type.Optional(
    Type.Integer({ minimum: 0, description: 'Generation of the spec that this condition describes.' }),
  ),
  lastTransitionTime: Type.String({ format: 'date-time', description: 'Time at which the status last changed.' }),
  reason: Type.String({ maxLength: 1024, description: 'Stable code for programs, in CamelCase.' }),
  message: Type.String({
    maxLength: 32768,
    description: 'The state and the action to take, in one or two sentences.',
  }),
});
export type Condition = Static<typeof Condition>;

export const findCondition = (conditions: readonly Condition[] | undefined, type: string): Condition | undefined =>
  conditions?.find((c) => c.type === type);
