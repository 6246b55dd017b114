/**
 * The chart installed, upgraded, rolled back and uninstalled by both Helms on a real control plane, where its pods run
 * with the rights that it gives them: the operator, the API server and the migration of a real PostgreSQL.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { CHART } from '../../scripts/chart/generate.ts';
import { CRDS, LEASES, LOOPSTREAMS, NAMESPACES, PODS, SECRETS } from '../../src/kube/resources.ts';
import type { KubeObject, Resource } from '../../src/kube/types.ts';
import { type ChartCluster, startChartCluster } from '../support/helm/cluster.ts';
import { type Helm, openHelms, type Values } from '../support/helm/index.ts';

/** Each command waits until pods that are processes of a busy machine are ready. */
const TIMEOUT_MS = 300_000;
const SECRET = 'a-secret-that-nobody-can-guess-0123456789';
const CLAIMS: Resource = {
  group: '',
  version: 'v1',
  kind: 'PersistentVolumeClaim',
  plural: 'persistentvolumeclaims',
  namespaced: true,
};
const VOLUMES: Resource = { ...CLAIMS, kind: 'PersistentVolume', plural: 'persistentvolumes', namespaced: false };

let cluster: ChartCluster;
let helms: Helm[];
let closeHelms: () => void;
let media: string;

beforeAll(async () => {
  media = await mkdtemp(join(tmpdir(), 'loopstream-media-'));
  cluster = await startChartCluster(['1', '2']);
  ({ helms, close: closeHelms } = await openHelms(cluster.kubernetes.kubeconfig));
});
afterAll(async () => {
  closeHelms?.();
  await cluster?.stop();
  await rm(media, { recursive: true, force: true });
});

/** A namespace with a volume for the media; answers with the values of a release in it. */
async function prepare(namespace: string, database: Values, auth: Values): Promise<Values> {
  const { kube, extraEnv } = cluster;
  const labels = { 'pod-security.kubernetes.io/enforce': 'restricted' };
  await kube.create(NAMESPACES, '', { metadata: { name: namespace, labels }, spec: {} });
  await kube.create(VOLUMES, '', {
    metadata: { name: `media-of-${namespace}` },
    spec: {
      accessModes: ['ReadWriteMany'],
      capacity: { storage: '100Gi' },
      hostPath: { path: join(media, namespace), type: 'DirectoryOrCreate' },
      claimRef: { namespace, name: 'loopstream-media' },
    },
  });
  return {
    image: { tag: '1' },
    operator: { extraEnv: await extraEnv(namespace, 'loopstream-operator') },
    api: { replicas: 1, auth, extraEnv: await extraEnv(namespace, 'loopstream-api') },
    database,
  };
}

/** Why pods are not ready, for whoever reads a failure. */
const story = async (namespace: string) => {
  const told = await Promise.all([
    cluster.kubectl('get', 'pods,events', '-n', namespace),
    cluster.kubectl('logs', '-n', namespace, '-l', 'app.kubernetes.io/instance=loopstream', '--tail=20', '--prefix'),
  ]);
  return told.map(({ stdout, stderr }) => stdout + stderr).join('\n');
};

/** Helm's commands for the release `loopstream` of a namespace; each throws what Helm says when it fails. */
function release(helm: Helm, namespace: string) {
  const run = async (args: string[], values?: Values) => {
    const { ok, stdout, stderr } = await helm.run([...args, '--namespace', namespace], values);
    if (!ok) throw new Error(`${stderr}\n${await story(namespace)}`);
    return stdout;
  };
  const wait = ['--wait', '--timeout', '90s'];
  return {
    install: (values: Values) => run(['install', 'loopstream', CHART, ...wait], values),
    upgrade: (values: Values) => run(['upgrade', 'loopstream', CHART, ...wait], values),
    rollback: () => run(['rollback', 'loopstream', ...wait]),
    uninstall: () => run(['uninstall', 'loopstream', ...wait]),
  };
}

const isThere = <T extends KubeObject>(resource: Resource<T>, namespace: string, name: string) =>
  cluster.kube.get(resource, namespace, name).then(
    () => true,
    (error: { status?: number }) => {
      if (error.status !== 404) throw error;
      return false;
    },
  );

/** Images of the pods that are there and not on their way out. */
const images = async (namespace: string) => {
  const pods = (await cluster.kube.list(PODS, { namespace })).filter(({ metadata }) => !metadata.deletionTimestamp);
  return [...new Set(pods.map(({ spec }) => (spec.containers as { image: string }[])[0]?.image))];
};

