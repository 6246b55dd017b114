/** Tests that usage comes as JSON or as CSV, as requested, and that billing requires its scope. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Usage } from '../../../../../src/service/billing/ledger/record.ts';
import { buildTestServer, type TestServer } from '../../../../kit/system/server.ts';

const lines = [
  { day: '2027-01-30', streamID: null, credits: '12345678901234567890', onAirSeconds: 3600.5 },
  { day: '2027-01-31', streamID: null, credits: '0', onAirSeconds: 0 },
];
const usage: Usage = {
  from: '2027-01-30',
  to: '2027-01-31',
  timeZone: 'UTC',
  groupBy: 'day',
  lines,
  credits: '12345678901234567890',
  onAirSeconds: 3600.5,
};

let it: TestServer;
let reader: TestServer;
const asked: unknown[] = [];
const billing = {
  usage: async (_principal: unknown, query: unknown) => {
    asked.push(query);
    return usage;
  },
};
beforeAll(async () => {
  it = await buildTestServer({ services: { billing } });
  reader = await buildTestServer({ services: { billing }, scopes: ['read', 'write', 'destructive'] });
});
afterAll(async () => {
  await it?.app.close();
  await reader?.app.close();
});

const get = (query = '', headers = {}, api = it) =>
  api.app.inject({ method: 'GET', url: `/v1/billing/usage${query}`, headers: { 'x-api-key': 'ada', ...headers } });

describe('usage', () => {
  test('is JSON by default and CSV on request, and varies by that header', async () => {
    for (const headers of [{}, { accept: '*/*' }, { accept: 'application/json' }]) {
      const answer = await get('', headers);
      expect([answer.statusCode, answer.json()]).toEqual([200, usage]);
      expect(answer.headers['content-type']).toContain('application/json');
    }
    expect((await get('?format=json', { accept: 'text/csv' })).json()).toEqual(usage);
    expect((await get()).headers.vary?.toString().toLowerCase()).toContain('accept');
    expect(asked[0]).toEqual({ groupBy: 'day', timeZone: 'UTC' });
  });

  test('is CSV of its lines, with every digit, for a program that saves it', async () => {
    for (const answer of [await get('?format=csv'), await get('', { accept: 'text/csv, */*;q=0.1' })]) {
      expect(answer.statusCode).toBe(200);
      expect(answer.headers['content-type']).toMatch(/^text\/csv/);
      expect(answer.headers['content-disposition']).toContain('usage-2027-01-30-2027-01-31.csv');
      expect(answer.body).toBe(
        'day,credits,onAirSeconds\r\n2027-01-30,12345678901234567890,3600.5\r\n2027-01-31,0,0\r\n',
      );
    }
  });

  test.each(['?groupBy=week', '?format=pdf', '?from=yesterday', '?from=2027-02-30'])(
    '%s is refused, naming the parameter',
    async (query) => {
      const answer = await get(query);
      expect([answer.statusCode, answer.json().code]).toEqual([422, 'validation_failed']);
      expect(answer.json().errors[0].path).toBe(`/${query.slice(1).split('=')[0]}`);
    },
  );

  test('is refused without the scope of billing', async () => {
    const answer = await get('', {}, reader);
    expect([answer.statusCode, answer.json().code]).toEqual([403, 'insufficient_scope']);
  });
});
