/** Tests the control of a stream on air, with a real receiver: skip, new versions, and the playhead for the next pod. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import type { ShownStats } from '../../../src/core/pods/streamer/control/stats.ts';
import { identifyTrack } from '../../../src/core/programme/identity.ts';
import { orderRound } from '../../../src/core/programme/playhead.ts';
import { TICKS_PER_SECOND } from '../../../src/core/programme/ticks.ts';
import { findTurn } from '../../../src/core/programme/timeline.ts';
import type { Program } from '../../../src/core/protocol/program.ts';
import type { ProgramItem } from '../../../src/core/resources/stream/playing.ts';
import { reserveFreePort } from '../../../tools/process/ports.ts';
import {
  CONTROL_TOKEN,
  expectNoSeam,
  live,
  openStudio,
  type Running,
  type Studio,
  VIDEO_STEP_MS,
} from '../../kit/make/onair.ts';
import { buildProgram, makeRendition, readPackets } from '../../kit/make/streamer.ts';
import type { RtmpServer } from '../../kit/real/rtmp.ts';
import { MAIN } from '../../kit/system/app.ts';
import { until } from '../../kit/wait.ts';

let studio: Studio;
let rtmp: RtmpServer;
let onAir: Studio['onAir'];
/** Twelve seconds each, so that a skip differs clearly from an end. */
let films: ProgramItem[];
let songs: ProgramItem[];

beforeAll(async () => {
  studio = await openStudio();
  ({ rtmp, onAir } = studio);
  const storage = join(studio.root, 'storage');
  const film = (id: string, bframes: number) => makeRendition(storage, id, { frames: 360, bframes, bitrateKbps: 200 });
  films = [await film('f1', 0), await film('f2', 2), await film('f3', 0), await film('f4', 2)];
  const song = (id: string) => makeRendition(storage, id, { frames: 600, audioOnly: true });
  songs = [await song('s1'), await song('s2')];
});
afterEach(() => studio?.cleanUp());
afterAll(() => studio?.close());

const playing = async (stream: Running) => (await stream.stats()).currentItem?.id;
/** Returns a stream's playhead in ms since its list began: from the item on air and the epoch of its start. */
const elapsedMs = (stats: ShownStats) => Date.now() - Date.parse(stats.clock.video?.epoch ?? '');

/** Returns the program as the operator gives it to the next pod. */
const handedOn = (program: Program, { clock }: ShownStats): Program => ({
  ...program,
  epoch: clock.video?.epoch ?? program.epoch,
  ...(clock.audio && { audioEpoch: clock.audio.epoch }),
});

/** The list as an API knows it: the lengths of its items, and the anchor that the streamer reports. */
function findPlanned(
  items: readonly ProgramItem[],
  { clock }: ShownStats,
): { id: string | undefined; positionMs: number } {
  const nowMs = Date.now();
  const { round, turn, startedAt } = clock.video?.anchor ?? { round: 0, turn: 0, startedAt: '' };
  const anchor = { round, turn, atMs: Date.parse(startedAt) };
  const durations = items.map(() => 12 * TICKS_PER_SECOND);
  // The streamer is ahead of its receivers: an item that it has begun may be on air a little later.
  const atMs = Math.max(nowMs, anchor.atMs);
  const planned = findTurn({ mode: 'sequential', seed: 7, durations, estimated: new Set() }, anchor, atMs);
  return { id: items[planned?.item ?? -1]?.id, positionMs: nowMs - (planned?.startMs ?? 0) };
}

/** The timeline has the item on air, at its place. */
function expectPlanned(items: readonly ProgramItem[], stats: ShownStats): void {
  const { id, positionMs } = findPlanned(items, stats);
  expect(id).toBe(stats.currentItem?.id);
  expect(Math.abs(positionMs - 1000 * (stats.currentItem?.positionSeconds ?? 0))).toBeLessThan(2_000);
}

async function expectClean(key: string) {
  const recordings = await rtmp.recordings(key);
  expect(recordings).toHaveLength(1);
  const packets = await readPackets(recordings[0] as string);
  expectNoSeam(packets);
  // The shown pictures never go back either, so none is out of order behind a B-frame that was left out.
  const shown = packets.filter((p) => p.codec_type === 'video').map((p) => p.ptsMs);
  // The stream was stopped in the middle of an item, where the last B-frames may be missing.
  const slots = [...shown].sort((a, b) => a - b).slice(0, -6);
  expect(Math.max(...slots.slice(1).map((ms, i) => ms - (slots[i] ?? ms)))).toBeLessThanOrEqual(VIDEO_STEP_MS);
  expect(Math.min(...slots.slice(1).map((ms, i) => ms - (slots[i] ?? ms)))).toBeGreaterThan(0);
}

