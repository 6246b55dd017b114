/** Tests the reports that pods push, with a real streamer and a real control plane. No pod is asked within a test. */
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { LEASES, SECRETS } from '../../../src/core/kube/core.ts';
import { LEASE } from '../../../src/core/operator/runtime/leader-election.ts';
import { findCondition } from '../../../src/core/resources/common/conditions.ts';
import { CONTROL_TOKEN_KEY, REPORTS_PATH, streamSecretName } from '../../../src/core/resources/common/names.ts';
import { renditionScope } from '../../../src/core/resources/upload/spec.ts';
import { openStudio, type Studio } from '../../kit/make/onair.ts';
import { MEDIA } from '../../kit/make/operator.ts';
import { makeRendition } from '../../kit/make/streamer.ts';
import {
  aroundEachTest,
  createStream,
  getPod,
  getStream,
  kube,
  kubelet,
  NS,
  operator,
  placePod,
  startOperator,
  waitForPhase,
  waitForPod,
  withoutOperator,
} from '../../kit/system/operator-system.ts';
import { until } from '../../kit/wait.ts';
import { type StreamerPod, startStreamerPod } from './streamer-pod.ts';

aroundEachTest({ pushes: true });

let studio: Studio;
let streamer: StreamerPod;

beforeAll(async () => {
  studio = await openStudio();
  const id = `${renditionScope(NS)}/${MEDIA.sha256}/video-720p30`;
  await makeRendition(join(studio.root, 'storage'), id, { frames: 300, bitrateKbps: 200 });
});
afterAll(async () => {
  await streamer?.stop();
  await studio?.close();
});
beforeEach(async () => {
  await placePod();
  const destinations: Parameters<typeof startStreamerPod>[4] = { tv: [studio.rtmp.url, 'bunny'] };
  const url = `http://127.0.0.1:${operator.reportsPort}`;
  streamer = await startStreamerPod(kube, NS, 'bunny-onair', studio.root, destinations, url);
  await until('the destination takes it', async () => (await streamer.stats()).live);
  await kubelet.run('bunny-onair', true, 0, streamer.ip);
  await waitForPhase('live');
  return () => streamer.stop();
});

const waitForDegraded = (status: 'True' | 'False') =>
  until(`Degraded is ${status}`, async () => {
    const found = findCondition((await getStream()).status?.conditions, 'Degraded');
    return found?.status === status && found;
  });
const waitUntilHeard = () => until('its reports arrive', async () => (await streamer.stats()).pushes);

async function count(result: string): Promise<number> {
  const text = await (await fetch(`http://127.0.0.1:${operator.opsPort}/metrics`)).text();
  return Number(new RegExp(`^loopstream_stream_reports_total\\{result="${result}"\\} (\\d+)$`, 'm').exec(text)?.[1]);
}

async function readToken(streamUid: string): Promise<string> {
  const { data } = await until('its Secret', () =>
    kube.get(SECRETS, NS, streamSecretName(streamUid)).catch(() => undefined),
  );
  return Buffer.from(data?.[CONTROL_TOKEN_KEY] ?? '', 'base64').toString();
}

/** Pushes a report as a pod does; returns the status of the answer. */
async function push(podUid: string, token: string, body: unknown, port = operator.reportsPort): Promise<number> {
  const headers = { authorization: `Bearer ${token}` };
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const url = `http://127.0.0.1:${port}${REPORTS_PATH}/${podUid}`;
  return (await fetch(url, { method: 'POST', headers, body: text })).status;
}

it('Degraded and the phase follow a failed destination and its return, though nobody asks or probes the pod', async () => {
  await waitUntilHeard();
  await waitForDegraded('False');
  await studio.rtmp.stop();
  const failed = await waitForDegraded('True');
  expect(failed).toMatchObject({ reason: 'DestinationReconnecting' });
  await waitForPhase('reconnecting');
  // A pod is asked where kubelet says something else than its report, which happens at a start.
  const asked = await count('asked');
  await studio.rtmp.start();
  await waitForDegraded('False');
  await waitForPhase('live');
  expect(await count('accepted')).toBeGreaterThanOrEqual(3);
  expect(await count('asked')).toBe(asked);
});

it('an operator that was away hears of what has happened, and of what happens then', async () => {
  await waitUntilHeard();
  await withoutOperator(async () => {
    await studio.rtmp.stop();
    await until('the pod knows that it is not heard', async () => !(await streamer.stats()).pushes);
  });
  await waitForDegraded('True');
  await waitUntilHeard();
  await studio.rtmp.start();
  await waitForDegraded('False');
  expect((await streamer.stats()).live).toBe(true);
});

it('a report counts only with the token of the stream of its pod, and changes nothing else', async () => {
  await waitUntilHeard();
  await createStream({}, 'bear');
  await waitForPod('bear-onair');
  const pods = { bunny: await waitForPod(), bear: await waitForPod('bear-onair') };
  const tokens = {
    bunny: await readToken((await getStream()).metadata.uid),
    bear: await readToken((await getStream('bear')).metadata.uid),
  };
  expect(tokens.bear).not.toBe(tokens.bunny);
  const bad = { ...(await streamer.stats()), playable: false };
  for (const token of ['', 'wrong', tokens.bear, `${tokens.bunny}x`])
    expect(await push(pods.bunny.metadata.uid, token, bad)).toBe(401);
  for (const uid of ['00000000-0000-0000-0000-000000000000', (await getStream()).metadata.uid])
    expect(await push(uid, tokens.bunny, bad)).toBe(404);
  for (const body of ['', '{', '[]', '{}', '"playable"'])
    expect(await push(pods.bunny.metadata.uid, tokens.bunny, body)).toBe(400);
  expect(findCondition((await getStream()).status?.conditions, 'Degraded')?.status).toBe('False');
  expect(await count('wrong_token')).toBeGreaterThanOrEqual(4);

  // The token of a stream serves its pod alone.
  expect(await push(pods.bear.metadata.uid, tokens.bear, bad)).toBe(204);
  expect(await push(pods.bunny.metadata.uid, tokens.bunny, bad)).toBe(204);
  expect(await waitForDegraded('True')).toMatchObject({ reason: 'NothingPlayable' });
});

it('a pod cannot report more often than the operator would ask', async () => {
  const { uid } = (await waitForPod()).metadata;
  const token = await readToken((await getStream()).metadata.uid);
  const report = await streamer.stats();
  const answers: number[] = [];
  for (let n = 0; n < 60; n++) answers.push(await push(uid, token, report));
  expect(answers.slice(0, 5)).toEqual([204, 204, 204, 204, 204]);
  expect(answers.at(-1)).toBe(429);
});

it('an operator that does not lead sends reports away', async () => {
  const now = new Date().toISOString().replace('Z', '000Z');
  const spec = { holderIdentity: 'another', leaseDurationSeconds: 3600, acquireTime: now, renewTime: now };
  await kube.create(LEASES, NS, { metadata: { name: LEASE }, spec } as never);
  const times = { durationMs: 15_000, renewDeadlineMs: 10_000, retryPeriodMs: 2_000 };
  const standby = await startOperator({}, { leaderElection: times, reportsPort: 0 });
  try {
    const { uid } = (await waitForPod()).metadata;
    const token = await readToken((await getStream()).metadata.uid);
    const report = await streamer.stats();
    expect(await push(uid, token, report, standby.reportsPort)).toBe(421);
    expect(await push(uid, token, report)).toBe(204);
    expect(await getPod()).toBeDefined();
  } finally {
    await standby.lifecycle.stop();
    await kube.delete(LEASES, NS, LEASE);
  }
});
