/**
 * Makes the rendition that a stream waits for in the Job of the import: no second pod has to start, and the source is on the local disk
 * already. Where the beginning of the source describes the whole, the work begins while the rest arrives, and streams play what is there.
 * A failure here is no failure of the import: a Job of its own then makes the rendition, and says what is wrong.
 */

import type { PreparedPart } from '../../../protocol/task.ts';
import type { RenditionIndex } from '../../rendition/index.ts';
import { StorageError } from '../../storage/storage.ts';
import type { SourceFile } from '../inspect/source-file.ts';
import type { JobContext, Target } from '../steps/context.ts';
import { examineInTurn } from '../steps/examine.ts';
import { makeFirst } from '../steps/make.ts';
import { type Opened, openTarget } from '../steps/open.ts';
import { planInTurn } from '../steps/plan.ts';
import { type Rendered, storeRendition } from '../steps/store.ts';
import { deleteChunks } from '../transcode/chunk-writer.ts';
import type { Arrival } from './arrival.ts';
import { type EarlyRendition, makeEarly } from './early-rendition.ts';
import { outline } from './fast-start.ts';

export class ImportRendition {
  readonly #target: Target;
  readonly #path: string;
  readonly #context: JobContext;
  readonly #over = new AbortController();
  #made: Promise<RenditionIndex> | undefined;
  readonly #onPrepared: JobContext['onPrepared'];
  readonly #early: Promise<EarlyRendition | undefined>;
  /** Streams may play what is there. */
  #isApproved = false;
  #part: PreparedPart | undefined;
  readonly #onRanges: JobContext['onRanges'];
  /** Other Jobs read the source from storage. */
  #isStored = false;
  #ranges: number | undefined;

  /** Begins as soon as the arrival has brought enough. */
  constructor(target: Target, arrival: Arrival, { onProgress: _, onPrepared, onRanges, ...context }: JobContext) {
    this.#target = target;
    this.#path = arrival.path;
    this.#onPrepared = onPrepared;
    const signal = AbortSignal.any([context.signal, this.#over.signal]);
    this.#onRanges = onRanges;
    const reportRanges = (ranges: number | undefined) => {
      this.#ranges = ranges;
      if (this.#isStored) onRanges?.(ranges);
    };
    this.#context = { ...context, signal, onPrepared: (part) => this.#report(part), onRanges: reportRanges };
    this.#early = this.#makeEarly(arrival);
    // `finish` and `cancel` handle its failure.
    this.#early.catch(() => undefined);
  }

  /** Resolves with undefined where the work can only begin with the whole source. */
  async #makeEarly(arrival: Arrival): Promise<EarlyRendition | undefined> {
    const { signal, log, storage } = this.#context;
    const path = `${arrival.path}-outline`;
    try {
      if (!(await outline(arrival, path, signal))) return undefined;
      const outlined = openTarget(this.#target, path, this.#context, true);
      await outlined.file.examine();
      log.info({ totalBytes: arrival.totalBytes }, 'the rendition begins while the source arrives');
      this.#isApproved = true;
      return await makeEarly(outlined, arrival, this.#context);
    } catch (error) {
      // A failed link may serve another file next time, so nothing of this one stays. The pieces of an upload do not
      // change.
      const mayChange = arrival.hasFailed && this.#target.keepsSameOnly === true;
      if (!mayChange) {
        signal.throwIfAborted();
        if (arrival.hasFailed) throw error;
      }
      log.info({ err: error }, 'the rendition waits for the whole source');
      this.#isApproved = false;
      // The chunks are right where only the storage has failed, and a stream may be playing them.
      if (!(error instanceof StorageError)) await deleteChunks(storage, this.#target.renditionKey);
      return undefined;
    }
  }

  /** Goes on with the whole source. Returns it, for the import to read it too. */
  begin(): SourceFile {
    const opened = openTarget(this.#target, this.#path, this.#context);
    this.#made = this.#make(opened);
    // `finish` handles its failure.
    this.#made.catch(() => undefined);
    return opened.file;
  }

  async #make(opened: Opened): Promise<RenditionIndex> {
    const early = await this.#early;
    if (early) {
      if (await early.holds(opened.file)) return early.index;
      this.#context.log.warn('the source is not what its header said; the rendition begins again');
      await deleteChunks(this.#context.storage, this.#target.renditionKey);
    }
    const facts = examineInTurn(opened, this.#context);
    const ways = planInTurn(facts, this.#context.tools.ffmpeg);
    return makeFirst(ways, this.#target, this.#context);
  }

  /** Streams play no part of a source before it has been read to its end, unless its beginning describes the whole. */
  #report(part: PreparedPart): void {
    this.#part = part;
    if (this.#isApproved) this.#onPrepared?.(part);
  }

  /** The import has succeeded. Resolves with the complete rendition; undefined where it could not be made. */
  async finish(): Promise<Rendered | undefined> {
    const { storage, signal, log } = this.#context;
    this.#isApproved = true;
    this.#isStored = true;
    if (this.#part) this.#onPrepared?.(this.#part);
    this.#onRanges?.(this.#ranges);
    // A stream that has waited only since the source has been read.
    if (!this.#made) this.begin();
    try {
      const index = await this.#made;
      return index && (await storeRendition(this.#target, index, storage));
    } catch (error) {
      signal.throwIfAborted();
      log.warn({ err: error }, 'the import could not make the rendition; another Job makes it');
      // A stream may be playing a reported part; the sweep deletes that when nothing refers to it.
      if (!this.#part) await this.#clear();
      return undefined;
    }
  }

  /** A storage that fails here is no reason for anything to fail: the sweep takes the rest. */
  async #clear(): Promise<void> {
    const { storage, log } = this.#context;
    await deleteChunks(storage, this.#target.renditionKey).catch((error: unknown) => {
      log.warn({ err: error }, 'the chunks of the rendition could not be deleted');
    });
  }

  /** The import has failed. `isFinal`: no later try needs the chunks. */
  async cancel(isFinal: boolean): Promise<void> {
    this.#over.abort(new Error('the import has failed'));
    await Promise.allSettled([this.#early, this.#made]);
    if (isFinal) await this.#clear();
  }
}
