/** The contract, sentence by sentence, over HTTP alone; each test is named after the section that says it. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Answer, call } from '../support/api.ts';
import { openTarget, type Target } from '../support/contract.ts';

// biome-ignore lint/suspicious/noExplicitAny: bodies are what the other side says they are.
type Body = any;

let target: Target;
let destinationID: string;
let videoUploadObjectID: string;
let playlistID: string;
let streamID: string;

const ask = (
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = { 'x-api-key': target.key },
) => call<Body>(`${target.base}${path}`, method, body, headers) as Promise<Answer<Body>>;
const made = async (path: string, body: unknown): Promise<Body> => {
  const answer = await ask('POST', path, body);
  expect(answer.status, JSON.stringify(answer.body)).toBe(201);
  return answer.body;
};
const wish = (more: object = {}) => ({
  ...{ name: 'Loop', quality: 'q_720p', framerate: 'f_30', destinationID, videoUploadObjectID },
  ...more,
});
const inMinutes = (n: number) => new Date(Date.now() + n * 60_000).toISOString();
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/;

beforeAll(async () => {
  target = await openTarget();
  const rtmp = { name: 'Home', rtmpUrl: 'rtmp://127.0.0.1/live', rtmpKey: 'a-key-of-a-test' };
  destinationID = (await made('/destinations', rtmp)).id;
  const link = { type: 'VIDEO', url: 'https://example.com/a.mp4' };
  videoUploadObjectID = (await made('/uploads/from-link', link)).objectID;
  const items = [{ uploadObjectID: videoUploadObjectID }];
  playlistID = (await made('/playlists', { kind: 'video', mode: 'sequential', items })).id;
  streamID = (await made('/streams', wish())).id;
});

afterAll(() => target?.stop());

const expectProblem = ({ status, headers, body }: Answer<Body>, expected: number, code?: string) => {
  expect(status).toBe(expected);
  expect(headers.get('content-type')).toMatch(/^application\/problem\+json/);
  expect(body).toMatchObject({
    status,
    detail: expect.any(String),
    title: expect.any(String),
    type: expect.any(String),
  });
  expect(body.code).toMatch(/^[a-z_]+$/);
  if (code) expect(body.code).toBe(code);
};

describe('Resources and their fields', () => {
  test('General conventions: identifiers are strings, timestamps are ISO 8601', async () => {
    const { body } = await ask('GET', `/streams/${streamID}`);
    expect(body.id).toBe(streamID);
    expect(body.createdAt).toMatch(TIME);
  });

  test('Playlist summary: id, createdAt, kind, mode, streamID, version', async () => {
    const { body } = await ask('GET', '/playlists?limit=100');
    expect(body.data.find(({ id }: Body) => id === playlistID)).toMatchObject({
      ...{ kind: 'video', mode: 'sequential', version: 1 },
      ...{ createdAt: expect.stringMatching(TIME), streamID: expect.any(String) },
    });
  });

  test('List envelope: every list is data and page; page is hasMore and nextCursor', async () => {
    for (const list of ['streams', 'destinations', 'uploads', 'playlists']) {
      const { status, body } = await ask('GET', `/${list}`);
      expect({ list, status, isList: Array.isArray(body.data) }).toEqual({ list, status: 200, isList: true });
      expect(body.page).toEqual({
        hasMore: expect.any(Boolean),
        nextCursor: body.page.hasMore ? expect.any(String) : null,
      });
    }
  });

  test('Problem: type, title, status, detail and code, as application/problem+json', async () =>
    expectProblem(await ask('GET', '/streams/none'), 404));

  test('Stream: every quality and frame rate of the contract can be asked for', async () => {
    for (const quality of ['q_720p', 'q_1080p', 'q_1440p', 'q_2160p'])
      expect((await made('/streams', wish({ quality }))).quality).toBe(quality);
    for (const framerate of ['f_24', 'f_25', 'f_30', 'f_60'])
      expect((await made('/streams', wish({ framerate }))).framerate).toBe(framerate);
  });

  test('Stream: playlistIDs is an alternative to videoUploadObjectID', async () => {
    const listed = wish({ videoUploadObjectID: undefined, playlistIDs: [playlistID] });
    expect(await made('/streams', listed)).toMatchObject({ playlistIDs: [playlistID] });
    expectProblem(await ask('POST', '/streams', wish({ playlistIDs: [playlistID] })), 422);
    expectProblem(await ask('POST', '/streams', wish({ videoUploadObjectID: undefined })), 422);
  });

  test('Destination: rtmpKey is a secret and is not told again', async () => {
    const { body } = await ask('GET', `/destinations/${destinationID}`);
    expect(body.id).toBe(destinationID);
    expect(JSON.stringify(body)).not.toContain('a-key-of-a-test');
  });

  test('Upload: type VIDEO or AUDIO and a url; objectID comes back', async () => {
    const upload = await made('/uploads/from-link', { type: 'AUDIO', url: 'https://example.com/a.mp3' });
    expect(upload).toMatchObject({ objectID: expect.any(String), type: 'AUDIO' });
    expectProblem(await ask('POST', '/uploads/from-link', { type: 'TEXT', url: 'https://example.com/a.txt' }), 422);
  });

  test('User: id, email, firstName', async () => {
    const { status, body } = await ask('GET', '/me');
    expect(status).toBe(200);
    expect(body).toMatchObject({ id: expect.any(String), email: expect.any(String), firstName: expect.any(String) });
  });

  test('Readiness: issues is empty when ready is true', async () => {
    const { status, body } = await ask('GET', `/streams/${streamID}/readiness`);
    expect(status).toBe(200);
    expect(Array.isArray(body.issues)).toBe(true);
    expect(body.ready).toBe(body.issues.length === 0);
  });
});

describe('States and transitions', () => {
  test('start: a stream that is ready becomes live; stop: it is no longer', async () => {
    await expect.poll(async () => (await ask('GET', `/streams/${streamID}/readiness`)).body.ready).toBe(true);
    expect((await ask('POST', `/streams/${streamID}/start`)).status).toBeLessThan(300);
    const status = async () => (await ask('GET', `/streams/${streamID}`)).body.status;
    await expect.poll(status, { timeout: 60_000 }).toBe('live');
    expect((await ask('GET', `/streams/${streamID}/live-stats`)).status).toBe(200);
    expect((await ask('POST', `/streams/${streamID}/stop`)).status).toBeLessThan(300);
    await expect.poll(status, { timeout: 60_000 }).not.toMatch(/^(live|starting|stopping|reconnecting)$/);
  });

  test('schedule: on create, and by the operation', async () => {
    const schedule = { scheduleStartAt: inMinutes(60), scheduleEndAt: inMinutes(120) };
    const same = (body: Body) => [Date.parse(body.scheduleStartAt), Date.parse(body.scheduleEndAt)];
    const wanted = [Date.parse(schedule.scheduleStartAt), Date.parse(schedule.scheduleEndAt)];
    expect(same(await made('/streams', wish(schedule)))).toEqual(wanted);
    const { id } = await made('/streams', wish());
    const { status, body } = await ask('POST', `/streams/${id}/schedule`, schedule);
    expect({ status, times: same(body) }).toEqual({ status: 200, times: wanted });
  });
});

describe('GET /playlists', () => {
  test('limit is 20 by default and 1 to 100', async () => {
    for (const limit of ['0', '101', '-1', 'x', '1.5'])
      expectProblem(await ask('GET', `/playlists?limit=${limit}`), 422);
    for (const limit of ['1', '100']) expect((await ask('GET', `/playlists?limit=${limit}`)).status).toBe(200);
    for (let i = 0; i < 21; i++) await made('/playlists', { kind: 'audio', mode: 'shuffle', items: [] });
    expect((await ask('GET', '/playlists')).body.data).toHaveLength(20);
  });

  test('cursor is page.nextCursor of an earlier page, and leads through all of them once', async () => {
    const all = (await ask('GET', '/playlists?limit=100')).body.data.map(({ id }: Body) => id);
    const seen: string[] = [];
    let cursor: string | null = '';
    while (cursor !== null) {
      const { body }: Answer<Body> = await ask('GET', `/playlists?limit=7${cursor && `&cursor=${cursor}`}`);
      seen.push(...body.data.map(({ id }: Body) => id));
      cursor = body.page.nextCursor;
      expect(body.page.hasMore).toBe(cursor !== null);
    }
    expect(seen).toEqual(all);
    expectProblem(await ask('GET', '/playlists?cursor=nonsense'), 422);
  });

  test('carries RateLimit-Limit, RateLimit-Remaining and RateLimit-Reset as integers', async () => {
    const { headers } = await ask('GET', '/playlists');
    for (const name of ['limit', 'remaining', 'reset']) expect(headers.get(`ratelimit-${name}`)).toMatch(/^\d+$/);
  });
});

describe('Authentication', () => {
  test('API key: in X-API-Key, whose case is of no matter; it begins with a prefix and an underscore', async () => {
    expect(target.key).toMatch(/^[A-Za-z0-9]+_/);
    for (const name of ['X-API-Key', 'x-api-key', 'X-Api-KEY'])
      expect((await ask('GET', '/me', undefined, { [name]: target.key })).status).toBe(200);
  });

  test('a missing or wrong key or token is 401', async () => {
    const wrong = [{}, { 'x-api-key': `${target.key}x` }, { authorization: 'Bearer a.b.c' }] as Record<
      string,
      string
    >[];
    for (const headers of wrong) {
      for (const path of ['/me', '/streams', '/playlists', `/streams/${streamID}`])
        expectProblem(await ask('GET', path, undefined, headers), 401);
      expectProblem(await ask('POST', '/streams', wish(), headers), 401);
    }
  });

  test('GET /status and GET /openapi.json need none', async () => {
    for (const path of ['/status', '/openapi.json']) expect((await ask('GET', path, undefined, {})).status).toBe(200);
  });
});

describe('Errors, limits and versioning', () => {
  test('stream_not_found: 404, "Stream not found"', async () => {
    for (const path of ['', '/readiness', '/live-stats']) {
      const answer = await ask('GET', `/streams/none${path}`);
      expectProblem(answer, 404, 'stream_not_found');
      expect(answer.body.title).toBe('Stream not found');
    }
    expectProblem(await ask('POST', '/streams/none/start'), 404, 'stream_not_found');
  });

  test('every response of REST carries the rate limit, those of errors too', async () => {
    for (const path of ['/status', '/me', '/streams/none', '/nothing'])
      expect((await ask('GET', path)).headers.get('ratelimit-remaining'), path).toMatch(/^\d+$/);
  });

  test('the base path ends in v1; the description is of version 1.0.0 and declares the list of playlists', async () => {
    expect(target.base).toMatch(/\/v1$/);
    const { body } = await ask('GET', '/openapi.json', undefined, {});
    expect(body.info.version).toBe('1.0.0');
    const list = (body.paths['/v1/playlists'] ?? body.paths['/playlists']).get;
    expect(Object.keys(list.responses)).toEqual(
      expect.arrayContaining(['200', '401', '403', '404', '422', '429', '502']),
    );
    const kinds = list.security.map((way: object) =>
      Object.keys(way).map((name) => body.components.securitySchemes[name].type),
    );
    expect(kinds.flat().sort()).toEqual(['apiKey', 'http', 'oauth2']);
    expect(JSON.stringify(list.security)).toMatch(/:read"/);
  });
});
