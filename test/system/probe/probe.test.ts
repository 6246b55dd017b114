/** Tests one attempt at destinations of every kind: real receivers, and other servers. */
import { spawn } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { mkdtemp, readFile, stat } from 'node:fs/promises';
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { Lifecycle } from '../../../src/core/lib/lifecycle.ts';
import { createLogger } from '../../../src/core/lib/log.ts';
import { type ProbeOptions, probe } from '../../../src/core/pods/probe/probe.ts';
import { runProbe } from '../../../src/core/pods/probe/run.ts';
import { probeConfig } from '../../../src/core/protocol/environment.ts';
import type { ProbeResult } from '../../../src/core/resources/destination/spec.ts';
import { reserveFreePort } from '../../../tools/process/ports.ts';
import { everyCommandLine } from '../../kit/make/destinations.ts';
import { computeSteps, readPackets, writeAtomically } from '../../kit/make/streamer.ts';
import { makeAuthority, startStunnel } from '../../kit/real/certificates.ts';
import { type RtmpServer, startRtmpServer } from '../../kit/real/rtmp.ts';
import { tempDir } from '../../kit/temp-dir.ts';
import { until } from '../../kit/wait.ts';
import { startLoginServer } from '../streamer/rtmp-clients.ts';

const KEY = 'verysecret-probe-4711';

const root = tempDir();
let rtmp: RtmpServer;
const cleanups: (() => unknown)[] = [];

beforeAll(async () => {
  rtmp = await startRtmpServer({ record: join(root, 'recordings') });
});
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});
afterAll(() => rtmp?.close());

const attempt = (rtmpUrl: string, rtmpKey = KEY, options: Partial<ProbeOptions> = {}): Promise<ProbeResult> =>
  probe({ rtmpUrl, rtmpKey }, { sender: 'ffmpeg', allowPrivate: true, ...options });

async function listen(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  cleanups.push(() => server.close());
  return (server.address() as AddressInfo).port;
}

/** Starts a server that runs `greet` for each connection. */
async function answering(greet: (socket: Socket) => void): Promise<number> {
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    sockets.push(socket.on('error', () => undefined));
    greet(socket);
  });
  cleanups.push(() => sockets.forEach((socket) => void socket.destroy()));
  return listen(server);
}

/** Starts stunnel in front of the receiver. */
async function secure(name: string): Promise<{ url: string; caFile: string }> {
  const authority = await makeAuthority(join(root, name));
  const stunnel = await startStunnel(rtmp.port, await authority.issue(name, 'DNS:localhost'));
  cleanups.push(() => stunnel.close());
  return { url: `rtmps://localhost:${stunnel.port}/live`, caFile: authority.caFile };
}

describe('a destination that takes media', () => {
  test('gets pictures and sound for a moment, and a clean end; no process shows the key', async () => {
    const seen: string[] = [];
    const watch = setInterval(() => seen.push(everyCommandLine()), 100);
    cleanups.push(() => clearInterval(watch));
    const result = await attempt(rtmp.url);
    clearInterval(watch);
    expect(result).toEqual({ ok: true, stage: 'publish', message: expect.any(String), tookMs: expect.any(Number) });
    await until('the receiver saw it leave', async () => (await rtmp.log()).includes(KEY));
    const [recording = '', ...others] = await rtmp.recordings(KEY);
    expect(others).toEqual([]);
    const packets = await readPackets(recording);
    for (const type of ['video', 'audio'] as const) expect(computeSteps(packets, type).packets).toBeGreaterThan(30);
    // The assertion message excludes the searched text, which holds the output of the whole machine.
    expect(seen.some((all) => all.includes(`rtmp://127.0.0.1:${rtmp.port}`))).toBe(true);
    expect(seen.some((all) => all.includes(KEY))).toBe(false);
  });

  test('by RTMPS too, when its certificate is one of those that are trusted', async () => {
    const { url, caFile } = await secure('trusted');
    expect(await attempt(url, 'by-rtmps', { caFile })).toMatchObject({ ok: true, stage: 'publish' });
    expect(await rtmp.recordings('by-rtmps')).toHaveLength(1);
  });

  test('and by SRT', async () => {
    const socket = createSocket('udp4').bind(0, '127.0.0.1');
    await once(socket, 'listening');
    const { port } = socket.address();
    socket.close();
    await once(socket, 'close');
    const file = join(root, 'srt.ts');
    const input = ['-f', 'data', '-i', `srt://127.0.0.1:${port}?mode=listener`];
    const child = spawn('ffmpeg', [
      '-v',
      'quiet',
      '-nostdin',
      '-y',
      ...input,
      '-map',
      '0',
      '-c',
      'copy',
      '-f',
      'data',
      file,
    ]);
    cleanups.push(() => child.kill('SIGKILL'));
    const local = `:${port.toString(16).toUpperCase().padStart(4, '0')} `;
    await until('it listens', async () => (await readFile('/proc/net/udp', 'latin1')).includes(local));
    expect(await attempt(`srt://127.0.0.1:${port}`)).toMatchObject({ ok: true, stage: 'publish' });
    await until('something came', async () => (await stat(file)).size > 10_000);
  });
});

