/** Whom an invoice is sent to: the account's address, and what is known of its user where that says nothing. Pure: no I/O, no clock. */
import type { Party } from './document.ts';
import type { BillingAddress } from './record.ts';

const some = (text: string | undefined): string | null => (text === undefined || text === '' ? null : text);

/** `DE` → `Germany`. */
const countryName = (code: string): string => new Intl.DisplayNames('en', { type: 'region' }).of(code) ?? code;

export function buyerOf(
  accountId: string,
  user: { name: string; email: string } | undefined,
  address: BillingAddress = {},
): Party {
  const country = some(address.country);
  const city = [some(address.postalCode), some(address.city)].filter(Boolean).join(' ');
  return {
    // The account may be gone, and what it used is billed all the same.
    name: some(address.name) ?? some(user?.name) ?? `Account ${accountId}`,
    address: [address.line1, address.line2, city, address.region, country === null ? '' : countryName(country)].filter(
      (line) => line !== undefined && line !== '',
    ) as string[],
    country,
    taxID: some(address.taxID),
    email: user?.email ?? null,
  };
}
