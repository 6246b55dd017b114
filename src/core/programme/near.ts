/**
 * Enters a list with rules near a moment. Its timeline is a fold from its anchor, which may be a day ago, so who asks each minute what plays
 * goes on from where the last one has got to. Pure: no I/O, no clock; what was found is remembered.
 */
import type { Track } from '../resources/stream/playing.ts';
import type { OnAirList } from './on-air.ts';
import { hasRules } from './rules.ts';
import { moveAnchor, type ProgrammeAnchor } from './timeline.ts';

interface Entered {
  /** All that the turns depend on besides the track. */
  mark: string;
  atMs: number;
  anchor: ProgrammeAnchor;
}

const entered = new WeakMap<Track, Entered>();

/** Returns the same list with an anchor `kept` turns before the one on air. It knows nothing of the turns before. */
export function enterNear(list: OnAirList, nowMs: number, kept: number): OnAirList {
  const { track, programme, anchor } = list;
  if (!hasRules(programme) || nowMs < anchor.atMs) return list;
  const lengths = [programme, ...(programme.rules ?? []).map(({ loop }) => loop)].map(({ durations }) => durations);
  const mark = JSON.stringify([anchor, programme.seed, lengths, kept]);
  const last = entered.get(track);
  const from = last?.mark === mark && last.atMs <= nowMs ? last.anchor : anchor;
  const near = moveAnchor(programme, from, nowMs, kept);
  entered.set(track, { mark, atMs: nowMs, anchor: near });
  return { ...list, anchor: near };
}
