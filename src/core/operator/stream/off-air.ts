/** Decides about a stream that is not meant to be on air: its pods are removed, and it waits for its next window, or its end. Pure. */

import { kubeTime } from '../../lib/clock.ts';
import type { SessionEnd } from '../../lib/codes/streams.ts';
import { findCondition } from '../../resources/common/conditions.ts';
import { CREDIT_CONDITION, FINALIZER } from '../../resources/common/names.ts';
import type { LoopStream } from '../../resources/stream/resource.ts';
import type { OffSchedule } from '../../resources/stream/schedule.ts';
import { isWanted } from '../../resources/stream/spec.ts';
import { no, type Verdict, yes } from '../runtime/controller.ts';
import { type Action, type Course, GATE_CLOSED, NO_ACTION, SETTLED } from './course.ts';
import { removeFirst } from './handover.ts';
import type { Situation } from './situation.ts';

const STOPPING = yes('Stopping', 'The pod is being stopped.');
const SUSPENDED = yes('Suspended', 'spec.suspend keeps the stream off air.');

/** Whether the status says that the stream was ever on air, or had a pod for it. */
export function hasBeenOnAir({ status }: LoopStream): boolean {
  const live = findCondition(status?.conditions, 'Live');
  return status?.epoch !== undefined || (live ? live.reason !== 'NotStarted' : false);
}

/** The condition Live of a stream that is not on air. */
export function describeOffAir(stream: LoopStream) {
  return hasBeenOnAir(stream)
    ? no('Stopped', 'The stream is not on air.')
    : no('NotStarted', 'The stream has never been on air.');
}

/** A gate is closed: the stream goes off air, and comes back to where it then stands. */
export function closeGate({ pods, playhead }: Situation, { type, message }: Verdict): Course {
  return {
    phase: 'stopping',
    action: removeFirst(pods),
    ends: type === CREDIT_CONDITION ? 'CreditUsedUp' : 'GateClosed',
    live: no('Stopping', message),
    progressing: yes(GATE_CLOSED, message),
    playhead,
  };
}

/** Why a stream that is not due goes off air. */
function findEnd({ metadata, spec }: LoopStream): SessionEnd {
  if (metadata.deletionTimestamp) return 'Deleted';
  if (spec.replicas === 0) return 'Stopped';
  return spec.suspend ? 'Suspended' : 'ScheduleEnded';
}

/** The stream is not wanted, or its schedule has no window now. */
export function stayOffAir({ stream, pods, offSchedule, now }: Situation): Course {
  if (pods.length > 0) {
    return {
      phase: 'stopping',
      action: removeFirst(pods),
      ends: findEnd(stream),
      live: no('Stopping', STOPPING.message),
      progressing: STOPPING,
    };
  }
  const { spec, metadata } = stream;
  const live = describeOffAir(stream);
  const idle: Course = {
    phase: live.reason === 'Stopped' ? 'stopped' : 'idle',
    action: NO_ACTION,
    live,
    progressing: SETTLED,
  };
  if (metadata.deletionTimestamp) {
    return metadata.finalizers?.includes(FINALIZER) ? { ...idle, action: { do: 'removeFinalizer' } } : idle;
  }
  if (!isWanted(spec) || !offSchedule)
    return spec.suspend && spec.replicas > 0 ? { ...idle, progressing: SUSPENDED } : idle;
  return offSchedule.kind === 'before'
    ? awaitWindow(stream, idle, offSchedule)
    : endSchedule(stream, idle, offSchedule, now);
}

/** Many may start in the same second: what can be made before the window is made while there is time. */
function awaitWindow(
  stream: LoopStream,
  idle: Course,
  { startAt, missed }: Extract<OffSchedule, { kind: 'before' }>,
): Course {
  const action: Action = isPrepared(stream) ? NO_ACTION : { do: 'prepare' };
  const message = `The stream goes on air at ${kubeTime(startAt)}.`;
  const progressing = missed
    ? no('ScheduleMissed', `${describeMissedStart(stream, missed)} ${message}`)
    : yes('Scheduled', message);
  return { ...idle, action, phase: 'scheduled', progressing };
}

/** The status says `scheduled` only after what the first pod needs was made. A stream that has been on air has it since then. */
const isPrepared = (stream: LoopStream): boolean =>
  (stream.metadata.finalizers?.includes(FINALIZER) ?? false) &&
  (stream.status?.phase === 'scheduled' || hasBeenOnAir(stream));

/** A stream whose schedule is over is deleted when its time is up. */
function endSchedule(
  stream: LoopStream,
  idle: Course,
  { endedAt, missed }: Extract<OffSchedule, { kind: 'after' }>,
  now: Date,
): Course {
  const { ttlSecondsAfterFinished: ttl } = stream.spec;
  const expireAt = ttl === undefined ? undefined : new Date(endedAt.getTime() + ttl * 1000);
  const isExpired = expireAt !== undefined && now >= expireAt;
  return {
    ...idle,
    phase: 'ended',
    action: isExpired ? { do: 'expire' } : NO_ACTION,
    live: idle.phase === 'stopped' ? no('Ended', `The schedule ended at ${kubeTime(endedAt)}.`) : idle.live,
    progressing: missed ? no('ScheduleMissed', describeMissedStart(stream, missed)) : SETTLED,
    requeueAt: isExpired ? undefined : expireAt,
  };
}

const describeMissedStart = ({ spec }: LoopStream, start: Date): string =>
  `The stream missed its start at ${kubeTime(start)} by more than the deadline of ${spec.schedule?.startingDeadlineSeconds} s.`;
