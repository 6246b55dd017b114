/** Lets only so many tasks run at once; the others wait by their rank, and in their order. Pure: no I/O, no clock. */
export class Slots {
  #free: number;
  readonly #waiting: { rank: number; start: () => void }[] = [];

  constructor(most: number) {
    this.#free = most;
  }

  /** Of those that wait, the one with the smallest rank is next. */
  async run<T>(task: () => Promise<T>, rank = 0): Promise<T> {
    if (this.#free > 0) this.#free -= 1;
    else await new Promise<void>((start) => this.#wait({ rank, start }));
    try {
      return await task();
    } finally {
      const next = this.#waiting.shift();
      if (next) next.start();
      else this.#free += 1;
    }
  }

  #wait(task: { rank: number; start: () => void }): void {
    const behind = this.#waiting.findLastIndex(({ rank }) => rank <= task.rank);
    this.#waiting.splice(behind + 1, 0, task);
  }
}
