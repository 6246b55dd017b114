/**
 * Decides whether viewers see what we send, look by look: True, False with a reason, or Unknown with one. One odd look decides nothing; what
 * cannot be told becomes Unknown, never False. Pure: no I/O, no clock.
 */
import type { PlatformDoubt, PlatformFault } from '../../lib/codes/platforms.ts';
import { isStill } from './alignment.ts';
import {
  judgePictures,
  keepOurs,
  type PictureMemory,
  startPictures,
  type TimedPicture,
  watchPictures,
} from './judge-pictures.ts';
import type { LumaPicture } from './pictures.ts';
import type { MediaPlaylist } from './playlist.ts';
import {
  followPlaylist,
  followSample,
  isStalled,
  looksRepeated,
  playsOldSegments,
  stallLimitMs,
  startProgress,
  type WatchProgress,
} from './progress.ts';

/** After a start or a reconnect, servers need some segments, or a delay that they keep, before they show anything. */
export const START_GRACE_MS = 120_000;
/** True and False stand for so long without new evidence. */
const HOLD_MS = 60_000;
/** After a fault, two good looks this far apart say that it is over. */
const RECOVERED_MS = 8_000;
/** Two looks that find the same fault count as one when they come closer than this. */
const APART_MS = 1_500;
const [MIN_LOOK_MS, MAX_LOOK_MS] = [2_000, 4_000];
/** How often a segment is decoded while all is well. */
const CALM_SAMPLE_MS = 8_000;
/** Without any sign of a fault, segments are decoded often for no longer than this. */
const MAX_EAGER_MS = 180_000;

export type FetchFault =
  | 'address_not_found'
  | 'server_failing'
  | 'not_media'
  | 'unauthorized'
  | 'forbidden_address'
  | 'unreachable'
  | 'rate_limited'
  | 'playlist_too_large'
  | 'no_picture';

export type WatchSample =
  | {
      kind: 'media';
      sequence: number;
      /** A hash of the bytes of the segment; of its keyframe with its time where there is no playlist. */
      digest: string;
      /** Its keyframes in order, with their times in the media. */
      pictures: readonly TimedPicture[];
    }
  | { kind: 'fault'; fault: 'segments_missing' | 'not_decodable' };

export interface WatchLook {
  atMs: number;
  /** Since when the output has been sending without a break; null while it is not. */
  publishingSinceMs: number | null;
  /** `play`: HTTP-FLV and RTMP, which have no playlist. The sample says whether media advance, and `isSilent` that none came. */
  read:
    | { kind: 'media'; playlist: MediaPlaylist }
    | { kind: 'play'; isSilent?: boolean }
    | { kind: 'fault'; fault: FetchFault };
  sample: WatchSample | null;
  /** Keyframes that we have sent since the last look. */
  ours: readonly LumaPicture[];
}

/** Faults that `watch` can find, in the order in which they are named when several are there, and what makes one certain. */
const CERTAIN = {
  address_not_found: { looks: 3, forMs: 8_000 },
  server_failing: { looks: 3, forMs: 12_000 },
  no_playlist: { looks: 3, forMs: 8_000 },
  broadcast_ended: { looks: 2, forMs: 4_000 },
  old_segments: { looks: 1, forMs: 0 },
  not_advancing: { looks: 1, forMs: 0 },
  segments_missing: { looks: 3, forMs: 8_000 },
  not_decodable: { looks: 3, forMs: 8_000 },
  black: { looks: 2, forMs: 3_000 },
  frozen: { looks: 2, forMs: 3_000 },
  other_picture: { looks: 3, forMs: 6_000 },
} as const satisfies Partial<Record<PlatformFault, { looks: number; forMs: number }>>;
export type WatchFault = keyof typeof CERTAIN;
const FAULTS = Object.keys(CERTAIN) as WatchFault[];

export type WatchVerdict =
  | { status: 'True'; reason: null }
  | { status: 'False'; reason: WatchFault }
  | { status: 'Unknown'; reason: PlatformDoubt };

interface Streak {
  sinceMs: number;
  lastMs: number;
  looks: number;
}

export interface WatchState {
  verdict: WatchVerdict;
  /** When viewers last saw the stream, as far as is known. */
  lastSeenMs: number | null;
  publishingSinceMs: number | null;
  progress: WatchProgress;
  pictures: PictureMemory;
  hadPlaylist: boolean;
  hadPicture: boolean;
  /** The stream has been seen since it is sent without a break. */
  wasSeen: boolean;
  streaks: Readonly<Partial<Record<WatchFault, Streak>>>;
  /** The first of the good looks since the last bad one. */
  goodSinceMs: number | null;
  lastSampleMs: number | null;
  eagerSinceMs: number | null;
}

