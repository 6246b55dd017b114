/** Tests that lists about money are filtered and ordered in the words of all other lists, through each API. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { apiConfig } from '../../../src/service/server/setup/settings.ts';
import { connectAgent, withKey } from '../../kit/make/agents.ts';
import { CRYPTO_SETTINGS } from '../../kit/make/crypto-settings.ts';
import { query as runSql } from '../../kit/real/postgres.ts';
import { call, startTestApi, type TestApi } from '../../kit/system/api.ts';
import { fillMoney } from '../graphql/money-rows.ts';

const ROWS = 4;
const LISTS = [
  {
    path: 'billing/invoices',
    field: 'invoices',
    tool: 'list_invoices',
    type: 'invoice',
    none: 'credit_note',
    by: 'number',
  },
  { path: 'billing/top-ups', field: 'topUps', tool: 'list_top_ups', state: 'open', none: 'paid', by: 'amountMinor' },
  {
    path: 'crypto/deposits',
    field: 'cryptoDeposits',
    tool: 'list_crypto_deposits',
    state: 'expired',
    none: 'credited',
    by: 'expiresAt',
  },
  {
    path: 'billing/ledger',
    field: 'ledgerEntries',
    tool: 'list_ledger_entries',
    type: 'grant',
    none: 'charge',
    by: 'number',
  },
] as const;

type Item = Record<string, string | number>;
type Page = { data: Item[]; page: { nextCursor: string | null } };

let api: TestApi;
let base: string;
let key: string;

beforeAll(async () => {
  api = await startTestApi();
  const ada = await api.client('ada');
  key = ada.key;
  const { crypto } = apiConfig({ ...api.environment, ...CRYPTO_SETTINGS });
  base = (await api.replica({ billing: true, crypto })).url;
  await fillMoney(api.databaseUrl, ada.accountId, ROWS);
  // No two alike, so that each order has one answer.
  await runSql(
    api.databaseUrl,
    `update loopstream.topups set amount_minor = 500 + 7 * right(id, 1)::int, expires_at = now() + interval '1 hour'`,
  );
  await runSql(
    api.databaseUrl,
    `update loopstream.crypto_deposits set expires_at = expires_at - right(id, 1)::int * interval '1 hour'`,
  );
});
afterAll(() => api?.stop());

const ask = <T>(path: string) => call<T>(`${base}/v1/${path}`, 'GET', undefined, { 'x-api-key': key });

/** Reads a list page by page. */
async function read(path: string, given: Record<string, string>): Promise<Item[]> {
  const items: Item[] = [];
  let cursor: string | null = null;
  do {
    const search: URLSearchParams = new URLSearchParams({ ...given, limit: '3', ...(cursor && { cursor }) });
    const { status, body } = await ask<Page>(`${path}?${search}`);
    expect(status, JSON.stringify(body)).toBe(200);
    items.push(...body.data);
    cursor = body.page.nextCursor;
  } while (cursor !== null);
  return items;
}

describe.each(LISTS)('the list $path', ({ path, field, tool, none, by, ...kept }) => {
  const word = 'state' in kept ? 'state' : 'type';
  const value = 'state' in kept ? kept.state : kept.type;
  const idOf = ({ id }: Item) => id;

  test('has what a filter holds for, and nothing else', async () => {
    const all = await read(path, {});
    expect(all).toHaveLength(ROWS);
    expect(await read(path, { [word]: value })).toEqual(all);
    expect(await read(path, { [word]: none })).toEqual([]);
    const [past, future] = ['2020-01-01T00:00:00Z', '2100-01-01T00:00:00Z'];
    expect(await read(path, { createdAfter: past, createdBefore: future })).toEqual(all);
    expect(await read(path, { createdAfter: future })).toEqual([]);
    expect(await read(path, { createdBefore: past })).toEqual([]);
  });

  test('is in the order that was asked for, over all its pages', async () => {
    const rising = await read(path, { sort: by });
    const values = rising.map((item) => item[by] as never);
    expect(new Set(values).size).toBe(ROWS);
    expect(values).toEqual(values.toSorted());
    expect(await read(path, { sort: `-${by}` })).toEqual(rising.toReversed());
  });

  test('is the same in the same words over GraphQL and by a tool', async () => {
    const expected = (await read(path, { sort: by, [word]: value })).map(idOf);
    const query = `{ ${field}(sort: "${by}", ${word}: ${value}, createdAfter: "2020-01-01T00:00:00Z") { edges { node { id } } } }`;
    const { body } = await call(`${base}/graphql`, 'POST', { query }, { 'x-api-key': key });
    expect(body).toEqual({ data: { [field]: { edges: expected.map((id) => ({ node: { id } })) } } });
    const agent = await connectAgent(base, withKey(key));
    try {
      const { output } = await agent.call(tool, { sort: by, [word]: value });
      expect((output as unknown as Page).data.map(idOf)).toEqual(expected);
    } finally {
      await agent.close();
    }
  });

  test('refuses an unknown filter, value and order with the known ones', async () => {
    for (const [query, message] of [
      ['label=team', /^is not known; this list knows createdAfter.* sort/],
      [`${word}=nonsense`, /^must be one of /],
      ['sort=size', new RegExp(`^must be one of .*-${by}`)],
      ['createdAfter=yesterday', /must be a time/],
    ] as const)
      expect(await ask(`${path}?${query}`), query).toMatchObject({
        status: 422,
        body: {
          code: 'validation_failed',
          errors: [{ path: `/${query.split('=')[0]}`, message: expect.stringMatching(message) }],
        },
      });
  });
});

test('an invoice is found by a part of its number', async () => {
  const [first] = await read('billing/invoices', { sort: 'number' });
  expect(await read('billing/invoices', { q: String(first?.number).slice(-4) })).toEqual([first]);
});
