/**
 * Runs the splicer at the speed of the clock, makes each segment once, and hands it to every listener. The broadcaster keeps
 * the GOP that is on air, so that a new listener begins at a keyframe without waiting for the next one.
 */
import type { BlockPool } from '../../../lib/block-pool.ts';
import type { Clock } from '../../../lib/clock.ts';
import { ticksToMs } from '../../../programme/ticks.ts';
import { TAG_VIDEO } from '../../rendition/flv.ts';
import { LargestSteps } from '../timeline/largest-steps.ts';
import { type Segment, Segmenter } from '../timeline/segment.ts';
import type { OutTag, Splicer } from '../timeline/splicer.ts';
import { DEFAULT_PACING, Pacer, type PacerOptions } from './pacer.ts';

/** A listener that keeps a segment holds it. */
export type Listener = (segment: Segment) => void;

/** Rates are averages over this window. */
const WINDOW_MS = 5000;
/** A kept GOP is at most 4 s long. A GOP without an end, of damaged media, is not kept beyond this size. */
const MAX_KEPT_BYTES = 32 * 2 ** 20;

export interface BroadcastStats {
  bytes: number;
  bitrateKbps: number;
  fps: number;
  leadMs: number;
  rebased: number;
  /** Open previews. */
  viewers: number;
  /** The largest steps between two timestamps of the last hour. */
  hour: { videoStepMs: number; audioStepMs: number };
  /** The longest time between two keyframes of the last minute or two; 0 before the second one. */
  keyframeIntervalMs: number;
  /** Milliseconds since media was last made; grows while nothing can be played. */
  silentForMs: number;
  /** Milliseconds since the loop last went round; grows only when it hangs. */
  idleMs: number;
}

export class Broadcaster {
  readonly #splicer: Splicer;
  readonly #clock: Clock;
  readonly #pacer: Pacer;
  readonly #segmenter: Segmenter;
  readonly #listeners = new Set<Listener>();
  readonly #watched = new Set<Listener>();
  readonly #checks = new Set<() => void>();
  #hasty = 0;
  #kept: Segment[] = [];
  #keptBytes = 0;
  #wake: (() => void) | undefined;
  #starved = false;
  #bytes = 0;
  #lastMediaMs: number;
  #lastRoundMs: number;
  readonly #videoSteps = new LargestSteps();
  readonly #audioSteps = new LargestSteps();
  readonly #keyframeSteps = new LargestSteps(2);
  #samples: { atMs: number; bytes: number; frames: number }[] = [];

  constructor(options: { splicer: Splicer; clock: Clock; pacing?: PacerOptions; pool?: BlockPool }) {
    this.#splicer = options.splicer;
    this.#segmenter = new Segmenter(options.pool);
    this.#clock = options.clock;
    this.#pacer = new Pacer(options.pacing ?? DEFAULT_PACING);
    this.#lastMediaMs = this.#lastRoundMs = options.clock.monotonicMs();
  }

