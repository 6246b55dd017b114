/**
 * Returns the current price of a coin: from a fixed table, or from a source by HTTP (rate-table.ts has its document).
 */
import { type Clock, systemClock } from '../../../core/lib/clock.ts';
import { AppError } from '../../lib/errors.ts';
import { type RateTable, ratesAt, rateTable } from './rate-table.ts';

/** Quotes within this time have the same rate. */
const KEPT_MS = 30_000;
/** Older prices are not sold at. */
const MAX_AGE_MS = 600_000;
const TIMEOUT_MS = 5_000;
const MAX_BYTES = 65_536;

export interface Rates {
  /** The price of one coin, see amounts.ts. Throws `crypto_rate_unavailable`. */
  rate(asset: string): Promise<bigint>;
}

const unavailable = (asset: string, cause?: unknown) =>
  new AppError('crypto_rate_unavailable', `The price of ${asset} is unknown at the moment. Try again in a minute.`, {
    cause,
  });

const pick = (table: RateTable, asset: string): bigint => {
  const rate = table.get(asset);
  if (rate === undefined) throw unavailable(asset);
  return rate;
};

export const fixedRates = (table: RateTable): Rates => ({ rate: async (asset) => pick(table, asset) });

/** A fault of an answer, without the address. */
class RateSourceError extends Error {}

/** Its address, which may hold a key, is in no error. */
export function httpRates(url: string, currency: string, clock: Clock = systemClock): Rates {
  let cached: { table: RateTable; until: number } | undefined;
  let asking: Promise<RateTable> | undefined;

  async function ask(): Promise<RateTable> {
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    const answer = await fetch(url, { signal, redirect: 'error', headers: { accept: 'application/json' } });
    if (!answer.ok) throw new RateSourceError(`the rate source responded with status ${answer.status}`);
    const text = await readAll(answer);
    const document: unknown = JSON.parse(text);
    const table = rateTable(document, currency);
    if (table === undefined) throw new RateSourceError('the response of the rate source contains no prices');
    const age = clock.now().getTime() - (ratesAt(document) ?? clock.now()).getTime();
    if (age > MAX_AGE_MS) throw new RateSourceError('the prices of the rate source are old');
    return table;
  }

  return {
    async rate(asset) {
      if (cached && clock.monotonicMs() < cached.until) return pick(cached.table, asset);
      asking ??= ask().finally(() => {
        asking = undefined;
      });
      try {
        const table = await asking;
        cached = { table, until: clock.monotonicMs() + KEPT_MS };
        return pick(table, asset);
      } catch (error) {
        if (error instanceof AppError) throw error;
        throw unavailable(asset, withoutAddress(error));
      }
    },
  };
}

/** Errors of `fetch` have the address in their words or in their causes. */
const withoutAddress = (error: unknown): Error =>
  error instanceof RateSourceError ? error : new Error('the rate source does not respond');

async function readAll(answer: Response): Promise<string> {
  const parts: Uint8Array[] = [];
  let length = 0;
  for await (const part of answer.body ?? []) {
    length += part.length;
    if (length > MAX_BYTES) throw new RateSourceError('the response of the rate source is too large');
    parts.push(part);
  }
  return Buffer.concat(parts).toString();
}
