/**
 * Judges whether a stream is as its spec asks: on air, or off air as asked. Nothing here decides what is done; the conditions Ready,
 * Reconciling and Stalled tell tools what the phase and the other conditions tell people. Pure: no I/O, no clock.
 */

import { READINESS_ISSUES, type ReadinessReason } from '../../lib/codes/streams.ts';
import { type Condition, findCondition, type Verdict } from '../common/conditions.ts';
import {
  findNextStall,
  type Health,
  type HealthProblem,
  isStuck,
  judgeProblem,
  type Outlook,
  readSince,
} from '../common/health.ts';
import { listReceivers } from './destinations.ts';
import { readGates } from './readiness.ts';
import type { LoopStream } from './resource.ts';
import { type Phase, READINESS_CONDITIONS } from './spec.ts';

/**
 * How each reason of a readiness condition, of a gate and of Progressing goes away. A new reason does not compile until it is here
 * (ReadinessReason, and Progress in operator/stream/course.ts).
 */
const OUTLOOKS = {
  // Objects that the stream refers to.
  DestinationChecking: 'passes',
  DestinationNotFound: 'appears',
  DestinationSecretMissing: 'appears',
  DestinationInvalid: 'stays',
  UploadNotFound: 'appears',
  PlaylistNotFound: 'appears',
  PlaylistEmpty: 'stays',
  MediaImporting: 'passes',
  MediaPreparing: 'passes',
  MediaFailed: 'stays',
  UploadQuarantined: 'stays',
  // A person tops up the balance; a gate of another controller is its own matter.
  MediaAwaitsCredit: 'stays',
  InsufficientCredits: 'stays',
  MediaAwaitsGate: 'passes',
  ScheduleInvalid: 'stays',
  TooLarge: 'stays',
  // Its pod. A node may be added, and others may change what refuses it: the operator tries again.
  Unschedulable: 'passes',
  QuotaExceeded: 'passes',
  PodRefused: 'passes',
  PodNameTaken: 'stays',
  StandbyRefused: 'passes',
  ProgramRefused: 'passes',
  WriteRefused: 'passes',
  // Its way on air and off air.
  Settled: 'passes',
  Waiting: 'passes',
  GateClosed: 'passes',
  Starting: 'passes',
  Replacing: 'passes',
  Reconnecting: 'passes',
  Stopping: 'passes',
  Suspended: 'passes',
  Scheduled: 'passes',
  ScheduleMissed: 'passes',
} as const satisfies Record<ReadinessReason, Outlook> & Record<string, Outlook>;
export type ProblemReason = keyof typeof OUTLOOKS;

/** Words of kubelet for a container that the same pod will never run, or not for long. kstatus judges pods in the same way. */
const POD_STAYS: ReadonlySet<string> = new Set([
  'CrashLoopBackOff',
  'CreateContainerConfigError',
  'CreateContainerError',
  'ErrImageNeverPull',
  'InvalidImageName',
]);

/** Reasons of Progressing for what Kubernetes refuses. The operator tries it again, and at once where somebody asks for it. */
const REFUSED_WRITES: ReadonlySet<string> = new Set<ProblemReason>([
  'QuotaExceeded',
  'PodRefused',
  'StandbyRefused',
  'ProgramRefused',
  'WriteRefused',
]);

/** The condition that says what Kubernetes refuses for a stream. The operator tries that again. */
export function findRefused({ status }: Pick<LoopStream, 'status'>): Condition | undefined {
  const progressing = findCondition(status?.conditions, 'Progressing');
  return progressing?.status === 'False' && REFUSED_WRITES.has(progressing.reason) ? progressing : undefined;
}

/** Unknown reasons are those of other controllers, and of kubelet. */
function findOutlook(reason: string): Outlook {
  if (Object.hasOwn(OUTLOOKS, reason)) return OUTLOOKS[reason as ProblemReason];
  return POD_STAYS.has(reason) ? 'stays' : 'passes';
}

/** Codes of a destination that refuses the stream as it is sent: the same key and login are refused again. */
const REFUSALS: ReadonlySet<string | undefined> = new Set(['publish_rejected', 'login_required', 'login_refused']);
const REFUSED = 'DestinationRefused';

const listReadinessProblems = ({ status }: LoopStream, conditions: readonly Verdict[], now: Date): HealthProblem[] =>
  conditions.flatMap((one) => {
    const isReadiness = (READINESS_CONDITIONS as readonly string[]).includes(one.type);
    if (!isReadiness || one.status === 'True') return [];
    const outlook = one.status === 'Unknown' ? 'passes' : findOutlook(one.reason);
    const since = readSince(findCondition(status?.conditions, one.type), now);
    return [{ reason: one.reason, message: one.message, outlook, since }];
  });

