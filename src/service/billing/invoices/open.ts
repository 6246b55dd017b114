/** Reads the seller's settings from their file, if there is one. */
import { readFile } from 'node:fs/promises';
import type { SecretSetting } from '../../../core/settings/settings.ts';
import { ConfigError } from '../../../core/settings/settings.ts';
import { parseSeller, type Seller } from './settings.ts';

/** Undefined where nobody sends invoices. Throws ConfigError. */
export async function readSeller(setting: SecretSetting | undefined): Promise<Seller | undefined> {
  if (!setting) return undefined;
  if ('text' in setting) return parseSeller(setting.text);
  const json = await readFile(setting.file, 'utf8').catch(() => {
    throw new ConfigError('The file in LOOPSTREAM_SELLER_FILE cannot be read.');
  });
  return parseSeller(json);
}
