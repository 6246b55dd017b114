/**
 * Takes over of a stream's status that another UID had what belongs to the channel: where its loop stands, what it plays, how it is shuffled, and the window
 * for which it last went on air. Pods, sessions, their acknowledgement and conditions are not believed. A session is counted by UID
 * and number, so one of another UID would be charged once more. Pure: no I/O, no clock.
 */
import { believeStatus } from '../common/own-status.ts';
import type { LoopStream } from './resource.ts';
import { computeSeed } from './seed.ts';
import type { LoopStreamStatus } from './spec.ts';

/** The order of a shuffled list follows from the UID that the stream had first. */
function findFormerSeed({ seed, observedUID }: LoopStreamStatus): number | undefined {
  return seed ?? (observedUID === undefined ? undefined : computeSeed(observedUID));
}

function takeOver(status: LoopStreamStatus): LoopStreamStatus {
  const { epoch, audioEpoch, skipped, playing, lastScheduleTime } = status;
  const seed = findFormerSeed(status);
  return {
    ...(epoch !== undefined && { epoch }),
    ...(audioEpoch !== undefined && { audioEpoch }),
    ...(skipped && { skipped }),
    ...(seed !== undefined && { seed }),
    ...(playing && { playing }),
    ...(lastScheduleTime !== undefined && { lastScheduleTime }),
  };
}

/** The stream with a status that can be believed. */
export const believeStream = believeStatus<LoopStream>(takeOver);
