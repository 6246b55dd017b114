/** Tests a person's use of kubectl: the operator on a real control plane, and the real kubectl. */
import { readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { SENTENCES } from '../../../src/core/lib/sentences.ts';
import { API_VERSION } from '../../../src/core/resources/common/names.ts';
import { DESTINATIONS } from '../../../src/core/resources/destination/resource.ts';
import { run } from '../../../tools/process/run.ts';
import {
  aroundEachTest,
  cluster,
  createStream,
  getPod,
  goLive,
  KEY,
  kube,
  kubelet,
  NS,
  waitForPhase,
} from '../../kit/system/operator-system.ts';
import { until } from '../../kit/wait.ts';

aroundEachTest();

const SAMPLES = resolve(import.meta.dirname, '../../../manifests/samples');

/** Returns kubectl's output, or its error. */
async function kubectl(...args: string[]): Promise<string> {
  const env = { KUBECONFIG: cluster.kubeconfig, HOME: cluster.stateDir, PATH: process.env.PATH };
  const { stdout, stderr } = await run(cluster.binaries.kubectl, ['-n', NS, ...args], { env, timeoutMs: 120_000 });
  return stdout + stderr;
}
/** Parses kubectl's table: its columns, at least three spaces apart, and the cells of its first row. */
const table = (text: string) =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => line.trimEnd().split(/ {3,}/));

test('wait, get, scale and describe: a stream from live to stopped', async () => {
  await goLive();
  await kube.mergePatch(DESTINATIONS, NS, 'tv', { spec: { displayName: 'My channel' } });
  expect(await kubectl('wait', '--for=condition=Live', 'loopstream/bunny', '--timeout=60s')).toContain('condition met');
  await until('the destination is shown by its name', async () => {
    const [, row] = table(await kubectl('get', 'loop'));
    return row?.slice(0, 4).join() === 'bunny,live,True,My channel';
  });
  const [columns, row] = table(await kubectl('get', 'loop', '-o', 'wide'));
  const narrow = ['NAME', 'STATE', 'READY', 'DESTINATION', 'VIEWERS', 'UPTIME', 'RESTARTS', 'AGE', 'TITLE'];
  const wide = ['QUALITY', 'FRAMERATE', 'UPLOAD', 'CAN START', 'POD', 'HEALTH', 'PROGRESS'];
  expect(columns).toEqual([...narrow, ...wide]);
  expect(row).toEqual(
    expect.arrayContaining(['720p', '30', 'film', 'true', 'bunny-onair', 'The stream is in the requested state.']),
  );

  const selected = (...selectors: string[]) =>
    kubectl('get', 'loop', '-o', 'name', '--field-selector', selectors.join());
  const name = 'loopstream.loopstream.dev/bunny';
  expect((await selected('status.phase=live', 'spec.uploadName=film')).trim()).toBe(name);
  expect((await selected('status.phase=stopped')).trim()).toBe('');
  const onair = (await kubectl('get', 'onair', '-o', 'name')).trim().split('\n');
  expect(onair).toEqual(['destination.loopstream.dev/tv', name, 'upload.loopstream.dev/film']);

  const refused = await kubectl('scale', 'loopstream/bunny', '--replicas=2');
  expect(refused).toMatch(/spec\.replicas: Invalid value: 2: .*should be less than or equal to 1/);
  expect(await kubectl('scale', 'loopstream/bunny', '--replicas=0')).toContain('bunny scaled');
  await waitForPhase('stopping');
  expect((await getPod())?.metadata.deletionTimestamp).toBeDefined();
  await kubelet.remove('bunny-onair');
  await kubectl('wait', '--for=jsonpath={.status.phase}=stopped', 'loopstream/bunny', '--timeout=60s');

  const story = await until('the last event is told', async () => {
    const text = await kubectl('describe', 'loopstream', 'bunny');
    return /Normal +Stopped /.test(text) && text;
  });
  for (const said of [
    /Message: +Destination "My channel" \(tv\) is ready\.\n +Observed Generation: +2\n +Reason: +DestinationReady\n/,
    /Message: +The stream is not on air\.\n +Observed Generation: +2\n +Reason: +Stopped\n +Status: +False\n +Type: +Live/,
    /Normal +NotReady .* Upload "film" is being prepared for 720p30\./,
    /Normal +Live .* A destination is accepting media\./,
    /Normal +Stopping .* The pod is being stopped\./,
  ])
    expect(story).toMatch(said);
  expect(story).not.toContain(KEY);

  await kubectl('scale', 'loopstream/bunny', '--replicas=1');
  await waitForPhase('starting');
});

test('the reason why a stream is off air is in -o wide and in describe, there with the next step', async () => {
  await createStream();
  await waitForPhase('waiting');
  const missing = 'Destination "tv" does not exist.';
  const [, row] = table(await kubectl('get', 'loop', '-o', 'wide'));
  expect(row?.at(-1)).toBe(missing);
  const story = await until('the event is told', async () => {
    const text = await kubectl('describe', 'loop', 'bunny');
    return /Warning +NotReady /.test(text) && text;
  });
  expect(story).toMatch(
    /Warning +NotReady .*Destination "tv" does not exist\. Create the destination, or choose another/,
  );
  expect(await kubectl('wait', '--for=condition=Live', 'loopstream/bunny', '--timeout=1s')).toContain('timed out');
});

test('the samples are accepted under the strictest validation, and a slip in one is named', async () => {
  const apply = (...args: string[]) => kubectl('apply', '--dry-run=server', '--validate=strict', ...args);
  const lines = (await apply('-f', SAMPLES)).trim().split('\n');
  expect(lines).toHaveLength(7);
  for (const line of lines) expect(line).toMatch(/ created \(server dry run\)$/);
  const slip = join(cluster.stateDir, 'slip.yaml');
  const sample = await readFile(join(SAMPLES, 'loopstream.yaml'), 'utf8');
  await writeFile(slip, sample.replace('destinationNames:', 'destinationRef:'));
  expect(await apply('-f', slip)).toContain('unknown field "spec.destinationRef"');
  await writeFile(slip, sample.replace('uploadName: sample', 'uploadName: sample\n  playlistNames: [sample-evenings]'));
  expect(await apply('-f', slip)).toContain(`spec.playlistNames: Forbidden: ${SENTENCES.twoMedia}`);
  const explained = await kubectl('explain', 'loopstream.spec.schedule.recurrence.cron');
  expect(explained).toContain(`VERSION:    ${API_VERSION.split('/')[1]}`);
  expect(explained).toContain('Start of each window');
});
