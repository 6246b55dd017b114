/**
 * Plays what a watcher would meet for hours: a film that we send, a server that shows it after a delay in segments, and faults of that server.
 * The judge asks for looks as it does in service; no time passes.
 */
import type { LumaPicture } from '../../../src/core/platform/watch/pictures.ts';
import type { WatchedSegment } from '../../../src/core/platform/watch/playlist.ts';
import {
  type FetchFault,
  planNext,
  startWatch,
  takeLook,
  type WatchLook,
  type WatchSample,
  type WatchVerdict,
} from '../../../src/core/platform/watch/verdict.ts';
import { makeRandom } from './synthetic.ts';

const GOP_MS = 2_000;

/** The picture that the server shows at a time, as the time of our film; or a fault. */
export type Shown =
  | { kind: 'ours' }
  /** `ptsBackMs`: its times in the media are as much earlier. */
  | { kind: 'picture'; at(timeMs: number): Uint8Array; ptsBackMs?: number }
  /** Segments of an earlier time, with their bytes. `isRenamed`: under new names, and without a time. */
  | { kind: 'old'; fromMs: number; lengthMs: number; isRenamed: boolean }
  | { kind: 'stopped'; sinceMs: number }
  | { kind: 'ended' }
  | { kind: 'fault'; fault: FetchFault }
  | { kind: 'sample'; fault: 'segments_missing' | 'not_decodable' };

export interface Series {
  lengthMs: number;
  /** The film that we send. */
  film(timeMs: number): Uint8Array;
  shown?(timeMs: number): Shown;
  /** Changes that the platform makes to pictures. */
  change?(luma: Uint8Array): Uint8Array;
  segmentMs?: number;
  delayMs?: number;
  /** The platform chooses its own keyframes, so much after ours. */
  phaseMs?: number;
  hasTimes?: boolean;
  hasOwnPictures?: boolean;
  /** The part of fetches that fail. */
  loss?: number;
  /** How much later than usual a segment may appear. */
  jitterMs?: number;
  seed?: number;
}

export interface Change {
  atMs: number;
  verdict: WatchVerdict;
}

export interface Played {
  changes: Change[];
  samples: number;
  looks: number;
  /** The part of the time with each status. */
  shares: Record<WatchVerdict['status'], number>;
}

export function playSeries(series: Series): Played {
  const { lengthMs, film, segmentMs = 4_000, delayMs = 12_000, phaseMs = 0, hasTimes = true, jitterMs = 0 } = series;
  const {
    shown = () => ({ kind: 'ours' }) as const,
    change = (luma) => luma,
    loss = 0,
    hasOwnPictures = true,
  } = series;
  const random = makeRandom(series.seed ?? 1);
  let state = startWatch(0);
  let plan = planNext(state, 0);
  let sentUntil = 0;
  const changes: Change[] = [{ atMs: 0, verdict: state.verdict }];
  const played = { changes, samples: 0, looks: 0, shares: { True: 0, False: 0, Unknown: 0 } };
  const late = (sequence: number) => ((sequence * 7919) % 97) / 97;

  const segmentAt = (sequence: number, now: Shown): WatchedSegment & { sourceMs: number } => {
    const beginsMs = sequence * segmentMs;
    const sourceMs =
      now.kind === 'old' ? now.fromMs + (((beginsMs % now.lengthMs) / segmentMs) | 0) * segmentMs : beginsMs;
    const name = now.kind === 'old' && !now.isRenamed ? sourceMs / segmentMs : sequence;
    return {
      sequence,
      address: `http://watch.example/${name}.ts`,
      range: null,
      durationMs: segmentMs,
      programAtMs: hasTimes && !(now.kind === 'old' && now.isRenamed) ? sourceMs : null,
      keyAddress: null,
      keyIv: null,
      initAddress: null,
      isProtected: false,
      sourceMs,
    };
  };

  const read = (atMs: number, now: Shown): { look: WatchLook['read']; newest: ReturnType<typeof segmentAt> | null } => {
    if (now.kind === 'fault') return { look: { kind: 'fault', fault: now.fault }, newest: null };
    if (random() < loss)
      return { look: { kind: 'fault', fault: random() < 0.5 ? 'unreachable' : 'address_not_found' }, newest: null };
    const edgeMs = (now.kind === 'stopped' ? now.sinceMs : atMs) - delayMs;
    let last = Math.floor(edgeMs / segmentMs) - 1;
    if (edgeMs - (last + 1) * segmentMs < late(last) * jitterMs) last -= 1;
    if (last < 0) return { look: { kind: 'fault', fault: 'address_not_found' }, newest: null };
    const segments = Array.from({ length: 6 }, (_, index) => segmentAt(last - 5 + index, now));
    const playlist = { targetMs: segmentMs, isEnded: now.kind === 'ended', segments };
    return { look: { kind: 'media', playlist }, newest: segments.at(-1) ?? null };
  };

  const sample = (now: Shown, newest: ReturnType<typeof segmentAt>): WatchSample => {
    played.samples += 1;
    if (now.kind === 'sample') return { kind: 'fault', fault: now.fault };
    if (random() < loss) return { kind: 'fault', fault: random() < 0.5 ? 'segments_missing' : 'not_decodable' };
    const pictures = Array.from({ length: Math.max(1, Math.floor(segmentMs / GOP_MS)) }, (_, index) => {
      const sourceMs = newest.sourceMs + index * GOP_MS + phaseMs;
      const luma = now.kind === 'picture' ? now.at(sourceMs) : film(sourceMs);
      const backMs = now.kind === 'picture' ? (now.ptsBackMs ?? 0) : 0;
      return { ptsMs: newest.sequence * segmentMs + index * GOP_MS + phaseMs - backMs, luma: change(luma) };
    });
    const kind = now.kind === 'picture' ? 'other' : 'ours';
    return { kind: 'media', sequence: newest.sequence, digest: `${kind} ${newest.sourceMs}`, pictures };
  };

  for (let atMs = 0; atMs < lengthMs; ) {
    const now = shown(atMs);
    const ours: LumaPicture[] = [];
    for (; sentUntil <= atMs; sentUntil += GOP_MS)
      if (hasOwnPictures) ours.push({ atMs: sentUntil, luma: film(sentUntil) });
    const { look, newest } = read(atMs, now);
    state = takeLook(state, {
      atMs,
      publishingSinceMs: 0,
      read: look,
      sample: newest && plan.sample ? sample(now, newest) : null,
      ours,
    });
    played.looks += 1;
    plan = planNext(state, atMs);
    const before = changes.at(-1)?.verdict;
    if (before?.status !== state.verdict.status || before.reason !== state.verdict.reason)
      changes.push({ atMs, verdict: state.verdict });
    played.shares[state.verdict.status] += plan.inMs / lengthMs;
    atMs += plan.inMs;
  }
  return played;
}
