/** Tests the operator with a real streamer: skips, the state of the next pod, the reports, and avoided writes. */
import { rename } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { EVENTS } from '../../../src/core/kube/core.ts';
import { readPodProgram } from '../../../src/core/protocol/to-streamer.ts';
import { findCondition } from '../../../src/core/resources/common/conditions.ts';
import { PUBLISHED_ANNOTATION, SKIP_ANNOTATIONS } from '../../../src/core/resources/common/names.ts';
import { PLAYLISTS } from '../../../src/core/resources/playlist/resource.ts';
import { LOOPSTREAMS, type LoopStream } from '../../../src/core/resources/stream/resource.ts';
import { renditionKey, renditionScope } from '../../../src/core/resources/upload/spec.ts';
import { openStudio, type Studio } from '../../kit/make/onair.ts';
import { MEDIA } from '../../kit/make/operator.ts';
import { makeRendition } from '../../kit/make/streamer.ts';
import {
  aroundEachTest,
  buildObject,
  createDestination,
  createUpload,
  finishJob,
  getPod,
  getStream,
  kube,
  kubelet,
  MADE,
  NS,
  waitForPhase,
  waitForPod,
  waitUntilAtRest,
  withoutOperator,
} from '../../kit/system/operator-system.ts';
import { until } from '../../kit/wait.ts';
import { type StreamerPod, startStreamerPod } from './streamer-pod.ts';

aroundEachTest();

const NAMES = ['a', 'b', 'c'];
const SECONDS = 12;
const buildSha = (name: string) => name.repeat(64);
let studio: Studio;
let streamer: StreamerPod;

beforeAll(async () => {
  studio = await openStudio();
  const storage = join(studio.root, 'storage');
  for (const name of NAMES) {
    const id = `${renditionScope(NS)}/${buildSha(name)}/video-720p30`;
    await makeRendition(storage, id, { frames: SECONDS * 30, bitrateKbps: 200 });
  }
});
afterAll(async () => {
  await streamer?.stop();
  await studio?.close();
});

const startPod = async (name = 'bunny-onair') => {
  await waitForPod(name);
  await kubelet.bind(name);
  streamer = await startStreamerPod(kube, NS, name, studio.root, { tv: [studio.rtmp.url, 'bunny'] });
  await until('the destination takes it', async () => (await streamer.stats()).live);
  await kubelet.run(name, true, 0, streamer.ip);
  return waitForPhase('live');
};

async function goOnAir() {
  await createDestination();
  for (const name of NAMES) {
    await createUpload(name);
    await finishJob(`${name}-import`, {
      action: 'import',
      media: { ...MEDIA, sha256: buildSha(name), durationSeconds: SECONDS },
    });
  }
  const items = NAMES.map((uploadName) => ({ uploadName }));
  await kube.create(PLAYLISTS, NS, buildObject('Playlist', 'mix', { items }) as never);
  const spec = { quality: '720p', playlistNames: ['mix'], destinationNames: ['tv'] };
  await kube.create(LOOPSTREAMS, NS, buildObject('LoopStream', 'bunny', spec) as never);
  for (const name of NAMES) await finishJob(`${name}-720p30`, MADE);
  await startPod();
  return untilWhole();
}

/** Waits for all items: a pod begins with the first prepared item; the others join, each at the end of an item. */
async function untilWhole(): Promise<LoopStream> {
  const state = async () => {
    const { version, video } = readPodProgram((await getPod('bunny-onair')) ?? { metadata: {} }) ?? {};
    const [{ clock }, { status }] = [await streamer.stats(), await getStream()];
    return {
      joined: video?.items.filter(({ rendition }) => rendition !== '').length,
      behind: (version ?? 0) - (clock.video?.version ?? 0),
      // The two may write the same moment differently.
      epochMs: Date.parse(status?.epoch ?? '') - Date.parse(clock.video?.epoch ?? ''),
    };
  };
  const whole = { joined: NAMES.length, behind: 0, epochMs: 0 };
  await expect.poll(state, { timeout: 60_000 }).toEqual(whole);
  return getStream();
}

const ask = (id: string) =>
  kube.mergePatch(LOOPSTREAMS, NS, 'bunny', { metadata: { annotations: { [SKIP_ANNOTATIONS.video]: id } } });
const waitForSkip = (id: string) =>
  until(`${id} is done`, async () => {
    const stream = await getStream();
    return stream.status?.skipped?.video === id && stream;
  });
const plays = async () => (await streamer.stats()).currentItem?.id ?? '';
const listEvents = async (reason: string) =>
  (await kube.list(EVENTS, { namespace: NS }))
    .filter((event) => event.involvedObject.name === 'bunny' && event.reason === reason)
    .reduce((sum, { count = 1 }) => sum + count, 0);
const next = (name: string) => NAMES[(NAMES.indexOf(name) + 1) % NAMES.length] ?? '';

/** The kinds that an operator may write; the API server and its controllers update other kinds themselves. */
const WRITTEN = /resource="(loopstreams|uploads|playlists|destinations|pods|secrets|jobs|events|poddisruptionbudgets)"/;

/** Returns the API server's counts of write requests for these kinds, with any result. */
async function writes(): Promise<string[]> {
  const { text } = await kube.raw('GET', '/metrics');
  return text
    .split('\n')
    .filter((line) => line.startsWith('apiserver_request_total{'))
    .filter((line) => /verb="(POST|PUT|PATCH|APPLY|DELETE)"/.test(line) && WRITTEN.test(line))
    .sort();
}