describe('an address as people write it reaches its server', () => {
  const at = (path: string) => `rtmp://127.0.0.1:${rtmp.port}${path}`;
  test.each<[what: string, write: () => [rtmpUrl: string, rtmpKey: string], name: string]>([
    ['with a slash at its end', () => [at('/live/'), 'slash'], 'slash'],
    ['with the key at its end', () => [at('/live/pasted'), ''], 'pasted'],
    ['with the key at its end, and beside it', () => [at('/live/twice/'), 'twice'], 'twice'],
    ['with a query behind the key', () => [at('/live'), 'query?a=b&c=d'], 'query'],
    ['with a user name and password', () => [at('/live').replace('://', '://ada:p%40ss@'), 'login'], 'login'],
    ['in quotes, its key too', () => [`"${at('/live')}"`, '“quoted”'], 'quoted'],
  ])('%s', async (_what, write, name) => {
    expect(await attempt(...write())).toMatchObject({ ok: true, stage: 'publish' });
    expect(await rtmp.recordings(name)).toHaveLength(1);
  });

  test('where all of the path is the name, as MediaMTX takes it', async () => {
    const login = { user: 'myuser', password: 'pw-0815-4711' };
    const server = await startLoginServer(login);
    cleanups.push(() => server.close());
    const rtmpUrl = `${server.url}/mystream`.replace('://', `://${login.user}:${login.password}@`);
    expect(await attempt(rtmpUrl, '')).toMatchObject({ ok: true, stage: 'publish' });
    expect(server.urls()).toEqual([`${server.url}/mystream`]);
  });
});

