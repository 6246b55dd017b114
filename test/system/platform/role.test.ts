/** Tests the role `platform` on a real control plane, with an observer that reports what the test says. */
import { once } from 'node:events';
import { afterEach, expect, test } from 'vitest';
import { CONFIG_MAPS, LEASES, PODS, SECRETS } from '../../../src/core/kube/core.ts';
import type { Resource } from '../../../src/core/kube/types.ts';
import { createLogger } from '../../../src/core/lib/log.ts';
import type { ApiObserverDeps, Observer, PlatformTarget } from '../../../src/core/platform/common/observer.ts';
import { PLATFORM_LEASE } from '../../../src/core/platform/main.ts';
import type { ObserverTable } from '../../../src/core/platform/observers.ts';
import { NEW_REPAIR } from '../../../src/core/platform/youtube/repair.ts';
import { VIEW_KEY_KEY, VIEW_KEY_SECRET } from '../../../src/core/resources/common/names.ts';
import { type DestinationPlatform, readPlatformView } from '../../../src/core/resources/destination/platform.ts';
import { DESTINATIONS } from '../../../src/core/resources/destination/resource.ts';
import { LOOPSTREAMS } from '../../../src/core/resources/stream/resource.ts';
import { viewToken } from '../../../src/core/resources/stream/view-token.ts';
import {
  aroundPlatformTests,
  createLiveStream,
  createWatched,
  findPlatformLive,
  kube,
  readDestination,
  type StartedPlatform,
  setStreamStatus,
  startFakeStreamer,
  startPlatform,
} from '../../kit/system/platform-system.ts';
import { until } from '../../kit/wait.ts';

const NS = 'viewers';
const WATCH: DestinationPlatform = { kind: 'watch', policy: 'Observe', url: 'https://tv.example/live.m3u8' };
const VALID_MS = 60_000;

aroundPlatformTests(NS);

const started: StartedPlatform[] = [];
async function start(...args: Parameters<typeof startPlatform> extends [string, ...infer Rest] ? Rest : never) {
  const platform = await startPlatform(NS, ...args);
  started.push(platform);
  return platform;
}

afterEach(async () => {
  for (const { lifecycle } of started.splice(0)) await lifecycle.stop();
  for (const resource of [DESTINATIONS, LOOPSTREAMS, SECRETS, CONFIG_MAPS, LEASES] as Resource[])
    for (const { metadata } of await kube.list(resource, { namespace: NS }))
      if (metadata.name !== 'kube-root-ca.crt') await kube.delete(resource, NS, metadata.name);
  for (const { metadata } of await kube.list(PODS, { namespace: NS }))
    await kube.delete(PODS, NS, metadata.name, { gracePeriodSeconds: 0 });
});

/** An observer whose words are the test's. */
function scripted() {
  const seen = { deps: undefined as ApiObserverDeps | undefined, targets: [] as readonly PlatformTarget[], starts: 0 };
  const create = (deps: ApiObserverDeps): Observer => {
    seen.deps = deps;
    seen.starts++;
    return {
      update: (targets) => {
        seen.targets = targets;
      },
      ended: once(deps.signal, 'abort').then(() => undefined),
    };
  };
  const observers: ObserverTable = { watch: create, youtube: create };
  return {
    seen,
    observers,
    target: (name: string) => seen.targets.find(({ key }) => key === `${NS}/${name}`),
    async report(name: string, ...[verdict, validMs = VALID_MS]: [Parameters<ApiObserverDeps['report']>[1], number?]) {
      const { report } = await until('an observer', () => seen.deps);
      await until(`the target ${name}`, () => seen.targets.some(({ key }) => key === `${NS}/${name}`));
      report(`${NS}/${name}`, verdict, validMs);
    },
  };
}

const waitForCondition = (name: string, reason: string) =>
  until(`${name} has the reason ${reason}`, async () => {
    const condition = findPlatformLive(await readDestination(NS, name));
    return condition?.reason === reason && condition;
  });

