/** Tests labels: the API and kubectl see the same after each kind of write, on every noun and through every transport. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createClient } from '../../../src/service/client/index.ts';
import { startWebhookSink, type WebhookSink } from '../../kit/fake/webhook-sink.ts';
import { kubectl } from '../../kit/kubectl.ts';
import { connectAgent, withKey } from '../../kit/make/agents.ts';
import { parseUploadId, tusWire } from '../../kit/make/tus-wire.ts';
import { type Client, startTestApi, type TestApi } from '../../kit/system/api.ts';
import { tempDir } from '../../kit/temp-dir.ts';
import { until } from '../../kit/wait.ts';

interface Item {
  id: string;
  labels: Record<string, string>;
  version?: number;
  code?: string;
  errors?: unknown[];
}

const dir = tempDir();
let api: TestApi;
let ada: Client;
let sink: WebhookSink;
const made = new Map<string, Item>();

const DESTINATION = { name: 'Live', rtmpUrl: 'rtmp://live.example.com/app', rtmpKey: 'k-1234' };
/** In this order: a stream needs those before it. */
const BODIES: Record<string, { path: string; kind?: string; body: () => object }> = {
  uploads: {
    path: '/v1/uploads/from-link',
    kind: 'uploads.loopstream.dev',
    body: () => ({ type: 'VIDEO', url: 'https://example.com/film.mkv' }),
  },
  destinations: { path: '/v1/destinations', kind: 'destinations.loopstream.dev', body: () => DESTINATION },
  playlists: {
    path: '/v1/playlists',
    kind: 'playlists.loopstream.dev',
    body: () => ({ kind: 'video', mode: 'sequential', items: [] }),
  },
  scenes: {
    path: '/v1/scenes',
    kind: 'scenes.loopstream.dev',
    body: () => ({ name: 'Evening', layers: [{ text: 'On air' }] }),
  },
  streams: {
    path: '/v1/streams',
    kind: 'loopstreams.loopstream.dev',
    body: () => ({
      ...{ name: 'Channel', quality: 'q_720p', framerate: 'f_30' },
      ...{ destinationID: made.get('destinations')?.id, videoUploadObjectID: made.get('uploads')?.id },
    }),
  },
  endpoints: { path: '/v1/endpoints', body: () => ({ kind: 'webhook', url: sink.url }) },
};
const NOUNS = Object.keys(BODIES);

beforeAll(async () => {
  sink = await startWebhookSink();
  api = await startTestApi({ allowPrivateLinks: true, storageUrl: pathToFileURL(join(dir, 'media')).href });
  ada = await api.client('ada');
  for (const [noun, { path, body }] of Object.entries(BODIES)) {
    const answer = await ada.call<Item>('POST', path, { ...body(), labels: { team: 'news', env: 'prod' } });
    expect(answer.status, JSON.stringify(answer.body)).toBe(201);
    made.set(noun, answer.body);
  }
});
afterAll(async () => {
  await api?.stop();
  await sink?.close();
});

const listIds = async (noun: string, label: string) =>
  (await ada.call<{ data: Item[] }>('GET', `/v1/${noun}?label=${encodeURIComponent(label)}`)).body.data.map(
    ({ id }) => id,
  );

/** Returns the names of those that kubectl finds by the selector, which begins with the name of a label. */
async function kubectlIds(kind: string, selector: string): Promise<string[]> {
  const inKubernetes = selector.replace(/^\w/, 'label.loopstream.dev/$&');
  const path = 'jsonpath={.items[*].metadata.name}';
  const names = await kubectl(api.kubernetes, 'get', kind, '-l', inKubernetes, '-o', path);
  return names.split(' ').filter(Boolean);
}

/** Compares the API with kubectl. Endpoints are not in Kubernetes. */
async function expectFound(noun: string, selector: string, isFound: boolean) {
  const expected = isFound ? [made.get(noun)?.id] : [];
  expect(await listIds(noun, selector)).toEqual(expected);
  const { kind } = BODIES[noun] ?? {};
  if (kind === undefined) return;
  expect(await kubectlIds(kind, selector)).toEqual(expected);
}

