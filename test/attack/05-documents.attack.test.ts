/**
 * Attacks the API server by documents that cost much: exports of accounts, and PDFs of long invoices. One account gets few at a time,
 * and others get theirs meanwhile. The tests use a real API server and Postgres.
 */
import { get, type IncomingMessage } from 'node:http';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { buildContent } from '../../src/service/billing/invoices/document.ts';
import { type Person, pageHeaders, startTestSite, type TestSite } from '../kit/make/oauth.ts';
import { query } from '../kit/real/postgres.ts';
import { until } from '../kit/wait.ts';

/** More than the buffers between a server and a client that reads nothing. */
const LARGE_BYTES = 32 * 2 ** 20;
/** More than an account gets at once. */
const TRIES = 20;
const LINES = 300;

let site: TestSite;
beforeAll(async () => {
  site = await startTestSite();
});
afterAll(async () => await site?.stop());

/** Asks for a document without reading it. */
function open(path: string, person: Person): Promise<IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  get(`${site.url}/v1${path}`, { headers: pageHeaders(site.url, person), agent: false }, resolve).on('error', reject);
  return promise;
}
async function read(path: string, person: Person) {
  const response = await open(path, person);
  const bytes = Buffer.concat(await response.toArray());
  return { status: response.statusCode, retryAfter: Number(response.headers['retry-after']), bytes };
}
const problem = ({ bytes }: { bytes: Buffer }) => JSON.parse(String(bytes)) as { code: string };

async function addInvoice({ accountId }: Person, content: object): Promise<string> {
  const id = `inv-${accountId}`;
  await query(
    site.databaseUrl,
    `insert into loopstream.invoices (id, account_id, series, sequence, kind, number, period_until, key, issued_at,
        total_credits, total_minor, content)
      values ('${id}', '${accountId}', '${id}', 1, 'invoice', '${id}', now(), '${id}', now(), 1, 1, '${JSON.stringify(content)}')`,
  );
  return id;
}

test('an account has one export at a time, also one that nobody reads; others get theirs', async () => {
  const [mallory, ada] = [await site.person('mallory'), await site.person('ada')];
  await addInvoice(mallory, { number: 'M-1', notes: ['x'.repeat(LARGE_BYTES)] });
  const unread = await open('/account/export', mallory);
  expect(unread.statusCode).toBe(200);
  const refused = await read('/account/export', mallory);
  expect(refused).toMatchObject({ status: 429, retryAfter: expect.any(Number) });
  expect(problem(refused).code).toBe('rate_limited');
  expect((await read('/account/export', ada)).status).toBe(200);
  unread.destroy();
  const { bytes } = await until('the place is free', async () => {
    const answer = await read('/account/export', mallory);
    return answer.status === 200 && answer;
  });
  expect(JSON.parse(String(bytes))).toMatchObject({ invoices: [{ number: 'M-1' }], ledger: [], streams: [] });
});

test('an account begins few exports in a minute', async () => {
  const trudy = await site.person('trudy');
  const answers = [];
  // One after the other: two at once are refused in any case.
  for (let i = 0; i < TRIES; i++) answers.push(await read('/account/export', trudy));
  expect(answers[0]?.status).toBe(200);
  const refused = answers.find(({ status }) => status === 429);
  expect(refused?.retryAfter).toBeGreaterThan(1);
});

test('an account has few PDFs at a time; others get theirs', async () => {
  const [oscar, bob] = [await site.person('oscar'), await site.person('bob')];
  const invoice = (lines: number) =>
    buildContent({
      number: 'LS-2027-00042',
      issuedOn: '2027-02-01',
      currency: 'EUR',
      currencyDigits: 2,
      period: null,
      seller: { name: 'Loops', address: ['Dublin'], country: 'IE' },
      buyer: { name: 'Oscar', address: [], country: null, taxID: null, email: null },
      charged: Array.from({ length: lines }, (_, index) => ({
        streamID: `str-${index}`,
        name: `Stream ${index}`,
        profile: '1080p30',
        seconds: '3600',
        creditsPerHour: '1250',
        credits: 1250n,
      })),
    });
  const long = await addInvoice(oscar, invoice(LINES));
  const short = await addInvoice(bob, invoice(1));
  const answers = await Promise.all(Array.from({ length: TRIES }, () => read(`/billing/invoices/${long}.pdf`, oscar)));
  const refused = answers.filter(({ status }) => status !== 200);
  expect(answers.length - refused.length).toBeGreaterThan(0);
  expect(refused.length).toBeGreaterThan(0);
  for (const answer of refused) {
    expect(answer.status).toBe(429);
    expect(answer.retryAfter).toBeGreaterThan(0);
    expect(problem(answer).code).toBe('rate_limited');
  }
  expect((await read(`/billing/invoices/${short}.pdf`, bob)).status).toBe(200);
});
