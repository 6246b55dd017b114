/**
 * Tests a suspension by staff: within seconds the API refuses the account's requests and keeps its streams off air; the end of the
 * suspension brings them back.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { LOOPSTREAMS } from '../../../src/core/resources/stream/resource.ts';
import { runAdmin } from '../../../src/service/billing/audit/admin/command.ts';
import { createLedger } from '../../../src/service/billing/ledger/ledger.ts';
import { createDb, createPool } from '../../../src/service/db/pool.ts';
import { beginDeletion, endDeletion } from '../../../src/service/domain/accounts/store.ts';
import { NAMESPACE } from '../../../tools/local/rights.ts';
import { type StreamsApi, startStreamsApi } from '../../kit/make/streams.ts';

let it: StreamsApi;
beforeAll(async () => {
  it = await startStreamsApi({ config: { billing: true } });
});
afterAll(async () => it?.api.stop());

const admin = (...args: string[]) =>
  runAdmin(args, {
    open: () => createDb(createPool(it.api.databaseUrl, { searchPath: 'loopstream', max: 2 })),
    currency: 'USD',
    print: () => undefined,
    complain: (text) => expect.fail(text),
  });
const readSuspend = async (id: string) => (await it.api.kube.get(LOOPSTREAMS, NAMESPACE, id)).spec.suspend;

test('an account is locked and unlocked', async () => {
  const { ada, eve, create } = it;
  const { id } = await create();
  const ask = async (path: string, user = ada) => {
    const { status, body } = await user.call('GET', path);
    return body.code ?? status;
  };
  expect(await ask('/v1/streams')).toBe(200);
  expect(await admin('suspend', ada.accountId, '--reason', 'case 4711')).toBe(0);
  await expect.poll(() => ask('/v1/streams')).toBe('account_suspended');
  await expect.poll(() => readSuspend(id)).toBe(true);
  expect(await ask('/v1/me')).toBe(200);
  expect((await ada.call('GET', '/v1/billing')).body).toMatchObject({ state: 'suspended' });
  expect(await ask('/v1/streams', eve)).toBe(200);

  expect(await admin('resume', ada.accountId, '--reason', 'case 4711 is closed')).toBe(0);
  await expect.poll(() => ask('/v1/streams')).toBe(200);
  await expect.poll(() => readSuspend(id)).toBeUndefined();
  expect((await ada.call('GET', `/v1/streams/${id}`)).status).toBe(200);
});

test('ledger entries outlive their account, and are found by its id', async () => {
  const { eve } = it;
  expect(await admin('grant', eve.accountId, '--credits', '500', '--reason', 'welcome')).toBe(0);
  const db = createDb(createPool(it.api.databaseUrl, { searchPath: 'loopstream', max: 1 }));
  try {
    await beginDeletion(db, eve.accountId);
    await endDeletion(db, eve.accountId);
    expect(await createLedger(db).balance(eve.accountId)).toBe(500n);
  } finally {
    await db.destroy();
  }
  expect(await admin('statement', eve.accountId)).toBe(0);
  expect(await admin('reconcile')).toBe(0);
});
