/**
 * Caches size and version of objects, also on the disk for a process that starts while the storage is away. A repeated
 * question is answered at once, and a check for changes runs in the background.
 */
import { createHash } from 'node:crypto';
import type { Clock } from '../../lib/clock.ts';
import { setNewest } from '../../lib/newest.ts';
import type { PieceStore } from './piece-store.ts';
import { StorageError, type StoredObject } from './storage.ts';

const MAX_KNOWN = 10_000;

export interface HeadsOptions {
  store: PieceStore;
  clock: Clock;
  /** Asks the storage. */
  ask: (key: string) => Promise<StoredObject | undefined>;
  freshMs: number;
  patienceMs: number;
}

interface Known {
  object: StoredObject;
  checkedAtMs: number;
}

const hashHeadKey = (key: string): string => createHash('sha1').update(`head\0${key}`).digest('hex');

export class Heads {
  readonly #options: HeadsOptions;
  readonly #known = new Map<string, Known>();
  readonly #checks = new Map<string, Promise<StoredObject | undefined>>();

  constructor(options: HeadsOptions) {
    this.#options = options;
  }

  async get(key: string): Promise<StoredObject | undefined> {
    const { store, clock, freshMs, patienceMs } = this.#options;
    const known = this.#known.get(key);
    if (known) {
      store.touch(hashHeadKey(key));
      if (clock.monotonicMs() - known.checkedAtMs >= freshMs) void this.#check(key).catch(() => undefined);
      return known.object;
    }
    const kept = parse(await store.get(hashHeadKey(key)));
    if (!kept) return this.#check(key);
    // Only the first reader of a process waits for a storage that does not answer.
    const believe = () => {
      if (!this.#known.has(key)) this.#know(key, kept);
      return kept;
    };
    const asked = this.#check(key).catch((error: unknown) => {
      if (error instanceof StorageError && error.code === 'unavailable') return believe();
      throw error;
    });
    asked.catch(() => undefined);
    return within(asked, patienceMs, believe);
  }

  /** Returns what is known of an object without asking the storage. */
  known(key: string): StoredObject | undefined {
    return this.#known.get(key)?.object;
  }

  /** Forgets an object: the next reader asks the storage. */
  forget(key: string): Promise<void> {
    this.#known.delete(key);
    return this.#options.store.delete(hashHeadKey(key));
  }

  /** Resolves when no request is running. */
  async settled(): Promise<void> {
    await Promise.allSettled(this.#checks.values());
  }

  #check(key: string): Promise<StoredObject | undefined> {
    const running = this.#checks.get(key);
    if (running) return running;
    const check = this.#ask(key).finally(() => this.#checks.delete(key));
    this.#checks.set(key, check);
    return check;
  }

  async #ask(key: string): Promise<StoredObject | undefined> {
    const { ask, clock, store } = this.#options;
    try {
      const object = await ask(key);
      if (object?.version !== this.#known.get(key)?.object.version) await this.forget(key);
      if (!object) return undefined;
      this.#know(key, object);
      await store.put(hashHeadKey(key), Buffer.from(JSON.stringify(object)));
      return object;
    } catch (error) {
      // A failed check is repeated after a while, not by each reader.
      const known = this.#known.get(key);
      if (known) known.checkedAtMs = clock.monotonicMs();
      throw error;
    }
  }

  #know(key: string, object: StoredObject): void {
    setNewest(this.#known, key, { object, checkedAtMs: this.#options.clock.monotonicMs() }, MAX_KNOWN);
  }
}

function parse(json: Buffer | undefined): StoredObject | undefined {
  if (!json) return undefined;
  const { sizeBytes, modifiedAt, version } = JSON.parse(json.toString()) as Record<keyof StoredObject, never>;
  return { sizeBytes, modifiedAt: new Date(modifiedAt), version };
}

/** Resolves with `late()` when the promise has not settled within the time. */
export async function within<T>(promise: Promise<T>, ms: number, late: () => T): Promise<T> {
  const timer = Promise.withResolvers<undefined>();
  const handle = setTimeout(timer.resolve, ms, undefined);
  try {
    return await Promise.race([promise, timer.promise.then(late)]);
  } finally {
    clearTimeout(handle);
  }
}
