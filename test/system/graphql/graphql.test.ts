import { serverAudits } from 'graphql-http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { SECRETS } from '../../../src/core/kube/core.ts';
import { DESTINATIONS } from '../../../src/core/resources/destination/resource.ts';
import { NAMESPACE } from '../../../tools/local/rights.ts';
import { createQuery, type Result } from '../../kit/make/graphql.ts';
import { type Client, call, startTestApi, type TestApi } from '../../kit/system/api.ts';

const KEY = 'k3y-that-nobody-may-see-4711';
const target = { name: 'Home', rtmpUrl: 'rtmp://a.example.com/live', rtmpKey: KEY };

let api: TestApi;
let ada: Client;
let ask: ReturnType<typeof createQuery>;

beforeAll(async () => {
  api = await startTestApi();
  ada = await api.client('ada');
  ask = createQuery(ada);
});
afterAll(() => api?.stop());

/** Returns the mutation's result under its own name; fails when it failed. */
async function mutate<T = Record<string, never>>(mutation: string, variables?: Record<string, unknown>): Promise<T> {
  const { data, errors } = await ask(mutation, variables);
  expect(errors).toBeUndefined();
  return Object.values(data ?? {})[0] as T;
}

const CREATE = {
  destination:
    'mutation($input: DestinationCreateInput!) { it: createDestination(input: $input) { destination { id } } }',
  upload: 'mutation($input: UploadFromLinkInput!) { it: createUploadFromLink(input: $input) { upload { id } } }',
  playlist: 'mutation($input: PlaylistCreateInput!) { it: createPlaylist(input: $input) { playlist { id } } }',
  stream: 'mutation($input: StreamCreateInput!) { it: createStream(input: $input) { stream { id } } }',
};

async function make(noun: keyof typeof CREATE, input: Record<string, unknown>): Promise<string> {
  const made = await mutate<Record<string, { id: string }>>(CREATE[noun], { input });
  return made[noun]?.id ?? '';
}
const makeDestination = () => make('destination', target);
const makeUpload = () => make('upload', { type: 'VIDEO', url: 'https://example.com/clip.mp4' });
async function makeStream(name = 'S') {
  const [destinationID, videoUploadObjectID] = [await makeDestination(), await makeUpload()];
  return make('stream', { name, quality: 'q_720p', framerate: 'f_30', destinationID, videoUploadObjectID });
}

describe('GraphQL over HTTP', () => {
  test('every audit of graphql-http passes: MUST, SHOULD and MAY', async () => {
    const fetchFn = (url: string, init: RequestInit = {}) =>
      fetch(url, { ...init, headers: { ...(init.headers as Record<string, string>), 'x-api-key': ada.key } });
    const failed: string[] = [];
    const audits = serverAudits({ url: `${api.url}/graphql`, fetchFn });
    for (const audit of audits) {
      const result = await audit.fn();
      if (result.status !== 'ok') failed.push(`${audit.id} ${audit.name}: ${result.reason}`);
    }
    expect(failed).toEqual([]);
    for (const level of ['MUST', 'SHOULD', 'MAY'])
      expect(audits.filter(({ name }) => name.startsWith(level)).length, level).toBeGreaterThan(5);
  });

  test('a query may be asked by GET, which needs a key too and is never kept by anyone', async () => {
    const url = `/graphql?query=${encodeURIComponent('query($n: Int) { streams(first: $n) { totalCount } }')}`;
    const { status, body, headers } = await ada.call('GET', `${url}&variables=${encodeURIComponent('{"n":1}')}`);
    expect({ status, body }).toMatchObject({ status: 200, body: { data: { streams: {} } } });
    expect(headers.get('cache-control')).toBe('no-store');
    expect((await call(`${api.url}${url}`, 'GET')).status).toBe(401);
  });

  test('variables that are nested deep, a query that is too long and a body that is too large', async () => {
    const query = 'query($where: StreamWhereInput) { streams(where: $where) { totalCount } }';
    const deep = (levels: number) => `${'{"not":'.repeat(levels)}{}${'}'.repeat(levels)}`;
    const send = (body: string) => ada.call<Result>('POST', '/graphql', body);
    const withWhere = (where: string) => send(`{"query":${JSON.stringify(query)},"variables":{"where":${where}}}`);
    expect((await withWhere(deep(14))).body.data).toMatchObject({ streams: {} });
    expect((await withWhere(deep(15))).body.errors).toMatchObject([{ extensions: { code: 'validation_failed' } }]);
    // The server never walks through a body that is deeper than any that the API accepts.
    expect(await withWhere(deep(50_000))).toMatchObject({ status: 422, body: { code: 'validation_failed' } });
    const long = await ask(`{ me { ${'id '.repeat(2_000)} } }`);
    expect(long.errors?.[0]?.message).toMatch(/tokens/);
    const large = await send(`{"query":"{ me { id } }","variables":{"x":"${'x'.repeat(1024 * 1024)}"}}`);
    expect(large).toMatchObject({ status: 413, body: { code: 'payload_too_large' } });
  });
});

