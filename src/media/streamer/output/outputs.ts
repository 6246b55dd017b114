/** All destinations of the program: the ones it names exist, the others are gone. */
import { type Secrets, Target, type TargetOptions, type TargetStats } from './output.ts';

export class Targets {
  readonly #targets = new Map<string, Target>();
  /** Those that say goodbye. */
  readonly #leaving = new Set<Promise<void>>();
  readonly #options: Omit<TargetOptions, 'name'>;
  #secrets: ReadonlyMap<string, Secrets> = new Map();

  constructor(options: Omit<TargetOptions, 'name'>) {
    this.#options = options;
  }

  stats(): TargetStats[] {
    return [...this.#targets.values()].map((target) => target.stats());
  }

  /** Opens those that are new and closes those that are gone; the others do not notice. */
  set(names: readonly string[]): void {
    for (const [name, target] of [...this.#targets].filter(([of]) => !names.includes(of))) {
      this.#targets.delete(name);
      const gone = target.close().finally(() => this.#leaving.delete(gone));
      this.#leaving.add(gone);
    }
    for (const name of names.filter((n) => !this.#targets.has(n))) {
      // While another destination takes media, the stream is on air whatever becomes of this one.
      const onLost = (ms: number) => {
        if (![...this.#targets].some(([other, one]) => other !== name && one.stats().connected))
          this.#options.onLost?.(ms);
      };
      const target = new Target({ ...this.#options, name, onLost });
      this.#targets.set(name, target);
      target.configure(this.#secrets.get(name));
    }
  }

  /** What is not in it any more stays as it was: that it is not sent to is said by `set` alone. */
  configure(secrets: ReadonlyMap<string, Secrets>): void {
    this.#secrets = new Map([...this.#secrets, ...secrets]);
    for (const [name, target] of this.#targets) {
      const known = this.#secrets.get(name);
      if (known) target.configure(known);
    }
  }

  async close(): Promise<void> {
    this.set([]);
    await Promise.all(this.#leaving);
  }
}
