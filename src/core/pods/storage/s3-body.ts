/** Reads a body of S3 to its end: a broken body continues where it broke off, from the same version of the object. */
import type { Readable } from 'node:stream';
import { type Backoff, exponentialMs } from '../../lib/backoff.ts';
import { sleep } from '../../lib/clock.ts';
import { mayPass } from './s3-error.ts';

/** Continuations in a row without a byte, after which the body fails: about half a minute with the pauses. */
const CONTINUATIONS = 10;
const PAUSE: Backoff = { baseMs: 100, maxMs: 5000 };

export interface BodyPart {
  body: Readable;
  /** The version of the object, for the next request. */
  etag: string | undefined;
}

export class ContinuedBody {
  #body: Readable;
  #fruitless = 0;
  readonly #goOn: (offset: number) => Promise<BodyPart | undefined>;
  readonly #fail: (error: unknown) => unknown;

  /** `goOn` requests the rest from an offset; `fail` converts the SDK's error. */
  constructor(
    first: BodyPart,
    goOn: (offset: number) => Promise<BodyPart | undefined>,
    fail: (error: unknown) => unknown,
  ) {
    this.#goOn = goOn;
    this.#fail = fail;
    this.#body = quiet(first.body);
  }

  destroy(): void {
    this.#body.destroy();
  }

  async *chunks(signal?: AbortSignal): AsyncGenerator<Buffer> {
    for (let offset = 0; ; ) {
      let broken: unknown;
      try {
        for await (const chunk of this.#body) {
          offset += (chunk as Buffer).length;
          this.#fruitless = 0;
          yield chunk as Buffer;
        }
        return;
      } catch (error) {
        broken = error;
      }
      if (!(await this.#reopen(offset, broken, signal))) return;
    }
  }

  /** False when nothing follows. */
  async #reopen(offset: number, why: unknown, signal: AbortSignal | undefined): Promise<boolean> {
    for (let error = why; ; ) {
      signal?.throwIfAborted();
      if (!mayPass(error) || this.#fruitless >= CONTINUATIONS) throw this.#fail(error);
      await sleep(exponentialMs(PAUSE, this.#fruitless++), signal);
      try {
        const next = await this.#goOn(offset);
        if (next) this.#body = quiet(next.body);
        return next !== undefined;
      } catch (again) {
        error = again;
      }
    }
  }
}

/** A caller may destroy the stream before reading it; late errors of the connection must not reach the process. */
const quiet = (body: Readable): Readable => body.on('error', () => undefined);
