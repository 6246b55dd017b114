/**
 * Follows the playlists of one watch address, one after the other: whether media advance, and whether a server plays old segments again.
 * Numbers that rise prove nothing alone, since a server can number old segments anew. Pure: no I/O, no clock.
 */
import { createHash } from 'node:crypto';
import { setNewest } from '../../lib/newest.ts';
import type { MediaPlaylist, WatchedSegment } from './playlist.ts';

/** Half an hour in segments of 2 s. */
const REMEMBERED = 1024;
/** Looks in a row at which the newest segment, by its name and time, is one that the playlist has had under another number. */
const REPEATED_LOOKS = 3;
/** Samples with the bytes of earlier ones, within this time. A server that has an advertisement between shows one or two. */
const REPEATED_SAMPLES = 3;
const REPEATED_WITHIN_MS = 60_000;
/** RFC 8216 wants a new segment within 1.5 target durations; caches and encoders that stutter need more. */
const MIN_STALL_MS = 15_000;
const STALL_TARGETS = 3;

export interface WatchProgress {
  targetMs: number;
  /** When the address last showed something new. */
  advancedAtMs: number;
  /** The address has advanced since the first look. */
  hasAdvanced: boolean;
  newest: string | null;
  /** Every entry that the playlist has had: a hash of number, address and time. */
  entries: ReadonlyMap<string, true>;
  /** Every segment that the playlist has had, by a hash of address and time, with its latest number. */
  segments: ReadonlyMap<string, number>;
  repeatedLooks: number;
  /** The name of the newest segment has been there before: a reason to look at its bytes. */
  isNameRepeated: boolean;
  /** Hashes of the bytes of samples, and the number of each. */
  digests: ReadonlyMap<string, number>;
  repeatedSamplesAtMs: readonly number[];
}

export const startProgress = (atMs: number): WatchProgress => ({
  targetMs: 2_000,
  advancedAtMs: atMs,
  hasAdvanced: false,
  newest: null,
  entries: new Map(),
  segments: new Map(),
  repeatedLooks: 0,
  isNameRepeated: false,
  digests: new Map(),
  repeatedSamplesAtMs: [],
});

/** A hash, since addresses can be long, and many are remembered. */
const identify = ({ address, range, programAtMs }: WatchedSegment): string =>
  createHash('sha256')
    .update(`${address} ${range ?? ''} ${programAtMs ?? ''}`)
    .digest('base64');

export function followPlaylist(
  before: WatchProgress,
  { targetMs, segments }: MediaPlaylist,
  atMs: number,
): WatchProgress {
  const last = segments.at(-1);
  if (!last) return { ...before, targetMs };
  const newest = `${last.sequence} ${identify(last)}`;
  if (newest === before.newest) return { ...before, targetMs };

  const knownNumber = before.segments.get(identify(last));
  const isRenumbered = knownNumber !== undefined && knownNumber !== last.sequence;
  // Some servers use a few names in turn. With the time beside it, a name is one segment. A cache that is behind keeps the numbers.
  const isRepeated = isRenumbered && last.programAtMs !== null;
  const isNew = !isRepeated && !before.entries.has(newest);
  const [entries, known] = [new Map(before.entries), new Map(before.segments)];
  for (const segment of segments) {
    const identity = identify(segment);
    setNewest(entries, `${segment.sequence} ${identity}`, true, REMEMBERED);
    setNewest(known, identity, segment.sequence, REMEMBERED);
  }
  const isFirst = before.newest === null;
  return {
    ...before,
    targetMs,
    newest,
    entries,
    segments: known,
    isNameRepeated: isRenumbered,
    repeatedLooks: isRepeated ? before.repeatedLooks + 1 : 0,
    advancedAtMs: isNew ? atMs : before.advancedAtMs,
    hasAdvanced: before.hasAdvanced || (isNew && !isFirst),
  };
}

/** Adds a sample: `digest` is a hash of the bytes of a segment, or of a keyframe with its time where there is no playlist. */
export function followSample(
  before: WatchProgress,
  sample: { sequence: number; digest: string },
  atMs: number,
): WatchProgress {
  const known = before.digests.get(sample.digest);
  if (known === sample.sequence) return before;
  const digests = new Map(before.digests);
  setNewest(digests, sample.digest, sample.sequence, REMEMBERED);
  const recent = before.repeatedSamplesAtMs.filter((at) => atMs - at <= REPEATED_WITHIN_MS);
  if (known !== undefined) return { ...before, digests, repeatedSamplesAtMs: [...recent, atMs] };
  // New bytes are new media, whatever the playlist calls them, unless it says itself that they are old.
  const isNew = before.repeatedLooks === 0;
  return {
    ...before,
    digests,
    repeatedSamplesAtMs: recent,
    advancedAtMs: isNew ? atMs : before.advancedAtMs,
    hasAdvanced: before.hasAdvanced || (isNew && before.digests.size > 0),
  };
}

export const stallLimitMs = ({ targetMs }: WatchProgress): number => Math.max(MIN_STALL_MS, STALL_TARGETS * targetMs);

export const isStalled = (progress: WatchProgress, atMs: number): boolean =>
  atMs - progress.advancedAtMs > stallLimitMs(progress);

/** Whether the server plays old segments again, under new numbers or in turn. */
export const playsOldSegments = ({ repeatedLooks, repeatedSamplesAtMs }: WatchProgress, atMs: number): boolean =>
  repeatedLooks >= REPEATED_LOOKS ||
  repeatedSamplesAtMs.filter((at) => atMs - at <= REPEATED_WITHIN_MS).length >= REPEATED_SAMPLES;

/** Whether the next sample should come soon. */
export const looksRepeated = ({ repeatedLooks, repeatedSamplesAtMs, isNameRepeated }: WatchProgress): boolean =>
  isNameRepeated || repeatedLooks > 0 || repeatedSamplesAtMs.length > 0;