test('a verdict becomes the status of its destination, and only a change of status moves the transition time', async () => {
  const observer = scripted();
  await start({ observers: observer.observers });
  await createWatched(NS, 'tv', WATCH);
  await observer.report('tv', { status: 'True', viewers: 7, issues: [] });
  const first = await waitForCondition('tv', 'Seen');
  expect(readPlatformView(await readDestination(NS, 'tv'), new Date())).toMatchObject({ status: 'True', viewers: 7 });
  await observer.report('tv', { status: 'True', reason: 'limit_near', issues: [] });
  expect((await waitForCondition('tv', 'LimitNear')).lastTransitionTime).toBe(first.lastTransitionTime);
  await observer.report('tv', { status: 'False', reason: 'frozen', issues: [] });
  const fault = await waitForCondition('tv', 'Frozen');
  expect(fault).toMatchObject({ status: 'False', message: expect.stringContaining('stands still') });
});

test('nothing begins while no destination names a platform, and no kind without one of its own', async () => {
  const observer = scripted();
  await start({ observers: observer.observers });
  await createWatched(NS, 'plain', undefined);
  await createWatched(NS, 'twitch', { kind: 'twitch', policy: 'Observe', channel: 'me' });
  await createWatched(NS, 'tv', WATCH);
  await until('the observer of watch', () => observer.target('tv'));
  expect(observer.seen.starts).toBe(1);
  expect(observer.seen.targets).toHaveLength(1);
});

test('without spec.platform, the status and the condition go too', async () => {
  const observer = scripted();
  await start({ observers: observer.observers });
  await createWatched(NS, 'tv', WATCH);
  await observer.report('tv', { status: 'True', issues: [] });
  await waitForCondition('tv', 'Seen');
  const ended = once(observer.seen.deps?.signal ?? new EventTarget(), 'abort');
  await kube.mergePatch(DESTINATIONS, NS, 'tv', { spec: { platform: null } });
  await until('the status is clear', async () => {
    const destination = await readDestination(NS, 'tv');
    return !destination.status?.platform && !findPlatformLive(destination);
  });
  await ended;
});

test('an edit of where to look is Unknown at once: what was seen elsewhere is no answer', async () => {
  const observer = scripted();
  await start({ observers: observer.observers });
  await createWatched(NS, 'tv', WATCH);
  await observer.report('tv', { status: 'True', issues: [] });
  await waitForCondition('tv', 'Seen');
  await kube.mergePatch(DESTINATIONS, NS, 'tv', { spec: { platform: { url: 'https://other.example/live.m3u8' } } });
  expect((await waitForCondition('tv', 'Starting')).status).toBe('Unknown');
  expect(observer.target('tv')?.editedMs).toBeDefined();
});

test('a status that the operator writes meanwhile stays, and so does ours', async () => {
  const observer = scripted();
  await start({ observers: observer.observers });
  await createWatched(NS, 'tv', WATCH);
  for (let round = 0; round < 5; round++) {
    await Promise.all([
      observer.report('tv', { status: 'False', reason: round % 2 ? 'black' : 'frozen', issues: [] }),
      kube.mergePatch(DESTINATIONS, NS, 'tv', { status: { rtmpKeyHint: `${round}` } }, { subresource: 'status' }),
    ]);
    await waitForCondition('tv', round % 2 ? 'Black' : 'Frozen');
    expect((await readDestination(NS, 'tv')).status?.rtmpKeyHint).toBe(`${round}`);
  }
});

test('a new process writes nothing until it knows better', async () => {
  const first = scripted();
  const before = await start({ observers: first.observers });
  await createWatched(NS, 'tv', WATCH);
  await first.report('tv', { status: 'True', issues: [] });
  await waitForCondition('tv', 'Seen');
  await before.lifecycle.stop();
  const { resourceVersion } = (await readDestination(NS, 'tv')).metadata;
  const next = scripted();
  await start({ observers: next.observers });
  await next.report('tv', { status: 'Unknown', reason: 'unconfirmed', issues: [] });
  await next.report('tv', { status: 'True', issues: [] });
  const metrics = await readMetrics(started.at(-1));
  expect(metrics).toContain('loopstream_platform_watched_destinations{kind="watch"} 1');
  // A destination that is written after it shows that the first one had its turn.
  await createWatched(NS, 'later', WATCH);
  await next.report('later', { status: 'Unknown', reason: 'unconfirmed', issues: [] });
  await waitForCondition('later', 'Unconfirmed');
  expect((await readDestination(NS, 'tv')).metadata.resourceVersion).toBe(resourceVersion);
});

