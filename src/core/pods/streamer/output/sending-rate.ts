/** Measures over the last minute how fast a destination gets the stream. Pure: no I/O, no clock. */

const WINDOW_MS = 60_000;
const SAMPLE_EVERY_MS = 1_000;
/** Batches come every half second: a shorter time would measure their size. */
const LEAST_MS = 5_000;

export interface SendingNumbers {
  /** Pictures, sound and filler. */
  bitrateKbps: number;
  /** Seconds of media in a second: 1 is the speed of the stream. */
  pace: number;
}

interface Sample {
  atMs: number;
  bytes: number;
  mediaMs: number;
}

export class SendingRate {
  #samples: Sample[] = [];

  /** `bytes` and `mediaMs` count since any beginning. */
  add(sample: Sample): void {
    const last = this.#samples.at(-1);
    if (last && sample.atMs - last.atMs < SAMPLE_EVERY_MS) return;
    this.#samples.push(sample);
    while (sample.atMs - (this.#samples[0]?.atMs ?? sample.atMs) > WINDOW_MS) this.#samples.shift();
  }

  /** Null while too little was measured. */
  read(): SendingNumbers | null {
    const [first, last] = [this.#samples[0], this.#samples.at(-1)];
    if (!first || !last || last.atMs - first.atMs < LEAST_MS) return null;
    const ms = last.atMs - first.atMs;
    return {
      bitrateKbps: Math.round(((last.bytes - first.bytes) * 8) / ms),
      pace: Math.round(((last.mediaMs - first.mediaMs) / ms) * 100) / 100,
    };
  }
}