/** What the release's pods said that sounds like a right that they lack. */
const refusals = async (namespace: string) => {
  const selector = ['-l', 'app.kubernetes.io/instance=loopstream', '--tail=-1', '--prefix'];
  const { ok, stdout, stderr } = await cluster.kubectl('logs', '-n', namespace, ...selector);
  expect(ok, stderr).toBe(true);
  expect(stdout).toContain('the operator looks after the streams');
  return stdout.split('\n').filter((line) => /forbidden|"status":403/i.test(line));
};

test(
  'a release is installed, upgraded, rolled back, uninstalled and installed again by Helm 4',
  async () => {
    const [helm] = helms;
    if (!helm) throw new Error('no Helm');
    const values = await prepare('four', { url: cluster.databaseUrl }, { secret: SECRET });
    const { install, upgrade, rollback, uninstall } = release(helm, 'four');

    expect(await install(values)).toMatch(/looks after the streams in four/);
    expect(await images('four')).toEqual(['loopstream:1']);
    const lease = await cluster.kube.get(LEASES, 'four', 'loopstream-operator');
    expect((lease.spec as { holderIdentity: string }).holderIdentity).toMatch(/\S/);
    // What the migration was given is gone with it.
    expect(await isThere(SECRETS, 'four', 'loopstream-migrate')).toBe(false);
    expect(await refusals('four')).toEqual([]);

    await upgrade({ ...values, image: { tag: '2' }, operator: { ...(values.operator as Values), workers: 4 } });
    expect(await images('four')).toEqual(['loopstream:2']);
    await rollback();
    expect(await images('four')).toEqual(['loopstream:1']);

    await cluster.kube.create(LOOPSTREAMS, 'four', {
      apiVersion: 'loopstream.dev/v1alpha1',
      kind: 'LoopStream',
      metadata: { name: 'kept' },
      spec: { uploadRef: 'u', destinationRefs: ['d'], replicas: 0 } as never,
    });
    await uninstall();
    expect(await images('four')).toEqual([]);
    expect(await isThere(SECRETS, 'four', 'loopstream-api')).toBe(false);
    expect(await isThere(CRDS, '', 'loopstreams.loopstream.dev')).toBe(true);
    expect(await isThere(LOOPSTREAMS, 'four', 'kept')).toBe(true);
    expect(await isThere(CLAIMS, 'four', 'loopstream-media')).toBe(true);

    // What was kept is taken up again, without the API server this time.
    await install({ ...values, api: { enabled: false } });
    const { ok, stderr } = await cluster.kubectl('delete', 'loopstream', 'kept', '-n', 'four', '--timeout=30s');
    expect(ok, stderr).toBe(true);
    await uninstall();
  },
  TIMEOUT_MS,
);

// It follows upon the first, whose release has left its definitions.
test(
  'and by Helm 3, which takes over no definitions of another release',
  async () => {
    const helm = helms[1];
    if (!helm) throw new Error('no Helm');
    const name = 'credentials';
    const values = await prepare(
      'three',
      { existingSecret: name, existingSecretKey: 'url' },
      { existingSecret: name, existingSecretKey: 'auth' },
    );
    const stringData = { url: cluster.databaseUrl, auth: SECRET };
    await cluster.kube.create(SECRETS, 'three', { metadata: { name }, stringData } as never);
    const { install, upgrade, rollback, uninstall } = release(helm, 'three');

    await expect(install(values)).rejects.toThrow(
      /CustomResourceDefinition "\w+\.loopstream\.dev".*cannot be imported/,
    );
    const alone = { ...(values.operator as Values), replicas: 1, leaderElection: false };
    const without = { ...values, crds: { install: false }, operator: alone };
    expect(await install(without)).toMatch(/looks after the streams in three/);
    expect(await refusals('three')).toEqual([]);
    await upgrade({ ...without, image: { tag: '2' } });
    expect(await images('three')).toEqual(['loopstream:2']);
    await rollback();
    expect(await images('three')).toEqual(['loopstream:1']);
    await uninstall();
    expect(await images('three')).toEqual([]);
    expect(await isThere(SECRETS, 'three', name)).toBe(true);
    expect(await isThere(CRDS, '', 'loopstreams.loopstream.dev')).toBe(true);
  },
  TIMEOUT_MS,
);