const patch = async (noun: string, body: object) => {
  const { id = '', version } = made.get(noun) ?? {};
  const answer = await ada.call<Item>('PATCH', `/v1/${noun}/${id}`, {
    ...(version !== undefined && { version }),
    ...body,
  });
  return answer;
};

describe.each(NOUNS)('the labels of %s', (noun) => {
  test('are found by the API and by kubectl after a create, an edit and a removal', async () => {
    expect(made.get(noun)?.labels).toEqual({ team: 'news', env: 'prod' });
    await expectFound(noun, 'team=news', true);
    await expectFound(noun, 'team in (sport)', false);
    const changed = await patch(noun, { labels: { team: 'sport' } });
    expect([changed.status, changed.body.labels], JSON.stringify(changed.body)).toEqual([200, { team: 'sport' }]);
    await expectFound(noun, 'team=sport', true);
    await expectFound(noun, 'env', false);
    const emptied = await patch(noun, { labels: {} });
    expect(emptied.body.labels).toEqual({});
    await expectFound(noun, 'team', false);
    expect((await ada.call<Item>('GET', `/v1/${noun}/${made.get(noun)?.id}`)).body.labels).toEqual({});
  });

  test('are found alike after a write by GraphQL and by a tool', async () => {
    const { id = '', version } = made.get(noun) ?? {};
    const one = noun.slice(0, -1);
    const update = `update${one.charAt(0).toUpperCase()}${one.slice(1)}`;
    const given = version === undefined ? '' : `version: ${version}, `;
    const query = `mutation { ${update}(id: "${id}", input: { ${given}labels: { door: "graphql" } }) { __typename } }`;
    const { body } = await ada.call('POST', '/graphql', { query });
    expect(body).toMatchObject({ data: { [update]: { __typename: expect.any(String) } } });
    await expectFound(noun, 'door=graphql', true);
    const agent = await connectAgent(api.url, withKey(ada.key));
    try {
      const args = { id, ...(version !== undefined && { version }) };
      await agent.done(`update_${one}`, { ...args, labels: { door: 'tool' } });
      await expectFound(noun, 'door=tool', true);
      await agent.done(`update_${one}`, { ...args, labels: {} });
    } finally {
      await agent.close();
    }
    await expectFound(noun, 'door', false);
  });

  test.runIf(BODIES[noun]?.kind)(
    'are found alike after kubectl label and kubectl apply, and after it took them away',
    async () => {
      const { kind = '' } = BODIES[noun] ?? {};
      const { id = '' } = made.get(noun) ?? {};
      const expectSoon = async (selector: string, isFound: boolean) => {
        await until('the API has seen it', async () => (await listIds(noun, selector)).length === (isFound ? 1 : 0));
        await expectFound(noun, selector, isFound);
      };
      await kubectl(api.kubernetes, 'label', kind, id, 'label.loopstream.dev/door=hand');
      await expectSoon('door=hand', true);
      await kubectl(api.kubernetes, 'label', kind, id, 'label.loopstream.dev/door-');
      await expectSoon('door', false);
      const { apiVersion, kind: Kind } = JSON.parse(
        await kubectl(api.kubernetes, 'get', kind, id, '-o', 'json'),
      ) as Record<string, string>;
      const apply = async (labels: object) => {
        const file = join(dir, `${id}.json`);
        await writeFile(file, JSON.stringify({ apiVersion, kind: Kind, metadata: { name: id, labels } }));
        await kubectl(api.kubernetes, 'apply', '--server-side', '-f', file);
      };
      await apply({ 'label.loopstream.dev/door': 'git' });
      await expectSoon('door=git', true);
      await apply({});
      await expectSoon('door', false);
    },
  );

  test.each([
    ['a'.repeat(64), 'x', 'at most 63'],
    ['team', 'x'.repeat(64), 'at most 63'],
    ['example.com/team', 'x', 'without a slash'],
    ['loopstream.dev/account', 'x', 'without a slash'],
    ['label.loopstream.dev/team', 'x', 'without a slash'],
    ['', 'x', 'label name'],
    ['-team', 'x', 'label name'],
    ['team', 'two words', 'label value'],
  ])('refuse the name %j with the value %j, and nothing changes', async (name, value, message) => {
    const refused = await patch(noun, { labels: { [name]: value } });
    expect([refused.status, refused.body.code], JSON.stringify(refused.body)).toEqual([422, 'validation_failed']);
    expect(JSON.stringify(refused.body.errors)).toContain(message);
    expect((await ada.call<Item>('GET', `/v1/${noun}/${made.get(noun)?.id}`)).body.labels).toEqual({});
  });

  test('are at most twenty', async () => {
    const labels = Object.fromEntries(Array.from({ length: 21 }, (_, n) => [`l${n}`, '']));
    expect((await patch(noun, { labels })).status).toBe(422);
    const { l20: _, ...most } = labels;
    expect((await patch(noun, { labels: most })).status).toBe(200);
    expect((await patch(noun, { labels: {} })).status).toBe(200);
  });
});

