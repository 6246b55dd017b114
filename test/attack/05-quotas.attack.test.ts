/**
 * Attacks the cluster's database: an account makes objects until everybody's Kubernetes is read-only. Two API servers get many requests at
 * once, on a real Kubernetes and a real PostgreSQL.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { AccountLimits } from '../../src/service/domain/accounts/record.ts';
import { type LimitName, type LimitOverrides, withOverrides } from '../../src/service/settings/limits.ts';
import { connectAgent, withKey } from '../kit/make/agents.ts';
import { giveCredit } from '../kit/make/ledger.ts';
import { type Answer, type Client, call, startTestApi, type TestApi } from '../kit/system/api.ts';

/** Room for one stored answer, with a name of 200 characters. */
const KEPT = { idempotencyKeys: 3, keptAnswerBytes: 900 };
/** Small limits, so that a test meets them; the code is the same. */
const LIMITS = {
  trial: {
    streams: 3,
    destinations: 4,
    playlists: 5,
    scenes: 4,
    recordBytes: 400_000,
    uploads: 6,
    linkImports: 5,
    ...KEPT,
  },
  full: { streams: 30, destinations: 40, playlists: 50, recordBytes: 1_000_000, uploads: 60, linkImports: 50 },
} satisfies LimitOverrides;

let api: TestApi;
let urls: string[];
beforeAll(async () => {
  api = await startTestApi({ billing: true, limits: withOverrides(LIMITS) });
  urls = [api.url, (await api.replica()).url];
});
afterAll(async () => api?.stop());

const LINK = { type: 'VIDEO', url: 'https://example.com/a.mp4' };
const UPLOAD = { path: '/v1/uploads/from-link', body: LINK };
const DESTINATION = {
  path: '/v1/destinations',
  body: { name: 'd', rtmpUrl: 'rtmp://live.example.com/app', rtmpKey: 'key' },
};
const SCENE = { path: '/v1/scenes', body: { name: 's', layers: [{ text: 'On air' }] } };
const PLAYLIST = { path: '/v1/playlists', body: { kind: 'video', mode: 'sequential', items: [] } };
/** The same input for GraphQL. */
const INPUT = '{ name: "d", rtmpUrl: "rtmp://live.example.com/app", rtmpKey: "key" }';
type Wish = { path: string; body: object };

/** Sends the same request this many times at once, to each server in turn. */
const flood = (as: Client, times: number, { path, body }: Wish): Promise<Answer[]> =>
  Promise.all(
    Array.from({ length: times }, (_, i) =>
      call<Record<string, unknown>>(`${urls[i % urls.length]}${path}`, 'POST', body, { 'x-api-key': as.key }),
    ),
  );
const countAnswers = (answers: readonly Answer[]) => ({
  made: answers.filter(({ status }) => status === 201).length,
  refused: answers.filter(({ status }) => status === 403).length,
});
const findRefusal = (answers: readonly Answer[]) => answers.find(({ status }) => status === 403)?.body;

async function streamWish(as: Client): Promise<Wish> {
  const [destination, upload] = await Promise.all([
    as.call<{ id: string }>('POST', DESTINATION.path, DESTINATION.body),
    as.call<{ objectID: string }>('POST', UPLOAD.path, UPLOAD.body),
  ]);
  const body = { name: 's', quality: 'q_720p', framerate: 'f_30', destinationID: destination.body.id };
  return { path: '/v1/streams', body: { ...body, videoUploadObjectID: upload.body.objectID } };
}

describe('objects without end, asked for at two servers at once', () => {
  const nouns: [name: LimitName, code: string, wish: (as: Client) => Wish | Promise<Wish>, before?: number][] = [
    ['destinations', 'quota_exceeded', () => DESTINATION],
    ['playlists', 'quota_exceeded', () => PLAYLIST],
    ['scenes', 'quota_exceeded', () => SCENE],
    ['linkImports', 'quota_exceeded', () => UPLOAD],
    ['streams', 'quota_exceeded', streamWish],
  ];
  test.each(nouns)('%s end at the limit of the trial, to the last one', async (name, code, buildWish) => {
    const mallory = await api.client(`mallory-${name}`);
    const answers = await flood(mallory, 24, await buildWish(mallory));
    const allowed = (LIMITS.trial as Record<string, number>)[name] ?? 0;
    expect(countAnswers(answers)).toEqual({ made: allowed, refused: 24 - allowed });
    const body = findRefusal(answers);
    expect(body).toMatchObject({ code, limit: name, allowed, used: allowed, class: 'trial' });
    expect(body?.detail).toMatch(/^The account may have \d+ .*, and has \d+\. .* Buying credit once raises this limit/);
  });

  test('another account notices nothing', async () => {
    const victim = await api.client('victim');
    const wish = await streamWish(victim);
    expect(countAnswers(await flood(victim, 3, wish))).toEqual({ made: 3, refused: 0 });
  });

  test('GraphQL and tools of agents are no way around it', async () => {
    const mallory = await api.client('mallory-apis');
    expect(countAnswers(await flood(mallory, 8, DESTINATION)).made).toBe(LIMITS.trial.destinations);
    const query = `mutation { createDestination(input: ${INPUT}) { __typename } }`;
    const { body } = await mallory.call<{ errors?: { extensions: { code: string } }[] }>('POST', '/graphql', { query });
    expect(body.errors?.[0]?.extensions.code, JSON.stringify(body)).toBe('quota_exceeded');
    const agent = await connectAgent(api.url, withKey(mallory.key));
    const told = await agent.call('create_destination', DESTINATION.body);
    await agent.close();
    expect(told.isError && told.text).toContain('quota_exceeded');
    expect((await mallory.call<{ data: [] }>('GET', '/v1/destinations')).body.data.length).toBe(
      LIMITS.trial.destinations,
    );
  });

  test('deleting gives the room back at once, and no more than that', async () => {
    const mallory = await api.client('mallory-deletes');
    const [first] = await flood(mallory, LIMITS.trial.playlists, PLAYLIST);
    expect((await flood(mallory, 1, PLAYLIST))[0]?.status).toBe(403);
    expect((await mallory.call('DELETE', `/v1/playlists/${first?.body.id}`)).status).toBe(204);
    expect(countAnswers(await flood(mallory, 6, PLAYLIST))).toEqual({ made: 1, refused: 5 });
  });

  test('the first credit lifts the limits, at every server at once, and for good', async () => {
    const ada = await api.client('ada-pays');
    expect(countAnswers(await flood(ada, 8, DESTINATION)).made).toBe(LIMITS.trial.destinations);
    await giveCredit(api.databaseUrl, ada.accountId);
    const answers = await flood(ada, 60, DESTINATION);
    expect(countAnswers(answers).made).toBe(LIMITS.full.destinations - LIMITS.trial.destinations);
    expect(findRefusal(answers)).toMatchObject({ class: 'full', allowed: LIMITS.full.destinations });
    expect(findRefusal(answers)?.detail).not.toContain('credit');
  });
});

