/**
 * Tests accounts in several namespaces on real servers: each account has its objects in its own, a new one goes to the emptiest, and a
 * namespace without the Role concerns its own accounts alone.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { CONTROLLER_REVISIONS, NAMESPACES, SECRETS } from '../../../src/core/kube/core.ts';
import type { KubeObject, Resource } from '../../../src/core/kube/types.ts';
import { Lifecycle } from '../../../src/core/lib/lifecycle.ts';
import { ACCOUNT_LABEL, API_VERSION, COUNT_FINALIZER } from '../../../src/core/resources/common/names.ts';
import { DESTINATIONS } from '../../../src/core/resources/destination/resource.ts';
import { PLAYLISTS } from '../../../src/core/resources/playlist/resource.ts';
import { LOOPSTREAMS } from '../../../src/core/resources/stream/resource.ts';
import { UPLOADS } from '../../../src/core/resources/upload/resource.ts';
import { runBilling } from '../../../src/service/billing/main.ts';
import { billingConfig } from '../../../src/service/billing/setup/settings.ts';
import { createClient, type FeedNews } from '../../../src/service/client/index.ts';
import { NAMESPACE } from '../../../tools/local/rights.ts';
import { PROJECT_ROOT } from '../../../tools/process/root.ts';
import { type List, makeStreamHelpers } from '../../kit/make/streams.ts';
import { silent } from '../../kit/real/kube.ts';
import { query } from '../../kit/real/postgres.ts';
import { type Client, call, startTestApi, type TestApi } from '../../kit/system/api.ts';
import { until } from '../../kit/wait.ts';

const [SECOND, BROKEN] = ['cell-2', 'cell-3'];
const OWNED = [DESTINATIONS, UPLOADS, PLAYLISTS, LOOPSTREAMS] as const;

let api: TestApi;
/** In the API server's own namespace, and in the second one. */
let ada: Client;
let eve: Client;
let adas: Awaited<ReturnType<typeof makeStreamHelpers>>;
let eves: Awaited<ReturnType<typeof makeStreamHelpers>>;

beforeAll(async () => {
  api = await startTestApi({ cellNamespaces: [SECOND, BROKEN] }, { alone: true });
  for (const name of [SECOND, BROKEN]) await api.kube.create(NAMESPACES, '', { metadata: { name }, spec: {} });
  await grant(SECOND);
  await until('the second namespace is watched', async () => (await readWatched(SECOND)) === '1');
  ada = await api.client('ada');
  adas = await makeStreamHelpers(api, ada);
  eve = await api.client('eve');
  eves = await makeStreamHelpers(api, eve);
});
afterAll(() => api?.stop());

/** Gives the API server and billing their Roles in a namespace. */
async function grant(namespace: string): Promise<void> {
  const text = await readFile(join(PROJECT_ROOT, 'manifests/rbac.yaml'), 'utf8');
  for (const document of parseAllDocuments(text)) {
    const { kind, metadata, ...rest } = document.toJS() as KubeObject & { apiVersion: string; kind: string };
    if (!/^Role(Binding)?$/.test(kind) || !/-(api|billing)$/.test(metadata.name)) continue;
    const [group = '', version = ''] = rest.apiVersion.split('/');
    const resource: Resource = { group, version, kind, plural: `${kind.toLowerCase()}s`, namespaced: true };
    const object = { ...rest, kind, metadata: { ...metadata, namespace } };
    await api.kube.apply(resource, namespace, object, { fieldManager: 'test' });
  }
}

const readWatched = async (namespace: string): Promise<string | undefined> => {
  const text = await (await fetch(`${api.opsUrl}/metrics`)).text();
  return new RegExp(`account_namespace_watched{namespace="${namespace}"} (\\d)`).exec(text)?.[1];
};

const countObjects = async (namespace: string, { accountId }: Client): Promise<number[]> => {
  const list = (kind: (typeof OWNED)[number]) =>
    api.kube.list(kind as typeof LOOPSTREAMS, { namespace, labelSelector: `${ACCOUNT_LABEL}=${accountId}` });
  return (await Promise.all(OWNED.map(list))).map(({ length }) => length);
};

