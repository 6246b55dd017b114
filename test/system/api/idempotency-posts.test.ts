/** Tests each POST with an Idempotency-Key: one effect and one answer for any number of retries and any crash in between. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { cardSettings } from '../../../src/service/billing/cards/settings.ts';
import type { RunningApi } from '../../../src/service/server/main.ts';
import type { OpenApi } from '../../../src/service/server/openapi/document.ts';
import { isOperation, takesIdempotencyKey } from '../../../src/service/server/operations/scopes.ts';
import { apiConfig } from '../../../src/service/server/setup/settings.ts';
import { passTests } from '../../kit/fake/destination-tests.ts';
import { startFaultyProxy } from '../../kit/fake/kubeproxy.ts';
import { type StripeStub, startStripeStub, stripeSettings } from '../../kit/fake/stripe.ts';
import { startWebhookSink, type WebhookSink } from '../../kit/fake/webhook-sink.ts';
import { CRYPTO_SETTINGS } from '../../kit/make/crypto-settings.ts';
import { makeStreamHelpers, type Streams, type StreamsApi, startStreamsApi } from '../../kit/make/streams.ts';
import { writeKubeconfig } from '../../kit/real/kube.ts';
import { type Answer, type Client, call } from '../../kit/system/api.ts';
import { startApiProcess } from '../../kit/system/api-process.ts';
import { tempDir } from '../../kit/temp-dir.ts';
import { until } from '../../kit/wait.ts';
import { buildPosts, type Post } from './posts.ts';

const AT_ONCE = 20;

const dir = tempDir();
let storageUrl: string;
let stripe: StripeStub;
let sink: WebhookSink;
let started: StreamsApi;
let other: RunningApi & { stop(): Promise<void> };
const over = new AbortController();
beforeAll(async () => {
  storageUrl = pathToFileURL(join(dir, 'media')).href;
  stripe = await startStripeStub();
  sink = await startWebhookSink();
  const required = { LOOPSTREAM_DATABASE_URL: 'postgres://none', LOOPSTREAM_AUTH_SECRET: 'none' };
  const { crypto } = apiConfig({ ...required, ...CRYPTO_SETTINGS });
  started = await startStreamsApi({
    config: { storageUrl, billing: true, allowPrivateLinks: true, cards: cardSettings(stripeSettings(stripe)), crypto },
  });
  other = await started.api.replica();
  await passTests(started.api, over.signal);
});
afterAll(async () => {
  over.abort();
  await other?.stop();
  await started?.api.stop();
  await stripe?.stop();
  await sink?.close();
});

const description = JSON.parse(
  readFileSync(join(import.meta.dirname, '../../../docs/openapi.json'), 'utf8'),
) as OpenApi;
const posts = Object.values(description.paths).flatMap(({ post }) =>
  post && isOperation(post.operationId) && takesIdempotencyKey(post.operationId, 'post') ? post : [],
);
const GRAPHQL = ['mutation createDestination', 'mutation skipStreamItem', 'mutation publishPlaylist, and another one'];
const NAMES = [...posts.map(({ operationId }) => operationId), ...GRAPHQL];

/** Sends requests of the account to the server at `url`. */
const at =
  (url: string, { key }: Client): Client['call'] =>
  (method, path, body, headers) =>
    call(`${url}${path}`, method, body, { 'x-api-key': key, ...headers });

/** The headers of a POST's answer that clients use. */
const TOLD = ['content-type', 'location', 'upload-expires', 'upload-offset', 'tus-resumable'];
const serialize = ({ status, headers, body }: Answer<unknown>) =>
  JSON.stringify([status, body, ...TOLD.map((name) => headers.get(name))]);
const succeeded = ({ status, body }: Answer<unknown>) =>
  status < 300 && (body as { errors?: unknown }).errors === undefined;