export const startWatch = (atMs: number): WatchState => ({
  verdict: { status: 'Unknown', reason: 'starting' },
  lastSeenMs: null,
  publishingSinceMs: null,
  progress: startProgress(atMs),
  pictures: startPictures(),
  hadPlaylist: false,
  hadPicture: false,
  wasSeen: false,
  streaks: {},
  goodSinceMs: null,
  lastSampleMs: null,
  eagerSinceMs: null,
});

/** The evidence of one look. `cleared`: faults that it disproves. */
interface Evidence {
  kind: 'bad' | 'good' | 'doubt' | 'none';
  fault?: WatchFault;
  doubt?: PlatformDoubt;
  cleared: readonly WatchFault[];
}

const OF_FETCHES: readonly WatchFault[] = ['address_not_found', 'server_failing', 'no_playlist'];
const OF_PROGRESS: readonly WatchFault[] = [...OF_FETCHES, 'broadcast_ended', 'old_segments', 'not_advancing'];
const OF_SAMPLES: readonly WatchFault[] = [...OF_PROGRESS, 'segments_missing', 'not_decodable'];

function findFetchEvidence(fault: FetchFault, hadPlaylist: boolean): Evidence {
  const none: readonly WatchFault[] = [];
  if (fault === 'address_not_found' || fault === 'server_failing') return { kind: 'bad', fault, cleared: none };
  if (fault === 'not_media' && hadPlaylist) return { kind: 'bad', fault: 'no_playlist', cleared: none };
  return { kind: 'doubt', doubt: fault, cleared: none };
}

/** Takes a look into the state; returns what it says. */
function weigh(state: WatchState, look: WatchLook): { state: WatchState; evidence: Evidence } {
  const { read, sample, atMs } = look;
  if (look.publishingSinceMs === null) return { state, evidence: { kind: 'doubt', doubt: 'not_sending', cleared: [] } };
  if (read.kind === 'fault') return { state, evidence: findFetchEvidence(read.fault, state.hadPlaylist) };

  let { progress, pictures, hadPicture, lastSampleMs } = state;
  if (read.kind === 'media') progress = followPlaylist(progress, read.playlist, atMs);
  if (sample) lastSampleMs = atMs;
  if (sample?.kind === 'media') {
    progress = followSample(progress, sample, atMs);
    pictures = watchPictures(pictures, sample.pictures, atMs);
    hadPicture ||= sample.pictures.length > 0;
  }
  const next = { ...state, progress, pictures, hadPicture, lastSampleMs, hadPlaylist: true };
  const say = (evidence: Evidence) => ({ state: next, evidence });

  if (read.kind === 'media' && read.playlist.isEnded)
    return say({ kind: 'bad', fault: 'broadcast_ended', cleared: OF_FETCHES });
  if (playsOldSegments(progress, atMs)) return say({ kind: 'bad', fault: 'old_segments', cleared: OF_FETCHES });
  // Between two samples, a look without a playlist knows nothing of progress.
  const knowsProgress = read.kind === 'media' || sample !== null || read.isSilent;
  if (knowsProgress && isStalled(progress, atMs))
    return say({ kind: 'bad', fault: 'not_advancing', cleared: OF_FETCHES });
  if (read.kind === 'media' && read.playlist.segments.at(-1)?.isProtected)
    return say({ kind: 'doubt', doubt: 'protected', cleared: OF_PROGRESS });
  if (!sample) return say({ kind: 'none', cleared: OF_PROGRESS });
  if (sample.kind === 'fault') {
    // A codec that we cannot decode may be one that viewers can.
    if (sample.fault === 'not_decodable' && !hadPicture)
      return say({ kind: 'doubt', doubt: 'no_picture', cleared: OF_PROGRESS });
    return say({ kind: 'bad', fault: sample.fault, cleared: OF_PROGRESS });
  }
  if (sample.pictures.length === 0) return say({ kind: 'doubt', doubt: 'no_picture', cleared: OF_SAMPLES });
  const judged = judgePictures(pictures);
  const judgedState = { ...next, pictures: judged.memory };
  if (judged.kind === 'good') return { state: judgedState, evidence: { kind: 'good', cleared: FAULTS } };
  if (judged.kind === 'bad')
    return { state: judgedState, evidence: { kind: 'bad', fault: judged.fault, cleared: OF_SAMPLES } };
  return { state: judgedState, evidence: { kind: 'doubt', doubt: judged.doubt, cleared: OF_SAMPLES } };
}

/** A fault counts from the end of the time that servers need after a start. */
function lengthenStreaks(
  streaks: WatchState['streaks'],
  { fault, cleared }: Evidence,
  atMs: number,
): WatchState['streaks'] {
  const kept = Object.fromEntries(
    Object.entries(streaks).filter(
      ([name, { lastMs }]) => !cleared.includes(name as WatchFault) && atMs - lastMs <= HOLD_MS,
    ),
  ) as Partial<Record<WatchFault, Streak>>;
  if (!fault) return kept;
  const before = kept[fault];
  if (!before) return { ...kept, [fault]: { sinceMs: atMs, lastMs: atMs, looks: 1 } };
  if (atMs - before.lastMs < APART_MS) return kept;
  return { ...kept, [fault]: { sinceMs: before.sinceMs, lastMs: atMs, looks: before.looks + 1 } };
}

