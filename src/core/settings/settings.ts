/**
 * Reads settings from an environment by their names in a table, without the prefix. Each value is checked, so that an error names the
 * variable that is missing or wrong. Pure: no I/O, no clock.
 */
import { CORE_SETTINGS, type CoreRole } from './table.ts';
import type { Setting, Table } from './table-types.ts';

export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

export type Env = Record<string, string | undefined>;

/** The names of the settings of a type. */
type Named<T extends Table, Type extends Setting['type']> = {
  [Name in keyof T & string]: T[Name]['type'] extends Type ? Name : never;
}[keyof T & string];

/** Secrets that may stand in a file, which neither a process list nor the description of a pod shows. */
export type SecretIn<T extends Table> = {
  [Name in keyof T & string]: T[Name] extends { file: true } ? Name : never;
}[keyof T & string];
export type SecretSetting = Readonly<{ text: string } | { file: string }>;

/** Settings whose default depends on the role. */
type ByRole<T extends Table> = {
  [Name in keyof T & string]: T[Name] extends { default: Record<string, unknown> } ? Name : never;
}[keyof T & string];

const PREFIX = 'LOOPSTREAM_';
export const variable = (name: string): string => `${PREFIX}${name}`;

/** A variable of an environment, as a pod's container has it. */
interface Variable {
  name: string;
  value?: string;
}

/**
 * Packs the settings among variables into one variable, without those that say what `role` does by default, and leaves all other
 * variables as they are. Kubernetes keeps an account of the fields of each variable in each pod, which takes more room than the
 * variable.
 */
export function packSettings<T extends Variable>(variables: readonly T[], role: CoreRole): (T | Variable)[] {
  const isSetting = ({ name, value }: T) => name.startsWith(PREFIX) && value !== undefined;
  const packed = variables
    .filter(isSetting)
    .map(({ name, value }) => [name.slice(PREFIX.length), value] as const)
    .filter(([name, value]) => value !== findDefault(name, role));
  const settings = { name: variable('SETTINGS'), value: JSON.stringify(Object.fromEntries(packed)) };
  return [settings, ...variables.filter((one) => !isSetting(one))];
}

/** The default of a setting as a variable has it; undefined where it has none. */
function findDefault(name: string, role: CoreRole): string | undefined {
  const table: Table = CORE_SETTINGS;
  const row = Object.hasOwn(table, name) ? table[name] : undefined;
  const usual = row && 'default' in row ? row.default : undefined;
  const own = typeof usual === 'object' ? usual[role] : usual;
  return own === undefined ? undefined : String(own);
}

/** The settings of an environment that are packed. */
function unpackSettings(env: Env): Record<string, unknown> {
  const text = env[variable('SETTINGS')];
  if (!text) return {};
  try {
    const settings: unknown = JSON.parse(text);
    if (typeof settings === 'object' && settings !== null) return settings as Record<string, unknown>;
  } catch {
    // The sentence below says what is wrong with it.
  }
  throw new ConfigError(`${variable('SETTINGS')} must be a JSON object of texts.`);
}

/** Returns the reader of an environment by the names of a table. Every function of it throws ConfigError where a variable is missing or wrong. */
export const createReader =
  <T extends Table>(table: T) =>
  (env: Env) =>
    readTable(table, env);

function readTable<T extends Table>(table: T, env: Env) {
  const packed = unpackSettings(env);
  const optional = (name: keyof T & string): string | undefined => {
    const value = env[variable(name)] || packed[name];
    return typeof value === 'string' && value !== '' ? value : undefined;
  };
  const required = (name: keyof T & string, fallback?: string): string => {
    const value = optional(name) ?? fallback;
    if (value === undefined) throw new ConfigError(`${variable(name)} is not set. See docs/settings.md.`);
    return value;
  };

  /** `fallback` is for a default that the code computes. */
  const text = (name: Named<T, 'text' | 'secret'>, fallback?: string): string => {
    const row = table[name] as Setting;
    const { default: usual, enum: allowed }: { default?: string; enum?: readonly string[] } =
      row.type === 'text' ? row : {};
    const value = required(name, fallback ?? usual);
    if (allowed && !allowed.includes(value))
      throw new ConfigError(`${variable(name)} must be one of ${allowed.join(', ')}.`);
    return value;
  };

  function integer(name: Exclude<Named<T, 'integer'>, ByRole<T>>): number;
  function integer(name: Named<T, 'integer'>, role: string): number;
  function integer(name: Named<T, 'integer'>, role?: string): number {
    const row = table[name] as Setting as Extract<Setting, { type: 'integer' }>;
    const usual = typeof row.default === 'object' ? role && row.default[role] : row.default;
    const { min, max = Number.MAX_SAFE_INTEGER } = row;
    const value = Number(required(name, usual?.toString()));
    if (Number.isInteger(value) && value >= min && value <= max) return value;
    throw new ConfigError(`${variable(name)} must be a whole number from ${min} to ${max}.`);
  }

  /** `fallback` is for a default that the code computes. */
  const flag = (name: Named<T, 'flag'>, fallback?: boolean): boolean => {
    const row = table[name] as Setting as Extract<Setting, { type: 'flag' }>;
    const value = required(name, (fallback ?? row.default)?.toString());
    if (value !== 'true' && value !== 'false') throw new ConfigError(`${variable(name)} must be true or false.`);
    return value === 'true';
  };

  /** The text, or the path of the file that holds it, which the variable with the suffix `_FILE` names; undefined without both. */
  const secret = (name: SecretIn<T>): SecretSetting | undefined => {
    const [value, file] = [optional(name), env[`${variable(name)}_FILE`] || undefined];
    if (value !== undefined && file !== undefined)
      throw new ConfigError(`Set either ${variable(name)} or ${variable(name)}_FILE, not both.`);
    if (file !== undefined) return Object.freeze({ file });
    return value === undefined ? undefined : Object.freeze({ text: value });
  };

  /** Empty when it is not set. */
  const list = (name: Named<T, 'list'>): string[] =>
    (optional(name) ?? '').split(',').flatMap((part) => part.trim() || []);

  const json = <Value>(name: Named<T, 'json'>): Value => {
    try {
      return JSON.parse(required(name)) as Value;
    } catch (error) {
      if (error instanceof ConfigError) throw error;
      throw new ConfigError(`${variable(name)} must be JSON.`);
    }
  };

  return { text, optional, integer, flag, secret, list, json };
}

/** Reads the settings of the operator and its pods. */
export const reader = createReader(CORE_SETTINGS);