test('labels that kubectl writes are those of the API, and the account of an object is none', async () => {
  const id = made.get('streams')?.id ?? '';
  await kubectl(api.kubernetes, 'label', 'loopstreams.loopstream.dev', id, 'label.loopstream.dev/by=hand', 'other=x');
  await until('it is seen', async () => (await listIds('streams', 'by=hand')).length === 1);
  expect((await ada.call<Item>('GET', `/v1/streams/${id}`)).body.labels).toEqual({ by: 'hand' });
  expect((await patch('streams', { labels: { team: 'news' } })).body.labels).toEqual({ team: 'news' });
  const kept = await kubectl(
    api.kubernetes,
    'get',
    'loopstreams.loopstream.dev',
    id,
    '-o',
    'jsonpath={.metadata.labels}',
  );
  expect(JSON.parse(kept)).toEqual({
    'label.loopstream.dev/team': 'news',
    'loopstream.dev/account': ada.accountId,
    other: 'x',
  });
});

test('the API and kubectl find a clone and each of several links by their labels', async () => {
  const origin = made.get('streams')?.id ?? '';
  const clone = await ada.call<Item>('POST', `/v1/streams/${origin}/clone`, { name: 'Copy', labels: { copy: 'yes' } });
  expect(clone.status, JSON.stringify(clone.body)).toBe(201);
  const link = (group: string) => ({ type: 'VIDEO', url: 'https://example.com/film.mkv', labels: { group } });
  await ada.call('POST', '/v1/uploads/from-links', { links: [link('a'), link('b')] });
  expect(await listIds('streams', 'copy=yes')).toEqual([clone.body.id]);
  expect(await kubectlIds('loopstreams.loopstream.dev', 'copy=yes')).toEqual([clone.body.id]);
  for (const selector of ['group=a', 'group=b']) {
    const found = await listIds('uploads', selector);
    expect(found).toHaveLength(1);
    expect(await kubectlIds('uploads.loopstream.dev', selector)).toEqual(found);
  }
});

