/** Reads a secret setting, which may stand in a file. */
import { readFileSync } from 'node:fs';
import { ConfigError, type SecretSetting, variable } from './settings.ts';

/** Undefined where it is not set. `name` is that of the setting, without the prefix. Throws ConfigError. */
export function readSecretFile(name: string, setting: SecretSetting | undefined): string | undefined {
  if (!setting || 'text' in setting) return setting?.text;
  let text: string;
  try {
    text = readFileSync(setting.file, 'utf8').trim();
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    throw new ConfigError(`The file in ${variable(name)}_FILE cannot be read (${code}).`);
  }
  if (text === '') throw new ConfigError(`The file in ${variable(name)}_FILE is empty.`);
  return text;
}
