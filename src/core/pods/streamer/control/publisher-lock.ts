/**
 * Decides whether this pod may publish. A stream has one publisher, and an RTMP key takes one: two pods of a stream exist at once
 * while one takes over from the other. The pod that the stream's Secret does not name waits: it reads ahead and keeps the
 * playhead, but opens no output.
 *
 *   waiting   until the file `publisher` names this pod, or the operator does by a command
 *   acquired  this pod publishes
 *   released  for ever: after a stop command, or when another pod is named
 *
 * The operator names another pod only when no container of the one before runs any more (operator/stream/secret.ts), so a name in the
 * file is never wrong; this pod only reads it late. A restarted container reads it again.
 */
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { ChangedFile } from '../../../lib/changed-file.ts';

export type PublisherLockState = 'waiting' | 'acquired' | 'released';

export interface PublisherLockOptions {
  podUid: string;
  /** Names the pod that publishes. */
  file: string;
  onChange: (state: PublisherLockState) => void;
}

export class PublisherLock {
  readonly #options: PublisherLockOptions;
  readonly #file: ChangedFile;
  readonly #released = Promise.withResolvers<void>();
  #state: PublisherLockState = 'waiting';
  /** The name in the file at the last read. */
  #named: string | undefined;
  /** The name in the file when the lock was acquired. */
  #namedAtAcquire: string | undefined;

  constructor(options: PublisherLockOptions) {
    this.#options = options;
    this.#file = new ChangedFile(options.file);
  }

  get state(): PublisherLockState {
    return this.#state;
  }

  /** Resolves when this pod stops publishing for ever. */
  get released(): Promise<void> {
    return this.#released.promise;
  }

  /** Acquires the lock in the name of the operator; false when it names another pod, or this pod has released the lock. */
  acquire(podUid: unknown): boolean {
    if (podUid !== this.#options.podUid) return false;
    this.#become('acquired');
    return this.#state === 'acquired';
  }

  release(): void {
    this.#become('released');
    this.#released.resolve();
  }

  /** Reads the file where it has changed. A file that cannot be read changes nothing; a Secret that was made ahead has none. */
  async refresh(): Promise<void> {
    if (!existsSync(this.#options.file)) return;
    await this.#file.poll(async () => {
      const named = (await readFile(this.#options.file, 'utf8').catch(() => '')).trim();
      this.#take(named);
      return named !== '';
    });
  }

  #take(named: string): void {
    const { podUid } = this.#options;
    if (named === '' || named === this.#named) return;
    this.#named = named;
    if (named === podUid) this.#become('acquired');
    // The operator may have named this pod before its file did; then the old name in the file is not a new publisher.
    else if (this.#state === 'acquired' && this.#namedAtAcquire !== named) this.release();
  }

  #become(state: PublisherLockState): void {
    if (this.#state === state || this.#state === 'released') return;
    if (state === 'acquired') this.#namedAtAcquire = this.#named;
    this.#state = state;
    this.#options.onChange(state);
  }
}
