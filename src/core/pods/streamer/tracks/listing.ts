/**
 * Keeps the list of one program version with the measures of its items, and takes its turns. A list without rules counts its ticks from its
 * first round on, one with rules from the moment at which it was last known to stand somewhere. Pure: no I/O, no clock.
 */
import { correctDuration, countTicksBefore, resumeAfter, type TrackPlayhead } from '../../../programme/playhead.ts';
import { readStanding, recordStanding } from '../../../programme/program-rules.ts';
import { hasRules, type RuledLoop, rebaseTurn, type Standing, type Turn, takeTurn } from '../../../programme/rules.ts';
import { ticksToMs } from '../../../programme/ticks.ts';
import { findPlace, isLeftOut, type Place } from '../../../resources/stream/item-place.ts';
import type { PlayedRule, ProgramItem, Track } from '../../../resources/stream/playing.ts';
import type { TrackStanding } from '../../../resources/stream/standing.ts';
import { listTrackItems } from '../../../resources/stream/track-items.ts';

export interface TrackListing {
  version: number;
  /** Hash of the list (programme/identity.ts). */
  programme: string;
  /** Undefined until the first item of a version that was published on air begins. */
  epochMs: number | undefined;
  /** The epoch as it is expected until then. */
  expectedEpochMs: number;
  items: readonly ProgramItem[];
  lists: Track['lists'];
  rules: readonly PlayedRule[];
  /** Whether items play the sounds that they name; those of pictures with a list of songs play none. */
  playsSounds: boolean;
  loop: RuledLoop;
  /** Where the list stood at its epoch, if it has rules. */
  origin: Standing | undefined;
  /** Largest B-frame delay of the items, in ticks. */
  delayTicks: number;
  /** True when nothing is known of the items because the storage did not answer. */
  unanswered: boolean;
}

/** An item and its place in the stream's lists. */
export type ShownItem = { id: string; name: string } & Place;

export const findTurnItem = (listing: TrackListing | undefined, { rule, item }: Turn): ProgramItem | undefined =>
  (rule === null ? listing?.items : listing?.rules[rule]?.items)?.[item];

/** Lists the places of items that take no time, since they cannot be played: among all of the list, and those of its rules behind them. */
export function listBroken({ items, rules, loop }: TrackListing): number[] {
  const lengths = [loop, ...(loop.rules ?? []).map((rule) => rule.loop)].flatMap(({ durations }) => durations);
  return listTrackItems({ items, rules }).flatMap((item, index) =>
    lengths[index] === 0 && !isLeftOut(item) ? [index] : [],
  );
}

/** Describes the item of a turn for display. */
export function showItem(
  { id, name }: Pick<ProgramItem, 'id' | 'name'>,
  listing: TrackListing | undefined,
  turn: Turn,
): ShownItem {
  if (turn.rule === null) return { id, name, ...findPlace(listing?.lists, turn.item) };
  return { id, name, playlistID: listing?.rules[turn.rule]?.list ?? null, index: turn.item };
}

/** Returns the index of item `id` that is nearest to its old index: a list may hold an item more than once. */
export function findNearest(items: readonly ProgramItem[], id: string, was: number): number | undefined {
  const found = items.flatMap((item, index) => (item.id === id ? [index] : []));
  return found.sort((a, b) => Math.abs(a - was) - Math.abs(b - was))[0];
}

export const countEpoch = ({ epochMs, expectedEpochMs }: TrackListing): number => epochMs ?? expectedEpochMs;

/** The moment at which a turn begins. */
export const findStart = (listing: TrackListing, { startTicks }: Pick<Turn, 'startTicks'>): number =>
  countEpoch(listing) + ticksToMs(startTicks);

/** Takes the turn of a list that stands somewhere. */
export function take(listing: TrackListing, standing: Standing, isWhole = false): Turn {
  const { loop } = listing;
  const ticks = hasRules(loop) ? standing.ticks : countTicksBefore(loop, standing);
  return takeTurn(loop, { ...standing, ticks }, countEpoch(listing), isWhole);
}

/** Takes a turn again, with the lengths that are known by now. */
export const retake = (listing: TrackListing, turn: Turn): Turn => take(listing, turn.before);

/** Takes the turn behind one that takes no time, since it cannot be played. */
export const passOver = (listing: TrackListing, turn: Turn): Turn =>
  take(listing, { ...take(listing, turn.before, true).after, ticks: turn.before.ticks });

