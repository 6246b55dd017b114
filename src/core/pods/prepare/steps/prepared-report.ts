/** Reports the part of a rendition that can be played, and how fast the rest follows. */

import type { PreparedPart } from '../../../protocol/task.ts';
import { SpeedMeter } from './speed-meter.ts';

export class PreparedReport {
  readonly #about: { frames: number; rate: number };
  readonly #onPrepared: ((part: PreparedPart) => void) | undefined;
  readonly #meter = new SpeedMeter();

  /** `about` the whole: its frames, and their number in a second. */
  constructor(about: { frames: number; rate: number }, onPrepared: ((part: PreparedPart) => void) | undefined) {
    this.#about = about;
    this.#onPrepared = onPrepared;
  }

  /** Notes the frames that are made, from the beginning on, whether they can be played yet or not. The first call says what was there before. */
  noteMade(frames: number): void {
    this.#meter.note(frames / this.#about.rate, performance.now());
  }

  /** Reports the frames, from the beginning on, that can be played, and their bytes where they are known. */
  report(frames: number, bytes: number | undefined): void {
    this.noteMade(frames);
    const meter = this.#meter;
    const { rate } = this.#about;
    this.#onPrepared?.({
      seconds: frames / rate,
      ...(bytes !== undefined && { bytes }),
      totalSeconds: this.#about.frames / rate,
      // A reader gets the speed of that moment: a stream that waits for a higher one does not wait for the end of a chunk too.
      get speed() {
        return meter.speed;
      },
    });
  }
}
