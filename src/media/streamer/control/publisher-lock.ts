/**
 * Whether this pod may publish. A stream has one publisher, and an RTMP key takes one: two pods of a stream may be there at
 * once while one takes over from the other, and the one that the stream's Secret does not name is held. It reads ahead and
 * keeps the clock, and opens no destination.
 *
 *   held    until the file `publisher` names this pod, or the operator says that it does
 *   open    it publishes
 *   closed  for ever: it was told to stop, or another pod has been named since
 *
 * The operator names another pod only when nothing of the one before runs any more (operator/secret.ts), so what the file
 * says is never too old to be true of this pod; it is only read late. A container that is started anew reads it again.
 */
import { readFile } from 'node:fs/promises';

export type GateState = 'held' | 'open' | 'closed';

export class Gate {
  readonly #podUid: string;
  readonly #file: string;
  readonly #changed: (state: GateState) => void;
  readonly #closed = Promise.withResolvers<void>();
  #state: GateState = 'held';
  /** What the file said last. */
  #read: string | undefined;
  /** What it said when the gate was opened. */
  #opened: string | undefined;

  constructor(of: { podUid: string; file: string; changed: (state: GateState) => void }) {
    this.#podUid = of.podUid;
    this.#file = of.file;
    this.#changed = of.changed;
  }

  get state(): GateState {
    return this.#state;
  }

  /** Resolves when nothing is published any more, nor will be. */
  get closed(): Promise<void> {
    return this.#closed.promise;
  }

  /** The operator names a pod; false when it is another one, or this one has been told to stop. */
  release(podUid: unknown): boolean {
    if (podUid !== this.#podUid) return false;
    this.#become('open');
    return this.#state === 'open';
  }

  close(): void {
    this.#become('closed');
    this.#closed.resolve();
  }

  /** Looks into the file. What cannot be read leaves things as they are. */
  async look(): Promise<void> {
    const named = await readFile(this.#file, 'utf8').then(
      (text) => text.trim(),
      () => '',
    );
    if (named === '' || named === this.#read) return;
    this.#read = named;
    if (named === this.#podUid) this.#become('open');
    // It was open by word of the operator when the file was of before that; a file that then names another is news.
    else if (this.#state === 'open' && this.#opened !== named) this.close();
  }

  #become(state: GateState): void {
    if (this.#state === state || this.#state === 'closed') return;
    if (state === 'open') this.#opened = this.#read;
    this.#state = state;
    this.#changed(state);
  }
}
