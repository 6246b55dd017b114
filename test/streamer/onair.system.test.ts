import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { createServer } from 'node:tls';
import pino from 'pino';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { streamerConfig } from '../../src/config.ts';
import { Lifecycle } from '../../src/lifecycle.ts';
import { startStreamer } from '../../src/streamer/run.ts';
import type { StreamerStats } from '../../src/streamer/stats.ts';
import type { Program, ProgramItem } from '../../src/streams/program.ts';
import { freePort, type RtmpServer, startRtmpServer, until } from '../support/rtmp.ts';
import {
  makeRendition,
  packetsOf,
  programOf,
  stepsOf,
  writeAtomically,
  writeDestination,
} from '../support/streamer.ts';

const KEY = 'verysecret-key-0815';
const AUDIO_STEP_MS = 1024 / 48 + 1;
const VIDEO_STEP_MS = 1000 / 30 + 1;

let root: string;
let items: ProgramItem[];
let rtmp: RtmpServer;
const cleanups: (() => Promise<void>)[] = [];

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'onair-'));
  const storage = join(root, 'storage');
  items = await Promise.all([
    makeRendition(storage, 'one', { frames: 73, hertz: 330 }),
    makeRendition(storage, 'two', { frames: 51, hertz: 440, bframes: 2 }),
    makeRendition(storage, 'three', { frames: 42, hertz: 550, size: '640x360' }),
  ]);
  rtmp = await startRtmpServer({ record: join(root, 'recordings') });
});
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});
afterAll(async () => {
  await rtmp?.close();
  await rm(root, { recursive: true, force: true });
});

interface Running {
  base: string;
  stats(): Promise<StreamerStats>;
  status(path: string): Promise<number>;
  program(next: Program): Promise<void>;
  destination(name: string, url: string, key: string): Promise<void>;
  log(): string;
  stop(): Promise<void>;
}

/** A streamer in this process with files of its own, stopped after the test. */
async function onAir(program: Program, destinations: Record<string, [url: string, key: string]>): Promise<Running> {
  const dir = await mkdtemp(join(root, 'pod-'));
  const programFile = join(dir, 'program.json');
  const destinationsDir = join(dir, 'destinations');
  await writeAtomically(programFile, JSON.stringify(program));
  for (const [name, [url, key]] of Object.entries(destinations))
    await writeDestination(destinationsDir, name, url, key);
  const config = streamerConfig({
    LOOPSTREAM_PROGRAM_FILE: programFile,
    LOOPSTREAM_DESTINATIONS_DIR: destinationsDir,
    LOOPSTREAM_STORAGE_URL: `file://${join(root, 'storage')}`,
    LOOPSTREAM_HOST: '127.0.0.1',
    LOOPSTREAM_PORT: '0',
  });
  let lines = '';
  const sink = new Writable({
    write: (chunk, _, done) => {
      lines += chunk;
      done();
    },
  });
  const log = pino({ level: 'debug' }, sink);
  const lifecycle = new Lifecycle(log);
  cleanups.push(() => lifecycle.stop());
  const { port } = await startStreamer(config, lifecycle, log);
  const base = `http://127.0.0.1:${port}`;
  return {
    base,
    stats: async () => (await fetch(`${base}/stats`)).json() as Promise<StreamerStats>,
    status: async (path) => (await fetch(`${base}${path}`)).status,
    program: (next) => writeAtomically(programFile, JSON.stringify(next)),
    destination: (name, url, key) => writeDestination(destinationsDir, name, url, key),
    log: () => lines,
    stop: () => lifecycle.stop(),
  };
}

const live = (stream: Running) => until('live', async () => (await stream.stats()).live);

/** Arguments and environment of every process of this user, as others see them. */
function everyCommandLine(): string {
  const read = (path: string) => {
    try {
      return readFileSync(path, 'latin1');
    } catch {
      return '';
    }
  };
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((pid) => read(`/proc/${pid}/cmdline`) + read(`/proc/${pid}/environ`))
    .join('\n');
}

