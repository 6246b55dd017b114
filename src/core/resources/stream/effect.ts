/** Says what an edit of a stream does to its viewers, by the rules that the operator decides by. Pure: no I/O, no clock. */

import { listReceivers } from './destinations.ts';
import type { LoopStream } from './resource.ts';
import { computeScheduleState, findOffSchedule, type ScheduleState } from './schedule.ts';
import { isWanted } from './spec.ts';

/** Whether a stream is meant to be on air now, ready or not. */
export const isDue = ({ metadata, spec }: LoopStream, schedule: ScheduleState): boolean =>
  isWanted(spec) && !metadata.deletionTimestamp && !findOffSchedule(schedule);

/** The effect of an edit on those who watch a stream on air. */
export interface StreamEffect {
  /** Nobody who watches now sees it after the edit: the stream goes off air, or leaves each destination that receives it. */
  takesOffAir: boolean;
  /** The stream itself goes off air: it is not wanted any more, or its schedule has no window now. */
  isEnded: boolean;
  /** Destinations that receive the stream now, and no longer do after the edit. */
  lost: string[];
}

interface OnAir {
  /** Destinations that receive the stream before the edit. */
  receiving: readonly string[];
  now: Date;
}

/**
 * Returns the effect of an edit on a stream that has a pod. Media never ends a broadcast: what is on air stays until the next can be
 * played (operator/media/assess.ts).
 */
export function judgeEdit(edited: LoopStream, { receiving, now }: OnAir): StreamEffect {
  const { lastScheduleTime } = edited.status ?? {};
  const lastStart = lastScheduleTime === undefined ? undefined : new Date(lastScheduleTime);
  if (!isDue(edited, computeScheduleState(edited.spec.schedule, now, lastStart)))
    return { takesOffAir: true, isEnded: true, lost: [...receiving] };
  const kept = listReceivers(edited.spec);
  const lost = receiving.filter((name) => !kept.includes(name));
  return { takesOffAir: lost.length > 0 && lost.length === receiving.length, isEnded: false, lost };
}
