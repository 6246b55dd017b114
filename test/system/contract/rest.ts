/** Registers the contract, sentence by sentence, over HTTP alone; a test has the name of its section. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Place } from '../../kit/system/contract.ts';
import { aired } from './air.ts';
import { type Body, expectProblem, openScene, type Scene, TIME } from './scene.ts';

/** Every list with its rows; more than a page where rows are cheap. */
const buildLists = ({ playlistID, streamIDs }: Scene) => [
  ...['/streams', '/destinations', '/uploads', '/playlists'],
  ...[`/playlists/${playlistID}/versions`, `/streams/${streamIDs[0]}/events`],
];

export function restSuite(place: Place): void {
  let scene: Scene;
  beforeAll(async () => {
    scene = await openScene(place);
  });
  afterAll(() => scene?.target.stop());
  const here = () => scene;

  describe('Resources and their fields', () => {
    fields(here);
    streamFields(here);
  });
  describe('Endpoints', () => pages(here));
  describe('Authentication', () => authentication(here));
  describe('Errors and versioning', () => errors(here));
  describe.concurrent('States, transitions and limits', () => aired(here, place.onAir));
}

function fields(scene: () => Scene): void {
  test('General conventions: bodies are JSON, identifiers strings, timestamps ISO 8601', async () => {
    const [id] = scene().streamIDs;
    const { headers, body } = await scene().ask('GET', `/streams/${id}`);
    expect(headers.get('content-type')).toMatch(/^application\/json/);
    expect(body.id).toBe(id);
    expect(body.createdAt).toMatch(TIME);
  });

  test('Playlist summary: id, createdAt, kind, mode, version, and the stream that it belongs to', async () => {
    const { made, wish, ask } = scene();
    const findSummary = async (wanted: string) =>
      (await ask('GET', '/playlists?limit=100')).body.data.find(({ id }: Body) => id === wanted);
    for (const [kind, mode] of [
      ['video', 'sequential'],
      ['audio', 'shuffle'],
    ]) {
      const { id } = await made('/playlists', { kind, mode, items: [] });
      expect(await findSummary(id)).toMatchObject({
        id,
        kind,
        mode,
        createdAt: expect.stringMatching(TIME),
        streamID: expect.any(String),
        version: expect.any(Number),
      });
      const playlists = kind === 'video' ? { videoUploadObjectID: undefined, playlistIDs: [id] } : {};
      const audio = kind === 'audio' ? { audioPlaylistIDs: [id] } : {};
      const stream = await made('/streams', wish({ ...playlists, ...audio }));
      expect((await findSummary(id)).streamID).toBe(stream.id);
    }
  });

  test('Playlist summary: version rises by 1 with each committed batch, and with no other', async () => {
    const { made, ask, videoUploadObjectID } = scene();
    const { id, version } = await made('/playlists', { kind: 'video', mode: 'sequential', items: [] });
    const insert = { op: 'insert', index: 0, items: [{ uploadObjectID: videoUploadObjectID }] };
    const change = (seen: number, changes: object[]) =>
      ask('POST', `/playlists/${id}/changes`, { version: seen, changes });
    const versionNow = async () => (await ask('GET', `/playlists/${id}`)).body.version;
    expect((await change(version, [insert, insert, insert])).body.version).toBe(version + 1);
    expectProblem(await change(version, [insert]), 409);
    expectProblem(await change(version + 1, [insert, { op: 'remove', index: 99 }]), 422);
    expect(await versionNow()).toBe(version + 1);
    expect((await change(version + 1, [insert])).body.version).toBe(version + 2);
    expect(await versionNow()).toBe(version + 2);
  });

  test('List envelope and Page: every list is data and page, page is hasMore and nextCursor', async () => {
    for (const list of buildLists(scene())) {
      const { status, body } = await scene().ask('GET', list);
      expect({ list, status, isList: Array.isArray(body.data) }).toEqual({ list, status: 200, isList: true });
      const { hasMore } = body.page;
      expect(hasMore).toEqual(expect.any(Boolean));
      expect(body.page).toEqual({ hasMore, nextCursor: hasMore ? expect.any(String) : null });
    }
  });

  test('Problem: type, title, status, detail and code, as application/problem+json', async () =>
    expectProblem(await scene().ask('GET', '/streams/none'), 404));

  test('Destination: name, rtmpUrl and rtmpKey, which is a secret and never returned', async () => {
    const { made, ask } = scene();
    const wanted = { name: 'Second', rtmpUrl: 'rtmp://live.example.com/app', rtmpKey: 'never-to-be-told' };
    const { id } = await made('/destinations', wanted);
    const { body } = await ask('GET', `/destinations/${id}`);
    expect(body).toMatchObject({ id, name: 'Second', rtmpUrl: wanted.rtmpUrl });
    expect(JSON.stringify(body)).not.toContain(wanted.rtmpKey);
    for (const field of Object.keys(wanted))
      expectProblem(await ask('POST', '/destinations', { ...wanted, [field]: undefined }), 422);
  });

  test('Upload: type VIDEO or AUDIO and a url; objectID comes back', async () => {
    const { made, ask, target } = scene();
    for (const [type, url] of [
      ['VIDEO', target.neverVideo],
      ['AUDIO', target.audio],
    ])
      expect(await made('/uploads/from-link', { type, url })).toMatchObject({ objectID: expect.any(String), type });
    expectProblem(await ask('POST', '/uploads/from-link', { type: 'TEXT', url: target.video }), 422);
    expectProblem(await ask('POST', '/uploads/from-link', { type: 'VIDEO' }), 422);
    expectProblem(await ask('POST', '/uploads/from-link', { type: 'VIDEO', url: 'ftp://example.com/a' }), 422);
  });

  test('User: id, email, firstName', async () => {
    const { status, body } = await scene().ask('GET', '/me');
    expect(status).toBe(200);
    expect(body).toMatchObject({ id: expect.any(String), email: expect.any(String), firstName: expect.any(String) });
  });

  test('Readiness: ready, and issues, which is empty when ready is true', async () => {
    const { status, body } = await scene().ask('GET', `/streams/${scene().streamIDs[0]}/readiness`);
    expect(status).toBe(200);
    expect(body).toMatchObject({ ready: expect.any(Boolean), issues: expect.any(Array) });
    expect(body.ready).toBe(body.issues.length === 0);
  });
}