test('what a process that is gone has said is Unknown once its time is over', async () => {
  const observer = scripted();
  const platform = await start({ observers: observer.observers });
  await createWatched(NS, 'tv', WATCH);
  await observer.report('tv', { status: 'True', issues: [] });
  await waitForCondition('tv', 'Seen');
  await platform.lifecycle.stop();
  const destination = await readDestination(NS, 'tv');
  const expiresMs = Date.parse(destination.status?.platform?.expiresAt ?? '');
  expect(readPlatformView(destination, new Date(expiresMs - 1))?.status).toBe('True');
  expect(readPlatformView(destination, new Date(expiresMs))).toMatchObject({
    status: 'Unknown',
    reason: 'not_checked',
  });
});

test('of two processes one leads, and the other takes over when it is gone', async () => {
  const env = { LOOPSTREAM_LEADER_ELECTION: 'true' };
  const [a, b] = [scripted(), scripted()];
  await createWatched(NS, 'tv', WATCH);
  const first = await start({ observers: a.observers, env });
  await a.report('tv', { status: 'True', issues: [] });
  await waitForCondition('tv', 'Seen');
  const second = await start({ observers: b.observers, env });
  expect(await readMetrics(second)).toMatch(/leader_election_master_status\{name="loopstream-platform".*\} 0/);
  expect(b.seen.starts).toBe(0);
  await first.lifecycle.stop();
  await b.report('tv', { status: 'False', reason: 'frozen', issues: [] });
  await waitForCondition('tv', 'Frozen');
  expect((await kube.get(LEASES, NS, PLATFORM_LEASE)).spec.holderIdentity).toBeTruthy();
});

test('a target names the pod that publishes, since when, and the token of its preview', async () => {
  const observer = scripted();
  const streamer = await startFakeStreamer('127.78.0.1');
  try {
    const connectedSince = new Date(Date.now() - 60_000).toISOString();
    streamer.outputs = [{ name: 'tv', connected: true, connectedSince }];
    await kube.create(SECRETS, NS, {
      metadata: { name: VIEW_KEY_SECRET },
      stringData: { [VIEW_KEY_KEY]: 'k' },
    } as never);
    await createWatched(NS, 'tv', WATCH);
    await createWatched(NS, 'other', WATCH);
    await createLiveStream(NS, 'bunny', { destinations: ['tv', 'other'], podIP: '127.78.0.1' });
    await start({ observers: observer.observers });
    const target = await until('the pod says since when', () => {
      const found = observer.target('tv');
      return found?.publishing?.sinceMs === Date.parse(connectedSince) && found;
    });
    const { uid } = (await kube.get(LOOPSTREAMS, NS, 'bunny')).metadata;
    expect(target.publishing?.podUrl).toBe('http://127.78.0.1:9400');
    expect(await target.publishing?.readViewToken()).toBe(viewToken('k', uid));
    expect(streamer.tokens).toContain(`Bearer ${viewToken('k', uid)}`);
    await until('the other destination gets nothing', () => observer.target('other')?.publishing === null);

    streamer.outputs = [{ name: 'tv', connected: false, connectedSince: null }];
    await until('nobody publishes', () => observer.target('tv')?.publishing === null);
    streamer.outputs = [{ name: 'tv', connected: true, connectedSince }];
    await until('it publishes again', () => observer.target('tv')?.publishing);
    await setStreamStatus(NS, 'bunny', { phase: 'stopped' });
    await until('the stream has stopped', () => observer.target('tv')?.publishing === null);
  } finally {
    streamer.server.close();
  }
});

test('a repair is written by compare and swap, and outlives statements and processes', async () => {
  const observer = scripted();
  await start({ observers: observer.observers });
  await createWatched(NS, 'yt', { kind: 'youtube', policy: 'Repair', secretName: 'token' });
  await until('the target', () => observer.target('yt'));
  const { loadRepair, saveRepair } = observer.seen.deps as ApiObserverDeps;
  const key = `${NS}/yt`;
  const loaded = await loadRepair(key);
  expect(loaded.state).toEqual(NEW_REPAIR);
  const marked = { ...NEW_REPAIR, phase: 'inserting' as const, insertsMs: [1000], mark: 'm', markedMs: 1000 };
  const version = await saveRepair(key, marked, loaded.version);
  expect(version).toBeDefined();
  expect(await saveRepair(key, NEW_REPAIR, loaded.version)).toBeUndefined();
  await observer.report('yt', { status: 'False', reason: 'broadcast_ended', issues: [] });
  await waitForCondition('yt', 'BroadcastEnded');
  const after = await loadRepair(key);
  expect(after.state).toEqual(marked);
  expect(after.version).not.toBe(version);
  expect(await saveRepair(key, { ...NEW_REPAIR, phase: 'inserted', broadcastId: 'b' }, after.version)).toBeDefined();
  const { repair } = (await readDestination(NS, 'yt')).status?.platform ?? {};
  expect(repair).toEqual({ phase: 'inserted', inserts: [], broadcastId: 'b' });
});

