/**
 * From the resource to what clients see of it. Pure: no I/O, no clock.
 */
import type { KubeEvent, LoopStream } from '../kube/resources.ts';
import type { Stored } from '../kube/types.ts';
import { type Condition, findCondition } from './conditions.ts';
import {
  publicFramerate,
  publicQuality,
  type Readiness,
  type ReadinessIssue,
  type Stream,
  type StreamEvent,
} from './record.ts';
import { nextStart } from './recurrence.ts';
import { isWanted, type Phase, READINESS_CONDITIONS, READINESS_ISSUES } from './spec.ts';

/** Whether the operator's status is about the spec as it now is. */
export const isObserved = ({ metadata, status }: LoopStream): boolean =>
  (status?.observedGeneration ?? 0) >= (metadata.generation ?? 1);

const OFF_AIR: readonly Phase[] = ['idle', 'scheduled', 'stopped', 'ended', 'failed'];

/** The phase, or what the latest wish will make of it while the operator has not seen that wish yet. */
export function phaseOf(stream: LoopStream, now: Date): Phase {
  const { metadata, spec, status } = stream;
  if (metadata.deletionTimestamp) return 'stopping';
  const { startAt, recurrence } = spec.schedule ?? {};
  const isScheduled =
    isWanted(spec) && (recurrence !== undefined || (startAt !== undefined && Date.parse(startAt) > now.getTime()));
  const phase = status?.phase ?? 'idle';
  if (isObserved(stream)) return phase;
  if (isScheduled) return OFF_AIR.includes(phase) ? 'scheduled' : phase;
  if (isWanted(spec)) return status && OFF_AIR.includes(phase) ? 'starting' : phase;
  if (phase === 'scheduled') return 'idle';
  return OFF_AIR.includes(phase) ? phase : 'stopping';
}

export function toStream(stream: LoopStream, now: Date): Stream {
  const { metadata, spec, status } = stream;
  return {
    id: metadata.name,
    name: spec.displayName ?? metadata.name,
    status: phaseOf(stream, now),
    ready: status?.ready ?? false,
    quality: publicQuality(spec.quality),
    framerate: publicFramerate(spec.framerate),
    destinationID: spec.destinationRefs[0] ?? '',
    destinationIDs: spec.destinationRefs,
    videoUploadObjectID: spec.uploadRef ?? null,
    playlistIDs: spec.playlistRefs ?? [],
    audioPlaylistIDs: spec.audioPlaylistRefs ?? [],
    scheduleStartAt: spec.schedule?.startAt ?? null,
    scheduleEndAt: spec.schedule?.endAt ?? null,
    recurrence: spec.schedule?.recurrence ?? null,
    nextStartAt: isWanted(spec) ? (nextStart(spec.schedule, now)?.toISOString() ?? null) : null,
    liveSince: status?.liveSince ?? null,
    createdAt: metadata.creationTimestamp,
  };
}

const FIELDS: Record<(typeof READINESS_CONDITIONS)[number], string> = {
  DestinationReady: 'destinationIDs',
  MediaReady: 'videoUploadObjectID',
  ScheduleValid: 'scheduleStartAt',
};

const snakeCase = (text: string): string => text.replace(/(?<=[a-z0-9])[A-Z]/g, '_$&').toLowerCase();

function toIssue(type: (typeof READINESS_CONDITIONS)[number], condition: Condition): ReadinessIssue {
  const { reason, message, lastTransitionTime } = condition;
  const known = Object.hasOwn(READINESS_ISSUES, reason)
    ? READINESS_ISSUES[reason as keyof typeof READINESS_ISSUES]
    : { code: snakeCase(reason), field: FIELDS[type], fix: 'Wait a moment and look again.' };
  return { code: known.code, message, fix: known.fix, field: known.field, since: lastTransitionTime };
}

/** Whoever runs the cluster has said so, and only they take it back. */
const suspended = (since: string): ReadinessIssue => ({
  code: 'stream_suspended',
  message: 'The stream is suspended.',
  fix: 'Ask whoever runs the cluster to set spec.suspend to false.',
  field: 'suspend',
  since,
});

/**
 * Readiness out of the conditions: what is False keeps the stream off air, and so does what nobody knows yet. Before the
 * operator has looked at all, that itself is the issue.
 */
export function toReadiness({ metadata, spec, status }: LoopStream): Readiness {
  const found = READINESS_CONDITIONS.flatMap((type): ReadinessIssue[] => {
    const condition = findCondition(status?.conditions, type);
    if (condition) return condition.status === 'True' ? [] : [toIssue(type, condition)];
    return [
      {
        code: 'not_checked',
        message: 'The operator has not looked at this stream yet.',
        fix: 'Wait a moment and look again; if this stays, see whether the operator runs.',
        field: FIELDS[type],
        since: metadata.creationTimestamp,
      },
    ];
  });
  const issues = spec.suspend ? [suspended(metadata.creationTimestamp), ...found] : found;
  return { ready: issues.length === 0, issues };
}

/** Whether looking again could soon give another answer: a condition is Unknown, or the spec is newer than the status. */
export const isSettled = (stream: LoopStream): boolean =>
  isObserved(stream) &&
  READINESS_CONDITIONS.every((type) => {
    const condition = findCondition(stream.status?.conditions, type);
    return condition !== undefined && condition.status !== 'Unknown';
  });

export function toEvent(event: Stored<KubeEvent>): StreamEvent {
  const { metadata, firstTimestamp, lastTimestamp, type, reason, message, count } = event;
  return {
    id: metadata.uid,
    time: lastTimestamp ?? metadata.creationTimestamp,
    createdAt: firstTimestamp ?? metadata.creationTimestamp,
    type: type ?? 'Normal',
    reason: reason ?? '',
    message: message ?? '',
    count: count ?? 1,
  };
}
