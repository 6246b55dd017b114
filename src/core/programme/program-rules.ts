/**
 * Makes the rules of a program ready for the fold, and writes down where they stand. `findMoment` (moments.ts) is given, since a streamer
 * loads it only where a program has rules. Pure: no I/O, no clock.
 */
import type { PlayedRule } from '../resources/stream/playing.ts';
import type { TrackStanding } from '../resources/stream/standing.ts';
import type { Rule, RuledLoop, RuleStanding, Standing } from './rules.ts';
import { startStanding } from './rules.ts';
import { AUDIO_FRAME_TICKS, TICKS_PER_SECOND } from './ticks.ts';
import type { ProgrammeTrack } from './tracks.ts';

type FindMoment = (recurrence: { cron: string; timeZone: string }, afterMs: number) => number | undefined;

/** Renditions have a keyframe every 2 seconds. Each frame of sound is one. */
export const GRID_TICKS: Readonly<Record<ProgrammeTrack, number>> = {
  video: 2 * TICKS_PER_SECOND,
  audio: AUDIO_FRAME_TICKS,
};

/** Asks once for each gap between two moments. An expression that makes no sense has no moments. */
function remember(find: (afterMs: number) => number | undefined): (afterMs: number) => number | undefined {
  const gaps: { fromMs: number; next: number | undefined }[] = [];
  return (afterMs) => {
    const known = gaps.find(({ fromMs, next }) => fromMs <= afterMs && (next === undefined || afterMs < next));
    if (known) return known.next;
    let next: number | undefined;
    try {
      next = find(afterMs);
    } catch {
      next = undefined;
    }
    if (gaps.unshift({ fromMs: afterMs, next }) > 3) gaps.pop();
    return next;
  };
}

/** Another order for each rule, which stays when rules are added (FNV-1a). */
function mixName(seed: number, name: string): number {
  let hash = seed ^ 0x811c9dc5;
  for (const character of name) hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 0x01000193);
  return hash >>> 0;
}

interface Lengths {
  /** Ticks of each item; 0 while it cannot be played. */
  durations: readonly number[];
  estimated?: ReadonlySet<number>;
}

export function compileRule(played: PlayedRule, lengths: Lengths, seed: number, findMoment: FindMoment): Rule {
  const { name, when, start, lateSeconds, after, count, pick, apart } = played;
  const { everySeconds, eachItems, window } = when;
  const recurrence = window ?? when.at;
  const mode = pick === 'Shuffle' ? 'shuffle' : 'sequential';
  return {
    name,
    loop: { mode, seed: mixName(seed, name), durations: lengths.durations, apart },
    ...(lengths.estimated && { estimated: lengths.estimated }),
    everyMs: everySeconds === undefined ? undefined : everySeconds * 1000,
    eachItems,
    nextMs: recurrence && remember((afterMs) => findMoment(recurrence, afterMs)),
    windowMs: window && window.durationSeconds * 1000,
    cuts: start === 'Cut' && eachItems === undefined,
    lateMs: lateSeconds * 1000,
    after,
    count,
  };
}

const toTime = (ms: number): string => new Date(ms).toISOString();
const findOffset = (offsetTicks: number) => (offsetTicks > 0 ? { offsetTicks } : {});

const written = new WeakMap<Standing, TrackStanding>();

/** Writes down where a list stands. A streamer reports that each second, and it seldom changes. */
export function recordStanding(loop: RuledLoop, standing: Standing): TrackStanding {
  const known = written.get(standing) ?? writeStanding(loop, standing);
  written.set(standing, known);
  return known;
}

function writeStanding({ rules = [] }: RuledLoop, standing: Standing): TrackStanding {
  const { round, turn, offsetTicks, items, next, played } = standing;
  const name = (index: number) => rules[index]?.name ?? '';
  return {
    ...{ round, turn, ...findOffset(offsetTicks), items },
    ...(played && played.length > 0 && { played: played.map(name) }),
    ...(next && {
      next: {
        ...(next.rule !== null && { rule: name(next.rule) }),
        left: next.left,
        ...(next.dueMs !== undefined && { dueAt: toTime(next.dueMs) }),
      },
    }),
    rules: standing.rules.map((own, index) => ({
      ...{ name: name(index), round: own.round, turn: own.turn, ...findOffset(own.offsetTicks) },
      ...{ items: own.items, since: toTime(own.fromMs) },
    })),
  };
}

/** Where a list stands that goes on with what was written down. Rules that it did not have begin at `atMs`. */
export function readStanding(loop: RuledLoop, written: TrackStanding | undefined, atMs: number): Standing {
  const { rules = [] } = loop;
  const fresh = startStanding(loop, atMs);
  if (!written || written.turn >= loop.durations.length) return fresh;
  const { round, turn, offsetTicks = 0, items } = written;
  const find = (name: string | undefined) => rules.findIndex((rule) => rule.name === name);
  const own = fresh.rules.map((begun, index): RuleStanding => {
    const known = written.rules.find(({ name }) => name === rules[index]?.name);
    if (!known) return { ...begun, items };
    const sinceMs = Date.parse(known.since);
    const isListed = known.turn < (rules[index]?.loop.durations.length ?? 0);
    const place = isListed ? { round: known.round, turn: known.turn, offsetTicks: known.offsetTicks ?? 0 } : {};
    return { ...begun, ...place, items: Math.min(known.items, items), fromMs: Number.isNaN(sinceMs) ? atMs : sinceMs };
  });
  const { next } = written;
  const rule = next?.rule === undefined ? null : find(next.rule);
  const dueMs = next?.dueAt === undefined ? undefined : Date.parse(next.dueAt);
  return {
    ...{ round, turn, offsetTicks, ticks: 0, items, rules: own },
    played: written.played?.map(find).filter((index) => index >= 0),
    next: next && rule !== -1 ? { rule, left: next.left, dueMs } : undefined,
  };
}