test('a destination that is made anew under the same name has none of the last one’s repairs', async () => {
  const observer = scripted();
  await start({ observers: observer.observers });
  const platform: DestinationPlatform = { kind: 'youtube', policy: 'Repair', secretName: 'token' };
  await createWatched(NS, 'yt', platform);
  await until('the target', () => observer.target('yt'));
  const { loadRepair, saveRepair } = observer.seen.deps as ApiObserverDeps;
  const { version } = await loadRepair(`${NS}/yt`);
  await kube.delete(DESTINATIONS, NS, 'yt');
  await kube.delete(SECRETS, NS, 'yt');
  await createWatched(NS, 'yt', platform);
  expect(await saveRepair(`${NS}/yt`, { ...NEW_REPAIR, mark: 'm' }, version)).toBeUndefined();
});

test('a shared counter loses no change of processes that write at the same time', async () => {
  const observers = [scripted(), scripted()];
  await createWatched(NS, 'yt', { kind: 'youtube', policy: 'Observe', videoId: 'aqz-KE-bpKQ' });
  for (const { observers: table } of observers) await start({ observers: table });
  const deps = await Promise.all(observers.map(({ seen }) => until('an observer', () => seen.deps)));
  const count = (before: string | undefined) => String(Number(before ?? 0) + 1);
  let changes = 0;
  for (let round = 0; round < 10; round++) {
    const results = await Promise.allSettled(deps.map(({ updateShared }) => updateShared('units', count)));
    changes += results.filter((one) => one.status === 'fulfilled' && one.value).length;
  }
  expect((await kube.get(CONFIG_MAPS, NS, 'loopstream-platform')).data).toEqual({ units: String(changes) });
  expect(await deps[0]?.updateShared('units', () => undefined)).toBe(false);
});

test('Secrets are read on demand, and reach no log and no metric', async () => {
  const lines: string[] = [];
  const observer = scripted();
  const log = createLogger('platform', 'trace', { write: (line) => void lines.push(line) });
  const platform = await start({
    observers: observer.observers,
    log,
    env: { LOOPSTREAM_YOUTUBE_API_KEY: 'AIza-hidden-1', LOOPSTREAM_YOUTUBE_CLIENT_SECRET: 'hidden-2' },
  });
  await createWatched(
    NS,
    'yt',
    { kind: 'youtube', policy: 'Observe', secretName: 'token' },
    { rtmpUrl: 'rtmp://a.rtmp.youtube.com/live2/hidden-3', rtmpKey: '' },
  );
  await kube.create(SECRETS, NS, { metadata: { name: 'token' }, stringData: { refreshToken: 'hidden-4\n' } } as never);
  await until('the target', () => observer.target('yt'));
  const { readSecrets } = observer.seen.deps as ApiObserverDeps;
  expect(await readSecrets(`${NS}/yt`)).toEqual({ rtmpKey: 'hidden-3', refreshToken: 'hidden-4' });
  await kube.delete(SECRETS, NS, 'token');
  expect(await readSecrets(`${NS}/yt`)).toEqual({ rtmpKey: 'hidden-3' });
  await kube.delete(SECRETS, NS, 'yt');
  expect(await readSecrets(`${NS}/yt`)).toEqual({});
  await observer.report('yt', { status: 'Unknown', reason: 'unauthorized', issues: [] });
  await waitForCondition('yt', 'Unauthorized');
  expect(lines.join('') + (await readMetrics(platform))).not.toContain('hidden');
  expect(lines.length).toBeGreaterThan(0);
});

async function readMetrics(platform: StartedPlatform | undefined): Promise<string> {
  return (await fetch(`http://127.0.0.1:${platform?.opsPort}/metrics`)).text();
}
