/** Types of the rows of the tables of settings, and the units that they count in. */

interface Common {
  /** The key of its section in docs/settings.md. */
  section: string;
  roles: readonly string[];
  /** A sentence, or several, for people who install the service. */
  description: string;
  /** Path of the value of the chart that sets it, such as `api.rateLimit.requests`. */
  chart?: string;
}
/** A whole number from `min` to `max`, both included; `max` is the largest safe integer by default. */
interface Whole extends Common {
  type: 'integer';
  /** An object has a number for each role. */
  default?: number | Readonly<Record<string, number>>;
  min: number;
  max?: number;
}
interface Flag extends Common {
  type: 'flag';
  default?: boolean;
  computed?: string;
}
interface Text extends Common {
  type: 'text';
  default?: string;
  /** The values that are allowed, where there are few. */
  enum?: readonly string[];
  /** How docs/settings.md names a default that the code computes. */
  computed?: string;
}
/** Texts, divided by commas. */
interface List extends Common {
  type: 'list';
}
interface Json extends Common {
  type: 'json';
}
/** A text that nobody else may see. With `file`, a variable with the suffix `_FILE` may name a file that holds it instead. */
interface Secret extends Common {
  type: 'secret';
  file?: boolean;
}
export type Setting = Whole | Flag | Text | List | Json | Secret;
export type Table = Readonly<Record<string, Setting>>;

export const KIBI = 2 ** 10;
export const MEBI = 2 ** 20;
export const GIBI = 2 ** 30;
export const DAY_SECONDS = 86_400;
export const MAX_PORT = 65_535;