async function prepare(name: string, owner: Client, streams: Streams, servers: Client['call'][]): Promise<Post> {
  const post = await buildPosts(started.api, owner, streams, sink)[name]?.();
  if (!post) throw new Error(`${name} is not in test/system/api/posts.ts.`);
  for (const to of servers) await until(`${name}: all servers know what it is about`, () => post.isKnown(to));
  return post;
}
const send = ({ path, body, headers }: Post, to: Client['call'], key: string) =>
  to('POST', path, body, { ...headers, 'idempotency-key': key.replaceAll(' ', '-') });

test('every POST takes the key, and is in the list of this test', () => {
  const takes = posts.filter(({ parameters }) => parameters?.some(({ name }) => name === 'Idempotency-Key'));
  expect(takes).toEqual(posts);
  expect(Object.keys(buildPosts(started.api, started.ada, started, sink)).sort()).toEqual([...NAMES].sort());
});

describe('twenty equal requests at once, to two replicas', () => {
  test.each(NAMES)('%s: one effect and one answer, and the same one later', async (name) => {
    const { ada, api } = started;
    const servers = [api.url, other.url].map((url) => at(url, ada));
    const post = await prepare(name, ada, started, servers);
    const before = await post.effects();
    const answers = await Promise.all(
      Array.from({ length: AT_ONCE }, (_, i) => send(post, servers[i % 2] ?? ada.call, `${name} x20`)),
    );
    const [first = answers[0]] = answers;
    expect(first && succeeded(first), JSON.stringify(first?.body)).toBe(true);
    expect(await post.effects()).toBe(before + 1);
    for (const to of servers) answers.push(await send(post, to, `${name} x20`));
    expect([...new Set(answers.map(serialize))]).toHaveLength(1);
    expect(await post.effects()).toBe(before + 1);
  });
});

test('a server is killed between effect and answer: a retry gets the answer, and nothing is done twice', async () => {
  const { api } = started;
  const proxy = await startFaultyProxy(api.kubernetes);
  const KUBECONFIG = await writeKubeconfig(join(dir, 'kubeconfig'), proxy.url);
  const money = { LOOPSTREAM_BILLING: 'true', ...stripeSettings(stripe), ...CRYPTO_SETTINGS };
  const links = { LOOPSTREAM_ALLOW_PRIVATE_LINKS: 'true' };
  const settings = { ...money, ...links, LOOPSTREAM_STORAGE_URL: storageUrl, KUBECONFIG };
  const server = await startApiProcess({ ...api.environment, ...settings });
  onTestFinished(async () => {
    server.signal('SIGKILL');
    await server.ended;
    await proxy.close();
  });
  // Each case has an account of its own, so that its count is its own.
  const all = await Promise.all(
    NAMES.map(async (name, i) => {
      const owner = await api.client(`killed-${i}`);
      const servers = [at(server.url, owner), at(other.url, owner)];
      const post = await prepare(name, owner, await makeStreamHelpers(api, owner), servers);
      return { name, owner, post, before: await post.effects() };
    }),
  );
  proxy.set('write held');
  const unheard = Promise.allSettled(all.map(({ post, owner, name }) => send(post, at(server.url, owner), name)));
  await until('all of it is done', async () => {
    const effects = await Promise.all(all.map(({ post }) => post.effects()));
    return all.every(({ before }, i) => (effects[i] ?? 0) > before);
  });
  server.signal('SIGKILL');
  await server.ended;
  expect((await unheard).map(({ status }) => status)).toEqual(
    all.map(({ post }) => (post.isQuick ? 'fulfilled' : 'rejected')),
  );

  const again = () => Promise.all(all.map(({ post, owner, name }) => send(post, at(other.url, owner), name)));
  const answers = await again();
  for (const [i, { name, post, before }] of all.entries()) {
    const answer = answers[i] as Answer<unknown>;
    expect(succeeded(answer), `${name}: ${JSON.stringify(answer.body)}`).toBe(true);
    expect(await post.effects(), name).toBe(before + 1);
  }
  expect((await again()).map(serialize)).toEqual(answers.map(serialize));
});
