/**
 * Tests the deletion of an account: nobody can sign in from then on, all data goes, and a server that dies in the middle leaves nothing
 * behind.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { SECRETS } from '../../../src/core/kube/core.ts';
import { ACCOUNT_LABEL } from '../../../src/core/resources/common/names.ts';
import { DESTINATIONS } from '../../../src/core/resources/destination/resource.ts';
import { PLAYLISTS } from '../../../src/core/resources/playlist/resource.ts';
import { LOOPSTREAMS } from '../../../src/core/resources/stream/resource.ts';
import { UPLOADS } from '../../../src/core/resources/upload/resource.ts';
import { NAMESPACE } from '../../../tools/local/rights.ts';
import {
  authorize,
  type Person,
  pageHeaders,
  refresh,
  register,
  signIn,
  startTestSite,
  type TestSite,
} from '../../kit/make/oauth.ts';
import { query } from '../../kit/real/postgres.ts';
import { call } from '../../kit/system/api.ts';
import { startApiProcess } from '../../kit/system/api-process.ts';
import { until } from '../../kit/wait.ts';

let site: TestSite;
beforeAll(async () => {
  site = await startTestSite();
});
afterAll(async () => site?.stop());

const at = (url: string, person: Pick<Person, 'cookie'>, method: string, path: string, body?: unknown) =>
  call(`${url}/v1${path}`, method, body, pageHeaders(site.url, person));
const leave = (person: Person, more: object = {}, url = site.url) =>
  at(url, person, 'POST', '/account/deletion', { email: person.email, password: person.password, ...more });

/** Makes one object of each kind. */
async function fill(person: Person): Promise<void> {
  const make = async (path: string, body: object) => {
    const answer = await person.call<{ id: string; objectID: string }>('POST', `/v1${path}`, body);
    expect(answer.status, JSON.stringify(answer.body)).toBe(201);
    return answer.body;
  };
  const upload = await make('/uploads/from-link', { type: 'VIDEO', url: 'https://media.example.com/a.mp4' });
  const items = [{ uploadObjectID: upload.objectID }];
  const playlist = await make('/playlists', { name: 'p', kind: 'video', mode: 'sequential', items });
  const rtmp = { rtmpUrl: 'rtmp://live.example.com/app', rtmpKey: 'se-cr-et' };
  const destination = await make('/destinations', { name: 'd', ...rtmp });
  const profile = { quality: 'q_720p', framerate: 'f_30', destinationID: destination.id };
  await make('/streams', { name: 's', ...profile, playlistIDs: [playlist.id] });
}

async function listLeftovers({ accountId }: Person): Promise<string[]> {
  const kinds = [LOOPSTREAMS, PLAYLISTS, DESTINATIONS, UPLOADS, SECRETS] as const;
  const lists = await Promise.all(
    kinds.map((kind) =>
      site.kube.list(kind as typeof LOOPSTREAMS, {
        namespace: NAMESPACE,
        labelSelector: `${ACCOUNT_LABEL}=${accountId}`,
      }),
    ),
  );
  const rows = await query(
    site.databaseUrl,
    `select 'user' as t from auth."user" where id = '${accountId}'
     union all select 'session' from auth.session where "userId" = '${accountId}'
     union all select 'password' from auth.account where "userId" = '${accountId}'
     union all select 'key' from auth.apikey where "referenceId" = '${accountId}'
     union all select 'consent' from auth."oauthConsent" where "userId" = '${accountId}'
     union all select 'token' from auth."oauthRefreshToken" where "userId" = '${accountId}'
     union all select 'answer' from loopstream.idempotency where account_id = '${accountId}'`,
  );
  return [...lists.flatMap((list, i) => list.map(() => kinds[i]?.kind ?? '')), ...rows.map(({ t }) => String(t))];
}

test('only its owner ends an account, by its address and password', async () => {
  const person = await site.person('keeper');
  for (const more of [{ password: 'not the password' }, { password: undefined }, { email: 'other@example.com' }])
    expect(await leave(person, more)).toMatchObject({ status: 403, body: { code: 'not_confirmed' } });
  expect((await leave(person, { email: '' })).status).toBe(422);
  const headers = { cookie: person.cookie, origin: 'https://evil.example' };
  const foreign = await call(`${site.url}/v1/account/deletion`, 'POST', { ...person }, headers);
  expect(foreign.body).toMatchObject({ code: 'cross_site_request' });
  expect((await person.call('GET', '/v1/me')).status).toBe(200);
});

test('passwords cannot be tried for long', async () => {
  const person = await site.person('guessed');
  const answers: number[] = [];
  for (let i = 0; i < 11; i += 1) answers.push((await leave(person, { password: `guess ${i}` })).status);
  expect(answers.at(-1)).toBe(429);
  expect((await leave(person)).status).toBe(429);
});

test('after the answer nobody can sign in; then all data goes, and the neighbours’ stays', async () => {
  const [person, neighbour] = [await site.person('goer'), await site.person('neighbour')];
  await Promise.all([fill(person), fill(neighbour)]);
  const client = await register(site.url);
  const tokens = await authorize(site.url, person, client, { scope: 'service:read offline_access' });
  const before = await listLeftovers(neighbour);
  expect((await leave(person)).status).toBe(204);
  expect((await person.call('GET', '/v1/me')).status).toBe(401);
  expect((await at(site.url, person, 'GET', '/me')).status).toBe(401);
  expect((await leave(person)).status).toBe(401);
  const bearer = { authorization: `Bearer ${tokens.access_token}` };
  expect((await call(`${site.url}/v1/me`, 'GET', undefined, bearer)).status).toBe(401);
  expect((await refresh(site.url, client, tokens.refresh_token ?? '')).status).toBeGreaterThanOrEqual(400);
  await expect(signIn(site.url, person)).rejects.toThrow();
  await until('nothing is left', async () => (await listLeftovers(person)).length === 0);
  expect(await listLeftovers(neighbour)).toEqual(before);
});

test('a server that dies in the middle leaves it to the next one', async () => {
  const person = await site.person('unlucky');
  await fill(person);
  const [stream] = await site.kube.list(LOOPSTREAMS, {
    namespace: NAMESPACE,
    labelSelector: `${ACCOUNT_LABEL}=${person.accountId}`,
  });
  if (!stream) throw new Error('there is no stream');
  // The finalizer simulates a stream on air that takes time to end: all other steps wait for it.
  const { name } = stream.metadata;
  const hold = (finalizers: string[]) =>
    site.kube.mergePatch(LOOPSTREAMS, NAMESPACE, name, { metadata: { finalizers } });
  await hold(['example.com/on-air']);
  const dying = await startApiProcess({
    ...site.environment,
    LOOPSTREAM_PUBLIC_URL: site.config.publicUrl,
    PATH: process.env.PATH ?? '',
  });
  expect((await leave(person, {}, dying.url)).status).toBe(204);
  await until('the stream is told to end', async () => {
    const { metadata } = await site.kube.get(LOOPSTREAMS, NAMESPACE, name);
    return metadata.deletionTimestamp !== undefined;
  });
  dying.signal('SIGKILL');
  await dying.ended;
  expect(await listLeftovers(person)).toEqual(
    expect.arrayContaining(['LoopStream', 'Playlist', 'Destination', 'Upload']),
  );
  await hold([]);
  const next = await site.replica();
  await until('nothing is left', async () => (await listLeftovers(person)).length === 0);
  await next.stop();
});
