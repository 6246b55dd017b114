/** Keeps one output for each destination of the program. */
import type { DestinationSecrets } from '../../../protocol/destinations.ts';
import { DestinationOutput, type OutputOptions, type OutputStats } from './output.ts';

export class Outputs {
  readonly #outputs = new Map<string, DestinationOutput>();
  /** Outputs that are closing. */
  readonly #leaving = new Set<Promise<void>>();
  readonly #options: Omit<OutputOptions, 'name'>;
  #secrets: ReadonlyMap<string, DestinationSecrets> = new Map();

  constructor(options: Omit<OutputOptions, 'name'>) {
    this.#options = options;
  }

  stats(): OutputStats[] {
    return [...this.#outputs.values()].map((output) => output.stats());
  }

  /** Whether a destination takes media at this moment. */
  get takesMedia(): boolean {
    return [...this.#outputs.values()].some((output) => output.takesMedia);
  }

  /** Opens outputs for new names and closes those of missing names; the others run on. */
  set(names: readonly string[]): void {
    for (const [name, output] of [...this.#outputs].filter(([existing]) => !names.includes(existing))) {
      this.#outputs.delete(name);
      const gone = output.close().finally(() => this.#leaving.delete(gone));
      this.#leaving.add(gone);
    }
    for (const name of names.filter((n) => !this.#outputs.has(n))) {
      // The stream is on air while any destination takes media, so lost media of one output counts only alone.
      const onAirtimeLost = (ms: number) => {
        if (![...this.#outputs].some(([other, one]) => other !== name && one.takesMedia))
          this.#options.onAirtimeLost?.(ms);
      };
      const findTwin = (place: string) => this.#findFirst(name, place);
      const output = new DestinationOutput({ ...this.#options, name, findTwin, onAirtimeLost });
      this.#outputs.set(name, output);
      output.configure(this.#secrets.get(name));
    }
  }

  /** Configures outputs. A destination that is missing here keeps its values: only `set` closes outputs. */
  configure(secrets: ReadonlyMap<string, DestinationSecrets>): void {
    this.#secrets = new Map([...this.#secrets, ...secrets]);
    for (const [name, output] of this.#outputs) {
      const known = this.#secrets.get(name);
      if (known) output.configure(known);
    }
  }

  /** Returns the output that goes to the same place as this one, and was there before it: a server takes one publisher of a key. */
  #findFirst(name: string, place: string): string | undefined {
    for (const [other, output] of this.#outputs) {
      if (other === name) return undefined;
      if (output.place === place) return other;
    }
    return undefined;
  }

  async close(): Promise<void> {
    this.set([]);
    await Promise.all(this.#leaving);
  }
}
