/** Measures a list before its first item plays: the length of each item, and the largest B-frame delay. */

import { isLeftOut } from '../../../resources/stream/item-place.ts';
import type { ProgramItem } from '../../../resources/stream/playing.ts';
import type { Storage } from '../../storage/storage.ts';
import { itemError } from './item-error.ts';
import { delayTicks, itemTicks, type TrackKind } from './rendition.ts';
import { loadRendition } from './rendition-index.ts';

/** After this many unanswered requests at the start, the storage is not asked about the rest of the list. */
const MAX_UNANSWERED = 3;
/**
 * Items that are read at once. One by one, 500 items in a storage that takes 50 ms a request would delay the start by
 * minutes.
 */
const ASKED_AT_ONCE = 32;

export interface Measures {
  /** Ticks that each item plays; 0 while an item cannot be played. */
  durations: number[];
  /** Largest B-frame delay, in ticks. */
  delayTicks: number;
  /** True when nothing is known because the storage did not answer. */
  unanswered: boolean;
}

export interface MeasureOptions {
  storage: Storage;
  kind: TrackKind;
  signal: AbortSignal;
  /** Called for each item that cannot be played, with the reason. */
  onFault: (item: ProgramItem, error: unknown) => void;
}

/** Rejects only when the signal is aborted. */
export async function measure(items: readonly ProgramItem[], options: MeasureOptions): Promise<Measures> {
  const durations = items.map(() => 0);
  let largestDelay = 0;
  // NaN once the storage has answered.
  let failures = 0;
  const ask = async ([at, item]: [number, ProgramItem]) => {
    if (isLeftOut(item)) return;
    try {
      const known = await measureItem(item, options);
      durations[at] = known.ticks;
      largestDelay = Math.max(largestDelay, known.delayTicks);
      failures = Number.NaN;
    } catch (error) {
      options.signal.throwIfAborted();
      options.onFault(item, error);
      failures = itemError(error).code === 'storage_unavailable' ? failures + 1 : Number.NaN;
    }
  };
  const waiting = [...items.entries()];
  while (failures < MAX_UNANSWERED) {
    const first = waiting.shift();
    if (!first) break;
    await ask(first);
  }
  const rest = (Number.isNaN(failures) ? waiting : []).values();
  const askOn = async () => {
    for (const entry of rest) await ask(entry);
  };
  await Promise.all(Array.from({ length: ASKED_AT_ONCE }, askOn));
  return { durations, delayTicks: largestDelay, unanswered: failures > 0 };
}

async function measureItem(item: ProgramItem, { storage, kind, signal }: MeasureOptions) {
  const rendition = await loadRendition(storage, item, kind, { signal });
  return { ticks: itemTicks(rendition, kind), delayTicks: kind === 'video' ? delayTicks(rendition) : 0 };
}