function streamFields(scene: () => Scene): void {
  test('Stream: every quality and frame rate of the contract can be asked for, and no other', async () => {
    const { made, wish, ask } = scene();
    for (const quality of ['q_720p', 'q_1080p', 'q_1440p', 'q_2160p'])
      expect((await made('/streams', wish({ quality }))).quality).toBe(quality);
    for (const framerate of ['f_24', 'f_25', 'f_30', 'f_60'])
      expect((await made('/streams', wish({ framerate }))).framerate).toBe(framerate);
    for (const wrong of [{ quality: 'q_480p' }, { framerate: 'f_50' }])
      expectProblem(await ask('POST', '/streams', wish(wrong)), 422);
  });

  test('Stream: id, name, status, destinationID and the sources are returned; without a schedule it has none', async () => {
    const { made, ask, wish, destinationID } = scene();
    const { id } = await made('/streams', wish({ name: 'Night loop' }));
    const { body } = await ask('GET', `/streams/${id}`);
    expect(body).toMatchObject({ ...wish({ name: 'Night loop' }), id, destinationID, status: expect.any(String) });
    expect(body).toMatchObject({ scheduleStartAt: null, scheduleEndAt: null });
  });

  test('Stream: name, quality, framerate and destinationID have to be given', async () => {
    const { ask, wish } = scene();
    for (const field of ['name', 'quality', 'framerate', 'destinationID'])
      expectProblem(await ask('POST', '/streams', wish({ [field]: undefined })), 422);
    expectProblem(await ask('POST', '/streams', wish({ destinationID: 'none' })), 422);
  });

  test('Stream: playlistIDs is an alternative to videoUploadObjectID', async () => {
    const { made, ask, wish, playlistID } = scene();
    const listed = wish({ videoUploadObjectID: undefined, playlistIDs: [playlistID] });
    expect(await made('/streams', listed)).toMatchObject({ playlistIDs: [playlistID] });
    expectProblem(await ask('POST', '/streams', wish({ playlistIDs: [playlistID] })), 422);
    expectProblem(await ask('POST', '/streams', wish({ videoUploadObjectID: undefined })), 422);
  });
}

