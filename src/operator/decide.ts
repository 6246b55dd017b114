/**
 * What a stream needs now: (stream, world) → conditions, phase and one action. The phases are described above PHASES in
 * streams/spec.ts. Nothing here remembers anything: what has to outlive a decision (whether the stream has been on air,
 * since when) stands in the status or on the pod. Pure: no I/O, no clock.
 */

import { kubeTime } from '../clock.ts';
import type { LoopStream, Pod } from '../kube/resources.ts';
import { findCondition } from '../streams/conditions.ts';
import { FINALIZER, podName, TEMPLATE_HASH_ANNOTATION } from '../streams/names.ts';
import type { Program } from '../streams/program.ts';
import type { Phase } from '../streams/spec.ts';
import { isReady, readiness } from './checks.ts';
import { programOf, programOfPod } from './media.ts';
import { targetsOf, templateHash } from './pod.ts';
import { podTrouble } from './podview.ts';
import { isOwnedBy, type PodSettings } from './restricted.ts';
import { type Airtime, airtime, nextChange } from './schedule.ts';
import type { Verdict, World } from './world.ts';

export type Action =
  | { do: 'nothing' }
  | { do: 'create'; program: Program }
  | { do: 'delete'; podUid: string }
  | { do: 'patch'; podUid: string; program: Program }
  /** Nothing is left on air: let the deleted stream go. */
  | { do: 'release' };

export interface Decision {
  phase: Phase;
  /** Readiness conditions, Live, Progressing. */
  verdicts: Verdict[];
  ready: boolean;
  action: Action;
  /** Since when the stream has been on air; undefined while it is not meant to be. */
  epoch?: string;
  /** When to look again although nothing has changed. */
  lookAgainAt?: Date;
}

type Core = Pick<Decision, 'phase' | 'action'> & {
  live: Omit<Verdict, 'type'>;
  progressing: Omit<Verdict, 'type'>;
  epoch?: string | undefined;
  lookAgainAt?: Date | undefined;
};

/** How long until a name that someone else's pod holds is tried again. That pod may have no label that we watch. */
const NAME_TAKEN_RETRY_MS = 30_000;

const yes = (reason: string, message: string) => ({ status: 'True' as const, reason, message });
const no = (reason: string, message: string) => ({ status: 'False' as const, reason, message });
const nothing: Action = { do: 'nothing' };
const remove = (pod: Pod): Action =>
  pod.metadata.deletionTimestamp ? nothing : { do: 'delete', podUid: pod.metadata.uid };

const SETTLED = yes('Settled', 'Everything is as asked.');
const STOPPING = yes('Stopping', 'The pod is being stopped.');
const GONE_WHEN = 'The next pod is made when nothing of it is left.';

/** Whether the stream has ever been on air, whether it has been live since it last went on air. */
function history(stream: LoopStream, pod: Pod | undefined) {
  const live = findCondition(stream.status?.conditions, 'Live');
  const been = pod !== undefined || stream.status?.epoch !== undefined || (live ? live.reason !== 'NotStarted' : false);
  return { been, wasLive: live?.status === 'True' || live?.reason === 'Reconnecting' };
}

const offAir = (been: boolean) =>
  been ? no('Stopped', 'The stream is not on air.') : no('NotStarted', 'The stream has never been on air.');

/** The stream is not meant to be on air: whatever is there of it goes. */
function off(stream: LoopStream, pod: Pod | undefined, time: Airtime): Core {
  if (pod) {
    return { phase: 'stopping', action: remove(pod), live: no('Stopping', STOPPING.message), progressing: STOPPING };
  }
  const live = offAir(history(stream, pod).been);
  const idle: Core = {
    phase: live.reason === 'Stopped' ? 'stopped' : 'idle',
    action: nothing,
    live,
    progressing: SETTLED,
  };
  if (stream.metadata.deletionTimestamp) {
    return stream.metadata.finalizers?.includes(FINALIZER) ? { ...idle, action: { do: 'release' } } : idle;
  }
  if (stream.spec.replicas === 0) return idle;
  if (time.kind === 'before') {
    const when = kubeTime(time.startAt);
    return { ...idle, phase: 'scheduled', progressing: yes('Scheduled', `The stream goes on air at ${when}.`) };
  }
  const message = time.kind === 'after' ? `The schedule ended at ${kubeTime(time.endedAt)}.` : 'The schedule is over.';
  return { ...idle, phase: 'ended', live: live.reason === 'Stopped' ? no('Ended', message) : live };
}

