/** Tests the conversion webhook of the chart with both Helms on a real API server: the certificate, the storage version, and who may do what. */
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { createKube } from '../../../src/kube/client.ts';
import { CRDS, NAMESPACES, PODS, SECRETS } from '../../../src/kube/core.ts';
import type { Kube, KubeObject, Resource } from '../../../src/kube/types.ts';
import { DEFINITION_NAMES } from '../../../src/resources/common/names.ts';
import { migrateStorage } from '../../../src/resources/crd/migrate.ts';
import { environment } from '../../../src/settings/environment.ts';
import { CHART } from '../../../tools/generate/chart/generate.ts';
import { PROJECT_ROOT } from '../../../tools/process/root.ts';
import { run } from '../../../tools/process/run.ts';
import { type Helm, type Manifest, openHelms, type Values } from '../../kit/real/helm/index.ts';
import { OPERATOR_ONLY } from '../../kit/real/helm/values.ts';
import { startSmallKubernetes, type TestKubernetes } from '../../kit/real/kubernetes.ts';

const NAMESPACE = 'loopstream';
const NAME = 'loopstream-conversion';
const PLACE = ['--namespace', NAMESPACE, '--no-hooks'];

let kubernetes: TestKubernetes;
let kube: Kube;
let helms: Helm[];
let closeHelms: () => void;
const helm = (name: string): Helm => {
  const found = helms.find((one) => one.name === name);
  if (!found) throw new Error(name);
  return found;
};

beforeAll(async () => {
  kubernetes = await startSmallKubernetes();
  kube = createKube({ kubeconfig: kubernetes.kubeconfig });
  await kube.create(NAMESPACES, '', { metadata: { name: NAMESPACE }, spec: {} });
  ({ helms, close: closeHelms } = await openHelms(kubernetes.kubeconfig));
});
afterAll(async () => {
  closeHelms?.();
  await kube?.close();
  await kubernetes?.stop();
});

/** Runs `loopstream crds` as a person or a Job does. */
const crds = (args: string[], kubeconfig = kubernetes.kubeconfig) =>
  run(process.execPath, [join(PROJECT_ROOT, 'src/main.ts'), 'crds', ...args], {
    env: { PATH: environment().PATH, KUBECONFIG: kubeconfig },
    timeoutMs: 120_000,
  });
const kubectl = async (args: string[], objects: object[]) => {
  const env = { PATH: environment().PATH, HOME: kubernetes.stateDir, KUBECONFIG: kubernetes.kubeconfig };
  const input = JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects });
  const { ok, stderr } = await run(kubernetes.binaries.kubectl, [...args, '-f', '-'], {
    env,
    timeoutMs: 60_000,
    input,
  });
  expect(ok, stderr).toBe(true);
};

type Definition = KubeObject<
  {
    versions: { name: string; served: boolean; storage: boolean }[];
    conversion: { strategy: string; webhook?: { clientConfig: { caBundle?: string; service: object } } };
  },
  { storedVersions: string[] }
>;
const readDefinitions = () =>
  Promise.all(DEFINITION_NAMES.map((name) => kube.get(CRDS as Resource<Definition>, '', name)));
/** Returns the parts that all four have in common. */
async function readDefinition() {
  const all = (await readDefinitions()).map(({ spec, status }) => ({
    versions: spec.versions.map(({ name }) => name),
    storage: spec.versions.find(({ storage }) => storage)?.name,
    stored: status?.storedVersions,
    caBundle: spec.conversion.webhook?.clientConfig.caBundle,
  }));
  for (const one of all) expect(one).toEqual(all[0]);
  return all[0];
}
const readSecret = async () => kube.get(SECRETS, NAMESPACE, NAME);

const getContainers = (object: Manifest | undefined) => {
  const spec = object?.spec as { template?: object; jobTemplate?: { spec: { template: object } } } | undefined;
  const template = (spec?.jobTemplate?.spec.template ?? spec?.template) as
    | { spec: { containers: { args?: string[] }[]; serviceAccountName: string } }
    | undefined;
  return { account: template?.spec.serviceAccountName ?? '', args: template?.spec.containers[0]?.args ?? [] };
};

