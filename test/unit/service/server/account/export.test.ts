/** Tests the places of exports: one that nobody reads ends, and gives its place back. */
import { afterEach, expect, test, vi } from 'vitest';
import type { Principal } from '../../../../../src/service/lib/scopes.ts';
import { createExport, type ExportDeps } from '../../../../../src/service/server/account/export.ts';

const nothing = () => ({ edges: [], pageInfo: { hasNextPage: false }, totalCount: 0 });
const lists = { list: nothing, keys: nothing, sessions: nothing, apps: nothing };
async function* noEntries() {}
const deps = {
  account: { me: () => ({ id: 'ada' }) },
  access: { ...lists, keyPolicy: () => ({ maxKeyDays: null }), waysIn: () => ({ passkeys: [], outsideSignIns: [] }) },
  streams: lists,
  destinations: lists,
  uploads: lists,
  playlists: lists,
  scenes: lists,
  endpoints: lists,
  events: lists,
  billing: { entries: noEntries },
  topUps: lists,
  invoices: { ...lists, address: () => ({}) },
  crypto: { everything: () => [] },
} as unknown as ExportDeps;

const ada = { accountId: 'ada' } as Principal;
const now = new Date('2027-02-01T00:00:00Z');

afterEach(() => {
  vi.useRealTimers();
});

test('an export of which nothing is taken ends, and its account gets another one', async () => {
  vi.useFakeTimers();
  const exportAccount = createExport(deps);
  const unread = await exportAccount(ada, now);
  await expect(exportAccount(ada, now)).rejects.toMatchObject({ code: 'rate_limited' });
  await vi.advanceTimersByTimeAsync(30_000);
  expect(unread.destroyed).toBe(true);
  const document = await exportAccount(ada, now);
  expect(JSON.parse((await document.toArray()).join(''))).toMatchObject({
    user: { id: 'ada' },
    ledger: [],
    streams: [],
  });
});

test('a failure before the first byte gives the place back', async () => {
  const exportAccount = createExport({ ...deps, account: { me: () => Promise.reject(new Error('away')) } as never });
  for (let i = 0; i < 2; i++) await expect(exportAccount(ada, now)).rejects.toThrow('away');
});
