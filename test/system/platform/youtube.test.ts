/**
 * Tests the role `platform` with YouTube, as a process on a real control plane, in real time: ffmpeg publishes to a real RTMP server, and a
 * stand-in of the platform says what its viewers see.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterEach, beforeAll, expect, test } from 'vitest';
import { SECRETS } from '../../../src/core/kube/core.ts';
import { readPlatformView } from '../../../src/core/resources/destination/platform.ts';
import { reserveFreePort } from '../../../tools/process/ports.ts';
import { startYoutube } from '../../kit/fake/youtube.ts';
import { readTrackPackets } from '../../kit/make/media.ts';
import { startRtmpServer } from '../../kit/real/rtmp.ts';
import { MAIN } from '../../kit/system/app.ts';
import {
  aroundPlatformTests,
  cluster,
  createLiveStream,
  createWatched,
  findPlatformLive,
  kube,
  readDestination,
  startFakeStreamer,
} from '../../kit/system/platform-system.ts';
import { tempDir } from '../../kit/temp-dir.ts';
import { until } from '../../kit/wait.ts';

const NS = 'youtube-viewers';
const POD_IP = '127.78.0.9';
const API_KEY = 'api-key-of-the-installer';
const CLIENT_SECRET = 'client-secret-of-the-installer';
const STEPS = ['POST liveBroadcasts', 'POST liveBroadcasts/bind', 'POST liveBroadcasts/transition'] as const;

aroundPlatformTests(NS);

const ends: (() => Promise<unknown> | unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
});

let streamer: Awaited<ReturnType<typeof startFakeStreamer>>;
beforeAll(async () => {
  streamer = await startFakeStreamer(POD_IP);
  return () => void streamer.server.close();
});

/** Publishes until the test ends. */
async function publish(url: string): Promise<void> {
  const picture = ['-f', 'lavfi', '-i', 'testsrc2=size=320x180:rate=15'];
  const codec = ['-c:v', 'libx264', '-preset', 'ultrafast', '-g', '30', '-pix_fmt', 'yuv420p'];
  const ffmpeg = spawn('ffmpeg', ['-v', 'error', '-re', ...picture, ...codec, '-f', 'flv', url], { stdio: 'ignore' });
  const exit = once(ffmpeg, 'exit');
  ends.push(async () => {
    ffmpeg.kill('SIGTERM');
    await exit;
  });
}

interface Role {
  child: ChildProcess;
  exit: Promise<unknown>;
  opsPort: number;
}

/** A stream that is on air, with a destination whose viewers are on YouTube. */
async function goOnAir(name: string, beforeAnswer: (call: string) => Promise<void> | undefined) {
  const record = tempDir();
  const server = await startRtmpServer({ record });
  ends.push(server.close);
  const youtube = await startYoutube({
    nowMs: Date.now,
    clientSecret: CLIENT_SECRET,
    autostarts: () => false,
    beforeAnswer,
  });
  ends.push(youtube.stop);
  const { world } = youtube;
  const channel = world.addChannel(name);
  const { id } = world.addBroadcast(name, { title: 'Rain for sleep' });

  await publish(`${server.url}/${channel.streamKey}`);
  const [recording] = await until('the receiver has media', async () => {
    const found = await server.recordings(channel.streamKey);
    return found.length > 0 && found;
  });
  world.publish(channel.streamId, true);
  world.setLive(id, channel.streamId);
  world.setViewers(id, 12);

  streamer.outputs.push({ name, connected: true, connectedSince: new Date(Date.now() - 600_000).toISOString() });
  const account = `${name}-account`;
  const stringData = { refreshToken: channel.refreshToken };
  await kube.create(SECRETS, NS, { metadata: { name: account }, stringData } as never);
  const platform = { kind: 'youtube', policy: 'Repair', secretName: account } as const;
  await createWatched(NS, name, platform, { rtmpUrl: server.url, rtmpKey: channel.streamKey });
  await createLiveStream(NS, `${name}-stream`, { destinations: [name], podIP: POD_IP });

  const lines: string[] = [];
  const startRole = async (): Promise<Role> => {
    const opsPort = await reserveFreePort();
    const env = {
      PATH: process.env.PATH,
      KUBECONFIG: cluster.kubeconfig,
      LOOPSTREAM_NAMESPACE: NS,
      LOOPSTREAM_LEADER_ELECTION: 'false',
      LOOPSTREAM_OPS_HOST: '127.0.0.1',
      LOOPSTREAM_OPS_PORT: String(opsPort),
      LOOPSTREAM_LOG_LEVEL: 'trace',
      LOOPSTREAM_YOUTUBE_API_KEY: API_KEY,
      LOOPSTREAM_YOUTUBE_CLIENT_ID: 'client',
      LOOPSTREAM_YOUTUBE_CLIENT_SECRET: CLIENT_SECRET,
      LOOPSTREAM_YOUTUBE_API_URL: youtube.apiUrl,
      LOOPSTREAM_GOOGLE_TOKEN_URL: youtube.tokenUrl,
    };
    const child = spawn(process.execPath, [MAIN, 'platform'], { env, stdio: ['ignore', 'pipe', 'pipe'] });
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (data) => lines.push(String(data)));
    const exit = once(child, 'exit');
    ends.push(async () => {
      child.kill('SIGKILL');
      await exit;
    });
    return { child, exit, opsPort };
  };
  const view = async () => readPlatformView(await readDestination(NS, name), new Date());
  const listNew = () => world.list().filter((one) => one.id !== id);
  const waitForStatus = (status: string) =>
    until(`PlatformLive of ${name} is ${status}`, async () => (await view())?.status === status && view());
  /** Everything that the role has told of itself. */
  const readWords = async ({ opsPort, child }: Role) => {
    const metrics = await (await fetch(`http://127.0.0.1:${opsPort}/metrics`)).text();
    return [...lines, metrics, JSON.stringify(await readDestination(NS, name)), child.spawnargs.join(' ')].join('\n');
  };
  const secrets = [channel.refreshToken, channel.streamKey, API_KEY, CLIENT_SECRET, 'ya29.'];
  return { ...channel, id, world, server, recording, startRole, waitForStatus, listNew, readWords, secrets, view };
}

