/**
 * Makes the poster of a source beside the other work of a Job. A poster that fails or takes too long is none: nothing else fails with it,
 * and nothing waits for it that anybody waits for.
 */
import { settlesWithin } from '../../../lib/settle-within.ts';
import type { SourceFile } from '../inspect/source-file.ts';
import type { JobContext } from '../steps/context.ts';
import { tonemaps } from '../steps/examine.ts';
import { makePoster } from '../transcode/poster.ts';

/** A picture takes a tenth of a second, and the most that are tried a second; on a busy machine many times as long. */
const LONGEST_MS = 30_000;

type PosterContext = Pick<JobContext, 'storage' | 'tools' | 'limits' | 'signal' | 'log' | 'onPoster' | 'posterMs'>;

export class PosterWork {
  readonly #key: string | undefined;
  readonly #context: PosterContext;
  readonly #over = new AbortController();
  #made: Promise<Buffer | undefined> = Promise.resolve(undefined);

  /** Without a key, it makes nothing. */
  constructor(key: string | undefined, context: PosterContext) {
    this.#key = key;
    this.#context = context;
  }

  begin(file: SourceFile): void {
    if (this.#key === undefined) return;
    this.#context.onPoster?.(true);
    this.#made = this.#make(file);
  }

  async #make(file: SourceFile): Promise<Buffer | undefined> {
    const { tools, limits, log } = this.#context;
    try {
      const source = await file.openHeader();
      const signal = this.#limit();
      const canTonemap = await tonemaps(source, tools.ffmpeg, signal);
      return await makePoster(file.path, source, { tools, signal, maxPixels: limits.pixels, canTonemap });
    } catch (error) {
      log.info({ err: error }, 'the upload gets no poster');
      return undefined;
    }
  }

  #limit = (): AbortSignal =>
    AbortSignal.any([
      this.#context.signal,
      this.#over.signal,
      AbortSignal.timeout(this.#context.posterMs ?? LONGEST_MS),
    ]);

  /** Stores the poster, if it is made in this time. Resolves with whether it is in storage. */
  async finish(withinMs = Number.POSITIVE_INFINITY): Promise<boolean> {
    const { storage, log, onPoster } = this.#context;
    try {
      if (!(await settlesWithin(this.#made, withinMs))) this.#over.abort(new Error('the poster takes too long'));
      const bytes = await this.#made;
      if (this.#key === undefined || !bytes) return false;
      await storage.write(this.#key, bytes, this.#limit());
      return true;
    } catch (error) {
      log.warn({ err: error }, 'the poster could not be stored');
      return false;
    } finally {
      onPoster?.(false);
    }
  }

  async cancel(): Promise<void> {
    this.#over.abort(new Error('the poster is not wanted'));
    await this.#made;
  }
}
