/** Registers the contract's sections "States and transitions" and "Limits": the slow tests, side by side. */
import { expect, test } from 'vitest';
import { type Answer, call } from '../../kit/system/api.ts';
import { type Body, eventually, expectProblem, inMinutes, pause, type Scene } from './scene.ts';

const ON_AIR = ['starting', 'live', 'reconnecting', 'stopping'];
const TIMEOUT_MS = 280_000;
const PATIENCE_SECONDS = 20;

/** `onAir`: started streams are really sent. */
export function aired(scene: () => Scene, onAir: boolean): void {
  transitions(scene, onAir);
  schedules(scene);
  if (onAir) scheduled(scene);
  limits(scene);
}

/** Returns a stream whose video has arrived, once nothing prevents its start. */
async function readyStream(
  { made, ask, wish, videoUploadObjectID, target }: Scene,
  more: object = {},
): Promise<string> {
  // The destination is the stream's own: a platform accepts one publisher for a key.
  const rtmp = { name: 'Own', rtmpUrl: target.rtmpUrl, rtmpKey: `key-${crypto.randomUUID()}` };
  const { id: destinationID } = await made('/destinations', rtmp);
  const { id } = await made('/streams', wish({ destinationID, videoUploadObjectID, ...more }));
  await eventually('the stream is ready', async () => (await ask('GET', `/streams/${id}/readiness`)).body.ready);
  return id;
}

const readStatus = async ({ ask }: Scene, id: string): Promise<string> =>
  (await ask('GET', `/streams/${id}`)).body.status;

function transitions(scene: () => Scene, onAir: boolean): void {
  test(
    'a video that is still being prepared: ready is false, and start is refused until it is true',
    async () => {
      const { made, ask, wish, target } = scene();
      const { objectID } = await made('/uploads/from-link', { type: 'VIDEO', url: target.slowVideo });
      const { id } = await made('/streams', wish({ videoUploadObjectID: objectID }));
      const readiness = async () => (await ask('GET', `/streams/${id}/readiness`)).body;
      const before = await readiness();
      expect(before.ready).toBe(false);
      expect(before.issues.length).toBeGreaterThan(0);
      const refused = await ask('POST', `/streams/${id}/start`);
      expectProblem(refused, 409, 'stream_not_ready');
      expect(refused.body.issues.length).toBeGreaterThan(0);
      expect(ON_AIR).not.toContain(await readStatus(scene(), id));
      await target.release();
      await eventually('the stream is ready', async () => (await readiness()).ready);
      expect((await readiness()).issues).toEqual([]);
    },
    TIMEOUT_MS,
  );

  test(
    'start: a stream that is ready becomes live and loops; stop: it is no longer; both take no body and can be repeated',
    async () => {
      const { ask } = scene();
      const id = await readyStream(scene());
      const act = async (what: string) => {
        const { status, body } = await ask('POST', `/streams/${id}/${what}`);
        expect({ what, status, id: body.id }).toEqual({ what, status: expect.toSatisfy((n) => n < 300), id });
      };
      const stats = async () => (await ask('GET', `/streams/${id}/live-stats`)).body;
      await act('start');
      await act('start');
      await eventually('it is live', async () => (await readStatus(scene(), id)) === 'live');
      await act('start');
      expect(await readStatus(scene(), id)).toBe('live');
      if (onAir) await eventually('it has been played twice', async () => (await stats()).loopCount >= 2);
      expectLiveStats(await stats(), onAir);
      await act('stop');
      await eventually('it is off air', async () => !ON_AIR.includes(await readStatus(scene(), id)));
      await act('stop');
      expectLiveStats(await stats(), false);
    },
    TIMEOUT_MS,
  );
}

/** The service's own design defines this body; the contract does not. */
function expectLiveStats(stats: Body, live: boolean): void {
  const number = live ? expect.any(Number) : null;
  const item = live ? { id: expect.any(String), name: expect.any(String) } : null;
  expect(stats).toMatchObject({
    live,
    startedAt: live ? expect.any(String) : null,
    uptimeSeconds: number,
    bitrateKbps: number,
    fps: number,
    framesSent: number,
    loopCount: number,
    avSkewMs: number,
    reconnects: number,
    current: item,
    positionSeconds: number,
    durationSeconds: number,
    next: item,
    seam: live ? { count: number, maxStepMs: number } : null,
    destinations: expect.any(Array),
  });
  const { connected, bytesSent, lastError } = stats.destinations[0] ?? {};
  if (live)
    expect({ connected, bytesSent, lastError }).toEqual({ connected: true, bytesSent: number, lastError: null });
}