test('three clips loop with no timestamp that goes back and no step longer than a frame, and one publish', async () => {
  const stream = await onAir(programOf(items), { main: [rtmp.url, 'seams'] });
  const start = await until(
    '4 loops',
    async () => {
      const stats = await stream.stats();
      return stats.seam.count >= 12 && stats;
    },
    60_000,
  );
  expect(start).toMatchObject({ live: true, fps: expect.closeTo(30, 0), reconnects: 0, playable: true });
  expect(start.seam.maxStepMs).toBeLessThanOrEqual(VIDEO_STEP_MS);
  expect(start.loopCount).toBeGreaterThanOrEqual(3);
  const stopping = performance.now();
  await stream.stop();
  expect(performance.now() - stopping).toBeLessThan(5000);
  const recordings = await rtmp.recordings('seams');
  expect(recordings).toHaveLength(1);
  const packets = await packetsOf(recordings[0] as string);
  const video = stepsOf(packets, 'video');
  const audio = stepsOf(packets, 'audio');
  expect(video.packets).toBeGreaterThan(600);
  expect(video).toMatchObject({ notIncreasing: 0 });
  expect(audio).toMatchObject({ notIncreasing: 0 });
  expect(video.longestMs).toBeLessThanOrEqual(VIDEO_STEP_MS);
  expect(audio.longestMs).toBeLessThanOrEqual(AUDIO_STEP_MS);
  const decoded = execFileSync('ffmpeg', ['-v', 'error', '-xerror', '-i', recordings[0] as string, '-f', 'null', '-']);
  expect(decoded.toString()).toBe('');
});

test('a destination that goes away is published to again within two seconds of listening, where the timeline is', async () => {
  const other = await startRtmpServer({ record: join(root, 'other') });
  cleanups.push(() => other.close());
  const stream = await onAir(programOf(items, { destinations: ['main', 'other'] }), {
    main: [rtmp.url, 'steady'],
    other: [other.url, KEY],
  });
  const both = () => until('both connected', async () => (await stream.stats()).destinations.every((d) => d.connected));
  await both();
  const before = await stream.stats();
  await other.stop();
  await until('noticed', async () => (await stream.stats()).destinations[1]?.connected === false);
  await until('refused', async () => (await stream.stats()).destinations[1]?.lastError?.code === 'connection_refused');
  expect(await stream.status('/readyz')).toBe(200);
  await other.start();
  const listening = performance.now();
  await until(
    'a new recording has media',
    async () =>
      (await other.recordings()).length === 2 && readFileSync((await other.recordings())[1] as string).length > 2000,
  );
  expect(performance.now() - listening).toBeLessThan(2000);
  await both();
  const after = await stream.stats();
  expect(after.destinations[1]).toMatchObject({ reconnects: 1, lastError: null });
  expect(after.destinations[0]).toMatchObject({ reconnects: 0, dropped: 0 });
  expect(after.framesSent).toBeGreaterThan(before.framesSent);
  await stream.stop();
  const again = await packetsOf((await other.recordings())[1] as string);
  expect(again.find((p) => p.codec_type === 'video')?.keyframe).toBe(true);
  expect(
    stepsOf(await packetsOf((await rtmp.recordings('steady'))[0] as string), 'video').longestMs,
  ).toBeLessThanOrEqual(VIDEO_STEP_MS);
});

test('while no destination takes media the stream is not ready, says why, and keeps the key to itself', async () => {
  const port = await freePort();
  const stream = await onAir(programOf(items), { main: [`rtmp://127.0.0.1:${port}/live`, KEY] });
  await until('an error', async () => (await stream.stats()).destinations[0]?.lastError ?? false);
  expect(await stream.status('/readyz')).toBe(503);
  expect(await stream.status('/healthz')).toBe(200);
  const late = await startRtmpServer({ record: join(root, 'late'), port });
  cleanups.push(() => late.close());
  await live(stream);
  expect(await stream.status('/readyz')).toBe(200);
  expect(everyCommandLine()).not.toContain(KEY);
  for (const path of ['/stats', '/metrics', '/readyz', '/healthz']) {
    expect(await (await fetch(stream.base + path)).text()).not.toContain(KEY);
  }
  expect((await late.recordings())[0]).toContain(KEY);
  expect(stream.log()).not.toContain(KEY);
  expect(stream.log()).toContain('connection_refused');
});

test('a changed key reconnects its destination with the new one', async () => {
  const stream = await onAir(programOf(items), { main: [rtmp.url, 'before-rotation'] });
  await live(stream);
  await stream.destination('main', rtmp.url, 'after-rotation');
  await until('published with the new key', async () => (await rtmp.recordings('after-rotation')).length === 1);
  await live(stream);
});

