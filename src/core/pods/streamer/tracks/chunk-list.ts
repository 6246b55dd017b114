/**
 * Lists the chunks of the rendition that an item plays, from the joined one on. While the rendition is being prepared, the list
 * grows by the chunks that appear.
 */

import { TICKS_PER_SECOND } from '../../../programme/ticks.ts';
import type { Storage } from '../../storage/storage.ts';
import { ItemError } from './item-error.ts';
import { chunkFrameTicks, type KeyedChunk, type Rendition } from './rendition.ts';
import { findEntry, findIndex } from './rendition-index.ts';

/**
 * Entries are looked up this far ahead, so that a cache can fetch what a minute without the storage needs: chunks are about half a
 * minute long.
 */
const LOOK_AHEAD_TICKS = 120 * TICKS_PER_SECOND;

/** How a chunk is read and decoded. */
export interface PlayedChunk extends Omit<KeyedChunk, 'video' | 'audio'> {
  videoHeader: string | undefined;
  audioHeader: string | undefined;
  delayFrames: number;
}

/** Keeps no keyframes: ten hours of them take megabytes. */
const played = ({ video, audio, ...chunk }: KeyedChunk): PlayedChunk => ({
  ...chunk,
  videoHeader: video?.header,
  audioHeader: audio?.header,
  delayFrames: video?.delayFrames ?? 0,
});

export class ChunkList {
  readonly #storage: Storage;
  readonly #renditionKey: string;
  readonly #signal: AbortSignal;
  readonly #chunks: PlayedChunk[];
  #rendition: Omit<Rendition, 'chunks'>;
  #looking: Promise<void> | undefined;

  /** `from` is the index of the first chunk that plays. */
  constructor(
    rendition: Rendition,
    from: number,
    options: { storage: Storage; renditionKey: string; signal: AbortSignal },
  ) {
    const { chunks, ...rest } = rendition;
    this.#chunks = chunks.slice(from).map(played);
    this.#rendition = rest;
    this.#storage = options.storage;
    this.#renditionKey = options.renditionKey;
    this.#signal = options.signal;
  }

  /** The rendition's length; expected until it is complete. */
  get rendition(): Omit<Rendition, 'chunks'> {
    return this.#rendition;
  }

  /** The frame behind the last known chunk. */
  get end(): number {
    const last = this.#chunks.at(-1);
    return last ? last.firstFrame + last.frames : 0;
  }

  get(index: number): PlayedChunk | undefined {
    return this.#chunks[index];
  }

  /** Returns the keys of at most `limit` chunks behind this one. */
  keysBehind(index: number, limit: number): string[] {
    return this.#chunks.slice(index + 1, index + 1 + limit).map(({ key }) => key);
  }

  /** Looks for the next chunks in the background, unless enough is known behind this one. */
  lookAhead(index: number): void {
    if (this.#looking) return;
    const ended = () => {
      this.#looking = undefined;
    };
    // A failure shows again at the end of the known chunks.
    this.#looking = this.#findAhead(index).then(ended, ended);
  }

  async #findAhead(index: number): Promise<void> {
    const until = (this.#chunks[index]?.firstFrame ?? 0) + LOOK_AHEAD_TICKS / chunkFrameTicks(this.#rendition);
    while (!this.#rendition.complete && this.end < until) if (!(await this.#findChunk())) return;
  }

  /**
   * Resolves to whether there is more to play, or the rendition turned out to be complete. Rejects with ItemError and StorageError.
   */
  async find(): Promise<boolean> {
    const { end } = this;
    await this.#looking;
    if (this.end > end) return true;
    let damaged: unknown;
    try {
      if (await this.#findChunk()) return true;
    } catch (error) {
      if (!(error instanceof ItemError)) throw error;
      damaged = error;
    }
    // The index needs no entry.
    if (await this.#findRest()) return true;
    if (damaged) throw damaged;
    return false;
  }

  async #findChunk(): Promise<boolean> {
    const next = await findEntry(this.#storage, this.#renditionKey, this.end, this.#signal);
    if (!next) return false;
    // Another look may have found it meanwhile.
    if (next.chunks[0]?.firstFrame === this.end) this.#append(next);
    return true;
  }

  async #findRest(): Promise<boolean> {
    const rendition = await findIndex(this.#storage, this.#renditionKey, this.#signal);
    if (!rendition) return false;
    const { end } = this;
    const rest = rendition.chunks.filter(({ firstFrame }) => firstFrame >= end);
    if ((rest[0]?.firstFrame ?? rendition.frames) !== end)
      throw new ItemError('item_invalid', 'The index does not fit the chunks that it replaces.');
    this.#append({ ...rendition, chunks: rest });
    return true;
  }

  #append({ chunks, ...rest }: Rendition): void {
    if (rest.frameTicks !== this.#rendition.frameTicks)
      throw new ItemError('item_invalid', 'The frame rate changes within the rendition.');
    this.#chunks.push(...chunks.map(played));
    this.#rendition = rest;
  }
}