  /** Wakes the loop when it has run out of media: more may have been read. */
  readonly notify = (): void => {
    if (this.#starved) this.#wake?.();
  };

  /** Adds a listener, beginning at the keyframe on air; `watched` asks for small batches. Returns a function that removes it. */
  listen(listener: Listener, { watched = false } = {}): () => void {
    for (const segment of this.#kept) listener(segment);
    this.#listeners.add(listener);
    if (watched) this.#watched.add(listener);
    return () => {
      this.#listeners.delete(listener);
      this.#watched.delete(listener);
    };
  }

  /** Sends small batches, the first one at once, until the returned function is called. A new connection is measured sooner by it. */
  hurry(): () => void {
    this.#hasty++;
    this.#wake?.();
    let over = false;
    return () => {
      if (!over) this.#hasty--;
      over = true;
    };
  }

  /**
   * Calls `check` with each batch, at least twice a second, with or without media, until the returned function is called. A timer of its
   * own would wake the process at other times.
   */
  onBatch(check: () => void): () => void {
    this.#checks.add(check);
    return () => {
      this.#checks.delete(check);
    };
  }

  get listeners(): number {
    return this.#listeners.size;
  }

  /** Milliseconds of media made ahead of time; 0 before the first. */
  get leadMs(): number {
    return this.#pacer.leadMs(this.#clock.monotonicMs(), this.#sentMs);
  }

  /** Milliseconds since media was last made; grows while nothing can be played. */
  get silentForMs(): number {
    return this.#clock.monotonicMs() - this.#lastMediaMs;
  }

  /** Resolves when `signal` is aborted. */
  async run(signal: AbortSignal): Promise<void> {
    const stop = () => this.#wake?.();
    signal.addEventListener('abort', stop);
    while (!signal.aborted) {
      this.#produce();
      for (const check of this.#checks) check();
      const resting = this.#watched.size === 0 && this.#hasty === 0;
      await this.#wait(this.#pacer.waitMs(this.#clock.monotonicMs(), resting));
    }
    signal.removeEventListener('abort', stop);
  }

  stats(): BroadcastStats {
    const now = this.#clock.monotonicMs();
    const first = this.#samples[0];
    const last = this.#samples.at(-1);
    const seconds = first && last ? (last.atMs - first.atMs) / 1000 : 0;
    const rate = (count: (sample: { bytes: number; frames: number }) => number) =>
      first && last && seconds > 0 ? (count(last) - count(first)) / seconds : 0;
    return {
      bytes: this.#bytes,
      bitrateKbps: Math.round(rate((s) => s.bytes) * 0.008),
      fps: Math.round(rate((s) => s.frames) * 100) / 100,
      leadMs: Math.round(this.leadMs),
      rebased: this.#pacer.rebased,
      viewers: this.#watched.size,
      hour: { videoStepMs: this.#videoSteps.largestMs(now), audioStepMs: this.#audioSteps.largestMs(now) },
      keyframeIntervalMs: this.#keyframeSteps.largestMs(now),
      silentForMs: Math.round(this.silentForMs),
      idleMs: Math.round(now - this.#lastRoundMs),
    };
  }

  get #sentMs(): number {
    return ticksToMs(this.#splicer.position);
  }

  #produce(): void {
    const now = this.#clock.monotonicMs();
    this.#lastRoundMs = now;
    const due = this.#pacer.due(now, this.#sentMs);
    this.#starved = false;
    while (this.#sentMs < due) {
      const tag = this.#splicer.step();
      if (!tag) {
        this.#starved = true;
        break;
      }
      this.#measure(tag, now);
      this.#publish(this.#segmenter.add(tag));
    }
    this.#publish(this.#segmenter.flush());
    if (now - (this.#samples.at(-1)?.atMs ?? Number.NEGATIVE_INFINITY) < WINDOW_MS / 10) return;
    this.#samples.push({ atMs: now, bytes: this.#bytes, frames: this.#splicer.stats.videoFrames });
    while (now - (this.#samples[0]?.atMs ?? now) > WINDOW_MS) this.#samples.shift();
  }

  #measure({ kind, type, timestampMs, keyframe }: OutTag, nowMs: number): void {
    if (keyframe) this.#keyframeSteps.add(timestampMs, nowMs);
    if (kind === 'frame') (type === TAG_VIDEO ? this.#videoSteps : this.#audioSteps).add(timestampMs, nowMs);
  }

  #publish(segment: Segment | undefined): void {
    if (!segment) return;
    this.#bytes += segment.sizeBytes;
    this.#lastMediaMs = this.#clock.monotonicMs();
    if (segment.keyframe || this.#keptBytes > MAX_KEPT_BYTES) this.#forgetKept();
    for (const listener of this.#listeners) listener(segment);
    if (segment.keyframe || this.#kept.length > 0) {
      this.#kept.push(segment);
      this.#keptBytes += segment.sizeBytes;
    } else segment.release();
  }

  #forgetKept(): void {
    for (const segment of this.#kept.splice(0)) segment.release();
    this.#keptBytes = 0;
  }

  #wait(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => this.#wake?.(), ms);
      this.#wake = () => {
        clearTimeout(timer);
        this.#wake = undefined;
        resolve();
      };
    });
  }
}
