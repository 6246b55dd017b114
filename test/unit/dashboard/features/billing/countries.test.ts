/** Tests the choice of a country for invoices. */
import { expect, test } from 'vitest';
import { listCountries } from '../../../../../src/dashboard/features/billing/countries.ts';

test('each country of ISO 3166-1 is a choice once, by its name, in the order of names', () => {
  const [none, ...countries] = listCountries('');
  expect(none).toEqual({ value: '', label: 'No country' });
  expect(countries).toHaveLength(249);
  expect(new Set(countries.map(({ value }) => value)).size).toBe(249);
  for (const { value, label } of countries) {
    expect(value).toMatch(/^[A-Z]{2}$/);
    expect(label, value).not.toBe(value);
  }
  expect(countries).toContainEqual({ value: 'DE', label: 'Germany' });
  const labels = countries.map(({ label }) => label);
  expect(labels).toEqual(labels.toSorted((a, b) => a.localeCompare(b, 'en')));
  // `Åland Islands` stands among those with A.
  expect(labels.findIndex((label) => label.startsWith('Åland'))).toBeLessThan(10);
});

test('a code that an address has stays a choice, and no other text breaks the list', () => {
  expect(listCountries('XK')).toContainEqual({ value: 'XK', label: 'Kosovo' });
  expect(listCountries('xx-y')).toContainEqual({ value: 'xx-y', label: 'xx-y' });
  expect(listCountries('FR')).toHaveLength(250);
});
