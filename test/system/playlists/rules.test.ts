/** Tests the rules of playlists through each door: what is sent is what is read, kept in versions, and refused where it makes no sense. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { SENTENCES } from '../../../src/core/lib/sentences.ts';
import { PLAYLISTS } from '../../../src/core/resources/playlist/resource.ts';
import { readPublished } from '../../../src/core/resources/playlist/spec.ts';
import { createClient, type Playlist, type PlaylistDiff } from '../../../src/service/client/index.ts';
import { NAMESPACE } from '../../../tools/local/rights.ts';
import { startStreamsApi } from '../../kit/make/streams.ts';
import type { Client, TestApi } from '../../kit/system/api.ts';
import { until } from '../../kit/wait.ts';

let api: TestApi;
let ada: Client;
let upload: string;

beforeAll(async () => {
  ({ api, ada, videoUploadObjectID: upload } = await startStreamsApi());
});
afterAll(() => api?.stop());

const jingle = () => ({ name: 'jingle', when: { eachItems: 5 }, uploadObjectID: upload });
const full = { start: 'Border', lateSeconds: 120, after: 'Resume', count: 1, pick: 'Next' };

async function create(rules?: object[], more: object = {}): Promise<Playlist> {
  const body = {
    kind: 'video',
    mode: 'sequential',
    items: [{ uploadObjectID: upload }],
    ...(rules && { rules }),
    ...more,
  };
  const { status, body: made } = await ada.call<Playlist>('POST', '/v1/playlists', body);
  expect(status, JSON.stringify(made)).toBe(201);
  return made;
}

const find = (id: string) => api.kube.get(PLAYLISTS, NAMESPACE, id);

test('rules are read as they were sent, with their defaults, and streams play them once published', async () => {
  const list = await create();
  expect(list.rules).toEqual([]);
  const news = {
    ...{ name: 'news', when: { at: { cron: '0 * * * *' } }, playlistID: list.id },
    ...{ start: 'Cut', lateSeconds: 0, after: 'Next', count: 2, pick: 'Shuffle' },
  };
  const night = {
    name: 'night',
    when: { window: { cron: '0 22 * * *', timeZone: 'Europe/Berlin', durationSeconds: 60 } },
    playlistID: list.id,
  };
  const made = await create([jingle(), news, night]);
  const expected = [
    { ...jingle(), ...full },
    { ...news, when: { at: { cron: '0 * * * *', timeZone: 'UTC' } } },
    { ...night, ...full },
  ];
  expect(made.rules).toEqual(expected);
  // Its own item, the upload of a rule, and the list of two rules.
  expect(made.publication).toMatchObject({ itemsTotal: 3 });
  const again = await ada.call<Playlist>('PATCH', `/v1/playlists/${made.id}`, { version: 1, rules: made.rules });
  expect(again.body.rules).toEqual(expected);
  const edited = await ada.call<Playlist>('PATCH', `/v1/playlists/${made.id}`, {
    version: again.body.version,
    rules: [jingle()],
  });
  expect(readPublished(await find(made.id))?.rules).toHaveLength(3);
  await ada.call('POST', `/v1/playlists/${made.id}/publish`, { version: edited.body.version });
  expect(readPublished(await find(made.id))?.rules).toMatchObject([
    { name: 'jingle', uploadName: upload, lateSeconds: 120 },
  ]);
});

test('versions, their difference and a rollback have the rules, in GraphQL and for the client, too', async () => {
  const { id } = await create([jingle()]);
  await ada.call('PATCH', `/v1/playlists/${id}`, { version: 1, rules: [] });
  const diff = await ada.call<PlaylistDiff>('GET', `/v1/playlists/${id}/versions/2/diff?from=1`);
  expect(diff.body).toEqual({ from: 1, to: 2, mode: null, notWithin: null, rules: [], changes: [] });
  const query = `query ($id: ID!) { playlistDiff(id: $id, version: 1, from: 2) { rules { name when { eachItems at { cron } } uploadObjectID } } }`;
  expect((await ada.call('POST', '/graphql', { query, variables: { id } })).body).toMatchObject({
    data: { playlistDiff: { rules: [{ name: 'jingle', when: { eachItems: 5, at: null }, uploadObjectID: upload }] } },
  });
  const rolled = await ada.call<Playlist>('POST', `/v1/playlists/${id}/rollback`, { version: 1 });
  expect(rolled.body).toMatchObject({ version: 3, rules: [{ ...jingle(), ...full }] });
  const client = createClient({ baseUrl: `${api.url}/v1`, apiKey: ada.key });
  expect((await client.playlists.get(id)).rules).toEqual(rolled.body.rules);
  const input = { version: 3, rules: [{ ...jingle(), name: 'other', when: { everySeconds: 60 } }] };
  const mutation =
    'mutation ($id: ID!, $input: PlaylistUpdateInput!) { updatePlaylist(id: $id, input: $input) { playlist { rules { name when { everySeconds } start } } } }';
  expect((await ada.call('POST', '/graphql', { query: mutation, variables: { id, input } })).body).toMatchObject({
    data: { updatePlaylist: { playlist: { rules: [{ name: 'other', when: { everySeconds: 60 }, start: 'Border' }] } } },
  });
});

test('artists that shuffle keeps apart are part of a version, through each door', async () => {
  const made = await create(undefined, { mode: 'shuffle', notWithin: { sameArtist: 3 } });
  expect(made.notWithin).toEqual({ sameArtist: 3 });
  expect(readPublished(await find(made.id))).toMatchObject({ notWithin: { sameArtist: 3 } });
  const off = await ada.call<Playlist>('PATCH', `/v1/playlists/${made.id}`, {
    version: 1,
    notWithin: { sameArtist: 0 },
  });
  expect(off.body.notWithin).toEqual({ sameArtist: 0 });
  const diff = await ada.call<PlaylistDiff>('GET', `/v1/playlists/${made.id}/versions/2/diff?from=1`);
  expect(diff.body).toMatchObject({ mode: null, notWithin: { sameArtist: 0 }, rules: null });
  const rolled = await ada.call<Playlist>('POST', `/v1/playlists/${made.id}/rollback`, { version: 1 });
  expect(rolled.body).toMatchObject({ version: 3, notWithin: { sameArtist: 3 } });
  const mutation =
    'mutation ($id: ID!) { updatePlaylist(id: $id, input: { version: 3, notWithin: { sameArtist: 5 } }) { playlist { notWithin { sameArtist } } } }';
  expect((await ada.call('POST', '/graphql', { query: mutation, variables: { id: made.id } })).body).toMatchObject({
    data: { updatePlaylist: { playlist: { notWithin: { sameArtist: 5 } } } },
  });
  const client = createClient({ baseUrl: `${api.url}/v1`, apiKey: ada.key });
  expect(await client.playlists.get(made.id)).toMatchObject({ version: 4, notWithin: { sameArtist: 5 } });
  expect((await create()).notWithin).toEqual({ sameArtist: 0 });
  const wrong = { version: 4, notWithin: { sameArtist: 21 } };
  expect((await ada.call('PATCH', `/v1/playlists/${made.id}`, wrong)).body).toMatchObject({
    errors: [{ path: '/notWithin/sameArtist' }],
  });
});

test('rules that make no sense are refused with their field and a sentence', async () => {
  const list = await create();
  const refuse = async (rules: object[], id?: string) => {
    const body = { kind: 'video', mode: 'sequential', items: [], rules };
    const { status, body: answer } = await (id === undefined
      ? ada.call<{ code: string; errors: { path: string; message: string }[] }>('POST', '/v1/playlists', body)
      : ada.call<{ code: string; errors: { path: string; message: string }[] }>('PATCH', `/v1/playlists/${id}`, {
          version: 1,
          rules,
        }));
    expect({ status, code: answer.code }).toEqual({ status: 422, code: 'validation_failed' });
    return answer.errors;
  };
  const at = (cron: string, timeZone = 'UTC') => ({ ...jingle(), when: { at: { cron, timeZone } } });
  expect(await refuse([at('0 0 30 2 *')])).toEqual([
    { path: '/rules/0/when/at/cron', message: expect.stringMatching(/never/) },
  ]);
  expect(await refuse([at('0 0 * * *', 'Mars/Olympus')])).toMatchObject([{ path: '/rules/0/when/at/timeZone' }]);
  expect(await refuse([jingle(), jingle()])).toEqual([{ path: '/rules/1/name', message: SENTENCES.twice }]);
  expect(await refuse([{ ...jingle(), playlistID: list.id }])).toEqual([
    { path: '/rules/0', message: SENTENCES.oneRuleSource },
  ]);
  expect(await refuse([{ ...jingle(), uploadObjectID: 'gone' }])).toMatchObject([{ path: '/rules/0/uploadObjectID' }]);
  const of = (playlistID: string) => ({ name: 'r', when: { eachItems: 5 }, playlistID });
  expect(await refuse([of('gone')])).toMatchObject([{ path: '/rules/0/playlistID' }]);
  const songs = await create(undefined, { kind: 'audio', items: [] });
  expect(await refuse([of(songs.id)])).toMatchObject([
    { path: '/rules/0/playlistID', message: expect.stringMatching(/audio/) },
  ]);
  const other = await create([of(list.id)]);
  await until('it is known', async () => (await ada.call<Playlist>('GET', `/v1/playlists/${other.id}`)).status === 200);
  const circle = [{ path: '/rules/0/playlistID', message: 'names a playlist whose rules lead back here' }];
  expect(await refuse([of(other.id)], list.id)).toEqual(circle);
  expect(await refuse([of(list.id)], list.id)).toEqual(circle);
});

test('a playlist and an upload that a rule names are not deleted before the rule is', async () => {
  const named = await create();
  const naming = await create([
    { name: 'news', when: { eachItems: 2 }, playlistID: named.id },
    { name: 'jingle', when: { eachItems: 5 }, uploadObjectID: upload },
  ]);
  const refused = () => ada.call('DELETE', `/v1/playlists/${named.id}`);
  const held = { code: 'playlist_in_use', streamIDs: [], playlistIDs: [naming.id] };
  expect(await refused()).toMatchObject({ status: 409, body: held });
  expect((await ada.call('DELETE', `/v1/uploads/${upload}`)).body.playlistIDs).toContain(naming.id);
  const { body } = await ada.call<Playlist>('PATCH', `/v1/playlists/${naming.id}`, { version: 1, rules: [] });
  expect(body.rules).toEqual([]);
  // The published version has the rule until then.
  expect((await refused()).status).toBe(409);
  await ada.call('POST', `/v1/playlists/${naming.id}/publish`, { version: 2 });
  await expect.poll(async () => (await refused()).status).toBe(204);
});
