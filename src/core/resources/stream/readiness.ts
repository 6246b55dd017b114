/**
 * Lists the reasons that keep a stream off air, once for REST, GraphQL and Kubernetes: a condition that is False, its
 * public code and its fix. Pure: no I/O, no clock.
 */
import { findStreamCode, READINESS_ISSUES, type ReadinessReason } from '../../lib/codes/streams.ts';
import { type Condition, findCondition, type Verdict } from '../common/conditions.ts';
import type { LoopStream } from './resource.ts';
import { type LoopStreamSpec, MEDIA_FIELDS, READINESS_CONDITIONS } from './spec.ts';

type IssueCondition = (typeof READINESS_CONDITIONS)[number];

/** The field of a stream, as REST has it, that a condition is about; none for what is about no field. */
const FIELDS: Record<IssueCondition, string> = {
  DestinationReady: 'destinationIDs',
  MediaReady: 'videoUploadObjectID',
  ScheduleValid: 'scheduleStartAt',
  TemplateAccepted: '',
};

const MEDIA: readonly string[] = Object.values(MEDIA_FIELDS);

/**
 * The field that a condition of a stream is about. Media is named by one of three fields: the status says which of them has what
 * cannot be played.
 */
export function findConditionField(type: string, stream?: Pick<LoopStream, 'spec' | 'status'>, reason = ''): string {
  const known = Object.hasOwn(READINESS_ISSUES, reason) ? READINESS_ISSUES[reason as ReadinessReason].field : undefined;
  const field = known ?? (Object.hasOwn(FIELDS, type) ? FIELDS[type as IssueCondition] : '');
  if (!MEDIA.includes(field)) return field;
  const { items = [] } = stream?.status?.unplayable ?? {};
  const found = (items.find((item) => item.reason === reason) ?? items[0])?.field;
  if (found) return MEDIA_FIELDS[found];
  return stream?.spec.playlistNames?.length ? MEDIA_FIELDS.playlistNames : field;
}

const snakeCase = (text: string): string => text.replace(/(?<=[a-z0-9])[A-Z]/g, '_$&').toLowerCase();

/** The public code of a reason. */
export const getReasonCode = (reason: string): string => findStreamCode(reason)?.code ?? snakeCase(reason);

/** Returns the fix for a condition that is not True. */
export function getConditionFix({ type, status, reason }: Pick<Verdict, 'type' | 'status' | 'reason'>): string {
  const known = findStreamCode(reason);
  if (known) return known.fix;
  if (status === 'False' && !isReadinessCondition(type) && type !== 'PodScheduled')
    return `Make the condition "${type}" true; the stream then goes on air automatically.`;
  return 'Wait a moment, and read the stream again.';
}

const isReadinessCondition = (type: string): boolean => (READINESS_CONDITIONS as readonly string[]).includes(type);

/**
 * Returns the conditions of others that a stream names as gates, as Pods do (`spec.readinessGates`). A stream starts
 * only when all are True, and stays on air while none is False. A missing condition is Unknown.
 */
export const readGates = (
  { readinessGates = [] }: Pick<LoopStreamSpec, 'readinessGates'>,
  conditions: readonly Condition[] | undefined,
): Verdict[] =>
  readinessGates.map(({ conditionType: type }) => {
    const found = findCondition(conditions, type);
    if (found) return { type, status: found.status, reason: found.reason, message: found.message };
    return {
      type,
      status: 'Unknown',
      reason: 'NotReported',
      message: `The condition "${type}" has not been reported yet.`,
    };
  });
