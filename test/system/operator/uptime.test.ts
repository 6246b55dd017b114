/** Tests the uptime of a stream that a real operator and a real streamer keep on air, against the log of an independent receiver. */
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Transition } from '../../../src/core/resources/stream/transitions.ts';
import { renditionScope } from '../../../src/core/resources/upload/spec.ts';
import { listAirChanges } from '../../../src/service/domain/uptime/changes.ts';
import { computeUptime, listPeriods } from '../../../src/service/domain/uptime/compute.ts';
import { startTap, type Tap } from '../../kit/fake/tap.ts';
import { openStudio, type Studio } from '../../kit/make/onair.ts';
import { MEDIA } from '../../kit/make/operator.ts';
import { makeRendition } from '../../kit/make/streamer.ts';
import {
  aroundEachTest,
  getStream,
  kube,
  kubelet,
  NS,
  operator,
  placePod,
  setSpec,
  waitForPhase,
} from '../../kit/system/operator-system.ts';
import { until } from '../../kit/wait.ts';
import { type StreamerPod, startStreamerPod } from './streamer-pod.ts';

aroundEachTest({ pushes: true });

const turns = monitorEventLoopDelay();

/** Of each connection that broke off. */
const TOLERANCE_SECONDS = 1;

let studio: Studio;
let tap: Tap;
let streamer: StreamerPod;

beforeAll(async () => {
  studio = await openStudio();
  tap = await startTap(studio.rtmp.port);
  turns.enable();
  const id = `${renditionScope(NS)}/${MEDIA.sha256}/video-720p30`;
  await makeRendition(join(studio.root, 'storage'), id, { frames: 300, bitrateKbps: 200 });
});
afterAll(async () => {
  await streamer?.stop();
  turns.disable();
  tap?.close();
  await studio?.close();
});

const pause = (ms: number) => {
  const since = performance.now();
  return until(`${ms} ms`, () => performance.now() - since >= ms);
};

const countTransitions = async (wanted: Transition['kind']): Promise<number> =>
  (await getStream()).status?.transitions?.filter(({ kind }) => kind === wanted).length ?? 0;

async function readUptime() {
  const range = { from: new Date(Date.now() - 3_600_000), to: new Date() };
  return computeUptime(listPeriods(listAirChanges(await getStream()), range), range);
}

/** The times between two publishes, in seconds. */
const listGaps = () =>
  tap.publishes.slice(1).map(({ firstMs }, i) => (firstMs - (tap.publishes[i]?.lastMs ?? 0)) / 1000);

it('an outage is as long as the receiver saw it, and so is the time on air, also of a destination that hangs up twice', async () => {
  await placePod();
  const url = `http://127.0.0.1:${operator.reportsPort}`;
  const destinations: Parameters<typeof startStreamerPod>[4] = { tv: [tap.url, 'bunny'] };
  streamer = await startStreamerPod(kube, NS, 'bunny-onair', studio.root, destinations, url);
  await until('the destination takes it', async () => (await streamer.stats()).live);
  // Kubelet probes later than that.
  await pause(3_000);
  await kubelet.run('bunny-onair', true, 0, streamer.ip);
  await waitForPhase('live');
  await pause(4_000);
  tap.cut(2_000);
  await until('it takes media again', () => tap.publishes.length === 2);
  // It hangs up again before it counts as recovered: what it took in between is time on air.
  await pause(5_000);
  tap.cut(3_000);
  await until('it is back', async () => (await countTransitions('Recovered')) === 1);
  await setSpec({ replicas: 0 });
  await until('it is told that it stopped', async () => (await countTransitions('Stopped')) === 1);

  const { outages, onAirSeconds, offAirSeconds, unknownSeconds } = await readUptime();
  const gaps = listGaps();
  expect(gaps).toHaveLength(2);
  const gone = gaps.reduce((sum, gap) => sum + gap, 0);
  const seen = ((tap.publishes.at(-1)?.lastMs ?? 0) - (tap.publishes[0]?.firstMs ?? 0)) / 1000 - gone;
  // The receiver is in this process, and notes what comes only when it has its turn.
  const tolerance = gaps.length * (TOLERANCE_SECONDS + turns.max / 1e9);
  expect(outages.map(({ seconds }) => seconds)).toEqual([offAirSeconds]);
  expect(Math.abs(offAirSeconds - gone)).toBeLessThanOrEqual(tolerance);
  expect(Math.abs(onAirSeconds - seen)).toBeLessThanOrEqual(tolerance);
  expect(unknownSeconds).toBe(0);
});
