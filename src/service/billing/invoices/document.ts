/**
 * Declares the stored content of an invoice or credit note: everything printed on it, as texts and whole numbers. So it
 * stays the same when prices, names and settings change. Pure: no I/O, no clock.
 */
import { type Static, Type } from 'typebox';
import { computeSums } from './amounts.ts';
import type { Seller } from './settings.ts';

const whole = (description: string) => Type.String({ pattern: '^-?[0-9]+$', description });
const day = (description: string) => Type.String({ format: 'date', description });
const orNull = <T extends Parameters<typeof Type.Union>[0][number]>(type: T) => Type.Union([type, Type.Null()]);
const text = Type.String();

export const InvoiceLine = Type.Object(
  {
    streamID: orNull(text),
    name: Type.String({
      description: 'Name that the stream had when it was last charged, or the correction and its reason.',
    }),
    profile: orNull(Type.String({ description: 'Quality and frame rate, e.g. 1080p30.' })),
    seconds: orNull(Type.String({ description: 'Time on air in seconds, with at most three decimal digits.' })),
    creditsPerHour: orNull(whole('Price at that time.')),
    credits: whole('Charged credits, the same as in the ledger.'),
    amountMinor: whole('The charge in minor units, rounded.'),
  },
  { title: 'InvoiceLine' },
);
export type InvoiceLine = Static<typeof InvoiceLine>;

const Party = Type.Object(
  {
    name: text,
    address: Type.Array(text),
    country: orNull(text),
    taxID: orNull(text),
    email: orNull(text),
  },
  { title: 'InvoiceParty' },
);
export type Party = Static<typeof Party>;

export const InvoiceTax = Type.Object(
  { name: text, ratePercent: text, amountMinor: whole('Tax in minor units. The total includes it.') },
  { title: 'InvoiceTax' },
);

export const KINDS = ['invoice', 'credit_note'] as const;

export const Content = Type.Object({
  kind: Type.Enum(KINDS, { title: 'InvoiceKind' }),
  number: Type.String({ description: 'Invoice number. The numbers of a year have no gaps.' }),
  issuedOn: day('Date of issue, in the seller’s time zone.'),
  periodFrom: orNull(day('First day of the billed period. Null for a credit note without a period.')),
  periodTo: orNull(day('Last day of the billed period.')),
  currency: Type.String({ description: 'Currency code (ISO 4217).' }),
  currencyDigits: Type.Integer({ description: 'Digits of the minor unit: 2 for cents, 0 where there is none.' }),
  lines: Type.Array(InvoiceLine),
  roundingMinor: whole('Difference between the total and the sum of the rounded lines.'),
  totalCredits: whole('Sum of the lines in credits, the same as in the ledger.'),
  netMinor: whole('Total without taxes.'),
  taxes: Type.Array(InvoiceTax),
  totalMinor: whole('Total with taxes, paid from the balance.'),
  seller: Party,
  buyer: Party,
  correctsNumber: orNull(Type.String({ description: 'Number of the invoice that this credit note corrects.' })),
  reason: orNull(text),
  /** Printed below the sums. */
  notes: Type.Array(text),
  /** Printed at the foot of each page. */
  imprint: Type.Array(text),
});
export type Content = Static<typeof Content>;

/** A charge or refund, before its conversion into money. */
export type ChargedLine = Pick<InvoiceLine, 'streamID' | 'name' | 'profile' | 'seconds' | 'creditsPerHour'> & {
  credits: bigint;
};

export interface Draft {
  number: string;
  issuedOn: string;
  period: { firstDay: string; lastDay: string } | null;
  currency: string;
  currencyDigits: number;
  seller: Seller;
  buyer: Party;
  charged: readonly ChargedLine[];
  corrects?: { number: string } | undefined;
  reason?: string | undefined;
}

const sellerParty = ({ name, address, country, taxID, email }: Seller): Party => ({
  name,
  address,
  country,
  taxID: taxID ?? null,
  email: email ?? null,
});

/** Whether the buyer owes the tax instead of the seller. */
export const isReverseCharge = ({ reverseCharge, country }: Seller, buyer: Pick<Party, 'country' | 'taxID'>): boolean =>
  reverseCharge !== undefined &&
  buyer.taxID !== null &&
  buyer.country !== null &&
  buyer.country !== country &&
  reverseCharge.countries.includes(buyer.country);

/** A sum that is in the customer's favour makes a credit note. */
export function buildContent({
  number,
  issuedOn,
  period,
  currency,
  currencyDigits,
  seller,
  buyer,
  charged,
  ...more
}: Draft): Content {
  const reversed = isReverseCharge(seller, buyer);
  const taxes = reversed ? [] : (seller.taxes ?? []);
  const sums = computeSums(
    charged.map(({ credits }) => credits),
    taxes,
  );
  const isCredit = more.corrects !== undefined || sums.credits < 0n;
  const paid = isCredit
    ? 'This amount has been credited to the prepaid balance of the account.'
    : 'Paid from the prepaid balance of the account. Nothing is due.';
  return {
    kind: isCredit ? 'credit_note' : 'invoice',
    number,
    issuedOn,
    currency,
    currencyDigits,
    buyer,
    seller: sellerParty(seller),
    periodFrom: period?.firstDay ?? null,
    periodTo: period?.lastDay ?? null,
    lines: charged.map((line, index) => ({
      ...line,
      credits: String(line.credits),
      amountMinor: String(sums.amountsMinor[index] ?? 0n),
    })),
    roundingMinor: String(sums.roundingMinor),
    totalCredits: String(sums.credits),
    netMinor: String(sums.netMinor),
    taxes: taxes.map((tax, index) => ({ ...tax, amountMinor: String(sums.taxesMinor[index] ?? 0n) })),
    totalMinor: String(sums.totalMinor),
    correctsNumber: more.corrects?.number ?? null,
    reason: more.reason ?? null,
    notes: [paid, ...(reversed ? [seller.reverseCharge?.text ?? ''] : []), ...(seller.note ? [seller.note] : [])],
    imprint: [
      [seller.name, ...seller.address].join(' · '),
      [seller.registration, seller.taxID && `Tax ID ${seller.taxID}`, seller.email, seller.website]
        .filter(Boolean)
        .join(' · '),
    ].filter((line) => line !== ''),
  };
}