/** The stream is meant to be on air and has no pod. */
function start(stream: LoopStream, world: World, verdicts: Verdict[]): Core {
  const { been, wasLive } = history(stream, undefined);
  const epoch = stream.status?.epoch;
  const obstacle = verdicts.find((verdict) => verdict.status !== 'True');
  if (obstacle) {
    const progressing = yes('Waiting', obstacle.message);
    return { phase: 'waiting', action: nothing, live: offAir(been), progressing, epoch };
  }
  const refusal = findCondition(stream.status?.conditions, 'Progressing');
  if (refusal?.reason === 'PodRefused' && refusal.observedGeneration === stream.metadata.generation) {
    const { reason, message } = refusal;
    return { phase: 'failed', action: nothing, live: offAir(been), progressing: no(reason, message), epoch };
  }
  const since = epoch ?? kubeTime(world.now);
  return {
    phase: wasLive ? 'reconnecting' : 'starting',
    action: { do: 'create', program: programOf(stream, world, since) },
    live: wasLive ? no('Reconnecting', 'The pod is being replaced.') : no('Starting', 'The pod is starting.'),
    progressing: yes('Starting', 'The pod is starting.'),
    epoch: since,
  };
}

/** The pod is going, or has to, and the stream is meant to be on air: the name is free when nothing of it is left. */
function replace(stream: LoopStream, pod: Pod, why: string, epoch: string | undefined): Core {
  const { wasLive } = history(stream, pod);
  return {
    phase: wasLive ? 'reconnecting' : 'starting',
    action: remove(pod),
    live: wasLive ? no('Reconnecting', why) : no('Starting', why),
    progressing: yes('Replacing', `${why} ${GONE_WHEN}`),
    epoch,
  };
}

/** The stream is meant to be on air and has a pod: it fits, or the program or the pod is exchanged. */
function run(stream: LoopStream, world: World, verdicts: Verdict[], pod: Pod, settings: PodSettings): Core {
  const current = programOfPod(pod);
  const kept = stream.status?.epoch;
  if (pod.metadata.deletionTimestamp) return replace(stream, pod, 'The pod is being removed.', kept);
  const epoch = current?.epoch ?? kept ?? kubeTime(world.now);
  const { phase } = pod.status ?? {};
  if (phase === 'Failed' || phase === 'Succeeded') {
    const { reason, message } = pod.status ?? {};
    return replace(stream, pod, `The pod ended (${[reason ?? phase, message].filter(Boolean).join(': ')}).`, epoch);
  }
  let action = nothing;
  // A stream on air is left as it is until what it is to become can be played: an edit never causes dead air by itself.
  if (isReady(verdicts)) {
    const hash = templateHash(stream, targetsOf(stream, world.destinations), settings);
    if (pod.metadata.annotations?.[TEMPLATE_HASH_ANNOTATION] !== hash) {
      return replace(stream, pod, 'The pod no longer fits the stream.', epoch);
    }
    const program = programOf(stream, world, epoch, current);
    if (program !== current) action = { do: 'patch', podUid: pod.metadata.uid, program };
  }
  return { ...onAir(stream, pod), action, epoch };
}

