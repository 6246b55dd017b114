/**
 * Parses the prices of a rate source. The document, which is also that of the setting LOOPSTREAM_CRYPTO_RATES (there without
 * `at`):
 *
 *     {"currency": "USD", "at": "2027-01-31T17:42:05Z", "prices": {"BTC": "61234.56", "ETH": "3012.4", "USDC": "1"}}
 *
 * Prices are of one whole coin, as texts with at most eight digits after the point, since numbers of JSON are not exact.
 * Pure: no I/O, no clock.
 */
import { type Static, Type } from 'typebox';
import { Value } from 'typebox/value';
import { isTime } from '../../lib/time.ts';
import { parseRate } from './amounts.ts';

const Prices = Type.Record(Type.String({ minLength: 1, maxLength: 16 }), Type.String({ maxLength: 32 }));
const Currency = Type.String({ minLength: 3, maxLength: 3 });

export const FixedRates = Type.Object({ currency: Currency, prices: Prices });
const Rates = Type.Object({ currency: Currency, prices: Prices, at: Type.Optional(Type.String()) });

/** Asset → rate. */
export type RateTable = ReadonlyMap<string, bigint>;

function read(document: unknown, currency: string): Static<typeof Rates> | undefined {
  if (!Value.Check(Rates, document)) return undefined;
  return document.currency === currency ? document : undefined;
}

/** undefined when it is not such a document, of this currency. One price that is none spoils all. */
export function rateTable(document: unknown, currency: string): RateTable | undefined {
  const rates = read(document, currency);
  if (rates === undefined) return undefined;
  const table = new Map<string, bigint>();
  for (const [asset, price] of Object.entries(rates.prices)) {
    const rate = parseRate(price);
    if (rate === undefined) return undefined;
    table.set(asset, rate);
  }
  return table;
}

/** The time of the document's prices; undefined when it states none. */
export function ratesAt(document: unknown): Date | undefined {
  const { at } = (document ?? {}) as { at?: unknown };
  return typeof at === 'string' && isTime(at) ? new Date(at) : undefined;
}
