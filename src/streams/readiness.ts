/**
 * What keeps a stream off air, said once for REST, GraphQL and Kubernetes: a condition that is False, its public code and
 * what to do about it. Pure: no I/O, no clock.
 */
import { type Condition, findCondition } from './conditions.ts';
import type { ReadinessIssue } from './record.ts';
import { type LoopStreamSpec, READINESS_CONDITIONS, READINESS_ISSUES, type ReadinessReason } from './spec.ts';

type ReadinessCondition = (typeof READINESS_CONDITIONS)[number];

/** The field of a stream, as REST has it, that a condition is about; none for what is about no field. */
const FIELDS: Record<ReadinessCondition, string> = {
  DestinationReady: 'destinationIDs',
  MediaReady: 'videoUploadObjectID',
  ScheduleValid: 'scheduleStartAt',
};
export const fieldOf = (type: string): string =>
  Object.hasOwn(FIELDS, type) ? FIELDS[type as ReadinessCondition] : '';

const snakeCase = (text: string): string => text.replace(/(?<=[a-z0-9])[A-Z]/g, '_$&').toLowerCase();

type Said = Pick<Condition, 'type' | 'status' | 'reason' | 'message'>;

/** What to do about a condition that is not True. */
export function fixOf({ type, status, reason }: Pick<Said, 'type' | 'status' | 'reason'>): string {
  if (Object.hasOwn(READINESS_ISSUES, reason)) return READINESS_ISSUES[reason as ReadinessReason].fix;
  if (status === 'False' && !isReadinessCondition(type) && type !== 'PodScheduled')
    return `Have "${type}" made true; the stream goes on air by itself then.`;
  return 'Wait a moment and look again.';
}

const isReadinessCondition = (type: string): boolean => (READINESS_CONDITIONS as readonly string[]).includes(type);

/** The same as people see it. */
export function toIssue({ type, status, reason, message, lastTransitionTime }: Condition): ReadinessIssue {
  const known = Object.hasOwn(READINESS_ISSUES, reason) ? READINESS_ISSUES[reason as ReadinessReason] : undefined;
  return {
    code: known?.code ?? snakeCase(reason),
    message,
    fix: fixOf({ type, status, reason }),
    field: known?.field ?? fieldOf(type),
    since: lastTransitionTime,
  };
}

/**
 * The conditions of others that a stream names as gates, as Pods have them (`spec.readinessGates`): it is on air only
 * while none of them is False, and is not put there while one is not True. What nobody has said is Unknown.
 */
export const gatesOf = (
  { readinessGates = [] }: Pick<LoopStreamSpec, 'readinessGates'>,
  conditions: readonly Condition[] | undefined,
): Said[] =>
  readinessGates.map(({ conditionType: type }) => {
    const found = findCondition(conditions, type);
    if (found) return { type, status: found.status, reason: found.reason, message: found.message };
    return { type, status: 'Unknown', reason: 'NotReported', message: `Nobody has said yet whether "${type}" is so.` };
  });