describe('mutations', () => {
  test('match REST: each reads the other’s writes', async () => {
    const id = await makeStream('Morning');
    const rest = async () => (await ada.call(`GET`, `/v1/streams/${id}`)).body;
    expect(await rest()).toMatchObject({ id, name: 'Morning', quality: 'q_720p', framerate: 'f_30', status: 'idle' });
    const audio = await make('playlist', {
      kind: 'audio',
      mode: 'shuffle',
      items: [{ uploadObjectID: await makeUpload() }],
    });
    const input = { name: 'Evening', quality: 'q_1080p', audioPlaylistIDs: [audio], destinationIDs: null };
    const update = `mutation($id: ID!, $input: StreamUpdateInput!) { updateStream(id: $id, input: $input) {
      stream { name quality framerate audioPlaylistIDs } } }`;
    expect(await mutate(update, { id, input })).toEqual({
      stream: { name: 'Evening', quality: 'q_1080p', framerate: 'f_30', audioPlaylistIDs: [audio] },
    });
    // Variables may say a choice in REST's other spellings.
    for (const [quality, framerate] of [
      [1080, 30],
      ['1080p', '30'],
      ['Q_1080P', 'F_30'],
    ])
      expect(await mutate(update, { id, input: { quality, framerate } })).toMatchObject({
        stream: { quality: 'q_1080p', framerate: 'f_30' },
      });
    // A number that is null is left out; a loudness that is null is none.
    const loudness = { targetLufs: -16, maxTruePeakDb: -1, maxBoostDb: 6 };
    const louden = `mutation($id: ID!, $input: StreamUpdateInput!) { updateStream(id: $id, input: $input) {
      stream { loudness { targetLufs maxTruePeakDb maxBoostDb } } } }`;
    expect(await mutate(louden, { id, input: { loudness: { targetLufs: -16, maxBoostDb: null } } })).toEqual({
      stream: { loudness },
    });
    expect((await rest()).loudness).toEqual(loudness);
    expect(await mutate(louden, { id, input: { loudness: null } })).toEqual({ stream: { loudness: null } });
    const schedule = `mutation($id: ID!, $input: StreamScheduleInput!) { scheduleStream(id: $id, input: $input) {
      stream { state scheduleStartAt recurrence { cron timeZone durationSeconds } } } }`;
    const recurrence = { cron: '0 6 * * *', durationSeconds: 3600 };
    const scheduled = {
      stream: { state: 'scheduled', scheduleStartAt: null, recurrence: { ...recurrence, timeZone: 'UTC' } },
    };
    expect(await mutate(schedule, { id, input: { recurrence } })).toEqual(scheduled);
    expect((await rest()).recurrence).toEqual(scheduled.stream.recurrence);
    expect(await mutate(`mutation { unscheduleStream(id: "${id}") { stream { state recurrence { cron } } } }`)).toEqual(
      {
        stream: { state: 'idle', recurrence: null },
      },
    );
    expect(await mutate(`mutation { stopStream(id: "${id}") { done stream { state } } }`)).toMatchObject({
      stream: { state: 'idle' },
    });
    expect(await mutate(`mutation { deleteStream(id: "${id}") { id done } }`)).toEqual({ id, done: true });
    expect(await rest()).toMatchObject({ code: 'stream_not_found' });
  });

  test('report obstacles of start, and for skip that nothing is on air', async () => {
    const id = await makeStream();
    await api.observe(id, { phase: 'idle' }, [{ type: 'MediaReady', reason: 'MediaPreparing', message: 'Not yet.' }]);
    await expect
      .poll(async () => (await ask(`mutation { startStream(id: "${id}") { done } }`)).errors?.[0]?.extensions)
      .toMatchObject({
        code: 'stream_not_ready',
        issues: [{ code: 'media_preparing', message: 'Not yet.', field: 'videoUploadObjectID' }],
      });
    const skip = await ask(`mutation { skipStreamItem(id: "${id}", track: audio) { done } }`);
    expect(skip.errors).toMatchObject([{ path: ['skipStreamItem'], extensions: { code: 'stream_not_live' } }]);
    await api.observe(id, { phase: 'idle' });
    await expect
      .poll(
        async () => (await ask(`mutation { startStream(id: "${id}") { done stream { state } } }`)).data?.startStream,
      )
      .toMatchObject({ done: false });
    const wait = await ask(`mutation { startStream(id: "${id}", wait: 61) { done } }`);
    expect(wait.errors?.[0]?.extensions.errors).toEqual([{ path: '/wait', message: 'must be at most 60' }]);
  });

  test('refuse to delete an object in use, and name its users', async () => {
    const destinationID = await makeDestination();
    const videoUploadObjectID = await makeUpload();
    const stream = await make('stream', {
      name: 'S',
      quality: 'q_720p',
      framerate: 'f_30',
      destinationID,
      videoUploadObjectID,
    });
    const items = [{ uploadObjectID: videoUploadObjectID }];
    const playlist = await make('playlist', { kind: 'video', mode: 'sequential', items });
    const { errors, data } = await ask(`mutation { deleteDestination(id: "${destinationID}") { done }
      deleteUpload(id: "${videoUploadObjectID}") { done } deletePlaylist(id: "${playlist}") { id done } }`);
    expect(errors?.map(({ extensions }) => extensions)).toMatchObject([
      { code: 'destination_in_use', streamIDs: [stream] },
      { code: 'upload_in_use', streamIDs: [stream], playlistIDs: [playlist] },
    ]);
    // A failure does not hide the changes that succeeded.
    expect(data).toEqual({ deleteDestination: null, deleteUpload: null, deletePlaylist: { id: playlist, done: true } });
  });

  test('a key goes into the Secret and comes out nowhere', async () => {
    const id = await makeDestination();
    const update = `mutation($id: ID!, $input: DestinationUpdateInput!) { updateDestination(id: $id, input: $input) {
      destination { id name rtmpUrl rtmpKeyHint createdAt } } }`;
    const answer = await ask(update, { id, input: { rtmpKey: `${KEY}-9z2q`, name: 'Other' } });
    expect(answer.data?.updateDestination).toMatchObject({ destination: { name: 'Other', rtmpKeyHint: '9z2q' } });
    const { data } = await api.kube.get(SECRETS, NAMESPACE, id);
    expect(Buffer.from(data?.rtmpKey ?? '', 'base64').toString()).toBe(`${KEY}-9z2q`);
    const wrong = await ask(update, { id, input: { rtmpKey: `${KEY} with spaces`, nope: 1 } });
    const refused = await ask(update, { id, input: { rtmpKey: `${KEY} with spaces` } });
    expect([wrong, refused].map(({ errors }) => errors?.length)).toEqual([1, 1]);
    const resource = await api.kube.get(DESTINATIONS, NAMESPACE, id);
    for (const shown of [answer, wrong, refused, resource]) expect(JSON.stringify(shown)).not.toContain(KEY);
  });
});

