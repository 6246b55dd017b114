/**
 * Keeps the slate of the stream's owner in memory. It is read as soon as a program names it: when no item can be played, the storage may
 * be what is away.
 */
import { sleep } from '../../../lib/clock.ts';
import type { Logger } from '../../../lib/log.ts';
import type { Storage } from '../../storage/storage.ts';
import type { Gop } from '../timeline/looping-item.ts';
import { itemError } from './item-error.ts';
import { readGop } from './read-gop.ts';

/** A slate that cannot be read is tried again after this time. */
const RETRY_MS = 30_000;

interface OwnSlateOptions {
  storage: Storage;
  log: Logger;
  signal: AbortSignal;
}

export class OwnSlate {
  readonly #options: OwnSlateOptions;
  #key: string | undefined;
  #gop: Gop | undefined;
  #reading = new AbortController();

  constructor(options: OwnSlateOptions) {
    this.#options = options;
  }

  /** The pictures to repeat; undefined where there are none in memory. */
  get gop(): Gop | undefined {
    return this.#gop;
  }

  /** Takes the storage key that a program names. The slate before it is forgotten, which may be of another quality. */
  take(key: string | undefined): void {
    if (key === this.#key) return;
    this.#key = key;
    this.#gop = undefined;
    this.#reading.abort();
    this.#reading = new AbortController();
    if (key !== undefined) void this.#read(key, AbortSignal.any([this.#reading.signal, this.#options.signal]));
  }

  async #read(key: string, signal: AbortSignal): Promise<void> {
    const { storage, log } = this.#options;
    for (let isFirst = true; !signal.aborted; isFirst = false) {
      try {
        const gop = await readGop(storage, key);
        if (!signal.aborted) this.#gop = gop;
        return;
      } catch (error) {
        if (isFirst && !signal.aborted)
          log.warn(
            { storageKey: key, code: itemError(error).code, err: error },
            'the slate of the stream cannot be read: the built-in one is shown where one is needed',
          );
      }
      await sleep(RETRY_MS, signal).catch(() => {});
    }
  }
}