function schedules(scene: () => Scene): void {
  test('schedule: on create, and by the operation', async () => {
    const { ask, made, wish } = scene();
    const schedule = { scheduleStartAt: inMinutes(60), scheduleEndAt: inMinutes(120) };
    const same = (body: Body) => [Date.parse(body.scheduleStartAt), Date.parse(body.scheduleEndAt)];
    const wanted = [Date.parse(schedule.scheduleStartAt), Date.parse(schedule.scheduleEndAt)];
    const created = await made('/streams', wish(schedule));
    expect(same(created)).toEqual(wanted);
    const { id } = await made('/streams', wish());
    const { status, body } = await ask('POST', `/streams/${id}/schedule`, schedule);
    expect({ status, times: same(body) }).toEqual({ status: 200, times: wanted });
    for (const one of [created.id, id]) expect(ON_AIR).not.toContain(await readStatus(scene(), one));
    const backwards = { scheduleStartAt: schedule.scheduleEndAt, scheduleEndAt: schedule.scheduleStartAt };
    expectProblem(await ask('POST', `/streams/${id}/schedule`, backwards), 422);
    expectProblem(await ask('POST', '/streams', wish(backwards)), 422);
  });
}

function scheduled(scene: () => Scene): void {
  test(
    'schedule: it goes live automatically at scheduleStartAt, and ends at scheduleEndAt',
    async () => {
      const { ask, made } = scene();
      // The same video in the same profile makes the next stream ready from the beginning.
      const first = await readyStream(scene());
      const { destinationID, videoUploadObjectID } = (await ask('GET', `/streams/${first}`)).body;
      const start = Date.now() + 6_000;
      const { id } = await made(
        '/streams',
        scene().wish({
          destinationID,
          videoUploadObjectID,
          scheduleStartAt: new Date(start).toISOString(),
          scheduleEndAt: inMinutes(60),
        }),
      );
      await eventually('it is live', async () => (await readStatus(scene(), id)) === 'live');
      expect(Date.now()).toBeGreaterThanOrEqual(start);
      // The end is set now, since the start may have taken long.
      const end = Date.now() + 6_000;
      const schedule = { scheduleEndAt: new Date(end).toISOString() };
      const answer = await ask('POST', `/streams/${id}/schedule`, schedule);
      expect(answer, JSON.stringify(answer.body)).toMatchObject({ status: 200 });
      await eventually('it is over', async () => !ON_AIR.includes(await readStatus(scene(), id)));
      expect(Date.now()).toBeGreaterThanOrEqual(end);
    },
    TIMEOUT_MS,
  );
}

const getLimit = ({ headers }: Answer<Body>) => {
  const [limit, remaining, reset] = ['limit', 'remaining', 'reset'].map((name) => {
    const text = headers.get(`ratelimit-${name}`);
    expect(text).toMatch(/^\d+$/);
    return Number(text);
  });
  return { limit: limit ?? 0, remaining: remaining ?? 0, reset: reset ?? 0 };
};

function limits(scene: () => Scene): void {
  test('Rate limiting: every response of REST carries it, those of errors too', async () => {
    const { ask } = scene();
    for (const path of ['/status', '/me', '/playlists', '/streams/none', '/nothing', '/streams?limit=0'])
      getLimit(await ask('GET', path));
    getLimit(await ask('GET', '/me', undefined, {}));
  });

  test(
    'Rate limiting: Remaining falls, Reset counts the seconds, and 429 says in Retry-After how long to wait',
    async () => {
      const { target } = scene();
      const once = () => call<Body>(`${target.base}/me`, 'GET', undefined, { 'x-api-key': target.otherKey });
      // Two requests in one window, which may end between any two.
      const [one, two] = await eventually('two in one window', async () => {
        const [a, b] = [getLimit(await once()), getLimit(await once())];
        return b.remaining < a.remaining && ([a, b] as const);
      });
      expect(two).toEqual({ limit: one.limit, remaining: one.remaining - 1, reset: expect.any(Number) });
      expect(two.reset).toBeLessThanOrEqual(one.reset);
      await eventually('a second less is left', async () => getLimit(await once()).reset !== one.reset);
      const refused = await eventually('the limit is used up', async () => {
        const answers = await Promise.all(Array.from({ length: 100 }, once));
        return answers.find(({ status }) => status === 429);
      });
      expectProblem(refused, 429, 'rate_limited');
      const { remaining, reset } = getLimit(refused);
      const retryAfter = refused.headers.get('retry-after');
      expect(retryAfter).toMatch(/^[1-9]\d*$/);
      expect({ remaining, reset }).toEqual({ remaining: 0, reset: Number(retryAfter) });
      // A long window is not waited for.
      if (Number(retryAfter) > PATIENCE_SECONDS) return;
      await pause(1000 * Number(retryAfter));
      expect((await once()).status).toBe(200);
    },
    TIMEOUT_MS,
  );
}
