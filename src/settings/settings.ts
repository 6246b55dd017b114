/**
 * Reads settings from an environment by their names without the prefix. Each is checked, and the error names a missing
 * or wrong one. Pure: no I/O, no clock.
 */

export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

export type Env = Record<string, string | undefined>;

export function reader(env: Env) {
  const text = (name: string, fallback?: string): string => {
    const value = env[`LOOPSTREAM_${name}`] || fallback;
    if (value === undefined) throw new ConfigError(`LOOPSTREAM_${name} is not set.`);
    return value;
  };
  const optional = (name: string): string | undefined => env[`LOOPSTREAM_${name}`] || undefined;
  const integer = (name: string, fallback: number, min = 0, max = Number.MAX_SAFE_INTEGER): number => {
    const value = Number(text(name, String(fallback)));
    if (Number.isInteger(value) && value >= min && value <= max) return value;
    throw new ConfigError(`LOOPSTREAM_${name} must be a whole number from ${min} to ${max}.`);
  };
  const flag = (name: string, fallback = false): boolean => {
    const value = text(name, String(fallback));
    if (value !== 'true' && value !== 'false') throw new ConfigError(`LOOPSTREAM_${name} must be true or false.`);
    return value === 'true';
  };
  const json = <T>(name: string): T => {
    try {
      return JSON.parse(text(name)) as T;
    } catch (error) {
      if (error instanceof ConfigError) throw error;
      throw new ConfigError(`LOOPSTREAM_${name} must be JSON.`);
    }
  };
  return { text, optional, integer, flag, json };
}
