/**
 * Tests the number of requests that a query sends to Kubernetes and Postgres: the same for one row as for fifty, with every field of a row.
 */
import { join } from 'node:path';
import {
  buildSchema,
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLObjectType,
  getNamedType,
  isObjectType,
  isRequiredArgument,
} from 'graphql';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { EVENTS } from '../../../src/core/kube/core.ts';
import { LOOPSTREAMS } from '../../../src/core/resources/stream/resource.ts';
import { createDb, createPool } from '../../../src/service/db/pool.ts';
import { schemaDocument } from '../../../src/service/server/graphql/schema.ts';
import { apiConfig } from '../../../src/service/server/setup/settings.ts';
import { NAMESPACE } from '../../../tools/local/rights.ts';
import { type FaultyProxy, startFaultyProxy } from '../../kit/fake/kubeproxy.ts';
import { CRYPTO_SETTINGS } from '../../kit/make/crypto-settings.ts';
import { makeDeliveries, makeEndpoint } from '../../kit/make/endpoints.ts';
import type { Result } from '../../kit/make/graphql.ts';
import { makeStreamHelpers } from '../../kit/make/streams.ts';
import { writeKubeconfig } from '../../kit/real/kube.ts';
import { type Client, call, startTestApi, type TestApi } from '../../kit/system/api.ts';
import { tempDir } from '../../kit/temp-dir.ts';
import { until } from '../../kit/wait.ts';
import { fillMoney } from './money-rows.ts';

const MANY = 50;

const dir = tempDir();
let api: TestApi;
let proxy: FaultyProxy;
/** The servers whose requests are counted: for money, one where streams cost something. */
let url: string;
let moneyUrl: string;
/** Accounts by their number of rows, with the stream and the playlist that have as many events and versions. */
const accounts = new Map<number, { client: Client; stream: string; playlist: string; endpoint: string }>();

beforeAll(async () => {
  api = await startTestApi();
  proxy = await startFaultyProxy(api.kubernetes);
  url = (await api.replica({ kubeconfig: await writeKubeconfig(join(dir, 'config'), proxy.url) })).url;
  const { crypto } = apiConfig({ ...api.environment, ...CRYPTO_SETTINGS });
  moneyUrl = (await api.replica({ billing: true, crypto })).url;
  for (const rows of [1, MANY]) accounts.set(rows, await fill(rows));
});
afterAll(async () => {
  await api?.stop();
  await proxy?.close();
});

const schema = buildSchema(schemaDocument());
const isList = (field: GraphQLField) => getNamedType(field.type).name.endsWith('Connection');
/** Data about money, and what happened, is in Postgres: each list takes this many statements. */
const OF_DATABASE: Record<string, number> = {
  ...{ cryptoDeposits: 3, invoices: 1, ledgerEntries: 2, topUps: 1 },
  ...{ events: 2, streamSessions: 1, endpoints: 1, endpointDeliveries: 2 },
};
const lists = Object.values(schema.getQueryType()?.getFields() ?? {}).filter(isList);

/** Selects all fields of a type without arguments, to any depth. */
function selection(type: GraphQLNamedType): string {
  if (!isObjectType(type)) return '';
  const fields = Object.values((type as GraphQLObjectType).getFields()).filter(
    ({ args }) => !args.some(isRequiredArgument),
  );
  return `{ ${fields.map((field) => `${field.name} ${selection(getNamedType(field.type))}`).join(' ')} }`;
}
const buildQuery = (field: GraphQLField) => {
  const id = field.args.some(({ name }) => name === 'id');
  return `query(${id ? '$id: ID!, ' : ''}$first: Int) { it: ${field.name}(${id ? 'id: $id, ' : ''}first: $first) ${selection(getNamedType(field.type))} }`;
};