describe('the objects of the chart', () => {
  const render = async (values: Values) => {
    const objects = await helm('Helm 4').render({ ...OPERATOR_ONLY, ...values });
    const text = JSON.stringify(objects);
    const find = (kind: string) => objects.find((one) => one.kind === kind && one.metadata.name.startsWith(NAME));
    const versions = objects.flatMap(({ kind, spec }) =>
      kind === 'CustomResourceDefinition' ? [(spec as Definition['spec']).versions] : [],
    );
    return { text, find, versions };
  };

  test('by default, both versions, and all that keeps the certificate', async () => {
    const { find, versions } = await render({});
    expect(versions).toHaveLength(4);
    for (const list of versions)
      expect(list.map(({ name, served, storage }) => [name, served, storage])).toEqual([
        ['v1beta1', true, true],
        ['v1alpha1', true, false],
      ]);
    for (const kind of ['Service', 'Job', 'CronJob']) expect(find(kind), kind).toBeDefined();
    expect(getContainers(find('CronJob')).args).toContain('--secret-only');
  });

  test.each([
    ['v1beta1 alone', { crds: { alpha: false } }, 4],
    ['definitions of another release', { crds: { install: false } }, 0],
  ])('%s: no webhook', async (_, values, definitions) => {
    const { text, find, versions } = await render(values);
    expect(versions).toHaveLength(definitions);
    for (const list of versions) expect(list.map(({ name }) => name)).toEqual(['v1beta1']);
    expect(text).not.toMatch(/"strategy":"Webhook"|CONVERSION_CERT_DIR/);
    for (const kind of ['Service', 'Job', 'CronJob']) expect(find(kind), kind).toBeUndefined();
  });

  test('a Secret of somebody else is used as it is, and nothing renews it', async () => {
    const { text, find } = await render({ conversion: { existingSecret: 'made-by-cert-manager' } });
    expect(getContainers(find('Job')).args).toEqual(
      expect.arrayContaining(['--existing', '--secret=made-by-cert-manager']),
    );
    expect(find('CronJob')).toBeUndefined();
    expect(text).toContain('"secretName":"made-by-cert-manager","optional":true');
    expect((find('Role') as unknown as { rules: object[] }).rules).toEqual([
      { apiGroups: [''], resources: ['secrets'], resourceNames: ['made-by-cert-manager'], verbs: ['get'] },
    ]);
  });

  test('without rights, no Job asks for any', async () => {
    const { find } = await render({ rbac: { create: false } });
    for (const kind of ['Job', 'CronJob', 'Role', 'ClusterRole']) expect(find(kind), kind).toBeUndefined();
    expect(find('Service')).toBeDefined();
  });
});

/** Gives an account the rights that the chart gives it, and returns its kubeconfig. */
async function assume(kind: 'Job' | 'CronJob'): Promise<{ kubeconfig: string; args: string[] }> {
  const objects = await helm('Helm 4').render(OPERATOR_ONLY);
  const job = objects.find((one) => one.kind === kind && one.metadata.name.startsWith(NAME));
  const { account, args } = getContainers(job);
  const rights = objects.filter(
    ({ apiVersion, metadata }) =>
      apiVersion.startsWith('rbac.') && metadata.name.replace(/-loopstream$/, '') === account,
  );
  await kubectl(['apply'], rights);
  const user = `system:serviceaccount:${NAMESPACE}:${account}`;
  return { kubeconfig: await kubernetes.kubeconfigFor(account, { user }), args };
}