test('a skip goes to the next item at once, in the same publish, once for each request, on each track', async () => {
  const program = buildProgram(films, { audio: { mode: 'sequential', items: songs } });
  const stream = await onAir(program, { main: [rtmp.url, 'skip'] });
  await live(stream);
  const first = await stream.stats();
  expect(first.currentItem?.id).toBe('f1');
  expect(first.clock.video).toMatchObject({ version: 1, epoch: program.epoch, anchor: { move: 'Start' } });
  expect(first.clock.video?.programme).toBe(identifyTrack(program.video, program.seed));
  expectPlanned(films, first);
  for (const [i, id] of ['f2', 'f3', 'f4', 'f1'].entries()) {
    const answer = await stream.skip({ id: `skip ${i}` });
    expect(answer.status).toBe(200);
    expect(await playing(stream)).toBe(id);
    const stats = await stream.stats();
    expect(stats.clock.video?.anchor?.move).toBe('Skip');
    expect(await answer.json()).toEqual({ code: 'skipped', clock: stats.clock });
    // The epoch says that this item has just begun: 12 s for each earlier one.
    const behind = 12_000 * (i + 1);
    expect(Math.abs(elapsedMs(stats) - behind)).toBeLessThan(6_000);
    expectPlanned(films, stats);
    expect((await stream.skip({ id: `skip ${i}` })).status).toBe(200);
    expect(await playing(stream)).toBe(id);
    expect(stats.clock.audio?.epoch).toBe(program.epoch);
  }
  expect((await stream.stats()).currentAudioItem?.id).toBe('s1');
  expect((await stream.skip({ id: 'song', track: 'audio' })).status).toBe(200);
  const after = await stream.stats();
  expect([after.currentItem?.id, after.currentAudioItem?.id]).toEqual(['f1', 's2']);
  expect(after.clock.audio?.epoch).not.toBe(program.epoch);
  // A new version waits for the end of the item, unless a skip applies it.
  const next: Program = {
    ...program,
    version: 2,
    video: { mode: 'sequential', items: [films[3], films[2]] as ProgramItem[] },
  };
  await stream.program(next);
  await until('it has the new version', async () => (await stream.stats()).programVersion === 2);
  expect((await stream.stats()).clock.video?.version).toBe(1);
  expect((await stream.skip({ id: 'to the new one' })).status).toBe(200);
  expect((await stream.stats()).clock.video?.version).toBe(2);
  expect(['f3', 'f4']).toContain(await playing(stream));
  expectPlanned(next.video.items, await stream.stats());
  await stream.stop();
  await expectClean('skip');
});

test('no request controls a stream without the token, and no open answer shows it or a key', async () => {
  const stream = await onAir(buildProgram(films), { main: [rtmp.url, 'planted-stream-key'] });
  await live(stream);
  expect((await stream.skip({ id: 'a' }, 'wrong')).status).toBe(401);
  expect((await stream.skip({ id: 'a' }, `${CONTROL_TOKEN}x`)).status).toBe(401);
  const url = `${stream.base}/control/skip`;
  const bare = await fetch(url, { method: 'POST', body: '{"id":"a"}' });
  expect([bare.status, bare.headers.get('www-authenticate')]).toEqual([401, 'Bearer']);
  expect((await fetch(url)).status).toBe(405);
  for (const wrong of [{}, { id: 5 }, { id: '' }, { id: 'a', track: 'both' }, 'x'.repeat(10_000), null])
    expect((await stream.skip(wrong)).status).toBe(400);
  expect((await stream.skip({ id: 'a', track: 'audio' })).status).toBe(409);
  expect(await playing(stream)).toBe('f1');
  expect((await stream.skip({ id: 'a' })).status).toBe(200);
  for (const path of ['/healthz', '/readyz', '/stats', '/metrics', '/nothing']) {
    const text = await (await fetch(`${stream.base}${path}`)).text();
    for (const secret of ['planted', CONTROL_TOKEN]) expect(text).not.toContain(secret);
  }
  expect(stream.log()).not.toContain('planted');
  await stream.stop();
});

test('a new version is taken up at the item boundary while the destination is away, and the next pod stands there too', async () => {
  const [one, two, three] = studio.items as [ProgramItem, ProgramItem, ProgramItem];
  const program = buildProgram([one, two]);
  const a = await onAir(program, { main: [rtmp.url, 'away'] });
  await live(a);
  await rtmp.stop();
  await until('it is away', async () => !(await a.stats()).live);
  const next: Program = { ...program, version: 2, video: { mode: 'shuffle', items: [...films, three] } };
  await a.program(next);
  await until('version 2 plays', async () => (await a.stats()).clock.video?.version === 2);
  const switched = await a.stats();
  await rtmp.start();
  await live(a);
  expect((await a.stats()).clock).toEqual(switched.clock);
  expect(await rtmp.recordings('away')).toHaveLength(2);

  const b = await onAir(handedOn(next, switched), {});
  await until('the other plays', async () => (await b.stats()).currentItem !== null);
  await expectSamePlace(a, b);
  // After both skip, the next one to start is at the same place too.
  await a.skip({ id: 'now' });
  const c = await onAir(handedOn(next, await a.stats()), {});
  await until('the third plays', async () => (await c.stats()).currentItem !== null);
  await expectSamePlace(a, c);
});

