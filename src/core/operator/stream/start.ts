/** Decides about a stream that is meant to be on air and has no pod: it waits, or its pod is made. Pure: no I/O, no clock. */

import { kubeTime } from '../../lib/clock.ts';
import { podName } from '../../resources/common/names.ts';
import type { LoopStream } from '../../resources/stream/resource.ts';
import { no, yes } from '../runtime/controller.ts';
import { type Course, GATE_CLOSED, NO_ACTION } from './course.ts';
import { describeOffAir } from './off-air.ts';
import { buildProgram, findKeptPlayhead, readSkipped, rebuildProgram } from './program.ts';
import type { Situation } from './situation.ts';

export function startStream(situation: Situation): Course {
  const { stream, obstacle, closedGate, isNameTaken, strays, media, wasLive, now } = situation;
  const off: Pick<Course, 'action' | 'playhead'> = { action: NO_ACTION, playhead: situation.playhead };
  if (obstacle) {
    const reason = obstacle === closedGate ? GATE_CLOSED : 'Waiting';
    return { ...off, phase: 'waiting', live: describeOffAir(stream), progressing: yes(reason, obstacle.message) };
  }
  if (isNameTaken && strays?.length) {
    const message = 'The pod of an earlier stream of this name is being removed.';
    return { ...off, phase: 'starting', live: no('Starting', message), progressing: yes('Starting', message) };
  }
  if (isNameTaken) return describeNameTaken(stream, now);
  const playhead = situation.playhead ?? { epoch: kubeTime(now), ...readSkipped(stream) };
  const program = media.goesOnWith
    ? rebuildProgram(stream, situation, playhead, media.goesOnWith)
    : buildProgram(stream, situation, playhead);
  const message = 'The pod is starting.';
  return {
    phase: wasLive ? 'reconnecting' : 'starting',
    action: { do: 'create', program, standby: false },
    live: wasLive ? no('Reconnecting', 'The pod is being replaced.') : no('Starting', message),
    progressing: yes('Starting', message),
    playhead,
  };
}

/** How long until a name that someone else's pod holds is tried again. That pod may have no label that we watch. */
const NAME_TAKEN_RETRY_MS = 30_000;

export function describeNameTaken(stream: LoopStream, now: Date): Course {
  const message = `Pod "${podName(stream.metadata.name)}" exists but does not belong to this stream. Delete it.`;
  return {
    phase: 'failed',
    action: NO_ACTION,
    live: describeOffAir(stream),
    progressing: no('PodNameTaken', message),
    playhead: findKeptPlayhead(stream),
    requeueAt: new Date(now.getTime() + NAME_TAKEN_RETRY_MS),
  };
}
