/**
 * Tests that every API reports a suspension, and that suspended accounts may still see the bills and leave. Streams bear a mark with the
 * reason why they are off air.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { SUSPENDED_ANNOTATION } from '../../../../../../src/core/resources/common/names.ts';
import type { LoopStream } from '../../../../../../src/core/resources/stream/resource.ts';
import { suspensionPatch } from '../../../../../../src/service/billing/audit/admin/suspensions.ts';
import type { Principal } from '../../../../../../src/service/lib/scopes.ts';
import type { Operation } from '../../../../../../src/service/server/operations/list.ts';
import {
  isOpenWhileSuspended,
  OPERATION_SCOPES,
  requireScope,
} from '../../../../../../src/service/server/operations/scopes.ts';
import { buildTestServer, type TestServer } from '../../../../../kit/system/server.ts';

const stream = (given: { suspend?: boolean; marked?: boolean; deleted?: boolean }) =>
  ({
    metadata: {
      name: 'str-1',
      ...(given.marked && { annotations: { [SUSPENDED_ANNOTATION]: 'true' } }),
      ...(given.deleted && { deletionTimestamp: '2027-01-31T17:42:05Z' }),
    },
    spec: { ...(given.suspend !== undefined && { suspend: given.suspend }) },
  }) as unknown as LoopStream;
const mark = (value: string | null) => ({ annotations: { [SUSPENDED_ANNOTATION]: value } });

test.each([
  ['runs, of a locked account', stream({}), true, { metadata: mark('true'), spec: { suspend: true } }],
  [
    'was let run by somebody',
    stream({ suspend: false, marked: true }),
    true,
    { metadata: mark('true'), spec: { suspend: true } },
  ],
  ['is kept off air already', stream({ suspend: true, marked: true }), true, undefined],
  ['somebody keeps off air', stream({ suspend: true }), true, undefined],
  ['somebody keeps off air, of an open account', stream({ suspend: true }), false, undefined],
  [
    'was kept off air, of an open account',
    stream({ suspend: true, marked: true }),
    false,
    { metadata: mark(null), spec: { suspend: null } },
  ],
  ['is being deleted', stream({ deleted: true }), true, undefined],
  ['is of an open account', stream({}), false, undefined],
])('a stream that %s', (_what, given, isLocked, patch) => expect(suspensionPatch(given, isLocked)).toEqual(patch));

describe('a locked account', () => {
  let it: TestServer;
  const services = { billing: { get: async () => ({ state: 'suspended' }) }, streams: { list: () => [] } };
  beforeAll(async () => {
    it = await buildTestServer({
      services,
      isSuspended: (accountId) => accountId === 'locked',
      me: () => ({ id: 'locked' }),
    });
  });
  afterAll(async () => it?.app.close());
  const ask = async (method: 'GET' | 'POST', url: string, key: string, payload?: object) => {
    const answer = await it.app.inject({ method, url, headers: { 'x-api-key': key }, ...(payload && { payload }) });
    return [answer.statusCode, answer.json().code ?? answer.json().errors?.[0]?.extensions?.code];
  };

  test('is reported in REST, GraphQL and tools, to its owner alone', async () => {
    const suspended = [403, 'account_suspended'];
    expect(await ask('GET', '/v1/streams', 'locked')).toEqual(suspended);
    expect(await ask('POST', '/v1/streams/str-1/start', 'locked')).toEqual(suspended);
    expect(await ask('POST', '/graphql', 'locked', { query: '{ streams { totalCount } }' })).toEqual([
      200,
      'account_suspended',
    ]);
    expect(await ask('GET', '/v1/me', 'locked')).toEqual([200, undefined]);
    expect(await ask('GET', '/v1/billing', 'locked')).toEqual([200, undefined]);
    expect(await ask('POST', '/v1/streams/str-1/start', 'other')).not.toEqual(suspended);
  });

  test('names whom to ask, where that is set', () => {
    const principal = { accountId: 'a', userId: 'u', scopes: new Set(), via: 'key', isSuspended: true } as const;
    const read = (supportUrl?: string) => () =>
      requireScope({ ...principal, ...(supportUrl && { supportUrl }) } as Principal, 'listStreams', 'service');
    expect(read()).toThrow('Ask the support of the service for the reason.');
    expect(read('mailto:help@example.com')).toThrow('Ask help@example.com for the reason.');
  });

  test('changes nothing, and may see its debt and leave', () => {
    const open = (Object.keys(OPERATION_SCOPES) as Operation[]).filter(isOpenWhileSuspended);
    expect(open).toEqual(
      expect.arrayContaining(['getMe', 'exportAccount', 'deleteAccount', 'getBilling', 'listTopUps']),
    );
    for (const operation of open) expect(operation).toMatch(/^(get|list|export)|^deleteAccount$/);
    expect(open).not.toContain('listStreams');
  });
});
