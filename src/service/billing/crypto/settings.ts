/**
 * Reads and checks the settings of crypto deposits: networks, keys and the source of rates. An error names the setting
 * and the place in it, and never repeats the value: addresses of nodes hold keys. Pure: no I/O, no clock.
 */
import type { TSchema } from 'typebox';
import { Value } from 'typebox/value';
import { ConfigError } from '../../../core/settings/settings.ts';
import { type AddressMaker, createAddresses, KeyError } from './keys.ts';
import { FixedRates, type RateTable, rateTable } from './rate-table.ts';
import { listAssets, type NetworkSetting, NetworkSettings } from './spec.ts';

/** The settings as config.ts reads them. */
export interface CryptoConfig {
  /** JSON: NetworkSettings. */
  networks: unknown;
  /** JSON: fixed prices. */
  rates: unknown;
  /** The address of the rate source; instead of `rates`. */
  ratesUrl: string | undefined;
  quoteSeconds: number;
  currency: string;
}

export interface Network {
  setting: NetworkSetting;
  addresses: AddressMaker;
}

export interface CryptoSettings {
  networks: ReadonlyMap<string, Network>;
  /** Undefined: rates come from `ratesUrl`. */
  fixed: RateTable | undefined;
  ratesUrl: string | undefined;
  quoteMs: number;
  currency: string;
}

const NETWORKS = 'LOOPSTREAM_CRYPTO_NETWORKS';

function check(schema: TSchema, value: unknown, name: string): void {
  const [first] = Value.Errors(schema, value);
  if (first) throw new ConfigError(`${name} is not valid: the value at ${first.instancePath || '/'} ${first.message}.`);
}

function isHttp(url: string): boolean {
  return URL.canParse(url) && /^https?:$/.test(new URL(url).protocol);
}

function openNetwork(setting: NetworkSetting): Network {
  const name = `${NETWORKS} (${setting.network})`;
  if (!isHttp(setting.kind === 'evm' ? setting.rpcUrl : setting.esploraUrl))
    throw new ConfigError(`${name}: the address of the node must begin with http:// or https://.`);
  const assets = listAssets(setting);
  const contracts = assets.map(({ contract }) => contract?.toLowerCase());
  if (new Set(assets.map(({ asset }) => asset)).size < assets.length || new Set(contracts).size < assets.length)
    throw new ConfigError(`${name}: each asset and each contract must appear once.`);
  try {
    return { setting, addresses: createAddresses(setting) };
  } catch (error) {
    if (error instanceof KeyError) throw new ConfigError(`${name}: the xpub ${error.message}.`);
    throw error;
  }
}

/** undefined when no networks are set: there are no deposits then. Throws ConfigError. */
export function cryptoSettings(config: CryptoConfig): CryptoSettings | undefined {
  if (config.networks === undefined) return undefined;
  check(NetworkSettings, config.networks, NETWORKS);
  const networks = new Map((config.networks as NetworkSetting[]).map((one) => [one.network, openNetwork(one)]));
  if (networks.size < (config.networks as unknown[]).length)
    throw new ConfigError(`${NETWORKS}: each network must appear once.`);
  const { ratesUrl, rates, currency } = config;
  if ((rates === undefined) === (ratesUrl === undefined))
    throw new ConfigError('Set exactly one of LOOPSTREAM_CRYPTO_RATES and LOOPSTREAM_CRYPTO_RATES_URL.');
  if (ratesUrl !== undefined && !isHttp(ratesUrl))
    throw new ConfigError('LOOPSTREAM_CRYPTO_RATES_URL must be a URL that begins with http:// or https://.');
  if (rates !== undefined) check(FixedRates, rates, 'LOOPSTREAM_CRYPTO_RATES');
  const fixed = rates === undefined ? undefined : rateTable(rates, currency);
  if (rates !== undefined && fixed === undefined)
    throw new ConfigError(`LOOPSTREAM_CRYPTO_RATES must have prices in ${currency}, as strings such as "61234.56".`);
  return {
    networks,
    fixed,
    ratesUrl,
    currency,
    quoteMs: config.quoteSeconds * 1000,
  };
}