/** One publish, whose pictures come without a break. */
async function expectUntouched({ server, recording, streamKey }: Awaited<ReturnType<typeof goOnAir>>): Promise<void> {
  expect(await server.recordings(streamKey)).toHaveLength(1);
  const { maxStep, notIncreasing } = await readTrackPackets(recording ?? '', 'v');
  expect({ isWithoutGap: maxStep < 0.2, notIncreasing }).toEqual({ isWithoutGap: true, notIncreasing: 0 });
}

test('an ended broadcast is told and made anew under a stream that goes on, and no secret is told', async () => {
  const onAir = await goOnAir('tv', () => undefined);
  const { id, world, listNew, waitForStatus, secrets } = onAir;
  const role = await onAir.startRole();
  await waitForStatus('True');
  expect(await onAir.view()).toMatchObject({ viewers: 12, broadcastId: id });
  world.complete(id);
  expect(await waitForStatus('False')).toMatchObject({ reason: 'broadcast_ended' });
  await until('a new broadcast', () => listNew().some(({ lifeCycleStatus }) => lifeCycleStatus === 'live'), 90_000);
  const next = listNew()[0]?.id;
  expect((await waitForStatus('True'))?.broadcastId).toBe(next);
  expect(listNew()).toHaveLength(1);
  await expectUntouched(onAir);
  const words = await onAir.readWords(role);
  for (const secret of secrets) expect(words).not.toContain(secret);
  expect(findPlatformLive(await readDestination(NS, 'tv'))?.reason).toBe('Seen');
});

test('a role that is killed after each step of a repair is followed by one that finishes it: one broadcast', async () => {
  const dead: string[] = [];
  let role: Role | undefined;
  const onAir = await goOnAir('killed', (call) => {
    if (!STEPS.some((step) => step === call) || dead.includes(call)) return undefined;
    dead.push(call);
    role?.child.kill('SIGKILL');
    // The answer is lost.
    return new Promise<void>(() => undefined);
  });
  const { id, world, listNew, waitForStatus } = onAir;
  role = await onAir.startRole();
  await waitForStatus('True');
  world.complete(id);
  for (const count of [1, 2, 3]) {
    await until(`${count} deaths`, () => dead.length === count, 120_000);
    await role.exit;
    role = await onAir.startRole();
  }
  await until('a new broadcast', () => listNew().some(({ lifeCycleStatus }) => lifeCycleStatus === 'live'), 120_000);
  expect((await waitForStatus('True'))?.broadcastId).toBe(listNew()[0]?.id);
  expect(listNew()).toHaveLength(1);
  expect(dead).toEqual(STEPS);
  await expectUntouched(onAir);
});
