/** Builds the invoices and buyers that clients see. Pure: no I/O, no clock. */
import { type Static, Type } from 'typebox';
import { DISPLAY_NAME_PATTERN } from '../../../core/lib/sentences.ts';
import { Content } from './document.ts';

const { lines, taxes, seller, buyer, notes, reason, roundingMinor, imprint: _printed, ...short } = Content.properties;

export const InvoiceSummary = Type.Object(
  {
    id: Type.String(),
    ...short,
    createdAt: Type.String({ format: 'date-time' }),
    correctsID: Type.Union([Type.String(), Type.Null()], {
      description: 'Id of the invoice that this credit note corrects.',
    }),
  },
  { title: 'InvoiceSummary' },
);
export type InvoiceSummary = Static<typeof InvoiceSummary>;

export const Invoice = Type.Object(
  { ...InvoiceSummary.properties, lines, roundingMinor, taxes, seller, buyer, reason, notes },
  { title: 'Invoice' },
);
export type Invoice = Static<typeof Invoice>;

const optional = (maxLength: number, description: string) =>
  Type.Optional(Type.String({ maxLength, pattern: DISPLAY_NAME_PATTERN, description }));

/** An empty text takes a field away again. */
export const BillingAddress = Type.Object(
  {
    name: optional(200, 'Name of the company or person. Defaults to the account’s name.'),
    line1: optional(200, 'Street and number.'),
    line2: optional(200, 'Second address line.'),
    postalCode: optional(20, 'Postal code.'),
    city: optional(100, 'City.'),
    region: optional(100, 'State or province.'),
    country: Type.Optional(
      Type.String({ pattern: '^([A-Z]{2})?$', description: 'Country code (ISO 3166-1 alpha-2), e.g. DE.' }),
    ),
    taxID: optional(40, 'VAT number or other tax ID.'),
  },
  { title: 'BillingAddress', additionalProperties: false },
);
export type BillingAddress = Static<typeof BillingAddress>;

export const BillingAddressUpdate = Type.Object(BillingAddress.properties, {
  title: 'BillingAddressUpdate',
  additionalProperties: false,
  minProperties: 1,
});
export type BillingAddressUpdate = Static<typeof BillingAddressUpdate>;
