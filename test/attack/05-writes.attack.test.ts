/**
 * Attacks the cluster's database without making objects: an account writes the same few objects again and again, and each revision stays
 * in etcd until its compaction. On a real Kubernetes and a real PostgreSQL.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { PLAYLISTS } from '../../src/core/resources/playlist/resource.ts';
import { withOverrides } from '../../src/service/settings/limits.ts';
import { connectAgent, withKey } from '../kit/make/agents.ts';
import { createQuery } from '../kit/make/graphql.ts';
import { giveCredit } from '../kit/make/ledger.ts';
import { inMinutes, makeStreamHelpers } from '../kit/make/streams.ts';
import { type Answer, type Client, startTestApi, type TestApi } from '../kit/system/api.ts';

/** Small limits, so that a test meets them with few writes, and no small write is soon possible again; the code is the same. */
const KIB = 1024;
const LIMITS = withOverrides({ trial: { writtenBytes: 256 * KIB }, full: { writtenBytes: 320 * KIB } });

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi({ billing: true, limits: LIMITS });
});
afterAll(async () => api?.stop());

const LINK = { type: 'VIDEO', url: 'https://example.com/a.mp4' };

/** Makes a playlist of 500 items in two versions; returns its id. */
async function makeLargePlaylist(as: Client): Promise<string> {
  const { objectID } = (await as.call('POST', '/v1/uploads/from-link', LINK)).body;
  const items = Array.from({ length: 500 }, () => ({ uploadObjectID: objectID }));
  const made = await as.call('POST', '/v1/playlists', { kind: 'video', mode: 'sequential', items });
  expect(made.status, JSON.stringify(made.body)).toBe(201);
  const id = String(made.body.id);
  expect((await as.call('PATCH', `/v1/playlists/${id}`, { version: 1, mode: 'shuffle' })).status).toBe(200);
  return id;
}

const publish = (as: Client, id: string, version: number, headers = {}): Promise<Answer> =>
  as.call('POST', `/v1/playlists/${id}/publish`, { version }, headers);

/** Publishes two versions in turns until that is refused; returns the refusal and the number of publishes before it. */
async function publishUntilRefused(as: Client, id: string): Promise<{ refused: Answer; done: number }> {
  for (let done = 0; ; done += 1) {
    const refused = await publish(as, id, 1 + (done % 2));
    if (refused.status !== 200) return { refused, done };
    expect(done).toBeLessThan(500);
  }
}

test('an account that writes the same objects again and again is refused, whichever door it takes', async () => {
  const [mallory, victim] = [await api.client('mallory'), await api.client('victim')];
  const id = await makeLargePlaylist(mallory);
  const { refused, done } = await publishUntilRefused(mallory, id);
  const bytes = JSON.stringify(await api.kube.get(PLAYLISTS, api.config.namespace, id)).length;
  // The last of them may begin below the limit and end above.
  expect(done).toBeLessThanOrEqual(Math.ceil(LIMITS.trial.writtenBytes / bytes));
  expect(refused).toMatchObject({
    status: 429,
    body: { code: 'too_many_writes', limit: 'writtenBytes', allowed: LIMITS.trial.writtenBytes, class: 'trial' },
  });
  expect(refused.headers.get('retry-after')).toBe(String(refused.body.retryAfterSeconds));

  const revision = async () => (await api.kube.get(PLAYLISTS, api.config.namespace, id)).metadata.resourceVersion;
  const before = await revision();
  const aliases = Array.from(
    { length: 19 },
    (_, i) => `p${i}: publishPlaylist(id: "${id}", version: ${1 + (i % 2)}) { __typename }`,
  );
  const answer = await createQuery(mallory)(`mutation { ${aliases.join('\n')} }`);
  expect(new Set(answer.errors?.map(({ extensions }) => extensions.code)), JSON.stringify(answer)).toEqual(
    new Set(['too_many_writes']),
  );
  const agent = await connectAgent(api.url, withKey(mallory.key));
  expect((await agent.call('publish_playlist', { id, version: 1 })).text).toContain('too_many_writes');
  await agent.close();
  expect(await revision()).toBe(before);

  // Reads, deletions and other accounts go on.
  expect((await mallory.call('GET', `/v1/playlists/${id}`)).status).toBe(200);
  expect((await mallory.call('DELETE', `/v1/playlists/${id}`)).status).toBe(204);
  expect((await victim.call('POST', '/v1/uploads/from-link', LINK)).status).toBe(201);
});

test('the refused request succeeds with the same idempotency key later, and its repetition writes nothing', async () => {
  const ada = await api.client('ada');
  const id = await makeLargePlaylist(ada);
  const { done } = await publishUntilRefused(ada, id);
  const again = () => publish(ada, id, 1 + (done % 2), { 'idempotency-key': 'publish' });
  expect((await again()).status).toBe(429);
  let published: Answer | undefined;
  const tryAgain = async () => {
    published = await again();
    return published.status;
  };
  await expect.poll(tryAgain, { interval: 500, timeout: 60_000 }).toBe(200);
  await publishUntilRefused(ada, id);
  expect((await again()).body).toEqual(published?.body);
});

test('nothing is left half done, and a stream goes off air, while the account may write nothing', async () => {
  const ada = await api.client('ada-on-air');
  await giveCredit(api.databaseUrl, ada.accountId);
  const { create, destinationID } = await makeStreamHelpers(api, ada);
  const stream = await create({ scheduleStartAt: inMinutes(60) });
  const id = await makeLargePlaylist(ada);
  const { refused } = await publishUntilRefused(ada, id);
  expect(refused.body).toMatchObject({ class: 'full', allowed: LIMITS.full.writtenBytes });
  const destination = { name: 'Other', rtmpUrl: 'rtmp://live.example.com/app', rtmpKey: 'other' };
  const path = `/v1/destinations/${destinationID}`;
  const before = (await ada.call('GET', path)).body;
  expect((await ada.call('POST', '/v1/destinations', destination)).status).toBe(429);
  expect((await ada.call('PATCH', path, destination)).status).toBe(429);
  expect((await ada.call('GET', path)).body).toEqual(before);
  expect((await ada.call<{ data: [] }>('GET', '/v1/destinations')).body.data).toHaveLength(1);
  const stopped = await ada.call('POST', `/v1/streams/${stream.id}/stop`);
  expect(stopped.status, JSON.stringify(stopped.body)).toBeLessThan(300);
});

test('ordinary work in bulk meets no limit: an account with credit makes all its objects at once', async () => {
  const bulk = await startTestApi({ billing: true });
  try {
    const ada = await bulk.client('ada-bulk');
    await giveCredit(bulk.databaseUrl, ada.accountId);
    const body = { name: 'd', rtmpUrl: 'rtmp://live.example.com/app', rtmpKey: 'key' };
    const answers = await Promise.all(Array.from({ length: 300 }, () => ada.call('POST', '/v1/destinations', body)));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201]));
  } finally {
    await bulk.stop();
  }
});