describe('wrong inputs', () => {
  const missing = 'none-of-mine';
  test.each([
    ['destination', '/v1/destinations', { ...target, rtmpUrl: 'http://example.com' }],
    ['destination', '/v1/destinations', { ...target, name: '', rtmpKey: 'with space' }],
    ['upload', '/v1/uploads/from-link', { type: 'VIDEO', url: 'ftp://example.com/a', name: 'a\u0000b' }],
    ['playlist', '/v1/playlists', { kind: 'video', mode: 'shuffle', items: [{ uploadObjectID: missing }] }],
    ['stream', '/v1/streams', { name: 'x'.repeat(201), quality: 'q_720p', framerate: 'f_30', destinationIDs: [] }],
    [
      'stream',
      '/v1/streams',
      { name: 'S', quality: 'q_720p', framerate: 'f_30', destinationID: missing, playlistIDs: [missing] },
    ],
    [
      'stream',
      '/v1/streams',
      { name: 'S', quality: 'q_720p', framerate: 'f_30', scheduleEndAt: '2020-01-01T00:00:00Z' },
    ],
  ] as const)('of a %s have the words of REST, under /input', async (noun, path, input) => {
    const rest = await ada.call<{ errors: { path: string; message: string }[] }>('POST', path, input);
    expect(rest.status).toBe(422);
    const { errors } = await ask(CREATE[noun], { input });
    expect(errors).toMatchObject([{ path: ['it'], extensions: { code: 'validation_failed' } }]);
    const expected = rest.body.errors.map((error) => ({ ...error, path: `/input${error.path}` }));
    expect(errors?.[0]?.extensions.errors).toEqual(expected);
  });

  test.each([
    [{ name: 5, quality: 'q_720p', framerate: 'f_30' }, '/input/name'],
    [{ name: 'S', quality: 'q_1p', framerate: 'f_30' }, '/input/quality'],
    [{ name: 'S', quality: 'q_720p', framerate: 'f_30', scheduleStartAt: 'soon' }, '/input/scheduleStartAt'],
    [{ name: 'S', quality: 'q_720p', framerate: 'f_30', playlistIDs: ['a', {}] }, '/input/playlistIDs/1'],
    [
      { name: 'S', quality: 'q_720p', framerate: 'f_30', recurrence: { cron: '* * * * *' } },
      '/input/recurrence/durationSeconds',
    ],
    [{ name: 'S', quality: 'q_720p', framerate: 'f_30', extra: 1 }, '/input/extra'],
  ])('%j: the error names the part of the variable with the wrong type', async (input, path) => {
    const { errors } = await ask(CREATE.stream, { input });
    expect(errors?.[0]?.extensions).toMatchObject({
      code: 'validation_failed',
      errors: [{ path, message: expect.stringMatching(/./) }],
    });
  });

  test('arguments of lists', async () => {
    const readErrors = async (args: string) =>
      (await ask(`{ streams(${args}) { totalCount } }`)).errors?.[0]?.extensions.errors;
    expect(await readErrors('first: 101, last: -1')).toEqual([
      { path: '/first', message: 'must be from 0 to 100' },
      { path: '/last', message: 'must be from 0 to 100' },
    ]);
    const message = 'is not a cursor of this list; use one of an earlier response';
    expect(await readErrors('after: "x"')).toEqual([{ path: '/after', message }]);
    expect(await readErrors('before: "x"')).toEqual([{ path: '/before', message }]);
    const ids = Array.from({ length: 100 }, (_, i) => `"${i}"`).join(' ');
    expect(await readErrors(`where: { id: { in: [${ids}] } }`)).toMatchObject([{ path: '/where' }]);
  });
});

describe('Idempotency-Key', () => {
  test('a mutation sent again with it has one effect and one answer; another body is refused', async () => {
    const send = (input: unknown) =>
      ada.call<Result>(
        'POST',
        '/graphql',
        { query: CREATE.destination, variables: { input } },
        { 'idempotency-key': 'graphql-1' },
      );
    const answers = await Promise.all(Array.from({ length: 5 }, () => send(target)));
    expect(new Set(answers.map(({ status, body }) => `${status} ${JSON.stringify(body)}`)).size).toBe(1);
    expect(answers[0]?.body.data?.it).toMatchObject({ destination: { id: expect.stringMatching(/^dst-/) } });
    expect(await send({ ...target, name: 'Other' })).toMatchObject({
      status: 409,
      body: { code: 'idempotency_key_reused' },
    });
  });
});
