/**
 * Plays the program's list of songs over the pictures, while there is one. The list comes and goes on air: each change
 * takes effect at the next item of the pictures.
 */
import type { Program } from '../../../protocol/program.ts';
import type { Splicer } from '../timeline/splicer.ts';
import type { TrackPlayer } from './track.ts';

export class Soundtrack {
  readonly #make: (signal: AbortSignal) => TrackPlayer;
  #current: { track: TrackPlayer; stop: AbortController } | undefined;
  /** Removed from the program, but perhaps still played. */
  #leaving: { track: TrackPlayer; stop: AbortController }[] = [];
  #splicer: Splicer | undefined;

  /** `make` creates a track that stops when its signal is aborted. */
  constructor(make: (signal: AbortSignal) => TrackPlayer) {
    this.#make = make;
  }

  /** Undefined while the program has no list of songs. */
  get track(): TrackPlayer | undefined {
    return this.#current?.track;
  }

  /** Connects the splicer, which has the current track already, to future changes. */
  attach(splicer: Splicer): void {
    this.#splicer = splicer;
  }

  /** Rejects as TrackPlayer.load does; the old track then plays on. */
  async load(program: Program): Promise<void> {
    const had = this.#current;
    if (program.audio) {
      const stop = new AbortController();
      const current = had ?? { track: this.#make(stop.signal), stop };
      await current.track.load(program, program.audio);
      this.#current = current;
    } else if (had) {
      this.#leaving.push(had);
      this.#current = undefined;
    }
    if (this.#current !== had) this.#splicer?.setAudio(this.track?.next, () => this.#release());
  }

  close(): void {
    this.#release();
    this.#end(this.#current);
  }

  #release(): void {
    for (const left of this.#leaving.splice(0)) this.#end(left);
  }

  #end(ended: { track: TrackPlayer; stop: AbortController } | undefined): void {
    ended?.stop.abort();
    ended?.track.close();
  }
}
