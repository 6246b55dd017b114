/** Takes the bytes of a rendition as they are made: proves them, cuts them into chunks and writes these into storage. */

import { toFraction } from '../../rendition/frame-times.ts';
import { type Chunk, chooseVersion, type RenditionIndex } from '../../rendition/index.ts';
import type { Storage } from '../../storage/storage.ts';
import { ChunkWriter } from './chunk-writer.ts';
import { Indexer, type Totals } from './indexer.ts';

export interface RenditionOutputOptions {
  storage: Storage;
  renditionKey: string;
  /** True where chunks under this key may be of another content (chunk-writer.ts). */
  keepsSameOnly?: boolean;
  profile: string;
  /** Frames per second; undefined for a rendition of sound alone. */
  framerate: number | undefined;
  /** A chunk ends in front of the first keyframe after this time. */
  chunkSeconds?: number;
  /** Frames by the word of the source. */
  expectedFrames: number;
  /** True where the work may turn out to be wrong: nothing can be played before `approve`. */
  provisional: boolean;
  /** Called with the frames, from the beginning on, that can be played, and their bytes. */
  onPrepared?: (frames: number, bytes: number) => void;
}

export class RenditionOutput {
  readonly #profile: string;
  readonly #indexer: Indexer;
  readonly #writer: ChunkWriter;
  /** Bytes of whole tags so far. */
  bytes = 0;

  constructor({ profile, framerate, chunkSeconds, expectedFrames, ...options }: RenditionOutputOptions) {
    this.#profile = profile;
    this.#indexer = new Indexer(framerate, chunkSeconds);
    const [frameRateNum, frameRateDen] = toFraction(framerate ?? 1);
    const video = framerate !== undefined && { video: { frameRateNum, frameRateDen } };
    this.#writer = new ChunkWriter({ ...options, about: { profile, expectedFrames, ...video } });
  }

  /** Frames so far: pictures, or AAC frames of sound alone. */
  get frames(): number {
    return this.#indexer.frames;
  }

  /**
   * Takes `data`, which begins with the bytes that the last call has left, and resolves with the bytes that it is done with: whole
   * tags. They must stay as they are until the next call has resolved. Rejects with BrokenPromiseError, FlvError or StorageError.
   */
  async write(data: Buffer): Promise<number> {
    const { used, cuts } = this.#indexer.take(data);
    this.bytes += used;
    await this.#writer.write(data.subarray(0, used), cuts);
    return used;
  }

  /** Resolves with the index, which is not written yet. Rejects as `write` does. */
  async end(): Promise<RenditionIndex> {
    const { last, totals } = this.#indexer.end();
    return buildIndex(this.#profile, await this.#writer.end(last), totals);
  }

  /** Lets provisional chunks be played, once the work has proved right. Rejects with StorageError. */
  approve(): Promise<void> {
    return this.#writer.approve();
  }

  /** Ends the work before its end. Chunks that are there already stay. */
  stop(): Promise<void> {
    return this.#writer.stop();
  }

  /** Deletes provisional chunks, after `stop`. Rejects with StorageError. */
  dropUnlisted(): Promise<void> {
    return this.#writer.dropUnlisted();
  }
}

/** Builds the index of a complete rendition. */
export function buildIndex(
  profile: string,
  chunks: Chunk[],
  { durationSeconds, video, audio }: Totals,
): RenditionIndex {
  const sizeBytes = chunks.reduce((sum, chunk) => sum + chunk.sizeBytes, 0);
  return {
    version: chooseVersion(video && video.frameRateNum / video.frameRateDen),
    profile,
    sizeBytes,
    durationSeconds,
    bitrateKbps: Math.round((sizeBytes * 8) / durationSeconds / 1000),
    ...(video && { video }),
    audio,
    chunks,
  };
}