test('a host that does not resolve and a rejected publish have their own codes', async () => {
  const first = await onAir(programOf(items), { main: [rtmp.url, 'taken'] });
  await live(first);
  const second = await onAir(programOf(items, { destinations: ['taken', 'nowhere', 'wrong'] }), {
    taken: [rtmp.url, 'taken'],
    nowhere: ['rtmp://host.invalid/live', 'key'],
    wrong: [rtmp.url.replace('/live', '/absent'), 'key'],
  });
  const codes = await until('three errors', async () => {
    const errors = (await second.stats()).destinations.map((d) => d.lastError?.code);
    return errors.every((e) => e !== undefined) && errors;
  });
  expect(codes[0]).toBe('publish_rejected');
  expect(codes[1]).toBe('dns_failed');
  expect(['publish_rejected', 'reset']).toContain(codes[2]);
  expect((await first.stats()).destinations[0]).toMatchObject({ connected: true, reconnects: 0 });
});

test('a destination that accepts and then reads nothing is a stall, and is connected to anew', async () => {
  const stream = await onAir(programOf(items), { main: [rtmp.url, 'stall'] });
  await live(stream);
  const pid = readdirSync('/proc').find((p) => {
    try {
      return readFileSync(`/proc/${p}/cmdline`, 'latin1').includes(`rtmp://127.0.0.1:${rtmp.port}`);
    } catch {
      return false;
    }
  });
  // A stopped ffmpeg is what a peer that reads nothing looks like from here: nothing is taken any more.
  process.kill(Number(pid), 'SIGSTOP');
  const stalled = await until('stalled', async () => stream.log().includes('"code":"stalled"'), 15_000);
  expect(stalled).toBe(true);
  await live(stream);
  expect((await stream.stats()).reconnects).toBe(1);
});

test('broken and missing items are skipped and counted while one good item is left', async () => {
  const storage = join(root, 'storage');
  const bad = await makeRendition(storage, 'bad', { frames: 60 });
  const path = join(storage, bad.rendition);
  const data = readFileSync(path);
  data.fill(0x55, Math.floor(data.length / 2));
  await writeFile(path, data);
  const missing = { id: 'missing', name: 'Missing', rendition: 'renditions/missing.flv' };
  const stream = await onAir(programOf([missing, bad, items[0] as ProgramItem]), { main: [rtmp.url, 'skips'] });
  await until('two rounds', async () => (await stream.stats()).seam.count >= 4, 30_000);
  const stats = await stream.stats();
  expect(stats.live).toBe(true);
  expect(stats.skippedItems).toBeGreaterThanOrEqual(3);
  const metrics = await (await fetch(`${stream.base}/metrics`)).text();
  expect(metrics).toMatch(/loopstream_streamer_items_skipped_total\{track="video",code="item_missing"\} [1-9]/);
  expect(metrics).toMatch(/loopstream_streamer_items_skipped_total\{track="video",code="item_invalid"\} [1-9]/);
  await stream.stop();
  const packets = await packetsOf((await rtmp.recordings('skips'))[0] as string);
  expect(stepsOf(packets, 'video')).toMatchObject({ notIncreasing: 0 });
  expect(stepsOf(packets, 'audio').longestMs).toBeLessThanOrEqual(AUDIO_STEP_MS);
});

test('with nothing to play it is not ready, and goes on air as soon as there is something', async () => {
  const item = { id: 'later', name: 'Later', rendition: 'renditions/later.flv' };
  const stream = await onAir(programOf([item]), { main: [rtmp.url, 'later'] });
  await until('not playable', async () => !(await stream.stats()).playable);
  expect(await stream.status('/readyz')).toBe(503);
  await makeRendition(join(root, 'storage'), 'later', { frames: 60 });
  await live(stream);
  expect(await stream.status('/readyz')).toBe(200);
});

test('a new version is taken up at the end of the item, in the same publish, and no item repeats', async () => {
  const [one, two, three] = items as [ProgramItem, ProgramItem, ProgramItem];
  const program = programOf([one, two]);
  const stream = await onAir(program, { main: [rtmp.url, 'swap'] });
  await live(stream);
  await stream.program({ ...program, version: 2, video: { mode: 'sequential', items: [three, one] } });
  await until('the new version', async () => (await stream.stats()).programVersion === 2);
  await until('the new item', async () => (await stream.stats()).currentItem?.id === 'three');
  await until('the item behind it', async () => (await stream.stats()).currentItem?.id === 'one');
  await stream.stop();
  const recordings = await rtmp.recordings('swap');
  expect(recordings).toHaveLength(1);
  const packets = await packetsOf(recordings[0] as string);
  expect(stepsOf(packets, 'video').longestMs).toBeLessThanOrEqual(VIDEO_STEP_MS);
  expect(stepsOf(packets, 'audio').longestMs).toBeLessThanOrEqual(AUDIO_STEP_MS);
});