function pages(scene: () => Scene): void {
  test('GET /status and GET /openapi.json need no authentication', async () => {
    for (const path of ['/status', '/openapi.json']) {
      const { status, headers, body } = await scene().ask('GET', path, undefined, {});
      expect({ path, status }).toEqual({ path, status: 200 });
      expect(headers.get('content-type')).toMatch(/^application\/json/);
      expect(body).toEqual(expect.any(Object));
    }
  });

  test('GET /playlists: limit is 20 by default; and so it is of every list', async () => {
    const { made, ask } = scene();
    for (let i = 0; i < 21; i++) {
      await made('/playlists', { kind: 'audio', mode: 'shuffle', items: [] });
      await made('/destinations', { name: `d ${i}`, rtmpUrl: 'rtmp://live.example.com/a', rtmpKey: 'abc' });
    }
    for (const list of ['/playlists', '/destinations']) expect((await ask('GET', list)).body.data).toHaveLength(20);
  });

  test('Pagination rules: limit is a whole number from 1 to 100, in every list', async () => {
    const { ask } = scene();
    for (const list of buildLists(scene())) {
      for (const limit of ['0', '101', '-1', 'x', '1.5', ''])
        expectProblem(await ask('GET', `${list}?limit=${limit}`), 422);
      for (const limit of [1, 100]) {
        const { status, body } = await ask('GET', `${list}?limit=${limit}`);
        expect({ list, status }).toEqual({ list, status: 200 });
        expect(body.data.length).toBeLessThanOrEqual(limit);
      }
    }
  });

  test('Pagination rules: cursor is page.nextCursor of an earlier page, and leads through a whole list once', async () => {
    const { ask, playlistID, videoUploadObjectID } = scene();
    const items = [{ uploadObjectID: videoUploadObjectID }];
    for (const version of [1, 2]) await ask('PATCH', `/playlists/${playlistID}`, { version, items });
    for (const list of buildLists(scene())) {
      const whole = (await ask('GET', `${list}?limit=100`)).body.data;
      const seen: unknown[] = [];
      const limit = Math.ceil(whole.length / 3) || 1;
      for (let cursor: string | null = ''; cursor !== null; ) {
        const { body } = await ask('GET', `${list}?limit=${limit}${cursor && `&cursor=${encodeURIComponent(cursor)}`}`);
        seen.push(...body.data);
        cursor = body.page.nextCursor;
        expect(body.page.hasMore).toBe(cursor !== null);
        if (cursor !== null) expect(body.data).toHaveLength(limit);
      }
      const named = (entries: Body[]) => entries.map(({ objectID, id, version }) => objectID ?? id ?? version);
      expect(named(seen), list).toEqual(named(whole));
      expectProblem(await ask('GET', `${list}?cursor=nonsense`), 422);
    }
  });
}