function onAir(stream: LoopStream, pod: Pod): Omit<Core, 'action'> {
  const ready = pod.status?.conditions?.some((c) => c.type === 'Ready' && c.status === 'True') ?? false;
  if (ready) return { phase: 'live', live: yes('Live', 'A destination is accepting media.'), progressing: SETTLED };
  const trouble = podTrouble(pod);
  const progressing = trouble ? no(trouble.reason, trouble.message) : yes('Starting', 'The pod is starting.');
  const message = trouble?.message ?? 'No destination has accepted media yet.';
  if (!history(stream, pod).wasLive) return { phase: 'starting', live: no('Starting', message), progressing };
  const lost = trouble?.message ?? 'No destination accepts media at the moment.';
  return {
    phase: 'reconnecting',
    live: no('Reconnecting', lost),
    progressing: trouble ? progressing : yes('Reconnecting', lost),
  };
}

function nameTaken(stream: LoopStream, now: Date): Core {
  const message = `A pod named "${podName(stream.metadata.name)}" exists that does not belong to this stream; delete it.`;
  return {
    phase: 'failed',
    action: nothing,
    live: offAir(history(stream, undefined).been),
    progressing: no('PodNameTaken', message),
    epoch: stream.status?.epoch,
    lookAgainAt: new Date(now.getTime() + NAME_TAKEN_RETRY_MS),
  };
}

function core(stream: LoopStream, world: World, verdicts: Verdict[], settings: PodSettings): Core {
  const time = airtime(stream.spec.schedule, world.now);
  const owned = world.pod && isOwnedBy(world.pod, stream) ? world.pod : undefined;
  const wanted = stream.spec.replicas > 0 && !stream.metadata.deletionTimestamp;
  if (!wanted || time.kind === 'before' || time.kind === 'after') return off(stream, owned, time);
  if (owned) return run(stream, world, verdicts, owned, settings);
  return world.pod && isReady(verdicts) ? nameTaken(stream, world.now) : start(stream, world, verdicts);
}

export function decide(stream: LoopStream, world: World, settings: PodSettings): Decision {
  const checks = readiness(stream, world);
  const { live, progressing, epoch, lookAgainAt, ...rest } = core(stream, world, checks, settings);
  const wake =
    lookAgainAt ?? (stream.spec.replicas > 0 ? nextChange(airtime(stream.spec.schedule, world.now)) : undefined);
  return {
    ...rest,
    verdicts: [...checks, { type: 'Live', ...live }, { type: 'Progressing', ...progressing }],
    ready: isReady(checks),
    ...(epoch !== undefined && { epoch }),
    ...(wake && { lookAgainAt: wake }),
  };
}

const withProgress = (verdicts: Verdict[], progressing: Omit<Verdict, 'type'>): Verdict[] =>
  verdicts.map((verdict) => (verdict.type === 'Progressing' ? { type: 'Progressing', ...progressing } : verdict));

/**
 * What becomes of a decision to make a pod that cannot be made: the stream is where it was before. A refusal lasts until
 * the stream is edited; a name that is taken is tried again.
 */
export function notCreated(stream: LoopStream, decision: Decision, world: World, refusal?: string): Decision {
  const { live, progressing, lookAgainAt } =
    refusal === undefined
      ? nameTaken(stream, world.now)
      : {
          live: offAir(history(stream, undefined).been),
          progressing: no('PodRefused', refusal),
          lookAgainAt: undefined,
        };
  const { epoch: _, ...rest } = decision;
  const verdicts = withProgress(decision.verdicts, progressing);
  return {
    ...rest,
    phase: 'failed',
    action: nothing,
    verdicts: verdicts.map((verdict) => (verdict.type === 'Live' ? { type: 'Live', ...live } : verdict)),
    ...(stream.status?.epoch !== undefined && { epoch: stream.status.epoch }),
    ...(lookAgainAt && { lookAgainAt }),
  };
}

/** What becomes of a decision to hand over a program that Kubernetes refuses: what is on air stays as it is. */
export const notPatched = (decision: Decision, refusal: string): Decision => ({
  ...decision,
  action: nothing,
  verdicts: withProgress(decision.verdicts, no('ProgramRefused', refusal)),
});
