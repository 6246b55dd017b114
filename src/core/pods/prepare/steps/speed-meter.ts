/**
 * Measures how fast media is made, over the last seconds: a time when the machine had something else to do, e.g. to import the source, says
 * nothing about the rest. Pure: no I/O, no clock.
 */

/** A shorter time would show the difference between two scenes. */
const WINDOW_MS = 15_000;
/** Closer samples add nothing. */
const STEP_MS = 100;
/** Media that appears in no time, e.g. the work of other Jobs, is no speed. */
const LEAST_MS = 1000;

interface Sample {
  ms: number;
  seconds: number;
}

export class SpeedMeter {
  /** The first one is the newest that is not inside the window, where there is one. */
  #samples: Sample[] = [];

  /** Notes that so many seconds of media are made at a time. The first call says what was there before; less than before is no news. */
  note(seconds: number, ms: number): void {
    const [before, last] = this.#samples.slice(-2);
    if (before && last && ms - before.ms < STEP_MS) this.#samples.pop();
    this.#samples.push({ ms, seconds: Math.max(seconds, (last ?? before)?.seconds ?? seconds) });
    const from = this.#samples.findLastIndex((sample) => sample.ms <= ms - WINDOW_MS);
    if (from > 0) this.#samples.splice(0, from);
  }

  /** Seconds of media that are made in one second. */
  get speed(): number {
    const [first] = this.#samples;
    const last = this.#samples.at(-1);
    if (!first || !last) return 0;
    return (1000 * (last.seconds - first.seconds)) / Math.max(LEAST_MS, last.ms - first.ms);
  }
}