describe.each(['Helm 4', 'Helm 3'])('an installation by %s', (name) => {
  const runHelm = async (command: 'install' | 'upgrade' | 'uninstall', values?: Values) => {
    const chart = command === 'uninstall' ? [] : [CHART];
    const { ok, stderr } = await helm(name).run(
      [command, 'loopstream', ...chart, ...PLACE],
      values && { ...OPERATOR_ONLY, ...values },
    );
    if (!ok) throw new Error(stderr);
  };

  test('the Job makes a certificate and the definitions trust it, with its own rights and once; an upgrade keeps that', async () => {
    const before = await readDefinition().catch(() => undefined);
    const { kubeconfig, args } = await assume('Job');
    if (!before)
      expect(await crds(args.slice(1), kubeconfig)).toMatchObject({
        ok: true,
        stdout: expect.stringMatching(/do not exist yet/),
      });
    await runHelm('install', {});
    expect(await readDefinition()).toMatchObject({
      versions: ['v1beta1', 'v1alpha1'],
      storage: 'v1beta1',
      stored: ['v1beta1'],
    });
    const { ok, stdout, stderr } = await crds(args.slice(1), kubeconfig);
    expect(ok, stderr).toBe(true);
    expect(stdout).toContain('The definitions trust it.');
    const { data, metadata } = await readSecret();
    expect(Object.keys(data ?? {}).sort()).toEqual(['ca.crt', 'ca.key', 'tls.crt', 'tls.key']);
    const definitions = await readDefinitions();
    expect((await readDefinition())?.caBundle).toBe(data?.['ca.crt']);
    for (const { spec } of definitions)
      expect(spec.conversion.webhook?.clientConfig.service).toEqual({
        namespace: NAMESPACE,
        name: NAME,
        path: '/convert',
        port: 443,
      });

    expect((await crds(args.slice(1), kubeconfig)).ok).toBe(true);
    expect((await readSecret()).metadata.resourceVersion).toBe(metadata.resourceVersion);
    const versions = (list: { metadata: { resourceVersion: string } }[]) =>
      list.map((one) => one.metadata.resourceVersion);
    expect(versions(await readDefinitions())).toEqual(versions(definitions));

    await runHelm('upgrade', { commonAnnotations: { changed: 'yes' } });
    expect((await readDefinition())?.caBundle).toBe(data?.['ca.crt']);
  });

  test('the storage version is v1alpha1 while objects may be stored so, and an upgrade follows a migration', async () => {
    await migrateStorage(kube, { to: 'v1alpha1', settleMs: 0 });
    await runHelm('upgrade', {});
    expect(await readDefinition()).toMatchObject({ storage: 'v1alpha1', stored: ['v1alpha1'] });
    await expect(runHelm('upgrade', { crds: { alpha: false } })).rejects.toThrow(/crds\.alpha must be true/);
    await runHelm('upgrade', { crds: { storageVersion: 'v1beta1' } });
    expect(await readDefinition()).toMatchObject({ storage: 'v1beta1', stored: ['v1alpha1', 'v1beta1'] });
    await runHelm('upgrade', {});
    expect(await readDefinition()).toMatchObject({ storage: 'v1alpha1', stored: ['v1alpha1', 'v1beta1'] });
    await migrateStorage(kube, { to: 'v1beta1', settleMs: 0 });
    await runHelm('upgrade', { commonAnnotations: { changed: 'again' } });
    expect(await readDefinition()).toMatchObject({ storage: 'v1beta1', stored: ['v1beta1'] });
  });

  test('v1alpha1 can be left out after that, and the definitions and the certificate stay when the release goes', async () => {
    await runHelm('upgrade', { crds: { alpha: false } });
    expect(await readDefinition()).toMatchObject({ versions: ['v1beta1'], storage: 'v1beta1' });
    await runHelm('uninstall');
    expect(await readDefinition()).toMatchObject({ versions: ['v1beta1'] });
    expect(await readSecret()).toBeDefined();
  });
});

describe('the CronJob', () => {
  test('renews the certificate with a right on the Secret alone', async () => {
    const { kubeconfig, args } = await assume('CronJob');
    const { data, metadata } = await readSecret();
    const broken = { ...data, 'tls.crt': Buffer.from('expired').toString('base64') };
    await kube.mergePatch(SECRETS, NAMESPACE, NAME, { data: broken });
    const { ok, stderr } = await crds(args.slice(1), kubeconfig);
    expect(ok, stderr).toBe(true);
    const after = await readSecret();
    expect(after.data?.['ca.crt']).toBe(data?.['ca.crt']);
    expect(after.data?.['tls.crt']).not.toBe(broken['tls.crt']);
    expect(after.metadata.uid).toBe(metadata.uid);
    const more = args.slice(1).filter((arg) => arg !== '--secret-only');
    expect(await crds(more, kubeconfig)).toMatchObject({ ok: false, stderr: expect.stringMatching(/forbidden/) });
  });
});

describe('loopstream crds migrate', () => {
  const pod = (name: string, ports: object[]) => ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      namespace: NAMESPACE,
      labels: { 'app.kubernetes.io/part-of': 'loopstream', 'app.kubernetes.io/component': 'operator' },
    },
    spec: { containers: [{ name: 'operator', image: 'loopstream', ports }] },
  });
  afterEach(() => kube.delete(PODS, NAMESPACE, 'old', { gracePeriodSeconds: 0 }));

  test('refuses while an operator of an older release runs, and says which', async () => {
    await kubectl(
      ['apply'],
      [pod('old', [{ name: 'ops', containerPort: 9401 }]), pod('new', [{ name: 'conversion', containerPort: 9443 }])],
    );
    const { ok, stderr } = await crds(['migrate']);
    expect(ok).toBe(false);
    expect(stderr).toBe(
      'loopstream: Operators of an older release are running (loopstream/old), so nothing was changed. Wait until the upgrade is complete.\n',
    );
  });

  test('says what it did, or that there was nothing to do', async () => {
    const { ok, stdout, stderr } = await crds(['migrate']);
    expect(stderr).toBe('');
    expect(ok).toBe(true);
    expect(stdout).toBe('All objects are stored as v1beta1 already.\n');
  });

  test.each([
    [['migrate', '--to', 'v2'], /--to must be one of v1beta1, v1alpha1/],
    [['migrate', '--secret', 'a'], /migrate has no option --secret/],
    [['certificate'], /--namespace, --service and --secret are needed/],
    [['constructor'], /The command is one of migrate, certificate/],
    [[], /The command is one of/],
  ])('%j is refused with a sentence', async (args, says) => {
    const { ok, stderr } = await crds(args);
    expect(ok).toBe(false);
    expect(stderr).toMatch(says);
  });
});