describe('bytes without end, in few objects', () => {
  const items = (id: unknown, count: number) => Array.from({ length: count }, () => ({ uploadObjectID: id }));

  test('playlists of 500 items, and versions of them, end at the limit of bytes', async () => {
    const mallory = await api.client('mallory-bytes');
    const { objectID } = (await mallory.call('POST', UPLOAD.path, UPLOAD.body)).body;
    const made = await mallory.call('POST', PLAYLIST.path, { ...PLAYLIST.body, items: items(objectID, 500) });
    expect(made.status).toBe(201);
    let version = 1;
    let last: Answer | undefined;
    for (; version < 60; version += 1) {
      const change = { version, mode: version % 2 ? 'shuffle' : 'sequential' };
      last = await mallory.call('PATCH', `/v1/playlists/${made.body.id}`, change);
      if (last.status !== 200) break;
    }
    expect(last).toMatchObject({ status: 403, body: { code: 'quota_exceeded', limit: 'recordBytes', class: 'trial' } });
    // The playlist counts twice, each version once.
    expect(Number(last?.body.used)).toBeLessThanOrEqual(LIMITS.trial.recordBytes);
    expect((version + 2) * 500 * 40).toBeLessThan(LIMITS.trial.recordBytes);
    // A smaller version is still possible, and nothing else.
    const smaller = { version, items: [] };
    expect((await mallory.call('PATCH', `/v1/playlists/${made.body.id}`, smaller)).status).toBe(200);
    const another = await mallory.call('POST', PLAYLIST.path, { ...PLAYLIST.body, items: items(objectID, 500) });
    expect(another).toMatchObject({ status: 403, body: { limit: 'recordBytes' } });
  });
});

describe('answers stored for idempotency keys', () => {
  /** This request is refused, with an answer that is stored. */
  const NOWHERE = { ...PLAYLIST, body: { ...PLAYLIST.body, items: [{ uploadObjectID: 'upl-none' }] } };
  const keyed = (as: Client, key: string, { path, body }: Wish) =>
    as.call('POST', path, body, { 'idempotency-key': key });

  test('end at so many keys, before anything is done; a request without one goes on', async () => {
    const mallory = await api.client('mallory-keys');
    const answers: Answer[] = [];
    for (let i = 0; i < 5; i += 1) answers.push(await keyed(mallory, `key-${i}`, NOWHERE));
    expect(answers.map(({ status }) => status)).toEqual([422, 422, 422, 403, 403]);
    expect(answers.at(-1)?.body).toMatchObject({ code: 'quota_exceeded', limit: 'idempotencyKeys', used: 3 });
    expect((await mallory.call('POST', PLAYLIST.path, PLAYLIST.body)).status).toBe(201);
    // A known key is no new one.
    expect((await keyed(mallory, 'key-0', NOWHERE)).status).toBe(422);
  });

  test('end at so many bytes, and a request whose answer was too much is never done twice', async () => {
    const mallory = await api.client('mallory-answers');
    const wish = { ...PLAYLIST, body: { ...PLAYLIST.body, name: 'x'.repeat(200) } };
    for (const key of ['one', 'two']) expect((await keyed(mallory, key, wish)).status).toBe(201);
    expect((await keyed(mallory, 'one', wish)).status).toBe(201);
    const again = await keyed(mallory, 'two', wish);
    expect(again).toMatchObject({ status: 409, body: { code: 'idempotency_key_reused' } });
    expect(again.body.detail).toContain('answered this request with 201 before');
    expect((await mallory.call<{ data: [] }>('GET', PLAYLIST.path)).body.data).toHaveLength(2);
  });
});

test('an account sees its usage, its limits, and how to lift them', async () => {
  const ada = await api.client('ada-looks');
  await ada.call('POST', PLAYLIST.path, PLAYLIST.body);
  const { body } = await ada.call<AccountLimits>('GET', '/v1/limits');
  expect(body).toMatchObject({ class: 'trial', howToLift: expect.stringContaining('Buy credit once') });
  expect(body.limits.find(({ name }) => name === 'playlists')).toMatchObject({
    used: 1,
    allowed: LIMITS.trial.playlists,
    full: LIMITS.full.playlists,
  });
  await giveCredit(api.databaseUrl, ada.accountId);
  expect((await ada.call<AccountLimits>('GET', '/v1/limits')).body).toMatchObject({ class: 'full', howToLift: null });
});
