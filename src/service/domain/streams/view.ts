/** Converts the LoopStream resource to its public shape. Pure: no I/O, no clock. */

import type { KubeEvent } from '../../../core/kube/core.ts';
import type { Stored } from '../../../core/kube/types.ts';
import { UNKNOWN_ISSUES } from '../../../core/lib/codes/streams.ts';
import { findCondition } from '../../../core/resources/common/conditions.ts';
import { CREDIT_CONDITION } from '../../../core/resources/common/names.ts';
import { findRefused } from '../../../core/resources/stream/health.ts';
import { findConditionField, readGates } from '../../../core/resources/stream/readiness.ts';
import { findNextStart, listNextWindows } from '../../../core/resources/stream/recurrence.ts';
import type { LoopStream } from '../../../core/resources/stream/resource.ts';
import { computeScheduleState } from '../../../core/resources/stream/schedule.ts';
import {
  ALWAYS_REPORTED,
  isWanted,
  type Phase,
  READINESS_CONDITIONS,
  type Schedule,
} from '../../../core/resources/stream/spec.ts';
import { createReader } from '../../lib/fields.ts';
import { STREAM_FIELDS } from './fields.ts';
import { toIssue, toWarnings } from './issues.ts';
import type { Readiness, ReadinessIssue, Stream, StreamEvent, StreamWindows } from './record.ts';

/** Returns whether the operator's status refers to the current spec. */
export const isObserved = ({ metadata, status }: LoopStream): boolean =>
  (status?.observedGeneration ?? 0) >= (metadata.generation ?? 1);

const OFF_AIR: readonly Phase[] = ['idle', 'scheduled', 'stopped', 'ended', 'failed'];

/**
 * Returns the state in REST and GraphQL: the phase that kubectl shows, once the operator has seen the latest spec. Until then the
 * phase belongs to an older spec (`status.observedGeneration` is below `metadata.generation`). This function then predicts the
 * phase of the latest one; kubectl shows both generations. docs/streams.md has the same as a table ("Before the operator has
 * looked"), and a test compares both in every state.
 */
export function computePhase(stream: LoopStream, now: Date): Phase {
  const { metadata, spec, status } = stream;
  if (metadata.deletionTimestamp) return 'stopping';
  const { startAt, recurrence } = spec.schedule ?? {};
  const isScheduled =
    isWanted(spec) && (recurrence !== undefined || (startAt !== undefined && Date.parse(startAt) > now.getTime()));
  const phase = status?.phase ?? 'idle';
  if (isObserved(stream)) return phase;
  if (isScheduled) return OFF_AIR.includes(phase) ? 'scheduled' : phase;
  if (isWanted(spec)) return status?.phase !== undefined && OFF_AIR.includes(phase) ? 'starting' : phase;
  if (phase === 'scheduled') return 'idle';
  return OFF_AIR.includes(phase) ? phase : 'stopping';
}

/** Describes the problem of a stream on air, or what Kubernetes refuses for it, and when the operator tries that again. */
function findDegraded(stream: LoopStream): Stream['degraded'] {
  const degraded = findCondition(stream.status?.conditions, 'Degraded');
  if (degraded?.status === 'True') {
    const { field: _field, ...problem } = toIssue(degraded);
    return problem;
  }
  const refused = findRefused(stream);
  if (!refused) return null;
  const { field: _field, ...problem } = toIssue(refused);
  return problem;
}

const readStream = createReader(STREAM_FIELDS);

function findEnd(schedule: Schedule | undefined, now: Date): string | null {
  const time = computeScheduleState(schedule, now);
  return time.kind === 'on' ? (time.until?.toISOString() ?? null) : null;
}

/** `posterUrl` is of what the stream plays, which are other resources. */
export const toStream = (stream: LoopStream, now: Date, posterUrl: string | null = null): Stream =>
  readStream(stream, {
    status: computePhase(stream, now),
    nextStartAt: isWanted(stream.spec) ? (findNextStart(stream.spec.schedule, now)?.toISOString() ?? null) : null,
    nextEndAt: isWanted(stream.spec) ? findEnd(stream.spec.schedule, now) : null,
    degraded: findDegraded(stream),
    posterUrl,
  });

const { NotChecked: NOT_CHECKED } = UNKNOWN_ISSUES;

const WINDOWS_SHOWN = 5;

/** Computes the schedule's windows. Only the server does so, since time zones change their clocks. */
export function toWindows(stream: LoopStream, now: Date): StreamWindows {
  const { scheduleStartAt, scheduleEndAt, recurrence } = toStream(stream, now);
  const { spec } = stream;
  const windows = isWanted(spec) ? listNextWindows(spec.schedule, now, WINDOWS_SHOWN) : [];
  const shown = windows.map(({ startAt, endAt }) => ({
    startAt: startAt.toISOString(),
    endAt: endAt?.toISOString() ?? null,
  }));
  return { scheduleStartAt, scheduleEndAt, recurrence, windows: shown };
}

/**
 * Computes readiness from the conditions: False and Unknown both keep the stream off air. Before the operator has seen the stream,
 * that itself is the issue.
 */
export function toReadiness(stream: LoopStream): Readiness {
  const { metadata, spec, status } = stream;
  const since = metadata.creationTimestamp;
  const own = READINESS_CONDITIONS.flatMap((type): ReadinessIssue[] => {
    const condition = findCondition(status?.conditions, type);
    if (condition) return condition.status === 'True' ? [] : [toIssue(condition, stream)];
    if (!ALWAYS_REPORTED.includes(type)) return [];
    return [
      {
        code: NOT_CHECKED.code,
        message: NOT_CHECKED.meaning,
        fix: NOT_CHECKED.fix,
        field: findConditionField(type, stream),
        since,
      },
    ];
  });
  const scheduled = findCondition(status?.conditions, 'PodScheduled');
  const gates = readGates(spec, status?.conditions).filter((gate) => gate.status !== 'True');
  const issues = [
    ...own,
    ...gates.map((gate) =>
      toIssue({ lastTransitionTime: since, ...findCondition(status?.conditions, gate.type), ...gate }),
    ),
    ...(scheduled?.status === 'False' ? [toIssue(scheduled)] : []),
  ];
  // Without a preparation all is prepared, once the operator has looked.
  const media = findCondition(status?.conditions, 'MediaReady');
  const { prepared = media?.status === 'True' ? 1 : 0, estimatedReadyAt = null } = status?.preparation ?? {};
  return { ready: issues.length === 0, issues, warnings: toWarnings(stream), prepared, estimatedReadyAt };
}

/** Returns false while a repeated check could soon differ: a condition is Unknown, or the spec is newer than the status. */
export const isSettled = (stream: LoopStream): boolean => {
  const isSaid = (type: string) => {
    const condition = findCondition(stream.status?.conditions, type);
    return condition !== undefined && condition.status !== 'Unknown';
  };
  // Billing sets its condition as fast as the operator sets the rest. Others own the remaining gates.
  const isPaid = stream.spec.readinessGates?.some(({ conditionType }) => conditionType === CREDIT_CONDITION);
  return isObserved(stream) && ALWAYS_REPORTED.every(isSaid) && (!isPaid || isSaid(CREDIT_CONDITION));
};

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