describe('the labels of an upload by tus', () => {
  const TYPE = { type: 'VIDEO' };
  const wire = () => tusWire(api.url, ada);

  test('are those of its metadata, for the API and for kubectl', async () => {
    const created = await wire().create({ 'Upload-Length': '9' }, { ...TYPE, labels: 'team=tus, env=' });
    expect(created.status).toBe(201);
    const id = parseUploadId(created);
    expect((await ada.call<Item>('GET', `/v1/uploads/${id}`)).body.labels).toEqual({ team: 'tus', env: '' });
    expect(await listIds('uploads', 'team=tus')).toEqual([id]);
    expect(await kubectlIds('uploads.loopstream.dev', 'team=tus')).toEqual([id]);
  });

  test('stay with what is joined from parts', async () => {
    const part = await wire().create({ 'Upload-Length': '9', 'Upload-Concat': 'partial' }, TYPE);
    await wire().append(parseUploadId(part), 0, 'some data');
    const concat = { 'Upload-Concat': `final;${part.headers.get('location')}` };
    const joined = await wire().create(concat, { ...TYPE, labels: 'team=joined' });
    expect(joined.status, JSON.stringify(joined.body)).toBe(201);
    expect(await listIds('uploads', 'team=joined')).toEqual([parseUploadId(joined)]);
  });

  test.each([
    ['team', 'such as team=news'],
    ['team=a,team=b', 'once'],
    ['team=two words', 'label value'],
    ['loopstream.dev/account=x', 'without a slash'],
    ['team=a,', 'such as team=news'],
    [Array.from({ length: 21 }, (_, n) => `l${n}=`).join(','), 'at most 20'],
  ])('are refused as %j, and no upload is made', async (labels, message) => {
    const before = await listIds('uploads', '!none');
    const refused = await wire().create({ 'Upload-Length': '9' }, { ...TYPE, labels });
    expect([refused.status, refused.body.code]).toEqual([422, 'validation_failed']);
    expect(refused.body.errors).toEqual([
      { path: '/Upload-Metadata/labels', message: expect.stringContaining(message) },
    ]);
    expect(await listIds('uploads', '!none')).toEqual(before);
  });
});

test('GraphQL, MCP and the client for programs read, write and filter labels', async () => {
  const id = made.get('streams')?.id ?? '';
  const graphql = async (query: string, variables: object = {}) =>
    (await ada.call<{ data: Record<string, unknown> }>('POST', '/graphql', { query, variables })).body;
  const written = await graphql(
    'mutation($id: ID!, $labels: Labels) { updateStream(id: $id, input: { labels: $labels }) { stream { labels } } }',
    { id, labels: { team: 'graph' } },
  );
  expect(written).toEqual({ data: { updateStream: { stream: { labels: { team: 'graph' } } } } });
  const read = await graphql('{ streams(label: ["team=graph"]) { totalCount edges { node { labels } } } }');
  expect(read.data.streams).toEqual({ totalCount: 1, edges: [{ node: { labels: { team: 'graph' } } }] });
  const literal = await graphql(
    `mutation { updateStream(id: "${id}", input: { labels: { team: "text" } }) { stream { labels } } }`,
  );
  expect(literal).toEqual({ data: { updateStream: { stream: { labels: { team: 'text' } } } } });
  const client = createClient({ baseUrl: `${api.url}/v1`, apiKey: ada.key });
  await client.streams.update(id, { labels: { team: 'client' } });
  const { data } = await client.streams.list({ label: ['team=client', '!env'] }).page();
  expect(data.map(({ labels }) => labels)).toEqual([{ team: 'client' }]);
  const agent = await connectAgent(api.url, withKey(ada.key));
  expect(await agent.done('update_stream', { id, labels: { team: 'agent' } })).toMatchObject({
    labels: { team: 'agent' },
  });
  expect(await agent.done('list_streams', { label: ['team in (agent)'] })).toMatchObject({ data: [{ id }] });
  await agent.close();
});

test('a dry run of labels changes nothing, and neither a playlist nor a scene gets a new version for labels alone', async () => {
  const id = made.get('streams')?.id ?? '';
  const before = (await ada.call<Item>('GET', `/v1/streams/${id}`)).body.labels;
  const dry = await ada.call<Item>('PATCH', `/v1/streams/${id}?dryRun=true`, { labels: { team: 'never' } });
  expect(dry.body.labels).toEqual({ team: 'never' });
  expect((await ada.call<Item>('GET', `/v1/streams/${id}`)).body.labels).toEqual(before);
  for (const [noun, code] of Object.entries({
    playlists: 'playlist_version_conflict',
    scenes: 'scene_version_conflict',
  })) {
    const { version } = made.get(noun) ?? {};
    const relabelled = await patch(noun, { labels: { team: 'news' } });
    expect(relabelled.body).toMatchObject({ version, labels: { team: 'news' } });
    expect((await patch(noun, { version: 99, labels: {} })).body.code).toBe(code);
  }
});
