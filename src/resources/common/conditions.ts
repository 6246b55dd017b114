/**
 * Declares conditions as Kubernetes writes them (KEP-1623; `metav1.Condition`) and the one list of reasons that keep a
 * stream off air. A readiness issue is a condition with status False: the same code, message and fix in REST, GraphQL
 * and `kubectl describe`. Pure: no I/O, no clock.
 */
import { type Static, Type } from 'typebox';

export const Condition = Type.Object({
  type: Type.String({ maxLength: 316, description: 'What is said to be so, e.g. MediaReady.' }),
  status: Type.Enum(['True', 'False', 'Unknown'], { description: 'Whether it is so.' }),
  observedGeneration: Type.Optional(
    Type.Integer({ minimum: 0, description: 'The generation of the spec this was decided for.' }),
  ),
  lastTransitionTime: Type.String({ format: 'date-time', description: 'When the status last changed.' }),
  reason: Type.String({ maxLength: 1024, description: 'A stable code for machines, CamelCase.' }),
  message: Type.String({
    maxLength: 32768,
    description: 'One or two sentences for people: what is so, and what to do about it.',
  }),
});
export type Condition = Static<typeof Condition>;

export const findCondition = (conditions: readonly Condition[] | undefined, type: string): Condition | undefined =>
  conditions?.find((c) => c.type === type);
