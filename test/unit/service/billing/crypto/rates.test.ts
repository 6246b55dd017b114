/** Tests the source of prices: the server asks it seldom, checks its answers, and names it nowhere. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { httpRates } from '../../../../../src/service/billing/crypto/rates.ts';
import type { AppError } from '../../../../../src/service/lib/errors.ts';

let answer: { status?: number; body: string };
let asked = 0;
const server = createServer((_request, response) => {
  asked += 1;
  response.statusCode = answer.status ?? 200;
  response.end(answer.body);
});
let url: string;
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/prices?key=hidden`;
});
afterAll(() => server.close());

let passed = 0;
const now = new Date('2027-01-31T12:00:00Z');
const clock = { now: () => new Date(now.getTime() + passed), monotonicMs: () => passed };
const prices = (more: object = {}) => JSON.stringify({ currency: 'USD', prices: { ETH: '3000' }, ...more });

test('the source is asked once for all requests within half a minute, and a missing price differs from a failure', async () => {
  answer = { body: prices({ at: now.toISOString() }) };
  const rates = httpRates(url, 'USD', clock);
  const all = await Promise.all([
    rates.rate('ETH'),
    rates.rate('ETH'),
    rates.rate('DOGE').catch((error) => error.code),
  ]);
  expect(all).toEqual([3000n * 10n ** 8n, 3000n * 10n ** 8n, 'crypto_rate_unavailable']);
  expect(asked).toBe(1);
  answer = { body: prices({ prices: { ETH: '2999.5' } }) };
  passed += 29_000;
  expect(await rates.rate('ETH')).toBe(3000n * 10n ** 8n);
  passed += 2_000;
  expect(await rates.rate('ETH')).toBe(299_950_000_000n);
});

test.each<[string, () => { status?: number; body: string }]>([
  ['an error', () => ({ status: 500, body: prices() })],
  ['a redirection', () => ({ status: 302, body: '' })],
  ['something else', () => ({ body: '<html>' })],
  ['another currency', () => ({ body: prices({ currency: 'EUR' }) })],
  ['a price that is a number', () => ({ body: prices({ prices: { ETH: 3000 } }) })],
  ['a price of nothing', () => ({ body: prices({ prices: { ETH: '0' } }) })],
  ['old prices', () => ({ body: prices({ at: '2027-01-31T11:00:00Z' }) })],
  ['far too much', () => ({ body: prices({ more: 'x'.repeat(70_000) }) })],
])('%s is no price, and its address, which may hold a key, is in no error', async (_what, give) => {
  answer = give();
  const error: unknown = await httpRates(url, 'USD', clock)
    .rate('ETH')
    .catch((cause: unknown) => cause);
  expect(error).toMatchObject({ code: 'crypto_rate_unavailable' });
  expect(`${(error as AppError).message} ${((error as AppError).cause as Error).stack}`).not.toMatch(
    /hidden|127\.0\.0\.1/,
  );
});
