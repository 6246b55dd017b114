/**
 * Chooses the part that the Job of a rendition makes next, while other Jobs make ranges of it. It makes range 0, then the first range that
 * nobody has begun; when there is none, missing parts from the end backwards, where other Jobs come last. Pure: no I/O, no clock.
 */
import { RANGE_CHUNKS } from '../../rendition/index.ts';
import type { Part } from './plan.ts';

export class PartSchedule {
  readonly #parts: readonly Part[];
  readonly #there = new Set<number>();
  readonly #taken = new Set<number>();
  #range: number;

  /** `parts`: all of a rendition, in order. */
  constructor(parts: readonly Part[]) {
    this.#parts = parts;
    this.#range = 0;
  }

  /** Notes that the part which begins with this frame is in storage. */
  note(firstFrame: number): void {
    this.#there.add(firstFrame);
  }

  /** Returns the next part, which is then not given again; undefined when all are there or given. */
  take(): Part | undefined {
    const part = this.#findNext();
    if (part) this.#taken.add(part.firstFrame);
    return part;
  }

  #isOpen({ firstFrame }: Part): boolean {
    return !this.#there.has(firstFrame) && !this.#taken.has(firstFrame);
  }

  #findInRange(): Part | undefined {
    const parts = this.#parts.slice(this.#range * RANGE_CHUNKS, (this.#range + 1) * RANGE_CHUNKS);
    return parts.find((part) => this.#isOpen(part));
  }

  /** True where the next part is one that another Job may have begun with. */
  get leavesRange(): boolean {
    return this.#findInRange() === undefined;
  }

  #findNext(): Part | undefined {
    const next = this.#findInRange();
    if (next) return next;
    const begins = this.#parts.filter((_, at) => at % RANGE_CHUNKS === 0);
    const range = begins.findIndex((part) => this.#isOpen(part));
    if (range < 0) return this.#parts.findLast((part) => this.#isOpen(part));
    this.#range = range;
    return begins[range];
  }

  /** Frames from the beginning on that are in storage. */
  get preparedFrames(): number {
    const missing = this.#parts.find(({ firstFrame }) => !this.#there.has(firstFrame));
    return missing?.firstFrame ?? this.#parts.at(-1)?.endFrame ?? 0;
  }

  /** Frames that are in storage. */
  get framesThere(): number {
    const there = this.#parts.filter(({ firstFrame }) => this.#there.has(firstFrame));
    return there.reduce((sum, { firstFrame, endFrame }) => sum + endFrame - firstFrame, 0);
  }

  /** Ranges beyond the first, while more than the work of one is left; else undefined: there is nothing to share. */
  get ranges(): number | undefined {
    const missing = this.#parts.filter(({ firstFrame }) => !this.#there.has(firstFrame)).length;
    return missing > RANGE_CHUNKS ? Math.ceil(this.#parts.length / RANGE_CHUNKS) - 1 : undefined;
  }
}
