/**
 * Tests servers that ask a publisher for a user name and password: independent ones, and the tests' own, which independent clients verify.
 */
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { probe } from '../../../src/core/pods/probe/probe.ts';
import { type LoginStyle, type RtmpRecorder, startRtmpRecorder } from '../../kit/fake/rtmp-recorder.ts';
import { connected, destination, everyCommandLine, failed } from '../../kit/make/destinations.ts';
import { live, openStudio, type Studio } from '../../kit/make/onair.ts';
import { buildProgram } from '../../kit/make/streamer.ts';
import { makeAuthority, startStunnel } from '../../kit/real/certificates.ts';
import { until } from '../../kit/wait.ts';
import { ffmpegPublish, gortmplibPublish, librtmpPublish, type RtmpClient, startLoginServer } from './rtmp-clients.ts';

const LOGIN = { user: 'myuser', password: 'verysecret-pw-0815' };
const KEY = 'verysecret-key-0815';

let studio: Studio;
let onAir: Studio['onAir'];
beforeAll(async () => {
  studio = await openStudio();
  ({ onAir } = studio);
});
afterEach(() => studio?.cleanUp());
afterAll(() => studio?.close());

async function recorder(style: LoginStyle, login = LOGIN): Promise<RtmpRecorder & { url: string }> {
  const made = await startRtmpRecorder({ login: { ...login, style } });
  studio.cleanups.push(() => made.close());
  return { ...made, url: `rtmp://127.0.0.1:${made.port}/live` };
}

// Debian's librtmp answers Adobe's challenge with a wrong digest, or crashes, at other servers too.
const CLIENTS: [LoginStyle, Record<string, RtmpClient>][] = [
  ['wowza', { ffmpegPublish }],
  ['mediamtx', { ffmpegPublish, gortmplibPublish }],
  ['limelight', { ffmpegPublish, librtmpPublish }],
];

describe.each(CLIENTS)('a server that asks for a login as %s does', (style, clients) => {
  test.each(Object.entries(clients))('takes %s with the right password alone', async (_name, publish) => {
    const server = await recorder(style);
    expect(await publish(`${server.url}/k`, LOGIN)).toBe(true);
    expect(server.publishes).toEqual([expect.objectContaining({ name: 'k' })]);
    expect(await publish(`${server.url}/k`, { ...LOGIN, password: 'another' })).toBe(false);
    expect(server.publishes).toHaveLength(1);
  });

  test('accepts a stream without revealing its password, and refuses another user, another password and none', async () => {
    const server = await recorder(style);
    const { user, password } = LOGIN;
    const names = ['right', 'pasted', 'wrong', 'stranger', 'none'];
    const stream = await onAir(buildProgram(studio.items, { destinations: names }), {
      right: [server.url, KEY, [user, password]],
      pasted: [server.url.replace('://', `://${user}:${password}@`), 'pasted'],
      wrong: [server.url, 'wrong', [user, 'verysecret-pw-4711']],
      stranger: [server.url, 'stranger', ['verysecret-user', password]],
      none: [server.url, 'none'],
    });
    await Promise.all(['right', 'pasted'].map((name) => connected(stream, name)));
    await Promise.all(['wrong', 'stranger'].map((name) => failed(stream, name, 'login_refused')));
    await failed(stream, 'none', 'login_required');
    const commandLines = everyCommandLine();
    expect(commandLines).toContain(`127.0.0.1:${server.port}`);
    const metrics = await (await fetch(`${stream.base}/metrics`)).text();
    const shown = [commandLines, stream.log(), metrics, JSON.stringify(await stream.stats())];
    for (const text of shown) expect(text.includes('verysecret')).toBe(false);
    // Even the server never gets the password.
    expect(server.received()).not.toContain('-pw-');
    expect(server.publishes.map(({ name }) => name).sort()).toEqual(['pasted', KEY].sort());
    const bytes = server.mediaBytes();
    await until('media comes', () => server.mediaBytes() > bytes);
    for (const name of ['right', 'pasted']) expect(await destination(stream, name)).toMatchObject({ reconnects: 0 });
  });
});

test('the server of MediaMTX accepts ffmpeg and a stream with the right password, and distinguishes a wrong one from a wrong key', async () => {
  const server = await startLoginServer(LOGIN);
  studio.cleanups.push(() => server.close());
  const url = `${server.url}/live`;
  expect(await ffmpegPublish(`${url}/by-ffmpeg`, LOGIN)).toBe(true);
  const stream = await onAir(buildProgram(studio.items, { destinations: ['main', 'wrong'] }), {
    main: [url, 'by-us?x=1&y=2', [LOGIN.user, LOGIN.password]],
    wrong: [url, 'wrong', [LOGIN.user, 'another']],
  });
  await connected(stream, 'main');
  await failed(stream, 'wrong', 'login_refused');
  expect(server.urls()).toEqual([`${url}/by-ffmpeg`, `${url}/by-us?x=1&y=2`]);
});

test('by RTMPS too, and nothing is said to a server whose certificate is not trusted', async () => {
  const server = await recorder('wowza');
  const authority = await makeAuthority(join(studio.root, 'login'));
  const stunnel = await startStunnel(server.port, await authority.issue('login', 'DNS:localhost'));
  studio.cleanups.push(() => stunnel.close());
  const rtmpUrl = `rtmps://localhost:${stunnel.port}/live`;
  const given = { rtmpUrl, rtmpKey: KEY, rtmpUser: LOGIN.user, rtmpPassword: LOGIN.password };
  const options = { sender: 'ffmpeg', allowPrivate: true };
  expect(await probe(given, options)).toMatchObject({ ok: false, code: 'tls_failed' });
  expect(server.connects).toEqual([]);
  expect(await probe(given, { ...options, caFile: authority.caFile })).toMatchObject({ ok: true, stage: 'publish' });
  expect(server.publishes).toEqual([expect.objectContaining({ name: KEY })]);
  expect(server.publishes[0]?.tcUrl).toMatch(new RegExp(`^rtmps://localhost:${stunnel.port}/live\\?authmod=adobe&`));
});

test('a login is unused where the server does not ask for it, and a change on air reconnects at once', async () => {
  const open = await startRtmpRecorder();
  studio.cleanups.push(() => open.close());
  const server = await recorder('mediamtx');
  const url = `rtmp://127.0.0.1:${open.port}/live`;
  const stream = await onAir(buildProgram(studio.items), { main: [url, 'first', [LOGIN.user, LOGIN.password]] });
  await live(stream);
  expect(open.publishes).toEqual([{ app: 'live', tcUrl: url, name: 'first' }]);
  await stream.destination('main', server.url, 'second', [LOGIN.user, 'old']);
  await failed(stream, 'main', 'login_refused');
  await stream.destination('main', server.url, 'second', [LOGIN.user, LOGIN.password]);
  await connected(stream, 'main');
  expect(server.publishes).toEqual([expect.objectContaining({ name: 'second' })]);
});