async function fill(rows: number) {
  const client = await api.client(`rows-${rows}`);
  const streams = await makeStreamHelpers(api, client);
  const { videoUploadObjectID, wish, create } = streams;
  const items = [{ uploadObjectID: videoUploadObjectID }];
  const list = { kind: 'video', mode: 'shuffle', items };
  const destination = { name: 'Row', rtmpUrl: 'rtmp://127.0.0.1/live', rtmpKey: 'abcd-1234' };
  const { id: stream } = await create();
  const sessions = Array.from({ length: rows }, (_, i) => ({
    number: i + 1,
    podUID: 'pod',
    startedAt: '2026-01-01T00:00:00Z',
    endedAt: '2026-01-01T01:00:00Z',
    onAirSeconds: 3600,
  }));
  await api.observe(stream, { phase: 'idle', sessions });
  const made = await client.call('POST', '/v1/playlists', list);
  const playlist = String(made.body.id);
  await client.call('POST', '/v1/scenes', { name: 'Row 0', layers: [{ text: 'Row' }] });
  for (let row = 1; row < rows; row += 1) {
    const answers = await Promise.all([
      client.call('POST', '/v1/streams', wish({ name: `Row ${row}` })),
      client.call('POST', '/v1/destinations', destination),
      client.call('POST', '/v1/uploads/from-link', { type: 'VIDEO', url: 'https://example.com/row.mp4' }),
      client.call('POST', '/v1/playlists', { ...list, streamID: row % 20 ? undefined : stream }),
      client.call('POST', '/v1/scenes', { name: `Row ${row}`, layers: [{ text: 'Row' }] }),
      client.call('PATCH', `/v1/playlists/${playlist}`, { version: row, mode: row % 2 ? 'sequential' : 'shuffle' }),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([201, 201, 201, 201, 201, 200]);
    // A read does not wait for readiness once the operator has written it.
    await api.observe(String(answers[0].body.id), { phase: 'idle' });
  }
  const { metadata, apiVersion, kind } = await api.kube.get(LOOPSTREAMS, NAMESPACE, stream);
  for (let row = 0; row < rows; row += 1)
    await api.kube.create(EVENTS, NAMESPACE, {
      metadata: { name: `${stream}.${row}`, namespace: NAMESPACE },
      involvedObject: { apiVersion, kind, namespace: NAMESPACE, name: stream, uid: metadata.uid },
      type: 'Normal',
      reason: 'Row',
      message: `Row ${row}.`,
      count: 1,
    } as never);
  await fillMoney(api.databaseUrl, client.accountId, rows);
  return { client, stream, playlist, endpoint: await fillEndpoints(client.accountId, rows) };
}

async function fillEndpoints(accountId: string, rows: number): Promise<string> {
  const db = createDb(createPool(api.databaseUrl, { searchPath: 'loopstream' }));
  for (let row = 0; row < rows; row += 1) await makeEndpoint(db, accountId, `${accountId}-${row}`);
  const first = `end-${accountId}-0`;
  await makeDeliveries(db, accountId, first, rows);
  await db.destroy();
  return first;
}

const getText = ([query]: unknown[]) => (typeof query === 'string' ? query : String((query as { text?: string }).text));
/**
 * Queries about the credential, suspensions, deletions, the telling and sending of events and the database's health run now and then, independent of the
 * request.
 */
const isOfQuery = (text: string) =>
  !/\bapikey\b|account_suspensions|account_deletions|\.leases|event_objects|\.alerts\b|endpoints e where e\.state|claimed_until|insert into|^(begin|commit|select)$/.test(
    text,
  );

/** Sends one query; returns its requests and its number of rows. */
async function ask(field: GraphQLField, rows: number) {
  const { client, stream, playlist, endpoint } = accounts.get(rows) ?? {};
  const ids: Record<string, string | undefined> = {
    streamEvents: stream,
    streamSessions: stream,
    endpointDeliveries: endpoint,
  };
  const id = ids[field.name] ?? playlist;
  const variables = { first: rows, ...(field.args.some(({ name }) => name === 'id') && { id }) };
  const send = async () => {
    const body = { query: buildQuery(field), variables };
    const server = field.name in OF_DATABASE ? moneyUrl : url;
    const { body: answer } = await call<Result>(`${server}/graphql`, 'POST', body, { 'x-api-key': client?.key ?? '' });
    expect(answer.errors).toBeUndefined();
    return (answer.data?.it as { edges: unknown[] } | undefined)?.edges.length;
  };
  // The cache then knows the credential and all objects.
  await until('the server knows all of it', async () => (await send()) === rows);
  const statements = vi.spyOn(pg.Client.prototype, 'query');
  onTestFinished(() => statements.mockRestore());
  proxy.asked();
  statements.mockClear();
  expect(await send()).toBe(rows);
  return { kubernetes: proxy.asked(), postgres: statements.mock.calls.map(getText).filter(isOfQuery) };
}

describe('one query for everything that a list shows', () => {
  test('reaches deep: nested fields are among them', () => {
    expect(lists.length).toBeGreaterThanOrEqual(10);
    const all = lists.map(buildQuery).join('\n');
    for (const nested of [
      'readiness { issues { code',
      'items { uploadObjectID',
      'publication { itemsFailed',
      'payments { explanation',
    ])
      expect(all).toMatch(new RegExp(nested.replaceAll(/[{ ]+/g, '[^}]*')));
  });

  test.each(lists.map((field) => [field.name, field] as const))(
    '%s: the same requests for fifty rows as for one',
    async (_name, field) => {
      const [one, many] = [await ask(field, 1), await ask(field, MANY)];
      expect(many.kubernetes).toEqual(one.kubernetes);
      expect(many.postgres).toEqual(one.postgres);
      expect([many.kubernetes.length, many.postgres.length]).toEqual([
        field.args.some(({ name }) => name === 'id') && !(field.name in OF_DATABASE) ? 1 : 0,
        OF_DATABASE[field.name] ?? 0,
      ]);
    },
  );
});