describe('a destination that does not', () => {
  const cases: [what: string, make: () => Promise<string>, stage: ProbeResult['stage'], code: string, says: RegExp][] =
    [
      [
        'has no URL that can be used',
        async () => 'http://example.com/',
        'resolve',
        'not_configured',
        /must begin with rtmp/,
      ],
      [
        'has a host that has no address',
        async () => 'rtmp://no-such-host.invalid/live',
        'resolve',
        'dns_failed',
        /resolved/,
      ],
      [
        'has a port at which nobody listens',
        async () => `rtmp://127.0.0.1:${await reserveFreePort()}/live`,
        'connect',
        'connection_refused',
        /refuses/,
      ],
      ['speaks no TLS', async () => rtmp.url.replace('rtmp:', 'rtmps:'), 'tls', 'tls_failed', /does not speak TLS/],
      [
        'has a certificate of an authority that nobody trusts',
        async () => (await secure('stranger')).url,
        'tls',
        'tls_failed',
        /that is not trusted/,
      ],
      [
        'takes the connection and says nothing',
        async () => `rtmp://127.0.0.1:${await answering((socket) => socket.pause())}/live`,
        'handshake',
        'connect_timeout',
        /in time/,
      ],
      [
        'says nothing where TLS is spoken',
        async () => `rtmps://127.0.0.1:${await answering((socket) => socket.pause())}/live`,
        'tls',
        'connect_timeout',
        /in time/,
      ],
      [
        'closes the connection',
        async () => `rtmp://127.0.0.1:${await answering((socket) => socket.end())}/live`,
        'handshake',
        'reset',
        /closed the connection/,
      ],
      [
        'speaks HTTP',
        async () => `rtmp://127.0.0.1:${await listen(createHttpServer())}/live`,
        'handshake',
        'reset',
        /does not speak RTMP/,
      ],
      [
        'does not have the application',
        async () => rtmp.url.replace('/live', '/absent'),
        'publish',
        'publish_rejected',
        /rejected/,
      ],
      [
        'refuses the publish',
        async () => {
          const guard = await listen(createHttpServer((_, response) => response.writeHead(403).end()));
          const onPublish = `http://127.0.0.1:${guard}/`;
          const guarded = await startRtmpServer({ record: join(root, 'guarded'), onPublish });
          cleanups.push(() => guarded.close());
          return guarded.url;
        },
        'publish',
        'publish_rejected',
        /key may be wrong/,
      ],
      ['is an SRT port at which nobody listens', async () => 'srt://127.0.0.1:9', 'connect', 'unreachable', /reached/],
    ];
  test.each(cases)(
    'because it %s is reported by stage and code, without its key',
    async (_what, make, stage, code, says) => {
      const result = await attempt(await make());
      expect(result).toMatchObject({ ok: false, stage, code, message: expect.stringMatching(says) });
      expect(JSON.stringify(result)).not.toContain(KEY);
    },
  );

  test('because somebody else publishes with its key says so, and the other one goes on', async () => {
    const args = ['-v', 'quiet', '-re', '-f', 'lavfi', '-i', 'testsrc=r=30', '-c:v', 'libx264', '-f', 'flv'];
    const other = spawn('ffmpeg', [...args, `${rtmp.url}/taken`], { stdio: 'ignore' });
    cleanups.push(() => other.kill('SIGKILL'));
    const [recording = ''] = await until('it publishes', async () => {
      const found = await rtmp.recordings('taken');
      return found.length > 0 && found;
    });
    expect(await attempt(rtmp.url, 'taken')).toMatchObject({ ok: false, stage: 'publish', code: 'key_in_use' });
    const { size } = await stat(recording);
    await until('more came of it', async () => (await stat(recording)).size > size);
  });
});

describe('the role', () => {
  const run = async (rtmpUrl: string, lifecycle = new Lifecycle(), env: Record<string, string> = {}) => {
    const dir = await mkdtemp(join(root, 'role-'));
    await writeAtomically(join(dir, 'rtmpUrl'), `${rtmpUrl}\n`);
    await writeAtomically(join(dir, 'rtmpKey'), `${KEY}\n`);
    const resultFile = join(dir, 'result');
    const given = {
      LOOPSTREAM_DESTINATION_DIR: dir,
      LOOPSTREAM_RESULT_FILE: resultFile,
      LOOPSTREAM_ALLOW_PRIVATE_DESTINATIONS: 'true',
      ...env,
    };
    const code = await runProbe(probeConfig(given), lifecycle, createLogger('probe', 'silent'));
    return { code, result: await readFile(resultFile, 'utf8').catch(() => undefined) };
  };

  test('reads the destination from files and leaves one answer, also when that is a no', async () => {
    const { code, result = '' } = await run(`rtmp://127.0.0.1:${await reserveFreePort()}/live`);
    expect(code).toBe(0);
    expect(JSON.parse(result)).toMatchObject({ ok: false, stage: 'connect', code: 'connection_refused' });
  });

  test('that is stopped in between leaves no process, and closes its connection', async () => {
    const lifecycle = new Lifecycle();
    const publishes = async () => (await rtmp.recordings(KEY)).length;
    const before = await publishes();
    const running = run(rtmp.url, lifecycle);
    await until('it publishes', async () => (await publishes()) > before);
    await lifecycle.stop();
    expect(await running).toEqual({ code: 1, result: undefined });
    expect(everyCommandLine().includes(`rtmp://127.0.0.1:${rtmp.port}`)).toBe(false);
  });
});