const findPlace = async ({ accountId }: Client): Promise<unknown> => {
  const sql = `select coalesce(namespace, '(own)') as place from loopstream.account_cells where account_id = '${accountId}'`;
  return (await query(api.databaseUrl, sql))[0]?.place;
};

/** Puts an account that has made no request yet into a namespace. */
const place = ({ accountId }: Client, namespace: string) =>
  query(api.databaseUrl, `insert into loopstream.account_cells values ('${accountId}', '${namespace}')`);

/** Makes a destination with kubectl's means, labelled as an account's. */
const plant = (namespace: string, { accountId }: Client, name: string, displayName: string) =>
  api.kube.create(DESTINATIONS, namespace, {
    apiVersion: API_VERSION,
    kind: DESTINATIONS.kind,
    metadata: { name, namespace, labels: { [ACCOUNT_LABEL]: accountId } },
    spec: { displayName, secretName: name },
  });

const listIds = async (client: Client, path: string): Promise<unknown[]> =>
  (await client.call<List>('GET', path)).body.data.map(({ id, objectID }) => id ?? objectID);

describe('a new account', () => {
  test('goes to the namespace with the fewest streams, and stays there', async () => {
    // No namespace had a stream: the second account went to the one without accounts.
    expect([await findPlace(ada), await findPlace(eve)]).toEqual(['(own)', SECOND]);
    const { id } = await eves.create({}, eve);
    const bob = await api.client('bob');
    expect(await listIds(bob, '/v1/streams')).toEqual([]);
    expect(await findPlace(bob)).toBe('(own)');
    await eve.call('DELETE', `/v1/streams/${id}`);
    await adas.create();
    const carol = await api.client('carol');
    await carol.call('GET', '/v1/streams');
    expect([await findPlace(carol), await findPlace(bob)]).toEqual([SECOND, '(own)']);
  });

  test('does not go to a full namespace', async () => {
    const closed = await api.replica({ fullNamespaces: [SECOND] });
    const dora = await api.client('dora');
    expect((await call(`${closed.url}/v1/streams`, 'GET', undefined, { 'x-api-key': dora.key })).status).toBe(200);
    expect(await findPlace(dora)).toBe('(own)');
    await closed.stop();
  });
});

