/**
 * Reads the settings of the seller and its taxes: one JSON text, read by config.ts from LOOPSTREAM_SELLER or from the
 * file that LOOPSTREAM_SELLER_FILE names (open.ts). Pure: no I/O, no clock.
 */
import { type Static, Type } from 'typebox';
import { Value } from 'typebox/value';
import { isTimeZone } from '../../../core/resources/stream/recurrence.ts';
import { ConfigError, type Env, type SecretSetting } from '../../../core/settings/settings.ts';
import { reader } from '../../settings/settings.ts';

const text = (maxLength = 200) => Type.String({ minLength: 1, maxLength });
const lines = Type.Array(text(), { maxItems: 8 });
/** Up to three digits after the point, as tax offices have them. */
const PERCENT = '^(0|[1-9][0-9]?)(\\.[0-9]{1,3})?$';

const Seller = Type.Object(
  {
    name: text(),
    /** The printed address, one entry a line, with the country at the end. */
    address: lines,
    /** ISO 3166-1, two letters. */
    country: Type.String({ pattern: '^[A-Z]{2}$' }),
    taxID: Type.Optional(text()),
    /** E.g. the court and number of a company's entry. */
    registration: Type.Optional(text()),
    email: Type.Optional(text()),
    website: Type.Optional(text()),
    /** The time zone of the months and dates of invoices. */
    timeZone: Type.Optional(text()),
    /** Numbers are `<prefix><year>-<number>`. */
    numberPrefix: Type.Optional(Type.String({ pattern: '^[A-Za-z0-9-]{0,12}$' })),
    /** Prices contain them. */
    taxes: Type.Optional(
      Type.Array(
        Type.Object(
          { name: text(40), ratePercent: Type.String({ pattern: PERCENT }) },
          { additionalProperties: false },
        ),
        { maxItems: 4 },
      ),
    ),
    /** Companies with a tax id in these countries, other than the seller's own, pay the tax themselves: no tax, this text. */
    reverseCharge: Type.Optional(
      Type.Object(
        { countries: Type.Array(Type.String({ pattern: '^[A-Z]{2}$' })), text: text(400) },
        { additionalProperties: false },
      ),
    ),
    /** At the end of each invoice. */
    note: Type.Optional(text(600)),
  },
  { additionalProperties: false },
);
export type Seller = Static<typeof Seller>;

/** Undefined where nobody sends invoices. */
export function sellerSetting(env: Env): SecretSetting | undefined {
  const seller = reader(env).secret('SELLER');
  if (seller && 'text' in seller) parseSeller(seller.text);
  return seller;
}

/** Throws ConfigError that names the field which is wrong. */
export function parseSeller(json: string): Seller {
  let seller: unknown;
  try {
    seller = JSON.parse(json);
  } catch {
    throw new ConfigError('LOOPSTREAM_SELLER must be JSON.');
  }
  if (Value.Check(Seller, seller) && isTimeZone(seller.timeZone ?? 'UTC')) return seller;
  const [error] = Value.Errors(Seller, seller);
  const path = error ? (error as { instancePath?: string }).instancePath : '/timeZone';
  throw new ConfigError(
    `LOOPSTREAM_SELLER is not valid: the value at ${path || '/'} ${error?.message ?? 'must be a time zone'}.`,
  );
}
