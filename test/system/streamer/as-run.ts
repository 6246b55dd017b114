/** Compares what a receiver got with what was on air as it is computed from the facts of a stream, item by item. */
import { expect } from 'vitest';
import { type AiredItem, type AirSpan, listAired, listStretches } from '../../../src/core/programme/as-run.ts';
import { identifyLists } from '../../../src/core/programme/identity.ts';
import type { Program } from '../../../src/core/protocol/program.ts';
import type { Fact } from '../../../src/core/resources/stream/facts.ts';
import { FPS, type Segment } from './numbered.ts';

/** The record of a stream. */
export interface Recorded {
  moves: readonly Fact[];
  programs: readonly Program[];
}

/** The part of one publish that a receiver got. */
interface Received {
  shown: readonly Segment[];
  startedMs: number;
}

const toSeconds = ([, first, end]: Segment): number => (end - first) / FPS;

/** The times in which the receiver got media. */
const listOnAir = (received: readonly Received[]): AirSpan[] =>
  received.map(({ shown, startedMs }) => {
    const seconds = shown.reduce((sum, segment) => sum + toSeconds(segment), 0);
    return { startMs: startedMs, endMs: startedMs + seconds * 1000 };
  });

/** Computes what was on air, as the API does. */
export function computeAired(
  { moves, programs, recordings }: Recorded & { recordings: readonly Received[] },
  frames: Readonly<Record<string, number>>,
): AiredItem[] {
  const lists = new Map(programs.flatMap(identifyLists));
  const stretches = listStretches(moves, 'video', (hash) => lists.get(hash));
  const onAir = listOnAir(recordings);
  const endMs = onAir.at(-1)?.endMs ?? 0;
  const findLength = ({ id }: { id: string }) => ({ seconds: (frames[id] ?? 0) / FPS, isExact: true });
  return [...listAired(stretches, { startMs: 0, endMs }, { onAir, nowMs: endMs, findLength })];
}

/** A list is up to a second off its time before it moves, and more where its machine is busy. */
const WHOLE_SECONDS = 3;
/** A pod sends ahead of its time, and a publish begins with a keyframe. */
const PART_SECONDS = 3;

/**
 * Expects that each publish shows the items of its time on air, in their order, each for as long as is said. Returns the number of items that
 * were compared.
 */
export function expectAired(received: readonly Received[], aired: readonly AiredItem[]): number {
  const spans = listOnAir(received);
  let compared = 0;
  for (const [nth, { shown }] of received.entries()) {
    const { startMs: beginMs, endMs: overMs } = spans[nth] as AirSpan;
    const secondsOf = ({ startMs, endMs }: AiredItem) => (Math.min(endMs, overMs) - Math.max(startMs, beginMs)) / 1000;
    const own = aired.filter((one) => secondsOf(one) > 0);
    // Of an item at either end, only a moment may be in the one and not in the other.
    const isMoment = (one: AiredItem | undefined): boolean => one !== undefined && secondsOf(one) < PART_SECONDS;
    if (own[0]?.item.id !== shown[0]?.[0] && isMoment(own[0])) own.shift();
    if (own.length > shown.length && isMoment(own.at(-1))) own.pop();
    const last = shown.at(-1);
    const isLastMoment = last !== undefined && toSeconds(last) < PART_SECONDS;
    const segments = shown.length > own.length && isLastMoment ? shown.slice(0, -1) : shown;
    expect(own.map(({ item }) => item.id)).toEqual(segments.map(([id]) => id));
    for (const [place, one] of own.entries()) {
      const isWhole = place > 0 && place < own.length - 1;
      const away = Math.abs(secondsOf(one) - toSeconds(segments[place] as Segment));
      expect(away).toBeLessThan(isWhole ? WHOLE_SECONDS : PART_SECONDS);
      compared++;
    }
  }
  return compared;
}