describe('accounts in two namespaces', () => {
  test('have all their objects there, with Secrets and versions', async () => {
    const [one, two] = [await adas.create(), await eves.create({}, eve)];
    expect(await countObjects(SECOND, eve)).toEqual([1, 2, 2, 1]);
    expect(await countObjects(NAMESPACE, eve)).toEqual([0, 0, 0, 0]);
    expect(await countObjects(SECOND, ada)).toEqual([0, 0, 0, 0]);
    expect(await listIds(eve, '/v1/streams')).toEqual([two.id]);
    expect(await listIds(ada, '/v1/streams')).toContain(one.id);
    const secret = await api.kube.get(SECRETS, SECOND, eves.destinationID);
    expect(secret.metadata.labels?.[ACCOUNT_LABEL]).toBe(eve.accountId);
    const items = [{ uploadObjectID: eves.videoUploadObjectID }, { uploadObjectID: eves.videoUploadObjectID }];
    const changed = await eve.call('PATCH', `/v1/playlists/${eves.videoList}`, { version: 1, items });
    expect(changed.status, JSON.stringify(changed.body)).toBe(200);
    expect(await api.kube.list(CONTROLLER_REVISIONS, { namespace: SECOND })).not.toHaveLength(0);
    const versions = await eve.call<List>('GET', `/v1/playlists/${eves.videoList}/versions`);
    expect(versions.body.data.map(({ version }) => version)).toEqual([2, 1]);
    const events = await eve.call<List>('GET', `/v1/streams/${two.id}/events`);
    expect(events.status).toBe(200);
    const { body } = await eve.call<{ limits: { name: string; used: number }[] }>('GET', '/v1/limits');
    const used = Object.fromEntries(body.limits.map((limit) => [limit.name, limit.used]));
    expect(used).toMatchObject({ streams: 1, destinations: 1, uploads: 2, playlists: 2 });
    expect((await eve.call('DELETE', `/v1/streams/${two.id}`)).status).toBe(204);
  });

  test('see, change and refer to nothing of one another', async () => {
    const one = await adas.create();
    for (const [method, path, body] of [
      ['GET', `/v1/streams/${one.id}`],
      ['PATCH', `/v1/streams/${one.id}`, { name: 'Mine' }],
      ['DELETE', `/v1/streams/${one.id}`],
      ['DELETE', `/v1/destinations/${adas.destinationID}`],
    ] as const)
      expect((await eve.call(method, path, body)).status, `${method} ${path}`).toBe(404);
    const borrowed = await eve.call('POST', '/v1/streams', eves.wish({ destinationID: adas.destinationID }));
    expect(borrowed).toMatchObject({ status: 422, body: { errors: [{ path: '/destinationID' }] } });
    expect((await ada.call('GET', `/v1/streams/${one.id}`)).body.name).toBe('Night loop');
  });

  test('have objects of the same name, each its own', async () => {
    await plant(NAMESPACE, ada, 'same', 'Of Ada');
    await plant(SECOND, eve, 'same', 'Of Eve');
    const readName = async (client: Client) => (await client.call('GET', '/v1/destinations/same')).body.name;
    await until('both are there', async () => (await readName(ada)) === 'Of Ada' && (await readName(eve)) === 'Of Eve');
    expect((await eve.call('PATCH', '/v1/destinations/same', { name: 'Changed' })).body.name).toBe('Changed');
    expect((await api.kube.get(DESTINATIONS, NAMESPACE, 'same')).spec.displayName).toBe('Of Ada');
    await api.kube.delete(DESTINATIONS, NAMESPACE, 'same');
    await until('hers is gone', async () => (await readName(ada)) === undefined);
    expect(await readName(eve)).toBe('Changed');
    await api.kube.delete(DESTINATIONS, SECOND, 'same');
  });

  test('own nothing in the namespace of the other, whatever its label says', async () => {
    await plant(NAMESPACE, eve, 'planted', 'Planted');
    const marker = (await ada.call<{ id: string }>('POST', '/v1/destinations', TARGET)).body.id;
    await until('the cache is as new', async () => (await listIds(ada, '/v1/destinations')).includes(marker));
    expect((await eve.call('GET', '/v1/destinations/planted')).status).toBe(404);
    expect(await listIds(eve, '/v1/destinations')).toEqual([eves.destinationID]);
    await api.kube.delete(DESTINATIONS, NAMESPACE, 'planted');
  });

  test('have the feed of their own changes', async () => {
    const stop = new AbortController();
    const heard = new Map<string, FeedNews[]>();
    for (const { key } of [ada, eve]) {
      const news: FeedNews[] = [];
      heard.set(key, news);
      const feed = createClient({ baseUrl: `${api.url}/v1`, apiKey: key }).changes({ signal: stop.signal });
      news.push((await feed.next()).value as FeedNews);
      void (async () => {
        for await (const one of feed) news.push(one);
      })().catch(() => undefined);
    }
    const [hers, others] = await Promise.all(
      [ada, eve].map(async (client) => (await client.call<{ id: string }>('POST', '/v1/destinations', TARGET)).body.id),
    );
    const text = ({ key }: Client) => JSON.stringify(heard.get(key));
    await until('both heard', () => text(ada).includes(String(hers)) && text(eve).includes(String(others)));
    expect([text(ada).includes(String(others)), text(eve).includes(String(hers))]).toEqual([false, false]);
    stop.abort();
    await eve.call('DELETE', `/v1/destinations/${others}`);
  });

  test('are found there by a server that starts later', async () => {
    const later = await api.replica();
    const streams = await call<List>(`${later.url}/v1/uploads`, 'GET', undefined, { 'x-api-key': eve.key });
    expect(streams.body.data.map(({ objectID }) => objectID)).toContain(eves.videoUploadObjectID);
    await later.stop();
  });

  test('are both billed', async () => {
    const lifecycle = new Lifecycle(silent);
    const config = billingConfig({
      ...api.environment,
      LOOPSTREAM_CELL_NAMESPACES: `${SECOND},${BROKEN}`,
      KUBECONFIG: await api.kubernetes.kubeconfigFor('billing', {
        user: `system:serviceaccount:${NAMESPACE}:loopstream-billing`,
      }),
    });
    const { ready } = await runBilling(config, lifecycle, silent);
    await ready;
    const [one, two] = [await adas.create(), await eves.create({}, eve)];
    for (const [namespace, id] of [
      [NAMESPACE, one.id],
      [SECOND, two.id],
    ] as const)
      await until(`billing has taken ${namespace}`, async () =>
        (await api.kube.get(LOOPSTREAMS, namespace, id)).metadata.finalizers?.includes(COUNT_FINALIZER),
      );
    await eve.call('DELETE', `/v1/streams/${two.id}`);
    await until('it is let go', async () => (await countObjects(SECOND, eve))[3] === 0);
    await lifecycle.stop();
  });
});

