/** Tests the database's notifications of money: listeners receive each change at its commit, from any writer. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { CHANNEL, createLedgerEvents } from '../../../src/service/billing/ledger/events.ts';
import { listen } from '../../../src/service/db/listen.ts';
import { startTestLedger, type TestLedger } from '../../kit/make/ledger.ts';
import { silent } from '../../kit/real/kube.ts';
import { query } from '../../kit/real/postgres.ts';
import { until } from '../../kit/wait.ts';

let it: TestLedger;
const stop = new AbortController();
/** The notifications of `ada`, in order. */
let heard: string[] = [];
const run = (statement: string) => query(it.url, statement);
/** Expects these and no others: a later notification proves that. */
const expectHers = async (...said: string[]) => {
  await run(`select pg_notify('${CHANNEL}', 'invoice created last ada')`);
  await expect.poll(() => heard).toContain('invoice created last');
  expect(heard).toEqual([...said, 'invoice created last']);
};

beforeAll(async () => {
  it = await startTestLedger(2);
  const news = createLedgerEvents();
  for (const [noun, source] of Object.entries(news.byNoun))
    source.follow('ada', (change) =>
      heard.push(change === 'reset' ? 'reset' : `${noun} ${change.change} ${change.id}`),
    );
  void listen(it.url, CHANNEL, { handlers: news, log: silent, signal: stop.signal });
  await until('it listens', () => heard.includes('reset'));
});
beforeEach(() => {
  heard = [];
});
afterAll(async () => {
  stop.abort();
  await it?.stop();
});

test('incoming credit, for its own account alone; a rollback sends nothing', async () => {
  await it.give('bob', 5n);
  await it.db
    .transaction()
    .execute(async (trx) => {
      const entries = [
        { account: 'customer:ada', credits: 7n },
        { account: 'grants', credits: -7n },
      ];
      await it.ledger.post({ key: 'undone', kind: 'grant', accountId: 'ada', entries, at: new Date() }, { trx });
      throw new Error('undone');
    })
    .catch(() => undefined);
  await it.give('ada', 1_000n);
  await expectHers('balance updated ada');
});

test('the meter’s charges, once for all that it charged together, and nothing for mere counts', async () => {
  await run(`insert into loopstream.meter_streams (stream_uid, stream_id, account_id)
    values ('u1', 'str-1', 'ada'), ('u2', 'str-2', 'ada')`);
  const sessions = (charges: number, seconds: number) =>
    run(`insert into loopstream.meter_sessions
        (stream_uid, session, seconds, cost, credits, charged_seconds, charges, until)
      select uid, 1, ${seconds}, 0, 0, ${charges}, ${charges}, now() from unnest(array['u1', 'u2']) uid
      on conflict (stream_uid, session) do update set seconds = excluded.seconds, charges = excluded.charges`);
  await sessions(0, 10);
  await sessions(0, 20);
  await sessions(1, 30);
  await sessions(1, 40);
  await sessions(2, 50);
  await expectHers('balance updated ada', 'balance updated ada');
});

test('top-ups, invoices and deposits, each payment and each block that confirms it', async () => {
  await run(`insert into loopstream.topups (id, account_id, amount_minor, currency, created_at, expires_at)
    values ('top-1', 'ada', 500, 'USD', now(), now())`);
  await run(`update loopstream.topups set looked_at = now() where id = 'top-1'`);
  await run(`update loopstream.topups set state = 'expired' where id = 'top-1'`);
  await run(`insert into loopstream.crypto_scans (network, height, hash) values ('ethereum', 1, '0x1')`);
  await run(`insert into loopstream.crypto_deposits (id, account_id, network, asset, decimals, address, address_key,
      key_id, address_index, rate, created_at, expires_at)
    values ('dep-1', 'ada', 'ethereum', 'ETH', 18, '0xA', '0xa', 'key', 0, 1, now(), now())`);
  await run(`insert into loopstream.crypto_payments (network, txid, index, deposit_id, asset, amount, at, late, state, height)
    values ('ethereum', '0x9', 'value', 'dep-1', 'ETH', 1, now(), false, 'confirming', 1)`);
  await run(`update loopstream.crypto_scans set height = 2, hash = '0x2'`);
  await run(`update loopstream.crypto_payments set state = 'ignored', reason = 'dust'`);
  // Nothing is on its way any more.
  await run(`update loopstream.crypto_scans set height = 3, hash = '0x3'`);
  await expectHers(
    ...['topUp created top-1', 'topUp updated top-1', 'deposit created dep-1'],
    ...['deposit updated dep-1', 'deposit updated dep-1', 'deposit updated dep-1'],
  );
});

test('a broken connection is replaced, and missed notifications are made up: everything has to be read again', async () => {
  await run(`select pg_terminate_backend(pid) from pg_stat_activity
    where application_name = 'loopstream-news' and datname = current_database()`);
  await expect.poll(() => heard).toEqual(['reset']);
  await it.give('ada', 1n);
  await expectHers('reset', 'balance updated ada');
});