/** A gate that nobody has set yet stops no stream on air. */
const listGateProblems = ({ spec, status }: LoopStream, hasPod: boolean, now: Date): HealthProblem[] =>
  readGates(spec, status?.conditions).flatMap((gate) => {
    if (gate.status === 'True' || (gate.status === 'Unknown' && hasPod)) return [];
    const outlook = gate.status === 'Unknown' ? 'passes' : findOutlook(gate.reason);
    return [{ reason: gate.reason, message: gate.message, outlook, since: now }];
  });

/** The report of a pod on a destination that does not accept the stream. */
export interface DestinationFailure {
  message: string;
  /** Code of the failure (protocol/codes.ts). */
  code?: string;
}

/** Every destination refuses the stream. One that is only away may come back, and one of several leaves the others. */
function listRefusals({ spec }: LoopStream, failures: readonly DestinationFailure[], now: Date): HealthProblem[] {
  const refusals = failures.filter(({ code }) => REFUSALS.has(code));
  const [first] = refusals;
  if (!first || refusals.length < listReceivers(spec).length) return [];
  const message = `${first.message} Correct the URL, the key or the login in the Secret of the destination.`;
  return [{ reason: REFUSED, message, outlook: 'stays', since: now }];
}

/** Reasons of Progressing that are no problem, or repeat one of a condition. */
const NO_PROBLEM: ReadonlySet<string> = new Set<ProblemReason>(['Settled', 'Waiting', 'GateClosed']);

function listPodProblems(conditions: readonly Verdict[], now: Date): HealthProblem[] {
  const progressing = conditions.find(({ type }) => type === 'Progressing');
  if (!progressing || NO_PROBLEM.has(progressing.reason)) return [];
  const { reason, message } = progressing;
  return [{ reason, message, outlook: findOutlook(reason), since: now }];
}

const withFix = ({ reason, message }: HealthProblem): string =>
  Object.hasOwn(READINESS_ISSUES, reason) ? `${message} ${READINESS_ISSUES[reason as ReadinessReason].fix}` : message;

const ready = (reason: string, message: string): Health => ({ state: 'ready', reason, message });

/** A stream that is off air as asked; undefined for one that is on its way there, or is to be on air. */
function judgeOffAir(phase: Phase, conditions: readonly Verdict[]): Health | undefined {
  const read = (type: string) => conditions.find((one) => one.type === type);
  const { reason = '', message = '' } = read('Progressing') ?? {};
  switch (phase) {
    case 'idle':
    case 'stopped':
      return reason === 'Suspended' ? ready(reason, message) : ready('Stopped', 'The stream is off air, as requested.');
    case 'scheduled':
      return ready('Scheduled', message);
    case 'ended':
      return ready('Ended', reason === 'ScheduleMissed' ? message : (read('Live')?.message ?? message));
    default:
      return undefined;
  }
}

/**
 * A stream that is off air as asked is ready, whatever it lacks for its next start: the readiness conditions tell that. One on air is
 * ready when it is on air with what its spec says: an edit that cannot be taken up leaves it on air, and not ready.
 */
export function judgeStream(
  stream: LoopStream,
  { phase, conditions }: { phase: Phase; conditions: readonly Verdict[] },
  { failures, now }: { failures: readonly DestinationFailure[]; now: Date },
): Health {
  if (stream.metadata.deletionTimestamp)
    return { state: 'reconciling', reason: 'Deleting', message: 'The stream is being deleted.' };
  const offAir = judgeOffAir(phase, conditions);
  if (offAir) return offAir;
  if (phase === 'stopping') {
    const { reason = '', message = '' } = conditions.find(({ type }) => type === 'Progressing') ?? {};
    return { state: 'reconciling', reason, message };
  }
  const isLive = phase === 'live';
  const readiness = listReadinessProblems(stream, conditions, now);
  const problems = [
    ...readiness,
    ...listGateProblems(stream, phase !== 'waiting', now),
    ...(isLive ? [] : listRefusals(stream, failures, now)),
    ...listPodProblems(conditions, now),
  ];
  const [first] = problems;
  // A problem that only a person ends comes first, also where another one only takes time.
  const problem = problems.find((one) => isStuck(one, now)) ?? first;
  if (problem) {
    const staysOnAir = isLive && readiness.includes(problem) ? ' The stream stays on air as it was.' : '';
    const health = judgeProblem(problem, now);
    const message = health.state === 'stalled' ? withFix(problem) : problem.message;
    return { ...health, message: message + staysOnAir };
  }
  const live = conditions.find(({ type }) => type === 'Live');
  return { state: isLive ? 'ready' : 'reconciling', reason: live?.reason ?? '', message: live?.message ?? '' };
}

/** When a stream that waits for something it refers to has waited for so long that a person is needed. */
export const findStallTime = (stream: LoopStream, readiness: readonly Verdict[], now: Date): Date | undefined =>
  findNextStall(listReadinessProblems(stream, readiness, now), now);
