/** What has to be known of a list before the first of its items plays: how long each one is, and the largest B-frame delay. */

import { isLeftOut, type ProgramItem } from '../../../resources/stream/program.ts';
import type { Storage } from '../../storage/storage.ts';
import { frameTicks, itemTicks } from '../timeline/ticks.ts';
import { itemError, loadDelay, loadIndex, type TrackKind } from './rendition-index.ts';

/** A storage that left so many questions unanswered at first is not asked about the rest of the list. */
const MAX_UNANSWERED = 3;
/** Of a list's items. One after the other, 500 in a storage that takes 50 ms an answer would hold the start for minutes. */
const ASKED_AT_ONCE = 32;

export interface Measures {
  /** Ticks that each item plays; 0 for one that cannot be played now. */
  durations: number[];
  /** Largest B-frame delay, in ticks. */
  delayTicks: number;
  /** Nothing is known, because the storage did not answer. */
  unanswered: boolean;
}

export interface MeasureOptions {
  storage: Storage;
  kind: TrackKind;
  signal: AbortSignal;
  /** Called with every item that cannot be played, and why. */
  onFault: (item: ProgramItem, error: unknown) => void;
}

/** Rejects only when the signal is aborted. */
export async function measure(items: readonly ProgramItem[], options: MeasureOptions): Promise<Measures> {
  const durations = items.map(() => 0);
  let delayTicks = 0;
  // Not a number as soon as the storage has answered.
  let failures = 0;
  const ask = async ([at, item]: [number, ProgramItem]) => {
    if (isLeftOut(item)) return;
    try {
      const known = await measureItem(item, options);
      durations[at] = known.ticks;
      delayTicks = Math.max(delayTicks, known.delayTicks);
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
  return { durations, delayTicks, unanswered: failures > 0 };
}

async function measureItem(item: ProgramItem, { storage, kind, signal }: MeasureOptions) {
  const index = await loadIndex(storage, item, kind, signal);
  const ticks = itemTicks(index, kind);
  if (kind === 'audio' || !index.video) return { ticks, delayTicks: 0 };
  const delay = await loadDelay(storage, item, index, signal);
  return { ticks, delayTicks: delay * (frameTicks(index.video.frameRateNum, index.video.frameRateDen) ?? 0) };
}
