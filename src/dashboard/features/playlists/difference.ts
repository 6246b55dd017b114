/** Computes the difference between two versions of a playlist, clip by clip. Pure: no I/O, no clock. */
import type { PlaylistDiff } from '../../../service/client/index.ts';

type PlaylistChange = PlaylistDiff['changes'][number];

export interface DifferenceLine {
  what: 'added' | 'removed' | 'moved';
  objectID: string;
  /** Counted from 1: where it was, or, if it is new, where it is. */
  place: number;
  /** The new place of a clip that was moved. */
  to?: number;
}

interface ListedClip {
  objectID: string;
  /** The place before; undefined for a new one. */
  was: number | undefined;
}

const put = (change: Extract<PlaylistChange, { items: unknown }>): ListedClip[] =>
  change.items.map(({ uploadObjectID }) => ({ objectID: uploadObjectID, was: undefined }));

/** Makes the changes, one after the other, and returns the items that they took out. */
function apply(list: ListedClip[], changes: readonly PlaylistChange[]): ListedClip[] {
  const out: ListedClip[] = [];
  for (const change of changes) {
    if (change.op === 'insert') list.splice(change.index ?? list.length, 0, ...put(change));
    else if (change.op === 'remove') out.push(...list.splice(change.index, change.count ?? 1));
    else if (change.op === 'move') list.splice(change.to, 0, ...list.splice(change.from, 1));
    else out.push(...list.splice(change.index, change.items.length, ...put(change)));
  }
  return out;
}

/** In the order of the new list, removed clips first. A clip that was taken out and put in elsewhere was moved. */
export function computeDifference(before: readonly string[], changes: readonly PlaylistChange[]): DifferenceLine[] {
  const list: ListedClip[] = before.map((objectID, was) => ({ objectID, was }));
  const out = apply(list, changes);
  const lines: DifferenceLine[] = [];
  list.forEach(({ objectID, was }, i) => {
    const place = i + 1;
    const from = was === undefined ? out.findIndex((item) => item.objectID === objectID) : -1;
    const [old] = from < 0 ? [] : out.splice(from, 1);
    if (old?.was !== undefined) lines.push({ what: 'moved', objectID, place: old.was + 1, to: place });
    else if (was === undefined) lines.push({ what: 'added', objectID, place });
  });
  const removed = out
    .filter(({ was }) => was !== undefined)
    .map(({ objectID, was }): DifferenceLine => ({ what: 'removed', objectID, place: (was ?? 0) + 1 }));
  return [...removed, ...lines];
}