function authentication(scene: () => Scene): void {
  test('API key: in X-API-Key, in any case; it begins with a prefix and an underscore', async () => {
    const { key } = scene().target;
    expect(key).toMatch(/^[A-Za-z0-9]+_/);
    for (const name of ['X-API-Key', 'x-api-key', 'X-Api-KEY'])
      expect((await scene().ask('GET', '/me', undefined, { [name]: key })).status).toBe(200);
  });

  test('API key: it acts as its owning user, and sees nothing of another one’s', async () => {
    const { target, ask, streamIDs, playlistID, destinationID, videoUploadObjectID } = scene();
    const other = { 'x-api-key': target.otherKey };
    expect((await ask('GET', '/me', undefined, other)).body.id).not.toBe((await ask('GET', '/me')).body.id);
    for (const path of [`streams/${streamIDs[0]}`, `playlists/${playlistID}`, `destinations/${destinationID}`].concat(
      `uploads/${videoUploadObjectID}`,
    )) {
      expect((await ask('GET', `/${path}`)).status).toBe(200);
      expectProblem(await ask('GET', `/${path}`, undefined, other), 404);
      expectProblem(await ask('DELETE', `/${path}`, undefined, other), 404);
    }
    expectProblem(await ask('POST', `/streams/${streamIDs[0]}/start`, undefined, other), 404, 'stream_not_found');
    for (const list of ['streams', 'playlists', 'destinations', 'uploads'])
      expect((await ask('GET', `/${list}`, undefined, other)).body.data).toEqual([]);
  });

  test('a missing, wrong or revoked key gives 401, and so does a wrong token', async () => {
    const { target, ask, streamIDs, wish } = scene();
    const keys = [`${target.key}x`, target.key.slice(0, -1), target.revokedKey, ''];
    const wrong: Record<string, string>[] = keys.map((key) => ({ 'x-api-key': key }));
    for (const headers of [...wrong, {}, { authorization: 'Bearer a.b.c' }]) {
      for (const path of ['/me', '/streams', '/playlists', `/streams/${streamIDs[0]}`])
        expectProblem(await ask('GET', path, undefined, headers), 401);
      expectProblem(await ask('POST', '/streams', wish(), headers), 401);
    }
  });
}

function errors(scene: () => Scene): void {
  test('stream_not_found: 404, "Stream not found"', async () => {
    const paths = ['GET ', 'GET /readiness', 'GET /live-stats', 'POST /start', 'POST /stop'];
    for (const [method = '', path] of paths.map((one) => one.split(' '))) {
      const answer = await scene().ask(method, `/streams/none${path}`);
      expectProblem(answer, 404, 'stream_not_found');
      expect(answer.body.title).toBe('Stream not found');
    }
  });

  test('Errors return the matching status and a Problem, for any mistake', async () => {
    const { ask, made, wish } = scene();
    const { id } = await made('/destinations', { name: 'd', rtmpUrl: 'rtmp://live.example.com/a', rtmpKey: 'abc' });
    await made('/streams', wish({ destinationID: id }));
    expectProblem(await ask('GET', '/nothing'), 404);
    expectProblem(await ask('PUT', '/streams', {}), 405);
    expectProblem(await ask('DELETE', `/destinations/${id}`), 409);
    expectProblem(await ask('POST', '/streams', '{'), 400);
    const xml = { 'x-api-key': scene().target.key, 'content-type': 'application/xml' };
    expectProblem(await ask('POST', '/streams', '<a/>', xml), 415);
    expectProblem(await ask('POST', '/streams', []), 422);
  });

  test('Versioning: the base path ends in v1; the description is of version 1.0.0', async () => {
    expect(scene().target.base).toMatch(/\/v1$/);
    const { body } = await scene().ask('GET', '/openapi.json', undefined, {});
    expect(body.info.version).toBe('1.0.0');
  });

  test('GET /playlists is declared with its statuses, its headers and its three ways to be allowed', async () => {
    const { body } = await scene().ask('GET', '/openapi.json', undefined, {});
    const list = (body.paths['/v1/playlists'] ?? body.paths['/playlists']).get;
    const statuses = ['200', '401', '403', '404', '422', '429', '502'];
    expect(Object.keys(list.responses)).toEqual(expect.arrayContaining(statuses));
    const headers = Object.keys(list.responses['200'].headers).map((name) => name.toLowerCase());
    expect(headers).toEqual(
      expect.arrayContaining(['ratelimit-limit', 'ratelimit-remaining', 'ratelimit-reset'] as const),
    );
    const kinds = list.security.map((way: object) =>
      Object.keys(way).map((name) => body.components.securitySchemes[name].type),
    );
    expect(kinds.flat().sort()).toEqual(['apiKey', 'http', 'oauth2']);
    expect(JSON.stringify(list.security)).toMatch(/:read"/);
  });
}
