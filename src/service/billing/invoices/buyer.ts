/**
 * Builds the buyer of an invoice from the account's address, and from its user where the address is incomplete. Pure:
 * no I/O, no clock.
 */
import type { Party } from './document.ts';
import type { BillingAddress } from './record.ts';

const some = (text: string | undefined): string | null => (text === undefined || text === '' ? null : text);

/** `DE` → `Germany`. */
const countryName = (code: string): string => new Intl.DisplayNames('en', { type: 'region' }).of(code) ?? code;

export function buildBuyer(
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
