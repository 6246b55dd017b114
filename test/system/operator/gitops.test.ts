/** Tests that tools which wait for objects agree on their state: kstatus, kubectl, Helm, and Argo CD with the script of docs/gitops.md. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import type { KubeObject } from '../../../src/core/kube/types.ts';
import { run } from '../../../tools/process/run.ts';
import { type Helm, openHelms } from '../../kit/real/helm/index.ts';
import { ARGO, type Judge, openJudge } from '../../kit/real/judge.ts';
import {
  aroundEachTest,
  buildObject,
  cluster,
  createSecret,
  finishJob,
  getStream,
  kube,
  kubelet,
  NS,
  prepareUpload,
  waitForPod,
  withoutOperator,
} from '../../kit/system/operator-system.ts';
import { until } from '../../kit/wait.ts';
import { FRESH, makeFresh, makeSituations, SITUATIONS, type Situation } from './situations.ts';

let judge: Judge;

aroundEachTest();
beforeAll(async () => {
  judge = await openJudge(cluster.stateDir);
});

const env = () => ({ KUBECONFIG: cluster.kubeconfig, HOME: cluster.stateDir, PATH: process.env.PATH });

/** Reads the objects of situations; the kind is part of what tools see. */
const readAll = (situations: readonly Situation[]): Promise<KubeObject[]> =>
  Promise.all(situations.map(({ resource, name }) => kube.get(resource, NS, name)));

/** Returns whether `kubectl wait` takes the object for ready, without waiting. */
async function isReadyForKubectl({ resource, name }: Situation): Promise<boolean> {
  const args = ['-n', NS, 'wait', '--for=condition=Ready', `${resource.plural}.loopstream.dev/${name}`, '--timeout=0'];
  const { ok, stdout } = await run(cluster.binaries.kubectl, args, { env: env() });
  return ok && stdout.includes('condition met');
}

const list = (situations: readonly Situation[], read: (situation: Situation, index: number) => unknown) =>
  situations.map((situation, index) => `${situation.what}: ${read(situation, index)}`);

/** Waits until kstatus gives each situation its status, and compares the others with that. */
async function expectAgreement(situations: readonly Situation[]): Promise<void> {
  const expected = list(situations, ({ kstatus }) => kstatus);
  let seen: string[] = [];
  const verdicts = await until('kstatus gives each its status', async () => {
    const found = await judge(await readAll(situations));
    seen = list(situations, (_, index) => found[index]?.kstatus);
    return JSON.stringify(seen) === JSON.stringify(expected) && found;
  }).catch(() => undefined);
  expect(seen).toEqual(expected);
  expect(list(situations, (_, index) => verdicts?.[index]?.argo)).toEqual(
    list(situations, ({ kstatus }) => ARGO[kstatus]),
  );
  const waits = await Promise.all(situations.map(isReadyForKubectl));
  expect(list(situations, (_, index) => waits[index])).toEqual(
    list(situations, ({ kstatus }) => kstatus === 'Current'),
  );
}

test('kstatus, kubectl wait and Argo CD agree on each situation', async () => {
  const end = await makeSituations();
  try {
    await expectAgreement(SITUATIONS);
  } finally {
    end();
  }
});

test('an object that no operator has seen yet is not taken for finished', async () => {
  await withoutOperator(async () => {
    await makeFresh();
    await expectAgreement(FRESH);
  });
});

test('an edit that the operator has not seen yet is not taken for finished', async () => {
  const destination = SITUATIONS.filter(({ name }) => name === 'tv');
  await createSecret('tv-secret');
  await kube.create(
    destination[0]?.resource as never,
    NS,
    buildObject('Destination', 'tv', { secretName: 'tv-secret' }) as never,
  );
  await expectAgreement(destination);
  await withoutOperator(async () => {
    await kube.mergePatch(destination[0]?.resource as never, NS, 'tv', { spec: { displayName: 'Channel' } } as never);
    await expectAgreement(destination.map((one) => ({ ...one, kstatus: 'InProgress' })));
  });
});

/** Writes a chart with one stream and all that it needs; its destination has this address. */
async function writeChart(name: string, rtmpUrl: string): Promise<string> {
  const dir = join(cluster.stateDir, name);
  await mkdir(join(dir, 'templates'), { recursive: true });
  await writeFile(join(dir, 'Chart.yaml'), `apiVersion: v2\nname: ${name}\nversion: 1.0.0\n`);
  const objects = [
    {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'tv-secret' },
      stringData: { rtmpUrl, rtmpKey: 'live_s3cr3t' },
    },
    buildObject('Destination', 'tv', { secretName: 'tv-secret' }),
    buildObject('Upload', 'film', { source: { url: 'https://media.example/film' } }),
    buildObject('LoopStream', 'bunny', { quality: '720p', uploadName: 'film', destinationNames: ['tv'] }),
  ];
  await writeFile(join(dir, 'templates', 'channel.yaml'), objects.map((one) => JSON.stringify(one)).join('\n---\n'));
  return dir;
}

async function withHelm4(use: (helm: Helm) => Promise<void>): Promise<void> {
  const { helms, close } = await openHelms(cluster.kubeconfig);
  try {
    const [helm4] = helms;
    if (helm4?.name !== 'Helm 4') throw new Error('no Helm 4');
    await use(helm4);
    await helm4.run(['uninstall', 'channel', '--namespace', NS]);
  } finally {
    close();
  }
}

test('helm install --wait returns when the stream of a chart is on air, and not before', async () => {
  await withHelm4(async (helm) => {
    const chart = await writeChart('channel', 'rtmp://127.0.0.1/live');
    let isOver = false;
    const install = helm
      .run(['install', 'channel', chart, '--namespace', NS, '--wait', '--timeout', '90s'])
      .finally(() => {
        isOver = true;
      });
    await prepareUpload();
    await waitForPod();
    await kubelet.bind('bunny-onair');
    await kubelet.run('bunny-onair', false);
    expect(isOver).toBe(false);
    await kubelet.run('bunny-onair', true);
    expect(await install).toMatchObject({ ok: true });
    expect((await getStream()).status?.phase).toBe('live');
  });
});

test('helm install --wait fails for a stream that cannot start, and says so', async () => {
  await withHelm4(async (helm) => {
    const chart = await writeChart('channel', 'https://127.0.0.1/live');
    const install = helm.run(['install', 'channel', chart, '--namespace', NS, '--wait', '--timeout', '30s']);
    await finishJob('film-import', {
      action: 'failed',
      error: { code: 'media_unreadable', message: 'The file cannot be read.' },
    });
    const { ok, stderr } = await install;
    expect(ok).toBe(false);
    expect(stderr).toContain('LoopStream/tv/bunny');
  });
});
