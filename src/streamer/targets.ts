/** All destinations of the program: the ones it names exist, the others are gone. */
import { readSecrets } from './files.ts';
import { Target, type TargetOptions, type TargetStats } from './target.ts';

export class Targets {
  readonly #targets = new Map<string, Target>();
  readonly #options: Omit<TargetOptions, 'name'>;
  readonly #secretsDir: string;

  /** Each destination's URL and key are read below `secretsDir`. */
  constructor(options: Omit<TargetOptions, 'name'>, secretsDir: string) {
    this.#options = options;
    this.#secretsDir = secretsDir;
  }

  get names(): string[] {
    return [...this.#targets.keys()];
  }

  get(name: string): Target | undefined {
    return this.#targets.get(name);
  }

  stats(): TargetStats[] {
    return [...this.#targets.values()].map((target) => target.stats());
  }

  async set(names: readonly string[]): Promise<void> {
    for (const name of this.names.filter((n) => !names.includes(n))) {
      void this.#targets.get(name)?.close();
      this.#targets.delete(name);
    }
    for (const name of names.filter((n) => !this.#targets.has(n))) {
      const target = new Target({ ...this.#options, name });
      this.#targets.set(name, target);
      target.configure(await readSecrets(this.#secretsDir, name));
    }
  }

  async close(): Promise<void> {
    await Promise.all([...this.#targets.values()].map((target) => target.close()));
  }
}
