import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createServer } from 'node:tls';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import type { ProgramItem } from '../../src/streams/program.ts';
import { live, openStudio, type Studio, VIDEO_STEP_MS } from '../support/onair.ts';
import { freePort, type RtmpServer, startRtmpServer, until } from '../support/rtmp.ts';
import { packetsOf, programOf, stepsOf } from '../support/streamer.ts';

const KEY = 'verysecret-key-0815';

let studio: Studio;
let root: string;
let items: ProgramItem[];
let rtmp: RtmpServer;
let cleanups: Studio['cleanups'];
let onAir: Studio['onAir'];

beforeAll(async () => {
  studio = await openStudio();
  ({ root, items, rtmp, cleanups, onAir } = studio);
});
afterEach(() => studio?.cleanUp());
afterAll(() => studio?.close());

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
  expect(codes[0]).toBe('key_in_use');
  expect(codes[1]).toBe('dns_failed');
  expect(codes[2]).toBe('publish_rejected');
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
  const stalled = await until('stalled', async () => stream.log().includes('"code":"stalled"'), 60_000);
  expect(stalled).toBe(true);
  await live(stream);
  expect((await stream.stats()).reconnects).toBe(1);
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
  // SRT drops what comes too late, which a busy machine sees; so more is sent than has to arrive.
  await until('six loops', async () => (await stream.stats()).seam.count >= 6, 60_000);
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