test('an item that goes missing on air is left out of the reckoning, so that the next pod comes to the same place', async () => {
  const storage = join(studio.root, 'storage');
  const gone = await makeRendition(storage, 'gone', { frames: 150 });
  const [one] = studio.items as [ProgramItem];
  const [f1, f2] = films as [ProgramItem, ProgramItem];
  const program = buildProgram([f2, one, gone, f1]);
  const a = await onAir(program, {});
  await until('it plays', async () => (await playing(a)) === 'f2');
  await rm(join(storage, gone.rendition));
  for (const id of ['one', 'f1']) {
    expect((await a.skip({ id })).status).toBe(200);
    expect(await playing(a)).toBe(id);
  }
  const stats = await a.stats();
  expect(stats.brokenItems).toMatchObject([{ id: 'gone', code: 'item_missing', track: 'video' }]);
  const b = await onAir(handedOn(program, stats), {});
  await until('the other plays', async () => (await b.stats()).currentItem !== null);
  await expectSamePlace(a, b);
});

/** Expects the next items to be the same in both, and to begin within a GOP of each other. */
async function expectSamePlace(a: Running, b: Running) {
  // Items change a little ahead of their time: a new pod may have the last second of the item before.
  const same = await until(
    'both stand at the same item',
    async () => {
      const [inA, inB] = [await playing(a), await playing(b)];
      return inA === inB && inA;
    },
    3_000,
  );
  const begins = async (stream: Running, before: string | undefined) => {
    const item = await until(
      'the next item',
      async () => {
        const now = await playing(stream);
        return now !== before && now;
      },
      40_000,
    );
    return { item, at: performance.now() };
  };
  const [nextA, nextB] = await Promise.all([begins(a, same), begins(b, same)]);
  expect(nextB.item).toBe(nextA.item);
  // A GOP is 2 s; items change when they are made, half a second to a second ahead of their time.
  expect(Math.abs(nextA.at - nextB.at)).toBeLessThan(2_000 + 4_000);
}

test('a streamer killed in the middle of a shuffled round is followed by one that continues the round', async () => {
  const items = [...films, ...studio.items];
  const lengths = [12_000, 12_000, 12_000, 12_000, 2433, 1700, 1400];
  const seed = 11;
  const loop = { mode: 'shuffle' as const, seed, durations: lengths };
  const round = 3;
  const order = orderRound(loop, round);
  const total = lengths.reduce((sum, ms) => sum + ms, 0);
  const getStart = (turn: number) =>
    order.slice(0, turn).reduce((sum, item) => sum + (lengths[item] ?? 0), round * total);
  // The fourth of seven turns, from its beginning.
  const epochMs = Date.now() - getStart(3) - 200;
  const program = buildProgram(items, {
    seed,
    video: { mode: 'shuffle', items },
    epoch: new Date(epochMs).toISOString(),
  });
  const template = await onAir(program, { main: [rtmp.url, 'killed'] });
  await template.stop();
  const first = await startProcess(template);
  await until('the process plays', async () => (await first.stats())?.currentItem ?? undefined);
  const seen = new Set<string>([(await first.stats())?.currentItem?.id ?? '']);
  const last = await until(
    'its second item',
    async () => {
      const id = (await first.stats())?.currentItem?.id ?? '';
      return !seen.has(id) && id;
    },
    40_000,
  );
  const names = order.map((item) => items[item]?.id ?? '');
  const lastTurn = names.indexOf(last);
  // Items change a little ahead of their time: a pod that starts before it plays the end of the item before.
  await until('its time has come', () => Date.now() >= epochMs + getStart(lastTurn));
  await first.kill();
  const second = await startProcess(template);
  // The items until the round is over; on a busy machine a short item may pass between two polls.
  const turns: number[] = [];
  await until(
    'the next round',
    async () => {
      const stats = await second.stats();
      if (!stats?.currentItem || stats.loopCount !== round) return (stats?.loopCount ?? 0) > round;
      const turn = names.indexOf(stats.currentItem.id);
      if (turn !== turns.at(-1)) turns.push(turn);
      return false;
    },
    90_000,
  );
  // The pod began at the playhead: at the item on air or, after a long start, at one after it.
  expect(turns[0]).toBeGreaterThanOrEqual(lastTurn);
  // No item of the round came again before its end.
  expect(turns).toEqual([...new Set(turns)].sort((a, b) => a - b));
  await second.kill();
});

/** Runs the streamer as its pod does: in a process, which can be killed. */
async function startProcess(like: Running) {
  const port = await reserveFreePort();
  const env = { ...process.env, ...like.environment, LOOPSTREAM_PORT: String(port) };
  const child: ChildProcess = spawn(process.execPath, [MAIN, 'streamer'], { env, stdio: 'ignore' });
  const gone = once(child, 'exit');
  const kill = async () => {
    child.kill('SIGKILL');
    await gone;
  };
  studio.cleanups.push(kill);
  return {
    kill,
    stats: async () =>
      fetch(`http://127.0.0.1:${port}/stats`)
        .then((answer) => answer.json() as Promise<ShownStats>)
        .catch(() => undefined),
  };
}
