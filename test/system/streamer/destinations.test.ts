import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import {
  isAacSequenceHeader,
  isAudioFrame,
  isAvcSequenceHeader,
  isKeyframe,
  isVideoFrame,
  parseFlv,
  TAG_SCRIPT,
} from '../../../src/core/pods/rendition/flv.ts';
import type { ProgramItem } from '../../../src/core/resources/stream/playing.ts';
import { reserveFreePort } from '../../../tools/process/ports.ts';
import {
  connected,
  counted,
  destination,
  everyCommandLine,
  expectUntouched,
  failed,
} from '../../kit/make/destinations.ts';
import { live, openStudio, type Studio } from '../../kit/make/onair.ts';
import { buildProgram } from '../../kit/make/streamer.ts';
import { type RtmpServer, startRtmpServer } from '../../kit/real/rtmp.ts';
import { until } from '../../kit/wait.ts';

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

test('a destination that goes away is published to again, however long it was away, and no other one notices', async () => {
  const other = await startRtmpServer({ record: join(root, 'other') });
  cleanups.push(() => other.close());
  const stream = await onAir(buildProgram(items, { destinations: ['main', 'other'] }), {
    main: [rtmp.url, 'steady'],
    other: [other.url, KEY],
  });
  await Promise.all(['main', 'other'].map((name) => connected(stream, name)));
  const refused = () => counted(stream, 'destination_failures_total', 'other', 'connection_refused');
  // In the second round the waits between attempts have reached their maximum.
  for (const [round, attempts] of [1, 6].entries()) {
    const before = await refused();
    await other.stop();
    await until('noticed', async () => (await destination(stream, 'other'))?.connected === false);
    await until('refused', async () => (await refused()) >= before + attempts);
    expect(await stream.status('/readyz')).toBe(200);
    await other.start();
    const recording = await until('a new recording', async () => (await other.recordings())[round + 1]);
    await until('media in it', async () => (await stat(recording)).size > 2000);
    await connected(stream, 'other');
  }
  expect(await destination(stream, 'other')).toMatchObject({ reconnects: 2, lastError: null });
  expect(await destination(stream, 'main')).toMatchObject({ reconnects: 0, dropped: 0 });
  await stream.stop();
  for (const recording of await other.recordings()) {
    const tags = parseFlv(await readFile(recording)).filter((tag) => tag.type !== TAG_SCRIPT);
    const first = tags.findIndex(isVideoFrame);
    expect(tags[first] && isKeyframe(tags[first])).toBe(true);
    expect(tags.slice(0, first).some(isAvcSequenceHeader)).toBe(true);
    expect(tags.slice(0, tags.findIndex(isAudioFrame)).some(isAacSequenceHeader)).toBe(true);
  }
  await expectUntouched(rtmp, 'steady');
});

test('while no destination takes media the stream is not ready, says why, and keeps the key to itself', async () => {
  const port = await reserveFreePort();
  const stream = await onAir(buildProgram(items), { main: [`rtmp://127.0.0.1:${port}/live`, KEY] });
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

test('a key is given to a server once: the second destination with it says so, and sends once it has another one', async () => {
  const stream = await onAir(buildProgram(items, { destinations: ['main', 'backup'] }), {
    main: [rtmp.url, 'shared-key'],
    backup: [rtmp.url, 'shared-key'],
  });
  await connected(stream, 'main');
  const refused = () => counted(stream, 'destination_failures_total', 'backup', 'key_twice');
  await until('it is refused again and again', async () => (await refused()) > 2);
  expect(await destination(stream, 'backup')).toMatchObject({ connected: false, lastError: { code: 'key_twice' } });
  expect(await destination(stream, 'main')).toMatchObject({ connected: true, reconnects: 0 });
  await stream.destination('backup', rtmp.url, 'spare-key');
  await connected(stream, 'backup');
  // Both at the same key again: the one that came first stays.
  await stream.destination('backup', rtmp.url, 'shared-key');
  await until('it left', async () => (await destination(stream, 'backup'))?.connected === false);
  await stream.stop();
  for (const key of ['shared-key', 'spare-key']) expect(await rtmp.recordings(key)).toHaveLength(1);
  expect(stream.log()).not.toContain('spare-key');
});

test('a changed key reconnects its destination with the new one', async () => {
  const stream = await onAir(buildProgram(items), { main: [rtmp.url, 'before-rotation'] });
  await live(stream);
  await stream.destination('main', rtmp.url, 'after-rotation');
  await until('published with the new key', async () => (await rtmp.recordings('after-rotation')).length === 1);
  await live(stream);
});

test('destinations come, go and get another key on air; the others, and the program, are unaffected', async () => {
  const program = buildProgram(items);
  const stream = await onAir(program, { main: [rtmp.url, 'stays'] });
  await live(stream);
  const { version } = (await stream.stats()).clock.video ?? {};
  await stream.destination('second', rtmp.url, 'comes');
  await stream.program({ ...program, destinations: ['main', 'second'], destinationsRevision: 'b' });
  await connected(stream, 'second');
  await stream.destination('second', rtmp.url, 'renewed');
  await until('published with the new key', async () => (await rtmp.recordings('renewed')).length === 1);
  await connected(stream, 'second');
  await stream.program({ ...program, destinations: ['main'], destinationsRevision: 'c' });
  await until('it is gone', async () => !(await destination(stream, 'second')));
  await until('more seams', async () => (await stream.stats()).seam.count > 3);
  expect(await destination(stream, 'main')).toMatchObject({ reconnects: 0, dropped: 0 });
  expect((await stream.stats()).clock.video?.version).toBe(version);
  await stream.stop();
  await expectUntouched(rtmp, 'stays');
});

test('a host that has no address and an application that is not there have their own codes', async () => {
  const stream = await onAir(buildProgram(items, { destinations: ['nowhere', 'wrong'] }), {
    nowhere: ['rtmp://host.invalid/live', 'key'],
    wrong: [rtmp.url.replace('/live', '/absent'), 'key'],
  });
  await failed(stream, 'nowhere', 'dns_failed');
  await failed(stream, 'wrong', 'publish_rejected');
});

test('an ffmpeg that cannot be started is a failure like any other, and the stream stays', async () => {
  const stream = await onAir(
    buildProgram(items),
    { main: [rtmp.url, KEY] },
    { env: { LOOPSTREAM_FFMPEG: join(root, 'no-ffmpeg') } },
  );
  // Node reports ENOENT; the launcher that confines ffmpeg uses the system's words.
  expect(await failed(stream, 'main', 'exited')).toMatch(/ENOENT|No such file/);
  expect(await stream.status('/healthz')).toBe(200);
});
