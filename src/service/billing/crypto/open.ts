/**
 * Opens crypto deposits by the settings. The libraries of keys are large: they are loaded only where keys are
 * configured.
 */
import { fixedRates, httpRates, type Rates } from './rates.ts';
import type { CryptoConfig, CryptoSettings } from './settings.ts';

export interface Crypto {
  settings: CryptoSettings;
  rates: Rates;
}

/** Undefined where no networks are set. Throws ConfigError; no request is sent yet. */
export async function openCrypto(config: CryptoConfig): Promise<Crypto | undefined> {
  if (config.networks === undefined) return undefined;
  const { cryptoSettings } = await import('./settings.ts');
  const settings = cryptoSettings(config);
  if (settings === undefined) return undefined;
  const { fixed, ratesUrl = '', currency } = settings;
  return { settings, rates: fixed ? fixedRates(fixed) : httpRates(ratesUrl, currency) };
}
