/**
 * Attacks ffmpeg's options through a destination's URL, which must set none. ffmpeg reads its output options from a preset. A line of it
 * may name a file to write (`stats`) or a library to load (`omx_libname`).
 */
import { spawn } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chmod, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { systemClock } from '../../src/core/lib/clock.ts';
import { probe } from '../../src/core/pods/probe/probe.ts';
import { publish } from '../../src/core/pods/probe/publish.ts';
import { readAddress } from '../../src/core/pods/streamer/output/address.ts';
import { SRT_OPTIONS } from '../../src/core/resources/destination/srt.ts';
import { makeStrangers, type Stranger } from '../kit/system/strangers.ts';
import { tempDir } from '../kit/temp-dir.ts';
import { until } from '../kit/wait.ts';

const PRECIOUS = 'precious';

const root = tempDir();
/** A file that must stay unchanged. */
let victimFile: string;
let mallory: Stranger;
const cleanups: (() => unknown)[] = [];

beforeAll(async () => {
  ({ mallory } = await makeStrangers());
});
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

/** Starts an attacker's SRT listener; returns its port. */
async function listen(): Promise<number> {
  const socket = createSocket('udp4').bind(0, '127.0.0.1');
  await once(socket, 'listening');
  const { port } = socket.address();
  socket.close();
  await once(socket, 'close');
  const input = ['-v', 'quiet', '-nostdin', '-f', 'data', '-i', `srt://127.0.0.1:${port}?mode=listener`];
  const child = spawn('ffmpeg', [...input, '-map', '0', '-c', 'copy', '-f', 'data', '-y', '/dev/null']);
  cleanups.push(() => child.kill('SIGKILL'));
  const local = `:${port.toString(16).toUpperCase().padStart(4, '0')} `;
  await until('it listens', async () => (await readFile('/proc/net/udp', 'latin1')).includes(local));
  return port;
}

/** Makes an ffmpeg that records its start, and works as ffmpeg does. */
async function watchedFfmpeg(): Promise<{ path: string; wasStarted: () => boolean }> {
  const [path, mark] = [join(root, 'watched'), join(root, 'started')];
  await rm(mark, { force: true });
  await writeFile(path, `#!/bin/sh\n: > '${mark}'\nexec ffmpeg "$@"\n`);
  await chmod(path, 0o755);
  return { path, wasStarted: () => existsSync(mark) };
}

async function makeVictim(): Promise<void> {
  victimFile = join(root, 'victim.txt');
  await writeFile(victimFile, PRECIOUS);
}
const expectUntouched = async () => {
  expect(await readFile(victimFile, 'utf8')).toBe(PRECIOUS);
  expect((await readdir(root)).filter((name) => name.startsWith('victim'))).toEqual(['victim.txt']);
};

const attacks: [what: string, query: (file: string) => string][] = [
  ['overwrites a file with the statistics of an encoder', (file) => `vcodec=libx264&flags=%2Bpass1&stats=${file}`],
  ['loads a library into the process', (file) => `vcodec=h264_omx&omx_libname=${file}`],
  ['encodes, where a copy was paid for', () => 'vcodec=libx264&preset=veryslow'],
  [
    'writes a second line by a line break in a value',
    (file) => `passphrase=longenough%0Avcodec%3Dlibx264%0Astats%3D${file}`,
  ],
  ['listens, instead of calling', () => 'mode=listener'],
  ['names what every object has', () => '__proto__=1'],
];

describe('a destination whose URL', () => {
  test.each(attacks)('%s is refused by the pod that would publish, which starts no ffmpeg', async (_what, query) => {
    await makeVictim();
    const ffmpeg = await watchedFfmpeg();
    const rtmpUrl = `srt://127.0.0.1:${await listen()}?${query(victimFile)}`;
    const result = await probe({ rtmpUrl, rtmpKey: 'k' }, { sender: ffmpeg.path, allowPrivate: true });
    expect(result).toMatchObject({ ok: false, stage: 'resolve', code: 'not_configured' });
    expect(ffmpeg.wasStarted()).toBe(false);
    await expectUntouched();
  });

  test.each(attacks)('%s is refused by the API, which names the allowed options', async (_what, query) => {
    const rtmpUrl = `srt://127.0.0.1:9000?${query('/tmp/victim')}`;
    const refusals = [await mallory.call('POST', '/destinations', { name: 'x', rtmpUrl, rtmpKey: 'k' })];
    const good = await mallory.call('POST', '/destinations', {
      name: 'x',
      rtmpUrl: 'srt://127.0.0.1:9000',
      rtmpKey: 'k',
    });
    expect(good.status).toBe(201);
    refusals.push(await mallory.call('PATCH', `/destinations/${good.body.id}`, { rtmpUrl }));
    for (const { status, body } of refusals) {
      expect(status).toBe(422);
      expect(body).toMatchObject({ code: 'validation_failed', errors: [{ path: '/rtmpUrl' }] });
      expect(body.errors[0].message).toMatch(/^sets (an|the) SRT option/);
    }
    await mallory.call('DELETE', `/destinations/${good.body.id}`);
  });
});

test('a preset that names an encoder all the same makes nothing but a copy', async () => {
  await makeVictim();
  const address = readAddress({ rtmpUrl: `srt://127.0.0.1:${await listen()}`, rtmpKey: 'k' });
  const preset = `${address.preset}vcodec=libx264\nflags=+pass1\nstats=${victimFile}\n`;
  await publish({ ...address, preset }, '127.0.0.1', { sender: 'ffmpeg', acceptMs: 10_000, clock: systemClock });
  await expectUntouched();
});

test('customers’ SRT options still work: every option of the table reaches a listener', async () => {
  const query = new URLSearchParams({
    latency: '200000',
    rcvlatency: '200000',
    peerlatency: '200000',
    pkt_size: '1316',
    mss: '1500',
    ffs: '25600',
    maxbw: '0',
    inputbw: '1000000',
    oheadbw: '25',
    sndbuf: '1000000',
    rcvbuf: '1000000',
    connect_timeout: '3000',
    timeout: '5000000',
    tlpktdrop: '1',
    nakreport: 'true',
    snddropdelay: '0',
    lossmaxttl: '10',
    ipttl: '64',
    iptos: '0',
    mode: 'caller',
    transtype: 'live',
    streamid: '#!::r=live/x,m=publish',
    enforced_encryption: '0',
    pbkeylen: '16',
  });
  for (const name of query.keys()) expect([...SRT_OPTIONS.keys()]).toContain(name);
  const rtmpUrl = `srt://127.0.0.1:${await listen()}?${query}`;
  expect(await probe({ rtmpUrl, rtmpKey: '' }, { sender: 'ffmpeg', allowPrivate: true })).toMatchObject({ ok: true });
});
