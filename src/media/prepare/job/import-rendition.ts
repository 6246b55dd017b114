/**
 * Makes the rendition that a stream waits for in the Job of the import: no second pod has to start, and the source is on the local disk
 * already. A failure here is no failure of the import: a Job of its own then makes the rendition, and says what is wrong.
 */
import type { SourceFile } from '../inspect/source-file.ts';
import { deleteChunks } from '../transcode/chunk-writer.ts';
import { completeRendition, type JobContext, make, openFile, type Rendered, type Target } from './make-rendition.ts';
import type { PreparedPart } from './task.ts';

type Index = Awaited<ReturnType<typeof make>>;

export class ImportRendition {
  readonly #target: Target;
  readonly #context: JobContext;
  readonly #over = new AbortController();
  #made: Promise<Index> | undefined;
  readonly #onPrepared: JobContext['onPrepared'];
  #isApproved = false;
  #part: PreparedPart | undefined;

  constructor(target: Target, { onProgress: _, onPrepared, ...context }: JobContext) {
    this.#target = target;
    this.#onPrepared = onPrepared;
    const signal = AbortSignal.any([context.signal, this.#over.signal]);
    this.#context = { ...context, signal, onPrepared: (part) => this.#report(part) };
  }

  /** Begins with the whole source. Returns it, for the import to read it too. */
  begin(path: string): SourceFile {
    const file = openFile(this.#target, path, this.#context);
    this.#made = make(this.#target, file, this.#context);
    // `finish` handles its failure.
    this.#made.catch(() => undefined);
    return file;
  }

  /** Streams play no part of a source before it has been read to its end. */
  #report(part: PreparedPart): void {
    this.#part = part;
    if (this.#isApproved) this.#onPrepared?.(part);
  }

  /** The import has succeeded. Resolves with the complete rendition; undefined where it could not be made. */
  async finish(): Promise<Rendered | undefined> {
    const { storage, signal, log } = this.#context;
    this.#isApproved = true;
    if (this.#part) this.#onPrepared?.(this.#part);
    try {
      const index = await this.#made;
      return index && (await completeRendition(this.#target, index, storage));
    } catch (error) {
      signal.throwIfAborted();
      log.warn({ err: error }, 'the import could not make the rendition; another Job makes it');
      await deleteChunks(storage, this.#target.renditionKey);
      return undefined;
    }
  }

  /** The import has failed. `isFinal`: no later try needs the chunks. Rejects with StorageError. */
  async cancel(isFinal: boolean): Promise<void> {
    this.#over.abort(new Error('the import has failed'));
    await this.#made?.catch(() => undefined);
    if (isFinal) await deleteChunks(this.#context.storage, this.#target.renditionKey);
  }
}
