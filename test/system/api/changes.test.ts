/** Tests the feed of changes on real servers: a follower receives each change of the account, and nothing else. */
import { connect } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { DESTINATIONS } from '../../../src/core/resources/destination/resource.ts';
import { createClient, type FeedNews, problems } from '../../../src/service/client/index.ts';
import { MAX_FEEDS } from '../../../src/service/server/events/changes.ts';
import { NAMESPACE } from '../../../tools/local/rights.ts';
import { query } from '../../kit/real/postgres.ts';
import { type Client, startTestApi, type TestApi } from '../../kit/system/api.ts';
import { until } from '../../kit/wait.ts';

let api: TestApi;
let ada: Client;
let bob: Client;

beforeAll(async () => {
  api = await startTestApi();
  [ada, bob] = await Promise.all([api.client('ada'), api.client('bob')]);
});
afterAll(() => api?.stop());

const closing: AbortController[] = [];
afterEach(() => {
  for (const stop of closing.splice(0)) stop.abort();
});

/** Follows until the end of the test; `over` resolves to the error that ended it, or to nothing for an orderly end. */
async function follow(key: string, url = api.url) {
  const stop = new AbortController();
  closing.push(stop);
  const heard: FeedNews[] = [];
  const feed = createClient({ baseUrl: `${url}/v1`, apiKey: key }).changes({ signal: stop.signal });
  const { value, done } = await feed.next();
  if (!done) heard.push(value);
  const read = async () => {
    for await (const news of feed) heard.push(news);
  };
  const over = read().catch((error: unknown) => error);
  return { heard, over, stop };
}

const destination = { name: 'Home', rtmpUrl: 'rtmp://127.0.0.1/live', rtmpKey: 'abcd-efgh-1234' };
const make = async (client: Client) =>
  (await client.call<{ id: string }>('POST', '/v1/destinations', destination)).body.id;
const listChanges = (heard: FeedNews[], id: string) =>
  heard.flatMap((news) => (news !== 'reset' && news.id === id ? [`${news.noun} ${news.change}`] : []));

describe('a follower', () => {
  test('receives a reset first, then creations, changes and deletions through every API', async () => {
    const { heard } = await follow(ada.key);
    expect(heard).toEqual(['reset']);
    const id = await make(ada);
    await expect.poll(() => listChanges(heard, id)[0]).toBe('destination created');
    const before = heard.length;
    await api.kube.mergePatch(DESTINATIONS, NAMESPACE, id, { spec: { displayName: 'By kubectl' } });
    await expect.poll(() => listChanges(heard.slice(before), id)).toContain('destination updated');
    await ada.call('DELETE', `/v1/destinations/${id}`);
    await expect.poll(() => listChanges(heard, id).at(-1)).toBe('destination deleted');
  });

  test('receives nothing of another account', async () => {
    const [hers, his] = [await follow(ada.key), await follow(bob.key)];
    const id = await make(bob);
    const last = await make(ada);
    await expect.poll(() => listChanges(his.heard, id)).toContain('destination created');
    await expect.poll(() => listChanges(hers.heard, last)).toContain('destination created');
    expect(JSON.stringify(hers.heard)).not.toContain(id);
    expect(JSON.stringify(his.heard)).not.toContain(last);
  });

  test('receives changes made through another replica', async () => {
    const other = await api.replica();
    const { heard } = await follow(ada.key, other.url);
    const id = await make(ada);
    await expect.poll(() => listChanges(heard, id)).toContain('destination created');
    await other.stop();
  });
});

describe('a feed', () => {
  test('ends orderly with its server, which does not wait for it', async () => {
    const other = await api.replica();
    const { over } = await follow(ada.key, other.url);
    await other.stop();
    expect(await over).toBeUndefined();
  });

  test('ends when its key is revoked', async () => {
    const { key, id } = await api.auth.createApiKey(ada.accountId, 'for a while');
    const { over } = await follow(key);
    await api.auth.revokeApiKey(id);
    expect(await over).toBeUndefined();
    await expect(follow(key)).rejects.toBeInstanceOf(problems.Unauthenticated);
  });

  test('ends when its key expires', async () => {
    const { key, id } = await api.auth.createApiKey(ada.accountId, 'for an hour', { expiresInSeconds: 3600 });
    const { over } = await follow(key);
    await query(api.databaseUrl, `update auth.apikey set "expiresAt" = now() where id = '${id}'`);
    expect(await over).toBeUndefined();
    await expect(follow(key)).rejects.toMatchObject({ status: 401, code: 'api_key_expired' });
  });

  test('counts towards the account’s limit; its end makes room', async () => {
    const feeds = await Promise.all(Array.from({ length: MAX_FEEDS }, () => follow(bob.key)));
    const refusal = await follow(bob.key).catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(problems.TooManyFeeds);
    expect(refusal).toMatchObject({ retryAfterSeconds: 5 });
    feeds[0]?.stop.abort();
    await until('there is room again', () => follow(bob.key).catch(() => undefined));
  });

  test('sends the headers of a stream of events that no proxy keeps back, and no HEAD is answered', async () => {
    const stop = new AbortController();
    closing.push(stop);
    const answer = await fetch(`${api.url}/v1/changes`, { headers: { 'x-api-key': ada.key }, signal: stop.signal });
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'content-type': 'text/event-stream',
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
    });
    const { status } = await ada.call('HEAD', '/v1/changes');
    expect(status).toBe(405);
  });

  test('continues for a reader that paused for a moment, with the changes in between', async () => {
    const { port, hostname } = new URL(api.url);
    const socket = connect(Number(port), hostname);
    const answered = new Promise((resolve) => socket.once('data', resolve));
    socket.write(`GET /v1/changes HTTP/1.1\r\nHost: x\r\nX-API-Key: ${ada.key}\r\n\r\n`);
    await answered;
    socket.pause();
    const { heard } = await follow(ada.key);
    const id = await make(ada);
    await expect.poll(() => listChanges(heard, id)).toContain('destination created');
    let text = '';
    socket.on('data', (chunk) => {
      text += chunk;
    });
    socket.resume();
    await expect.poll(() => text).toContain(id);
    socket.destroy();
  });
});
