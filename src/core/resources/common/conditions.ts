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

/**
 * Conditions of every kind that say whether an object is as asked, in the words of kstatus, which Helm, Flux, kpt and others read.
 * Ready is always there. Reconciling and Stalled are there only while they are True: the operator gets the object there by itself,
 * or only a person can.
 */
export const HEALTH_CONDITIONS = ['Ready', 'Reconciling', 'Stalled'] as const;

/**
 * The condition Ready of an object that the operator has not seen yet, a default of the definitions: kstatus takes an object
 * without conditions for one that is as asked.
 */
export const NOT_SEEN: Condition = {
  type: 'Ready',
  status: 'Unknown',
  reason: 'Pending',
  message: 'The operator has not seen the object yet.',
  lastTransitionTime: '1970-01-01T00:00:00Z',
};

/** One condition as it is decided: when it changed and for which generation is added when the status is written. */
export type Verdict = Pick<Condition, 'type' | 'status' | 'reason' | 'message'>;

export const findCondition = (conditions: readonly Condition[] | undefined, type: string): Condition | undefined =>
  conditions?.find((c) => c.type === type);