const isCertain = (fault: WatchFault, streak: Streak | undefined): boolean =>
  streak !== undefined &&
  streak.looks >= CERTAIN[fault].looks &&
  streak.lastMs - streak.sinceMs >= CERTAIN[fault].forMs;

function decide(state: WatchState, evidence: Evidence, atMs: number): WatchVerdict {
  const { verdict, streaks, goodSinceMs, lastSeenMs } = state;
  const fault = FAULTS.find((name) => isCertain(name, streaks[name]));
  if (fault) {
    // The first name of a fault stays as long as that fault does.
    const isSame = verdict.status === 'False' && isCertain(verdict.reason, streaks[verdict.reason]);
    return isSame ? verdict : { status: 'False', reason: fault };
  }
  const doubt: WatchVerdict = { status: 'Unknown', reason: evidence.doubt ?? 'picture_unclear' };
  if (evidence.kind === 'good') {
    const isOver = verdict.status !== 'False' || (goodSinceMs !== null && atMs - goodSinceMs >= RECOVERED_MS);
    return isOver ? { status: 'True', reason: null } : verdict;
  }
  if (verdict.status === 'Unknown') return evidence.kind === 'doubt' ? doubt : verdict;
  if (evidence.doubt === 'not_sending' && verdict.status === 'False') return doubt;
  if (verdict.status === 'True') return atMs - (lastSeenMs ?? atMs) <= HOLD_MS ? verdict : doubt;
  // The fault is no longer seen, and neither is the stream yet.
  return streaks[verdict.reason] || evidence.kind === 'none' ? verdict : doubt;
}

/** Takes one look; returns the new state with its verdict. */
export function takeLook(before: WatchState, look: WatchLook): WatchState {
  const { atMs, publishingSinceMs } = look;
  let state: WatchState = { ...before, pictures: keepOurs(before.pictures, look.ours, atMs) };
  // Media of before a break says nothing of what is sent now.
  if (publishingSinceMs !== before.publishingSinceMs)
    state = {
      ...state,
      publishingSinceMs,
      progress: startProgress(atMs),
      pictures: startPictures(state.pictures.ours),
      streaks: {},
      wasSeen: false,
      goodSinceMs: null,
    };
  const weighed = weigh(state, look);
  let { evidence } = weighed;
  const isStarting = publishingSinceMs !== null && !state.wasSeen && atMs - publishingSinceMs < START_GRACE_MS;
  if (evidence.kind === 'bad' && isStarting) evidence = { kind: 'doubt', doubt: 'starting', cleared: evidence.cleared };
  state = { ...weighed.state, streaks: lengthenStreaks(weighed.state.streaks, evidence, atMs) };
  if (evidence.kind === 'good') state = { ...state, wasSeen: true, goodSinceMs: state.goodSinceMs ?? atMs };
  if (evidence.kind === 'bad') state = { ...state, goodSinceMs: null };
  const verdict = decide(state, evidence, atMs);
  const lastSeenMs = evidence.kind === 'good' && verdict.status === 'True' ? atMs : state.lastSeenMs;
  const isCalm =
    verdict.status === 'True' && (evidence.kind === 'good' || evidence.kind === 'none') && !isSuspicious(state, atMs);
  return { ...state, verdict, lastSeenMs, eagerSinceMs: isCalm ? null : (state.eagerSinceMs ?? atMs) };
}

const isSuspicious = ({ streaks, progress, pictures }: WatchState, atMs: number): boolean =>
  Object.keys(streaks).length > 0 ||
  isStill(pictures.watched.slice(-2)) ||
  looksRepeated(progress) ||
  (progress.newest !== null && atMs - progress.advancedAtMs > stallLimitMs(progress) / 2);

export interface NextLook {
  inMs: number;
  /** Whether the look decodes the newest segment. */
  sample: boolean;
}

/** Plans the next look: decoding is what costs, so it is rare while all is well. `isLarge`: the cheapest rendition is above 1080 lines. */
export function planNext(state: WatchState, atMs: number, isLarge = false): NextLook {
  const inMs = Math.min(MAX_LOOK_MS, Math.max(MIN_LOOK_MS, state.progress.targetMs));
  const { eagerSinceMs, lastSampleMs } = state;
  const hasFault = Object.keys(state.streaks).length > 0;
  const isEager = eagerSinceMs !== null && (hasFault || atMs - eagerSinceMs < MAX_EAGER_MS);
  const calmMs = isLarge ? 2 * CALM_SAMPLE_MS : CALM_SAMPLE_MS;
  const isDue = lastSampleMs === null || atMs + inMs - lastSampleMs >= calmMs;
  return { inMs, sample: isEager || isDue };
}
