/**
 * The station: runs the splicer at the pace of the clock, makes each segment once and hands it to every listener. It keeps
 * the GOP that is on air, so that whoever joins begins at a keyframe at once.
 */
import type { Clock } from '../../../lib/clock.ts';
import { TAG_VIDEO } from '../../rendition/flv.ts';
import { LargestSteps } from '../timeline/largest-steps.ts';
import { type Segment, Segmenter } from '../timeline/segment.ts';
import type { OutTag, Splicer } from '../timeline/splicer.ts';
import { ticksToMs } from '../timeline/ticks.ts';
import { DEFAULT_PACE, Pace, type PaceOptions } from './pacer.ts';

export type Listener = (segment: Segment) => void;

/** Rates are taken over this. */
const WINDOW_MS = 5000;
/** The GOP that is kept is 2 s; one that does not end (damaged media) is not kept beyond this. */
const MAX_KEPT_BYTES = 32 * 2 ** 20;

export interface StationStats {
  bytes: number;
  bitrateKbps: number;
  fps: number;
  leadMs: number;
  rebased: number;
  /** Listeners that a person looks at. */
  viewers: number;
  /** The largest steps between two timestamps of the last hour. */
  hour: { videoStepMs: number; audioStepMs: number };
  /** Milliseconds since media was last made; grows while nothing can be played. */
  silentForMs: number;
  /** Milliseconds since the loop last went round; grows only when it hangs. */
  idleMs: number;
}

export class Station {
  readonly #splicer: Splicer;
  readonly #clock: Clock;
  readonly #pace: Pace;
  readonly #segmenter = new Segmenter();
  readonly #listeners = new Set<Listener>();
  readonly #watched = new Set<Listener>();
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
  #samples: { atMs: number; bytes: number; frames: number }[] = [];

  constructor(options: { splicer: Splicer; clock: Clock; pace?: PaceOptions }) {
    this.#splicer = options.splicer;
    this.#clock = options.clock;
    this.#pace = new Pace(options.pace ?? DEFAULT_PACE);
    this.#lastMediaMs = this.#lastRoundMs = options.clock.monotonicMs();
  }

  /** Media may be there again: goes on at once if it was waiting for it. */
  readonly notify = (): void => {
    if (this.#starved) this.#wake?.();
  };

  /** From the keyframe that is on air on; `watched` asks for small batches. Returns what ends it. */
  listen(listener: Listener, { watched = false } = {}): () => void {
    for (const segment of this.#kept) listener(segment);
    this.#listeners.add(listener);
    if (watched) this.#watched.add(listener);
    return () => {
      this.#listeners.delete(listener);
      this.#watched.delete(listener);
    };
  }

  /** Small batches for a while, the first one at once, for who wants to know soon what becomes of them. Returns what ends it. */
  hurry(): () => void {
    this.#hasty++;
    this.#wake?.();
    let over = false;
    return () => {
      if (!over) this.#hasty--;
      over = true;
    };
  }

  get listeners(): number {
    return this.#listeners.size;
  }

  /** Milliseconds of media that have been made ahead of their time; 0 before the first. */
  get leadMs(): number {
    return this.#pace.leadMs(this.#clock.monotonicMs(), this.#sentMs);
  }

  /** Resolves when `signal` is aborted. */
  async run(signal: AbortSignal): Promise<void> {
    const stop = () => this.#wake?.();
    signal.addEventListener('abort', stop);
    while (!signal.aborted) {
      this.#produce();
      const resting = this.#watched.size === 0 && this.#hasty === 0;
      await this.#wait(this.#pace.waitMs(this.#clock.monotonicMs(), resting));
    }
    signal.removeEventListener('abort', stop);
  }

  stats(): StationStats {
    const now = this.#clock.monotonicMs();
    const first = this.#samples[0];
    const last = this.#samples.at(-1);
    const seconds = first && last ? (last.atMs - first.atMs) / 1000 : 0;
    const rate = (of: (sample: { bytes: number; frames: number }) => number) =>
      first && last && seconds > 0 ? (of(last) - of(first)) / seconds : 0;
    return {
      bytes: this.#bytes,
      bitrateKbps: Math.round(rate((s) => s.bytes) * 0.008),
      fps: Math.round(rate((s) => s.frames) * 100) / 100,
      leadMs: Math.round(this.leadMs),
      rebased: this.#pace.rebased,
      viewers: this.#watched.size,
      hour: { videoStepMs: this.#videoSteps.largestMs(now), audioStepMs: this.#audioSteps.largestMs(now) },
      silentForMs: Math.round(now - this.#lastMediaMs),
      idleMs: Math.round(now - this.#lastRoundMs),
    };
  }

  get #sentMs(): number {
    return ticksToMs(this.#splicer.position);
  }

  #produce(): void {
    const now = this.#clock.monotonicMs();
    this.#lastRoundMs = now;
    const due = this.#pace.due(now, this.#sentMs);
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

  #measure({ kind, type, timestampMs }: OutTag, nowMs: number): void {
    if (kind === 'frame') (type === TAG_VIDEO ? this.#videoSteps : this.#audioSteps).add(timestampMs, nowMs);
  }

  #publish(segment: Segment | undefined): void {
    if (!segment) return;
    this.#bytes += segment.bytes.length;
    this.#lastMediaMs = this.#clock.monotonicMs();
    if (segment.keyframe || this.#keptBytes > MAX_KEPT_BYTES) {
      this.#kept = [];
      this.#keptBytes = 0;
    }
    if (segment.keyframe || this.#kept.length > 0) {
      this.#kept.push(segment);
      this.#keptBytes += segment.bytes.length;
    }
    for (const listener of this.#listeners) listener(segment);
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
