/**
 * Attacks kube-apiserver with ids that nobody made. A server reads young ids that its caches lack from Kubernetes, since another server
 * may have made them; so each made-up id was a read of Kubernetes, twenty in a request. On a real Kubernetes.
 */
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ulid } from 'ulid';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Client, call, startTestApi, type TestApi } from '../kit/system/api.ts';
import { tempDir } from '../kit/temp-dir.ts';

let api: TestApi;
const dir = tempDir();
beforeAll(async () => {
  api = await startTestApi({ storageUrl: pathToFileURL(join(dir, 'media')).href });
});
afterAll(() => api?.stop());

const REQUESTS = 30;
const IDS = 20;
/** Ids that lead to nothing, of one account in a minute; a test may last two. */
const MOST_READS = 2 * 60;

const makeUp = (prefix: string): string => `${prefix}-${ulid().toLowerCase()}`;
const makeUpMany = (prefix: string) => Array.from({ length: IDS }, () => makeUp(prefix));

/** Returns how many reads the API server has sent to Kubernetes. */
async function countReads(): Promise<number> {
  const text = await (await fetch(`${api.opsUrl}/metrics`)).text();
  const counts = [...text.matchAll(/^rest_client_requests_total\{[^}]*method="GET"[^}]*\} (\d+)$/gm)];
  return counts.reduce((sum, [, count]) => sum + Number(count), 0);
}

const items = () => makeUpMany('upl').map((uploadObjectID) => ({ uploadObjectID }));
const playlist = () => ({ kind: 'video', mode: 'sequential', items: items() });
const DOORS: Record<string, (as: Client) => Promise<{ status: number }>> = {
  'a query that takes none': (as) => as.call('GET', `/v1/me?ids=${makeUpMany('str').join(',')}`),
  'a body': (as) => as.call('POST', '/v1/playlists', playlist()),
  'the path': (as) => as.call('GET', `/v1/streams/${makeUp('str')}`),
  'a document of GraphQL': (as) =>
    as.call('POST', '/graphql', {
      query: `{ ${makeUpMany('dst').map((id, i) => `a${i}: destination(id: "${id}") { id }`)} }`,
    }),
  'a header of tus': (as) =>
    as.call('POST', '/v1/uploads/resumable', undefined, {
      'tus-resumable': '1.0.0',
      'upload-concat': `final;${makeUpMany('upl')
        .map((id) => `/v1/uploads/resumable/${id}`)
        .join(' ')}`,
    }),
};

test.each(Object.entries(DOORS))('ids made up in %s cause few reads of Kubernetes', async (door, send) => {
  const mallory = await api.client(`mallory ${door}`);
  const before = await countReads();
  const statuses = await Promise.all(Array.from({ length: REQUESTS }, async () => (await send(mallory)).status));
  for (const status of statuses) expect(status).toBeLessThan(500);
  expect((await countReads()) - before).toBeLessThanOrEqual(MOST_READS);
});

test('a name that is none of Kubernetes’ is not found, in the header of tus too', async () => {
  const mallory = await api.client('mallory-names');
  for (const id of ['a,b', 'x!=y', 'UPPER', 'upl%2c', 'a=b,metadata.namespace!=c']) {
    const { status, body } = await mallory.call('POST', '/v1/uploads/resumable', undefined, {
      'tus-resumable': '1.0.0',
      'upload-concat': `final;/v1/uploads/resumable/${id}`,
      'upload-metadata': 'type dmlkZW8vbXA0',
    });
    expect({ id, status, code: body.code }).toEqual({ id, status: 404, code: 'upload_not_found' });
  }
});

test('objects that were made at one server are there at another at once, however many', async () => {
  const ada = await api.client('ada');
  const other = await api.replica();
  try {
    const body = { name: 'd', rtmpUrl: 'rtmp://live.example.com/app', rtmpKey: 'key' };
    for (let round = 0; round < 10; round += 1) {
      const found = await Promise.all(
        Array.from({ length: 12 }, async () => {
          const made = await ada.call('POST', '/v1/destinations', body);
          const path = `/v1/destinations/${made.body.id}`;
          return (await call(`${other.url}${path}`, 'GET', undefined, { 'x-api-key': ada.key })).status;
        }),
      );
      expect(new Set(found)).toEqual(new Set([200]));
    }
  } finally {
    await other.stop();
  }
});