test('a stream joins where the radio clock stands, at the keyframe before it', async () => {
  const storage = join(root, 'storage');
  const long = await makeRendition(storage, 'long', { frames: 900, bitrateKbps: 100 });
  const songs = [await makeRendition(storage, 'song', { frames: 600, audioOnly: true })];
  const epoch = new Date(Date.now() - (2.43 + 25) * 1000).toISOString();
  const program = programOf([items[0] as ProgramItem, long], { epoch, audio: { mode: 'shuffle', items: songs } });
  const stream = await onAir(program, { main: [rtmp.url, 'joined'] });
  await live(stream);
  const stats = await stream.stats();
  expect(stats.currentItem?.id).toBe('long');
  expect(stats.currentAudioItem?.id).toBe('song');
  // 5 s of the long item are left, and at most a GOP more.
  const joined = performance.now();
  await until('its end', async () => (await stream.stats()).currentItem?.id === 'one', 30_000);
  expect(performance.now() - joined).toBeGreaterThan(2_500);
  expect(performance.now() - joined).toBeLessThan(7_500);
});

test('the preview decodes from its first frame, for several viewers, and ends with the stream', async () => {
  const stream = await onAir(programOf(items.slice(0, 1)), { main: [rtmp.url, 'preview'] });
  await live(stream);
  const probe = () =>
    new Promise<string>((resolve, reject) => {
      const entries = ['-show_entries', 'stream=codec_name,width', '-of', 'csv=p=0', '-analyzeduration', '1000000'];
      const child = spawn('ffprobe', ['-v', 'error', ...entries, `${stream.base}/preview.flv`]);
      let text = '';
      child.stdout.on('data', (d) => (text += d));
      child.stderr.on('data', (d) => (text += `stderr: ${d}`));
      child.once('error', reject).once('close', () => resolve(text));
    });
  for (const text of await Promise.all([probe(), probe(), probe()])) {
    expect(text).toMatch(/h264,320/);
    expect(text).toContain('aac');
    expect(text).not.toContain('stderr');
  }
  expect(await stream.status('/nothing')).toBe(404);
  expect((await fetch(`${stream.base}/stats`, { method: 'POST' })).status).toBe(405);
  const viewer = await fetch(`${stream.base}/preview.flv`);
  await stream.stop();
  await expect(viewer.arrayBuffer()).rejects.toThrow();
});

test('SRT is spoken too, and its key is not shown either', async () => {
  const port = await freePort();
  const file = join(root, 'srt.ts');
  const listener = spawn('ffmpeg', [
    '-v',
    'error',
    '-nostdin',
    '-y',
    '-i',
    `srt://127.0.0.1:${port}?mode=listener`,
    '-c',
    'copy',
    file,
  ]);
  cleanups.push(async () => void listener.kill('SIGKILL'));
  const stream = await onAir(programOf(items.slice(0, 1)), { main: [`srt://127.0.0.1:${port}?latency=100`, KEY] });
  await live(stream);
  expect(everyCommandLine()).not.toContain(KEY);
  await until('three loops', async () => (await stream.stats()).seam.count >= 3);
  await stream.stop();
  await until('the listener has ended', () => listener.exitCode !== null);
  const packets = await packetsOf(file);
  expect(stepsOf(packets, 'video')).toMatchObject({ notIncreasing: 0 });
  expect(stepsOf(packets, 'video').packets).toBeGreaterThan(150);
});

test('over RTMPS a certificate that nobody vouches for is refused, with its own code', async () => {
  const key = join(root, 'tls.key');
  const cert = join(root, 'tls.crt');
  const subject = ['-subj', '/CN=localhost', '-days', '2'];
  execFileSync('openssl', ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-keyout', key, '-out', cert, ...subject], {
    stdio: 'ignore',
  });
  const server = createServer({ key: readFileSync(key), cert: readFileSync(cert) }, (socket) => {
    socket.on('error', () => undefined);
  }).on('tlsClientError', () => undefined);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  cleanups.push(async () => void server.close());
  const { port } = server.address() as AddressInfo;
  const stream = await onAir(programOf(items), { main: [`rtmps://127.0.0.1:${port}/live`, KEY] });
  const error = await until('an error', async () => (await stream.stats()).destinations[0]?.lastError ?? false);
  expect(error.code).toBe('tls_failed');
  expect(JSON.stringify(await stream.stats())).not.toContain(KEY);
});
