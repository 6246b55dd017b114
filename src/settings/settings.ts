/**
 * Reads settings from an environment by their names in the table, without the prefix. Each value is checked, so that an error names the
 * variable that is missing or wrong. Pure: no I/O, no clock.
 */
import { type Role, SETTINGS, type Setting, type SettingName } from './table.ts';

export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

export type Env = Record<string, string | undefined>;

/** The names of the settings of a type. */
type Named<Type extends Setting['type']> = {
  [Name in SettingName]: (typeof SETTINGS)[Name]['type'] extends Type ? Name : never;
}[SettingName];

/** A secret that may stand in a file, which neither a process list nor the description of a pod shows. */
export type SecretName = {
  [Name in SettingName]: (typeof SETTINGS)[Name] extends { file: true } ? Name : never;
}[SettingName];
export type SecretSetting = Readonly<{ text: string } | { file: string }>;

/** Settings whose default depends on the role. */
type ByRole = {
  [Name in SettingName]: (typeof SETTINGS)[Name] extends { default: Record<string, unknown> } ? Name : never;
}[SettingName];

const PREFIX = 'LOOPSTREAM_';
export const variable = (name: SettingName): string => `${PREFIX}${name}`;

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
export function packSettings<T extends Variable>(variables: readonly T[], role: Role): (T | Variable)[] {
  const isSetting = ({ name, value }: T) => name.startsWith(PREFIX) && value !== undefined;
  const packed = variables
    .filter(isSetting)
    .map(({ name, value }) => [name.slice(PREFIX.length), value] as const)
    .filter(([name, value]) => value !== findDefault(name, role));
  const settings = { name: variable('SETTINGS'), value: JSON.stringify(Object.fromEntries(packed)) };
  return [settings, ...variables.filter((one) => !isSetting(one))];
}

/** The default of a setting as a variable has it; undefined where it has none. */
function findDefault(name: string, role: Role): string | undefined {
  const row: Setting | undefined = Object.hasOwn(SETTINGS, name) ? SETTINGS[name as SettingName] : undefined;
  const usual: unknown = row && 'default' in row ? row.default : undefined;
  const own = typeof usual === 'object' ? (usual as Partial<Record<Role, number>>)[role] : usual;
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

/** Every function throws a ConfigError where the variable is missing or wrong. */
export function reader(env: Env) {
  const packed = unpackSettings(env);
  const optional = (name: SettingName): string | undefined => {
    const value = env[variable(name)] || packed[name];
    return typeof value === 'string' && value !== '' ? value : undefined;
  };
  const required = (name: SettingName, fallback?: string): string => {
    const value = optional(name) ?? fallback;
    if (value === undefined) throw new ConfigError(`${variable(name)} is not set. See docs/settings.md.`);
    return value;
  };

  /** `fallback` is for a default that the code computes. */
  const text = (name: Named<'text' | 'secret'>, fallback?: string): string => {
    const row: Setting = SETTINGS[name];
    const { default: usual, enum: allowed }: { default?: string; enum?: readonly string[] } =
      row.type === 'text' ? row : {};
    const value = required(name, fallback ?? usual);
    if (allowed && !allowed.includes(value))
      throw new ConfigError(`${variable(name)} must be one of ${allowed.join(', ')}.`);
    return value;
  };

  function integer(name: Exclude<Named<'integer'>, ByRole>): number;
  function integer(name: Named<'integer'>, role: Role): number;
  function integer(name: Named<'integer'>, role?: Role): number {
    const row: Extract<Setting, { type: 'integer' }> = SETTINGS[name];
    const usual = typeof row.default === 'object' ? role && row.default[role] : row.default;
    const { min, max = Number.MAX_SAFE_INTEGER } = row;
    const value = Number(required(name, usual?.toString()));
    if (Number.isInteger(value) && value >= min && value <= max) return value;
    throw new ConfigError(`${variable(name)} must be a whole number from ${min} to ${max}.`);
  }

  /** `fallback` is for a default that the code computes. */
  const flag = (name: Named<'flag'>, fallback?: boolean): boolean => {
    const row: Extract<Setting, { type: 'flag' }> = SETTINGS[name];
    const value = required(name, (fallback ?? row.default)?.toString());
    if (value !== 'true' && value !== 'false') throw new ConfigError(`${variable(name)} must be true or false.`);
    return value === 'true';
  };

  /** The text, or the path of the file that holds it, which the variable with the suffix `_FILE` names; undefined without both. */
  const secret = (name: SecretName): SecretSetting | undefined => {
    const [value, file] = [optional(name), env[`${variable(name)}_FILE`] || undefined];
    if (value !== undefined && file !== undefined)
      throw new ConfigError(`Set either ${variable(name)} or ${variable(name)}_FILE, not both.`);
    if (file !== undefined) return Object.freeze({ file });
    return value === undefined ? undefined : Object.freeze({ text: value });
  };

  /** Empty when it is not set. */
  const list = (name: Named<'list'>): string[] =>
    (optional(name) ?? '').split(',').flatMap((part) => part.trim() || []);

  const json = <T>(name: Named<'json'>): T => {
    try {
      return JSON.parse(required(name)) as T;
    } catch (error) {
      if (error instanceof ConfigError) throw error;
      throw new ConfigError(`${variable(name)} must be JSON.`);
    }
  };

  return { text, optional, integer, flag, secret, list, json };
}