const TARGET = { name: 'Home', rtmpUrl: 'rtmp://127.0.0.1/live', rtmpKey: 'k-123456' };

describe('a namespace without the Role', () => {
  test('fails for its own accounts alone, and serves them once it has it', async () => {
    const mallory = await api.client('mallory');
    await place(mallory, BROKEN);
    for (const [method, path, body] of [
      ['GET', '/v1/streams'],
      ['GET', `/v1/streams/${adas.destinationID}`],
      ['POST', '/v1/destinations', TARGET],
      ['GET', '/v1/limits'],
    ] as const) {
      const answer = await mallory.call(method, path, body);
      expect(answer, `${method} ${path}`).toMatchObject({ status: 502, body: { code: 'upstream_unavailable' } });
    }
    expect((await mallory.call('GET', '/v1/me')).status).toBe(200);
    for (const client of [ada, eve]) {
      await until('the others are served, and what they get is current', async () => {
        const { status, headers } = await client.call('GET', '/v1/streams');
        return status === 200 && headers.get('age') === null;
      });
    }
    expect((await fetch(`${api.opsUrl}/readyz`)).status).toBe(200);
    expect([await readWatched(BROKEN), await readWatched(SECOND)]).toEqual(['0', '1']);
    await grant(BROKEN);
    await until('it is served', async () => (await mallory.call('GET', '/v1/streams')).status === 200);
    const { id } = await (await makeStreamHelpers(api, mallory)).create({}, mallory);
    expect((await api.kube.get(LOOPSTREAMS, BROKEN, id)).metadata.labels?.[ACCOUNT_LABEL]).toBe(mallory.accountId);
    expect(await readWatched(BROKEN)).toBe('1');
  });

  test('that the server is not told of fails in the same way', async () => {
    const walter = await api.client('walter');
    await place(walter, 'elsewhere');
    expect(await walter.call('GET', '/v1/streams')).toMatchObject({
      status: 502,
      body: { code: 'upstream_unavailable' },
    });
  });

  test('that had it serves what it knows, with its age', async () => {
    const bindings: Resource = {
      group: 'rbac.authorization.k8s.io',
      version: 'v1',
      kind: 'RoleBinding',
      plural: 'rolebindings',
      namespaced: true,
    };
    await api.kube.delete(bindings, SECOND, 'loopstream-api');
    const readAge = async (client: Client) => (await client.call('GET', '/v1/destinations')).headers.get('age');
    await until('the age is told', async () => (await readAge(eve)) !== null);
    await until('the other namespace stays current', async () => (await readAge(ada)) === null);
    expect(await listIds(eve, '/v1/destinations')).toEqual([eves.destinationID]);
    expect((await eve.call('POST', '/v1/destinations', TARGET)).status).toBe(502);
    expect((await ada.call('POST', '/v1/destinations', TARGET)).status).toBe(201);
    await grant(SECOND);
    await until('it is current', async () => (await readAge(eve)) === null);
  });
});

test('a deleted account leaves nothing in its namespace', async () => {
  expect(await countObjects(SECOND, eve)).not.toEqual([0, 0, 0, 0]);
  await query(api.databaseUrl, `insert into loopstream.account_deletions (account_id) values ('${eve.accountId}')`);
  const next = await api.replica();
  await until('nothing is left', async () => (await countObjects(SECOND, eve)).every((count) => count === 0));
  await until('no key is left', async () =>
    (await api.kube.list(SECRETS, { namespace: SECOND })).every(({ metadata }) => !metadata.name.startsWith('dst-')),
  );
  expect((await countObjects(NAMESPACE, ada))[0]).toBeGreaterThan(0);
  await next.stop();
});
