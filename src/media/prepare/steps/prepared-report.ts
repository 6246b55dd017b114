/** Reports the part of a rendition that can be played, and how fast the rest follows. */

import type { PreparedPart } from '../../../protocol/task.ts';
import { SpeedMeter } from './speed-meter.ts';

export class PreparedReport {
  readonly #totalSeconds: number;
  readonly #onPrepared: ((part: PreparedPart) => void) | undefined;
  readonly #meter = new SpeedMeter();

  constructor(totalSeconds: number, onPrepared: ((part: PreparedPart) => void) | undefined) {
    this.#totalSeconds = totalSeconds;
    this.#onPrepared = onPrepared;
  }

  /** Notes the seconds that are made, from the beginning on, whether they can be played yet or not. The first call says what was there before. */
  noteMade(seconds: number): void {
    this.#meter.note(seconds, performance.now());
  }

  /** Reports the seconds, from the beginning on, that can be played. */
  report(playable: Pick<PreparedPart, 'seconds' | 'bytes'>): void {
    this.noteMade(playable.seconds);
    const meter = this.#meter;
    this.#onPrepared?.({
      ...playable,
      totalSeconds: this.#totalSeconds,
      // A reader gets the speed of that moment: a stream that waits for a higher one does not wait for the end of a chunk too.
      get speed() {
        return meter.speed;
      },
    });
  }
}