it('a skip is done once, through any restart, and the stream’s place is stored for the next pod', async () => {
  const live = await goOnAir();
  const first = await plays();
  const now = () => new Date().toISOString();

  const one = `${now()} one`;
  await ask(one);
  const skipped = await waitForSkip(one);
  expect(await plays()).toBe(next(first));
  expect(Date.parse(skipped.status?.epoch ?? '')).toBeLessThan(Date.parse(live.status?.epoch ?? ''));
  expect((await streamer.stats()).clock.video?.epoch).toBe(skipped.status?.epoch);
  const program = async (name = 'bunny-onair') => readPodProgram((await getPod(name)) ?? { metadata: {} });
  expect(await program()).toMatchObject({ epoch: skipped.status?.epoch, skipped: { video: one } });
  await until('the event', async () => (await listEvents('Skipped')) === 1);

  // One skip is requested while no operator runs; one was done by an operator that stopped before it stored it.
  const two = `${now()} two`;
  await withoutOperator(() => ask(two));
  await waitForSkip(two);
  expect(await plays()).toBe(next(next(first)));
  const three = `${now()} three`;
  await withoutOperator(async () => {
    expect((await streamer.skip(three)).status).toBe(200);
    await ask(three);
  });
  const third = await waitForSkip(three);
  expect(await plays()).toBe(first);
  expect((await streamer.stats()).clock.video?.epoch).toBe(third.status?.epoch);

  // An old request is ignored.
  await ask('2020-01-01T00:00:00Z old');
  await waitForSkip('2020-01-01T00:00:00Z old');
  await until('it is told', async () => (await listEvents('SkipExpired')) === 1);
  expect((await getStream()).status?.epoch).toBe(third.status?.epoch);

  // A published version takes over at the end of the item, whatever the list has become since; then its place is stored.
  const items = [...NAMES].reverse().map((uploadName) => ({ uploadName }));
  const annotations = { [PUBLISHED_ANNOTATION]: JSON.stringify({ version: 2, mode: 'sequential', items }) };
  await kube.mergePatch(PLAYLISTS, NS, 'mix', { metadata: { annotations }, spec: { items: items.slice(0, 1) } });
  const version = await until('the new version plays', async () => {
    const { clock, programVersion } = await streamer.stats();
    return clock.video?.version === programVersion && programVersion !== live.metadata.generation && clock.video;
  });
  await until('its place is written down', async () => (await getStream()).status?.epoch === version.epoch);

  // The next pod begins there.
  await streamer.stop();
  await kubelet.remove('bunny-onair');
  await until('another pod', () => getPod('bunny-onair-b'));
  expect(await program('bunny-onair-b')).toMatchObject({
    epoch: version.epoch,
    skipped: { video: '2020-01-01T00:00:00Z old' },
  });
  await startPod('bunny-onair-b');
  // The picture is up to a GOP before the clock, or a moment ahead of it.
  const since = (Date.now() - Date.parse(version.epoch)) / 1000;
  const at = (seconds: number) => [...NAMES].reverse()[Math.floor(seconds / SECONDS) % NAMES.length];
  expect([at(since - 3), at(since + 1)]).toContain(await plays());
  await streamer.stop();

  // The token is in its Secret and nowhere else.
  const everywhere = JSON.stringify([await getPod(), await kube.list(EVENTS, { namespace: NS }), await getStream()]);
  expect(streamer.token.length).toBeGreaterThan(40);
  expect(everywhere).not.toContain(streamer.token);
});

it('a steady stream writes nothing; an unplayable item is reported once, and the report goes when it plays again', async () => {
  await goOnAir();
  const condition = async () => findCondition((await getStream()).status?.conditions, 'Degraded');
  expect(await condition()).toMatchObject({ status: 'False', reason: 'Healthy' });
  await waitUntilAtRest();
  const before = await writes();
  const { seam } = await streamer.stats();
  await until(
    'it has gone on to the next item',
    async () => (await streamer.stats()).seam.count > seam.count + 1,
    40_000,
  );
  expect(await writes()).toEqual(before);

  const away = next(await plays());
  const toldBefore = await listEvents('ItemsLeftOut');
  const path = join(studio.root, 'storage', renditionKey(buildSha(away), 'video', '720p30', renditionScope(NS)));
  await rename(path, `${path}.away`);
  // The next item is open already: the fault shows on its next turn.
  for (const id of ['1', '2', '3']) {
    await ask(`${new Date().toISOString()} ${id}`);
    await until('done', async () => (await getStream()).status?.skipped?.video?.endsWith(` ${id}`));
  }
  const wrong = await until('it is told', async () => {
    const found = await condition();
    return found?.status === 'True' && found;
  });
  expect(wrong).toMatchObject({ reason: 'ItemsLeftOut' });
  expect(wrong.message).toContain(`is left out. Upload "${away}" could not be played: `);
  await until('the event', async () => (await listEvents('ItemsLeftOut')) === toldBefore + 1);
  expect((await streamer.stats()).live).toBe(true);

  await rename(`${path}.away`, path);
  await until('it plays again', async () => (await plays()) === away, 40_000);
  await until('all is well', async () => (await condition())?.status === 'False', 40_000);
  expect(await listEvents('ItemsLeftOut')).toBe(toldBefore + 1);

  await studio.rtmp.stop();
  await until('the destination is missed', async () => (await condition())?.reason === 'DestinationReconnecting');
  expect((await condition())?.message).toMatch(/^Destination "tv" does not accept the stream\. /);
  await until('it is told', async () => (await listEvents('DestinationReconnecting')) > 0);
  await studio.rtmp.start();
  await until('all is well again', async () => (await condition())?.status === 'False');
  await streamer.stop();
});