export const isSameTurn = (a: Turn, b: Turn): boolean =>
  a.rule === b.rule && a.item === b.item && a.offsetTicks === b.offsetTicks;

/** The item of the list itself that a list goes on behind, or in; undefined at its beginning. */
function findBase({ loop, items }: TrackListing, { round, turn, offsetTicks }: Standing) {
  const isInside = offsetTicks > 0;
  const before: TrackPlayhead = isInside
    ? { round, turn, offsetTicks }
    : { round: turn > 0 ? round : round - 1, turn: turn > 0 ? turn - 1 : items.length - 1, offsetTicks: 0 };
  if (before.round < 0) return undefined;
  const { item } = takeTurn({ ...loop, rules: [] }, { ...before, ticks: 0, items: 0, rules: [] }, 0);
  return { item, round: before.round, offsetTicks: before.offsetTicks };
}

/** Where a new list goes on behind what plays of another one; undefined when nothing plays. */
function resumeBase(
  listing: TrackListing,
  from: TrackListing,
  then: Standing,
  elapsedTicks: number,
): TrackPlayhead | undefined {
  const { loop, items } = listing;
  const base = findBase(from, then);
  if (!base) return { round: 0, turn: 0, offsetTicks: 0 };
  const playing = findNearest(items, from.items[base.item]?.id ?? '', base.item);
  const isCounted = !hasRules(loop) && !hasRules(from.loop);
  if (playing === undefined && !isCounted) return { round: then.round, turn: then.turn % items.length, offsetTicks: 0 };
  const next = resumeAfter(loop, elapsedTicks, { playing, round: base.round });
  if (!next || playing === undefined || base.offsetTicks === 0) return next;
  // It goes on in the item that was cut, which is the one before.
  const turns = items.length;
  const at = next.turn > 0 ? { round: next.round, turn: next.turn - 1 } : { round: next.round - 1, turn: turns - 1 };
  return { ...at, offsetTicks: base.offsetTicks };
}

/**
 * Takes the first turn of a new list at a moment, behind the turn of another one. Its rules go on as rules of their names stood. Sets the
 * expected epoch.
 */
export function takeOver(
  listing: TrackListing,
  from: TrackListing,
  at: Turn,
  atMs: number,
  elapsedTicks: number,
): Turn | undefined {
  const base = resumeBase(listing, from, at.after, elapsedTicks);
  if (!base) return undefined;
  const written: TrackStanding = { ...recordStanding(from.loop, at.after), ...base };
  const standing = { ...readStanding(listing.loop, written, atMs), ...base };
  const ticks = hasRules(listing.loop) ? 0 : countTicksBefore(listing.loop, standing);
  listing.expectedEpochMs = atMs - ticksToMs(ticks);
  listing.origin = standing;
  return take(listing, { ...standing, ticks });
}

/**
 * Counts the ticks of a list with rules from a turn on. Returns the turn as it is taken then: at another moment, a rule cuts it elsewhere, and
 * who reads where the list stood knows that moment alone.
 */
export function rebase(listing: TrackListing, turn: Turn): Turn {
  if (!hasRules(listing.loop)) return turn;
  const startedMs = findStart(listing, turn);
  if (listing.epochMs !== undefined) listing.epochMs = startedMs;
  listing.expectedEpochMs = startedMs;
  const rebased = rebaseTurn(turn);
  listing.origin = rebased.before;
  return { ...retake(listing, rebased), dropped: rebased.dropped };
}

/**
 * Records the length of the item of a turn. The epoch of a list without rules moves so that the item at `at` does not jump. Returns false
 * when nothing changes.
 */
export function correctLength(listing: TrackListing, { rule, item }: Turn, ticks: number, at: Turn): boolean {
  const { loop } = listing;
  if (!hasRules(loop)) {
    const corrected = correctDuration(loop, item, ticks, at);
    if (!corrected) return false;
    listing.loop = { ...loop, ...corrected.loop };
    if (listing.epochMs !== undefined) listing.epochMs += ticksToMs(corrected.shiftTicks);
    return true;
  }
  const { rules = [] } = loop;
  const own = rule === null ? loop : rules[rule]?.loop;
  if (!own || own.durations[item] === ticks) return false;
  const durations = own.durations.with(item, ticks);
  const change = (index: number) => (index === rule ? { loop: { ...own, durations } } : {});
  listing.loop =
    rule === null
      ? { ...loop, durations }
      : { ...loop, rules: rules.map((one, index) => ({ ...one, ...change(index) })) };
  return true;
}
