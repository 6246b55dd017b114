/** Watches HTTP-FLV and RTMP, which have no playlist: a few seconds of media tell what viewers get. */
import { createHash } from 'node:crypto';
import { FlvError, FlvParser } from '../../pods/rendition/flv.ts';
import type { ReaderDeps } from './hls.ts';
import { Keyframes, type MediaTag } from './keyframes.ts';
import type { WatchSample } from './verdict.ts';
import { discard, type TakeBytes, WatchError, type Web } from './web.ts';

/** Servers begin with the keyframe on air, or wait for the next one. */
const FIRST_KEYFRAME_MS = 12_000;
const PLAYED_MS = 5_000;
/** This many seconds between two keyframes are enough of a sample. */
const ENOUGH_MS = 2_000;
/** More than some seconds of any stream, for servers that send all that they have. */
export const MAX_PLAYED_BYTES = 64 * 2 ** 20;

interface PlayedTags {
  tags: readonly MediaTag[];
  /** Bytes that have come of the next tag. */
  heldBytes: number;
  /** Whether the server speaks the protocol at all. */
  hasAnswered: boolean;
}

export type TagSource = (signal: AbortSignal) => AsyncIterable<PlayedTags>;

/** Reads HTTP-FLV. Throws WatchError, or FlvError where the media are broken. */
export const flvTags = (address: string, web: Web): TagSource =>
  async function* (signal) {
    const late = AbortSignal.timeout(FIRST_KEYFRAME_MS + PLAYED_MS);
    const { body } = await web.ask(address, { late, signal });
    const parser = new FlvParser();
    let bytes = 0;
    try {
      for await (const chunk of body as AsyncIterable<Buffer>) {
        yield { tags: parser.push(chunk), heldBytes: parser.heldBytes, hasAnswered: true };
        bytes += chunk.length;
        if (bytes > MAX_PLAYED_BYTES) return;
      }
    } finally {
      discard(body);
    }
  };

/**
 * Plays for some seconds; `silent` where no video comes, null where it could not be decoded here. Throws WatchError, or the signal's
 * reason.
 */
export async function samplePlay(
  source: TagSource,
  { decode, budget }: Pick<ReaderDeps, 'decode' | 'budget'>,
  signal: AbortSignal,
): Promise<WatchSample | 'silent' | null> {
  const keyframes = new Keyframes();
  return budget.spend(async (take, late, hasAll) => {
    try {
      await collect(source, keyframes, { take, late, signal });
    } catch (error) {
      if (error instanceof FlvError && error.code === 'not_flv') throw new WatchError('not_media');
      if (error instanceof FlvError) return { kind: 'fault', fault: 'not_decodable' };
      throw error;
    }
    hasAll();
    return readSample(keyframes, decode, signal);
  });
}

async function readSample(
  keyframes: Keyframes,
  decode: ReaderDeps['decode'],
  signal: AbortSignal,
): Promise<WatchSample | 'silent' | null> {
  const { newest, newestVideoMs } = keyframes;
  if (newestVideoMs === undefined) return 'silent';
  // Video that cannot be picked, as HEVC, advances by its times alone.
  if (!newest) return { kind: 'media', sequence: newestVideoMs, digest: String(newestVideoMs), pictures: [] };
  // The time is part of it: stills that are sent again are new media.
  const digest = createHash('sha256').update(`${newest.timestampMs} `).update(newest.body).digest('hex');
  const decoded = await decode({ container: 'flv', media: keyframes.take() }, signal);
  if (decoded.kind === 'failed') return null;
  if (decoded.kind === 'broken') return { kind: 'fault', fault: 'not_decodable' };
  const pictures = decoded.kind === 'pictures' ? decoded.pictures : [];
  return { kind: 'media', sequence: newest.timestampMs, digest, pictures };
}

async function collect(
  source: TagSource,
  keyframes: Keyframes,
  { take, late, signal }: { take: TakeBytes; late: AbortSignal; signal: AbortSignal },
): Promise<void> {
  const over = new AbortController();
  const end = AbortSignal.any([signal, late, over.signal]);
  let timer = setTimeout(() => over.abort(), FIRST_KEYFRAME_MS);
  let firstAtMs: number | undefined;
  let takenBytes = 0;
  let isAnswered = false;
  try {
    for await (const { tags, heldBytes, hasAnswered } of source(end)) {
      isAnswered = hasAnswered;
      for (const tag of tags) {
        if (!keyframes.push(tag)) continue;
        if (firstAtMs === undefined) {
          clearTimeout(timer);
          timer = setTimeout(() => over.abort(), PLAYED_MS);
        }
        firstAtMs ??= tag.timestampMs;
        if (tag.timestampMs - firstAtMs >= ENOUGH_MS) return;
      }
      const bytes = keyframes.bytes + heldBytes;
      if (!take(bytes - takenBytes)) throw new WatchError('unreachable');
      takenBytes = bytes;
    }
  } catch (error) {
    signal.throwIfAborted();
    // The sample is all that has come by the end of the time.
    if (!end.aborted && !keyframes.newest) throw error;
    if (error instanceof FlvError) throw error;
  } finally {
    clearTimeout(timer);
    over.abort();
  }
  // Nobody who speaks the protocol is there. One who does, and sends no media, is silent.
  if (!isAnswered || (late.aborted && !keyframes.newest)) throw new WatchError('unreachable');
}
