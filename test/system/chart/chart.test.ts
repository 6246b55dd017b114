/** Tests the chart with both Helms and a real kube-apiserver, which judge its output and its refusals. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { createKube } from '../../../src/core/kube/client.ts';
import { NAMESPACES, PODS } from '../../../src/core/kube/core.ts';
import { collectionPath } from '../../../src/core/kube/paths.ts';
import type { Kube } from '../../../src/core/kube/types.ts';
import { environment } from '../../../src/core/settings/environment.ts';
import { cryptoSettings } from '../../../src/service/billing/crypto/settings.ts';
import { CHART } from '../../../tools/generate/chart/generate.ts';
import { run } from '../../../tools/process/run.ts';
import { ETHEREUM } from '../../kit/make/crypto-settings.ts';
import { ensureDefinitions } from '../../kit/real/helm/definitions.ts';
import { type Helm, type Manifest, openHelms } from '../../kit/real/helm/index.ts';
import { COMBINATIONS, INLINE, OPERATOR_ONLY, REFUSED, SELLER } from '../../kit/real/helm/values.ts';
import { startSmallKubernetes, type TestKubernetes } from '../../kit/real/kubernetes.ts';
import { until } from '../../kit/wait.ts';

const WATCHED = ['loopstream', 'team-a', 'team-b'];
/** Namespaces of accounts with an operator of another release. */
const CELLS = ['cell-2', 'cell-3'];
const STREAMS = 'loopstream-streams';
const DIGEST = `sha256:${'a'.repeat(64)}`;

let kubernetes: TestKubernetes;
let kube: Kube;
let helms: Helm[];
let closeHelms: () => void;
const helm = (name: string): Helm => {
  const found = helms.find((one) => one.name === name);
  if (!found) throw new Error(name);
  return found;
};

const kubectl = async (args: string[], input?: string) => {
  const env = { PATH: environment().PATH, HOME: kubernetes.stateDir, KUBECONFIG: kubernetes.kubeconfig };
  return run(kubernetes.binaries.kubectl, args, { env, timeoutMs: 60_000, ...(input !== undefined && { input }) });
};

beforeAll(async () => {
  kubernetes = await startSmallKubernetes();
  kube = createKube({ kubeconfig: kubernetes.kubeconfig });
  ({ helms, close: closeHelms } = await openHelms(kubernetes.kubeconfig));
  const definitions = (await ensureDefinitions(environment())).flatMap((file) => ['-f', file]);
  const applied = await kubectl(['apply', '--server-side', ...definitions]);
  expect(applied.stderr).toBe('');
  const labels = { 'pod-security.kubernetes.io/enforce': 'restricted' };
  for (const name of [...WATCHED, ...CELLS, STREAMS])
    await kube.create(NAMESPACES, '', { metadata: { name, labels }, spec: {} });
  const names = ['httproutes.gateway.networking.k8s.io', 'servicemonitors.monitoring.coreos.com'];
  const wait = ['podmonitors.monitoring.coreos.com', 'prometheusrules.monitoring.coreos.com', ...names].map(
    (n) => `crd/${n}`,
  );
  // A definition without conditions, as on a busy machine, is an error to `kubectl wait`.
  const established = () => kubectl(['wait', '--for=condition=Established', '--timeout=60s', ...wait]);
  await until('the definitions are established', async () => (await established()).ok);
});
afterAll(async () => {
  closeHelms?.();
  await kube?.close();
  await kubernetes?.stop();
});

interface Template {
  metadata: object;
  spec: Record<string, unknown>;
}
/** The pod of a Deployment, a Job or a CronJob. */
const getTemplate = (object: Manifest) => {
  const spec = object.spec as { template?: Template; jobTemplate?: { spec: { template: Template } } } | undefined;
  return spec?.jobTemplate?.spec.template ?? spec?.template;
};

describe.each(Object.entries(COMBINATIONS))('%s', (_, values) => {
  test('is rendered alike by both Helms, and accepted by the API server, pods under Pod Security `restricted`', async () => {
    const [four = [], three = []] = await Promise.all(helms.map((one) => one.render(values)));
    const byName = (a: Manifest, b: Manifest) =>
      `${a.kind} ${a.metadata.namespace} ${a.metadata.name}`.localeCompare(
        `${b.kind} ${b.metadata.namespace} ${b.metadata.name}`,
      );
    expect(four.sort(byName)).toEqual(three.sort(byName));

    const applied = await kubectl(
      ['apply', '--server-side', '--dry-run=server', '--validate=strict', '-f', '-'],
      JSON.stringify({ apiVersion: 'v1', kind: 'List', items: four }),
    );
    expect(applied.stderr).toBe('');
    expect(applied.stdout.trim().split('\n')).toHaveLength(four.length);

    const podded = four.flatMap((object) => getTemplate(object) ?? []);
    expect(podded.length).toBeGreaterThan(0);
    for (const { metadata, spec } of podded) {
      // The chart makes the service account, so a dry run does not find it.
      const pod = { metadata: { ...metadata, generateName: 'dry-' }, spec: { ...spec, serviceAccountName: 'default' } };
      const path = `${collectionPath(PODS, 'loopstream')}?dryRun=All&fieldValidation=Strict`;
      const { status, text } = await kube.raw('POST', path, pod);
      expect(status, text).toBe(201);
    }
  });
});

test.each(['Helm 4', 'Helm 3'])('%s lint --strict finds nothing', async (name) => {
  for (const values of [undefined, INLINE, COMBINATIONS['a server that speaks S3, for three namespaces']]) {
    const { ok, stdout, stderr } = await helm(name).run(['lint', '--strict', CHART], values);
    expect(ok, stdout + stderr).toBe(true);
    expect(stdout).not.toMatch(/WARNING|ERROR/);
  }
});

test('values that cannot be are refused with a sentence, by both Helms', async () => {
  for (const { name, render } of helms) {
    for (const [what, values, says] of REFUSED) {
      const refusal = await render(values).then(
        () => 'accepted',
        (error: Error) => error.message,
      );
      expect(refusal, `${name}: ${what}`).toMatch(says);
    }
  }
});

/** Roles for people, which the release grants to nobody: Kubernetes adds them to its own. */
const isForPeople = ({ kind, metadata }: Manifest) =>
  kind === 'ClusterRole' && metadata.labels?.['app.kubernetes.io/component'] === 'people';

test('the rights of people come with the roles of Kubernetes: view sees, edit changes, and nobody is bound to them', async () => {
  const kinds = ['loopstreams', 'playlists', 'uploads', 'destinations', 'scenes'];
  const rule = (resources: readonly string[], ...verbs: string[]) => ({
    apiGroups: ['loopstream.dev'],
    resources,
    verbs,
  });
  const scale = ['loopstreams/scale'];
  const text = readFileSync(join(CHART, '../../manifests/rbac.yaml'), 'utf8');
  const manifests = parseAllDocuments(text).map((document) => document.toJS() as Manifest);
  const rendered = await helm('Helm 4').render(INLINE);
  for (const objects of [manifests, rendered]) {
    const roles = objects.filter(isForPeople);
    const aggregated = roles.map(({ metadata, rules }) => [
      Object.keys(metadata.labels ?? {})
        .flatMap((label) => /aggregate-to-(.*)/.exec(label)?.[1] ?? [])
        .sort(),
      rules,
    ]);
    expect(aggregated).toHaveLength(2);
    expect(aggregated).toEqual(
      expect.arrayContaining([
        [
          ['admin', 'edit', 'view'],
          [rule(kinds, 'get', 'list', 'watch'), rule(scale, 'get')],
        ],
        [
          ['admin', 'edit'],
          [rule(kinds, 'create', 'update', 'patch', 'delete', 'deletecollection'), rule(scale, 'update', 'patch')],
        ],
      ]),
    );
    const bound = objects.map(({ roleRef }) => (roleRef as { name?: string } | undefined)?.name);
    for (const { metadata } of roles) expect(bound).not.toContain(metadata.name);
  }
  const without = await helm('Helm 4').render({ ...INLINE, rbac: { aggregate: false } });
  expect(without.filter(isForPeople)).toEqual([]);
});

describe('permissions', () => {
  const rights = (objects: Manifest[]) =>
    objects.filter((object) => object.apiVersion.startsWith('rbac.') && !isForPeople(object));
  const isHook = ({ metadata }: Manifest) => metadata.annotations?.['helm.sh/hook'] === 'post-delete';
  const inCluster = (group: string, resource: string, ...verbs: string[]) => ({
    apiGroups: [group],
    resources: [resource],
    verbs,
  });
  /**
   * Permissions beyond the namespace: reading nodes, namespaces and our definitions, and removing finalizers. More exist only while a release is
   * uninstalled.
   */
  const HELD = {
    apiGroups: ['loopstream.dev'],
    resources: ['loopstreams', 'playlists', 'uploads', 'destinations'],
  };
  const OF_DEFINITIONS = {
    ...inCluster('apiextensions.k8s.io', 'customresourcedefinitions', 'get'),
    resourceNames: HELD.resources.map((name) => `${name}.loopstream.dev`),
  };
  const BEYOND = [
    [inCluster('', 'nodes', 'list', 'watch')],
    [{ ...HELD, verbs: ['patch'] }, inCluster('', 'namespaces', 'get'), OF_DEFINITIONS],
  ];
  /** An operator of all namespaces reads there no Secret, and makes no pod. */
  const IN_ALL = [
    {
      apiGroups: ['loopstream.dev'],
      resources: ['loopstreams', 'playlists', 'uploads', 'destinations', 'scenes'],
      verbs: ['list', 'watch'],
    },
    {
      apiGroups: ['loopstream.dev'],
      resources: ['loopstreams/status', 'playlists/status', 'uploads/status', 'destinations/status'],
      verbs: ['update'],
    },
    inCluster('', 'events', 'get', 'create', 'patch'),
    inCluster('', 'pods', 'list', 'watch'),
    inCluster('batch', 'jobs', 'list', 'watch'),
  ];
  /** The role platform reads there no Secret, and writes no status. */
  const LOOKS_IN_ALL = [
    { apiGroups: ['loopstream.dev'], resources: ['loopstreams', 'destinations'], verbs: ['list', 'watch'] },
    inCluster('', 'pods', 'list', 'watch'),
  ];
  const AT_THE_END = [{ ...HELD, verbs: ['list', 'patch'] }, inCluster('', 'pods', 'list', 'patch')];

  test('are those of manifests/rbac.yaml, for the same accounts', async () => {
    const text = readFileSync(join(CHART, '../../manifests/rbac.yaml'), 'utf8');
    const manifests = parseAllDocuments(text).map((document) => document.toJS() as Manifest);
    const bare = (objects: Manifest[]) =>
      rights(objects)
        .filter((object) => !isHook(object))
        .map(({ kind, metadata: { name, namespace }, rules, subjects, roleRef }) => ({
          kind,
          name,
          namespace,
          rules,
          subjects,
          roleRef,
        }))
        .sort((a, b) => `${a.kind} ${a.name}`.localeCompare(`${b.kind} ${b.name}`));
    // In this case the service and its streams are in one namespace.
    const withAll = {
      ...INLINE,
      billing: { enabled: true },
      platform: { enabled: true },
      streamsNamespace: { name: 'loopstream' },
    };
    expect(bare(await helm('Helm 4').render(withAll))).toEqual(bare(manifests));
  });

  test('reach no further than the watched namespaces, let nobody list Secrets, and give tokens to few', async () => {
    for (const values of Object.values(COMBINATIONS)) {
      const objects = await helm('Helm 4').render(values);
      const { name = STREAMS } = (values.streamsNamespace ?? {}) as { name?: string };
      const listed = (values.watchNamespaces ?? []) as string[];
      const named = listed.filter((one) => one !== '*');
      const watched = named.length > 0 ? named : [name];
      const { cellNamespaces: cells = [] } = (values.api ?? {}) as { cellNamespaces?: string[] };
      const beyond = listed.includes('*') ? [...BEYOND, IN_ALL, LOOKS_IN_ALL] : BEYOND;
      for (const object of rights(objects)) {
        const { kind, metadata, rules } = object;
        if (kind === 'ClusterRole') expect(isHook(object) ? [AT_THE_END] : beyond).toContainEqual(rules);
        else if (kind !== 'ClusterRoleBinding') expect(['Role', 'RoleBinding']).toContain(kind);
        const ofAccounts = /-(api|billing)$/.test(metadata.name) ? cells : [];
        if (/-(lease|own)$/.test(metadata.name)) expect(metadata.namespace).toBe('loopstream');
        else if (!kind.startsWith('Cluster')) expect([...watched, ...ofAccounts]).toContain(metadata.namespace);
        for (const { resources, verbs } of (rules ?? []) as { resources: string[]; verbs: string[] }[]) {
          expect([...resources, ...verbs]).not.toContain('*');
          if (resources.includes('secrets')) for (const verb of ['list', 'watch']) expect(verbs).not.toContain(verb);
        }
      }
      const tokens = objects.flatMap((object) => {
        const component = object.metadata.labels?.['app.kubernetes.io/component'];
        return getTemplate(object)?.spec.automountServiceAccountToken === true ? component : [];
      });
      expect(['operator', 'api', 'billing', 'platform', 'uninstall']).toEqual(expect.arrayContaining(tokens));
      for (const object of objects.filter(({ kind }) => kind === 'ServiceAccount'))
        expect(object.automountServiceAccountToken).toBe(false);
    }
  });
});

test.each([
  [{}, 'loopstream:0.1.0', 'loopstream-prepare:0.1.0'],
  [{ image: { registry: 'a.example/', tag: '2' } }, 'a.example/loopstream:2', 'a.example/loopstream-prepare:2'],
  [
    { image: { registry: 'a.example' }, prepareImage: { registry: 'b.example/x', tag: '3' } },
    'a.example/loopstream:0.1.0',
    'b.example/x/loopstream-prepare:3',
  ],
  [{ prepareImage: { repository: 'films', digest: DIGEST } }, 'loopstream:0.1.0', `films@${DIGEST}`],
  // An image of one's own with every program.
  [
    { image: { repository: 'own', digest: DIGEST }, prepareImage: { repository: 'own' } },
    `own@${DIGEST}`,
    `own@${DIGEST}`,
  ],
  [{ image: { repository: 'own', tag: '2' }, prepareImage: { repository: 'own', tag: '3' } }, 'own:2', 'own:3'],
])('with %j, streams have the image %s, Jobs have %s, and the policies allow both', async (values, image, prepare) => {
  const objects = await helm('Helm 4').render({ ...OPERATOR_ONLY, ...values });
  const [operator] = objects.filter(({ kind }) => kind === 'Deployment');
  const text = JSON.stringify(operator);
  expect(text).toContain(`{"name":"LOOPSTREAM_IMAGE","value":"${image}"}`);
  expect(text).toContain(`{"name":"LOOPSTREAM_PREPARE_IMAGE","value":"${prepare}"}`);
  const allowed = [...new Set([image, prepare].map((name) => name.replace(/(@sha256)?:[^:/]*$/, '')))];
  const policies = objects.filter(
    ({ kind, metadata }) => kind.endsWith('Policy') && /^loopstream-(pods|jobs)-/.test(metadata.name),
  );
  const lists = policies.map(({ spec }) =>
    (spec as { variables: { name: string; expression: string }[] }).variables.find(({ name }) => name === 'images'),
  );
  expect(lists.map((list) => JSON.parse(list?.expression ?? ''))).toEqual([allowed, allowed]);
});

test('several namespaces have one operator, and each its storage and its rights', async () => {
  const objects = await helm('Helm 4').render(COMBINATIONS['a server that speaks S3, for three namespaces'] ?? {});
  const deployments = objects.filter(
    ({ kind, metadata }) => kind === 'Deployment' && metadata.name.includes('operator'),
  );
  const settings = deployments.map((object) => {
    const [container] = (getTemplate(object)?.spec.containers ?? []) as { env: { name: string; value: string }[] }[];
    const env = Object.fromEntries(container?.env.map(({ name, value }) => [name, value]) ?? []);
    return [
      object.metadata.name,
      env.LOOPSTREAM_WATCH_NAMESPACES,
      env.LOOPSTREAM_STORAGE_URL,
      env.LOOPSTREAM_CACHE_BYTES,
    ];
  });
  const url = 's3://media/{namespace}?endpoint=http%3A%2F%2Fminio.example.com%3A9000&forcePathStyle=true';
  expect(settings).toEqual([['loopstream-operator-shared', WATCHED.join(','), url, '2147483648']]);
  const places = (kind: string, part: string) =>
    objects
      .filter((o) => o.kind === kind && o.metadata.name.endsWith(part))
      .map((o) => o.metadata.namespace)
      .sort();
  expect(places('Role', '-operator')).toEqual(WATCHED);
  expect(places('Secret', '-storage')).toEqual(WATCHED);
  expect(places('Role', '-operator-lease')).toEqual(['loopstream']);
  expect(places('Role', '-api')).toEqual(['loopstream']);
});

test('each cell gives the API server and billing their Roles and a way to its pods, and nothing else', async () => {
  const values = COMBINATIONS['accounts in three namespaces, two with an operator of their own'] ?? {};
  const objects = await helm('Helm 4').render(values);
  const inCell = (cell: string) =>
    objects
      .filter(({ metadata }) => metadata.namespace === cell)
      .map(({ kind, metadata }) => `${kind} ${metadata.name}`);
  for (const cell of CELLS)
    expect(inCell(cell).sort()).toEqual([
      'NetworkPolicy loopstream-api-media',
      'Role loopstream-api',
      'Role loopstream-billing',
      'RoleBinding loopstream-api',
      'RoleBinding loopstream-billing',
    ]);
  const readEnv = (component: string) => {
    const object = objects.find(
      ({ kind, metadata }) => kind === 'Deployment' && metadata.name === `loopstream-${component}`,
    );
    const [container] = (getTemplate(object as Manifest)?.spec.containers ?? []) as {
      env: { name: string; value: string }[];
    }[];
    return Object.fromEntries(container?.env.map(({ name, value }) => [name, value]) ?? []);
  };
  const cells = { LOOPSTREAM_NAMESPACE: STREAMS, LOOPSTREAM_CELL_NAMESPACES: 'cell-2,cell-3' };
  expect(readEnv('api')).toMatchObject({
    ...cells,
    LOOPSTREAM_FULL_NAMESPACES: 'cell-2',
    LOOPSTREAM_STORAGE_URL: 's3://media/{namespace}',
  });
  expect(readEnv('billing')).toMatchObject(cells);
  expect(readEnv('operator')).toMatchObject({ LOOPSTREAM_METERED_NAMESPACES: `${STREAMS},cell-2,cell-3` });
  const elsewhere = objects.find(
    ({ kind, metadata }) => kind === 'ValidatingAdmissionPolicy' && metadata.name.includes('elsewhere'),
  );
  expect(JSON.stringify(elsewhere)).toContain('request.namespace in [\\"cell-2\\",\\"cell-3\\"]');
});

test('of all namespaces, those that are named have all that they need, and else the one for streams', async () => {
  const rest = { ...OPERATOR_ONLY, resourceQuota: { enabled: true } };
  for (const [watchNamespaces, prepared] of [
    [['*'], [STREAMS]],
    [
      ['*', 'team-a', 'team-b'],
      ['team-a', 'team-b'],
    ],
  ]) {
    const objects = await helm('Helm 4').render({ ...rest, watchNamespaces });
    const [operator] = objects.filter(({ kind }) => kind === 'Deployment');
    const text = JSON.stringify(operator);
    expect(text).toContain('{"name":"LOOPSTREAM_WATCH_NAMESPACES","value":"*"}');
    for (const [kind, part] of [
      ['Role', '-operator'],
      ['RoleBinding', '-operator'],
      ['PodDisruptionBudget', '-never'],
      ['PersistentVolumeClaim', '-media'],
      ['NetworkPolicy', '-streamer'],
      ['ResourceQuota', '-objects'],
    ] as const) {
      const found = objects.filter((one) => one.kind === kind && one.metadata.name.endsWith(part));
      expect(found.map(({ metadata }) => metadata.namespace).sort(), kind).toEqual(prepared);
    }
  }
});

test('manifests/team-namespace.yaml gives the operator what the Role of the chart does, but for its Lease', () => {
  const readManifests = (name: string) =>
    parseAllDocuments(readFileSync(join(CHART, '../../manifests', name), 'utf8')).map(
      (document) => document.toJS() as Manifest,
    );
  const findRole = (name: string) =>
    readManifests(name).find(({ kind, metadata }) => kind === 'Role' && metadata.name === 'loopstream-operator');
  const rules = (findRole('rbac.yaml')?.rules ?? []) as { apiGroups: string[] }[];
  const isLease = ({ apiGroups }: { apiGroups: string[] }) => apiGroups.includes('coordination.k8s.io');
  expect(findRole('team-namespace.yaml')?.rules).toEqual(rules.filter((rule) => !isLease(rule)));
  const lease = readManifests('all-namespaces.yaml').find(({ metadata }) => metadata.name.endsWith('-lease'));
  expect(lease?.rules).toEqual(rules.filter(isLease));
  for (const { metadata } of readManifests('team-namespace.yaml')) expect(metadata.namespace).toBeUndefined();
});

test.each([
  [
    'streams in the namespace of the release',
    'file:///media',
    { persistentVolumeClaim: { claimName: 'loopstream-media' } },
  ],
  ['a claim of the API server’s own', 'file:///media', { persistentVolumeClaim: { claimName: 'media-of-the-api' } }],
  [
    'existing Secrets and S3',
    's3://media/a/b/loopstream-streams?region=eu-central-1',
    { secret: { secretName: 's3' } },
  ],
  ['a server that speaks S3, for three namespaces', /^s3:\/\/media\/loopstream\?/, { secret: {} }],
  // Nothing of another namespace can be mounted: uploads come from links alone.
  ['all of it, with credentials in the values', undefined, undefined],
  ['namespaces without the release’s own', undefined, undefined],
])('%s: the API server has the storage of the namespace that it writes in', async (name, url, volume) => {
  const objects = await helm('Helm 4').render(COMBINATIONS[name] ?? {});
  const api = objects.find(({ kind, metadata }) => kind === 'Deployment' && metadata.name.endsWith('-api'));
  interface PodSpec {
    containers: { env: { name: string; value: string }[]; volumeMounts: object[] }[];
    volumes: object[];
  }
  const { containers = [], volumes = [] } = ((api && getTemplate(api)?.spec) ?? {}) as Partial<PodSpec>;
  const [container] = containers;
  const found = container?.env.find((entry) => entry.name === 'LOOPSTREAM_STORAGE_URL')?.value;
  if (url instanceof RegExp) expect(found).toMatch(url);
  else expect(found).toBe(url);
  const [, storage] = volumes;
  if (volume === undefined) expect(storage).toBeUndefined();
  else expect(storage).toMatchObject(volume);
  expect(container?.volumeMounts).toHaveLength(volume === undefined ? 1 : 2);
});

test('settings for money are only where they are used, secrets in Secrets alone, and the same for both roles', async () => {
  const objects = await helm('Helm 4').render(COMBINATIONS['with all ways to pay, and invoices'] ?? {});
  interface Entry {
    name: string;
    value?: string;
    valueFrom?: { secretKeyRef: { name: string; key: string } };
  }
  const readEnv = (role: string): Record<string, unknown> => {
    const found = objects.find(({ kind, metadata }) => kind === 'Deployment' && metadata.name.endsWith(`-${role}`));
    const [container] = ((found && getTemplate(found)?.spec.containers) ?? []) as { env: Entry[] }[];
    const readEntry = ({ value, valueFrom }: Entry) =>
      value ?? `${valueFrom?.secretKeyRef.name}/${valueFrom?.secretKeyRef.key}`;
    return Object.fromEntries(
      container?.env.map((entry) => [entry.name.replace('LOOPSTREAM_', ''), readEntry(entry)]) ?? [],
    );
  };
  const alike = {
    STRIPE_KEY: 'stripe/stripeKey',
    STRIPE_WEBHOOK_SECRET: 'stripe/signing',
    TOP_UP_MIN_MINOR: '1000',
    TOP_UP_MAX_MINOR: '50000',
    CRYPTO_NETWORKS: 'loopstream-api/cryptoNetworks',
    CRYPTO_RATES_URL: 'https://rates.example.com/usd',
    CRYPTO_QUOTE_SECONDS: '900',
    SELLER: JSON.stringify(SELLER),
  };
  const sorted = (value: unknown) => (typeof value === 'string' && value[0] === '{' ? JSON.parse(value) : value);
  for (const role of ['api', 'billing']) {
    const env = readEnv(role);
    for (const [name, value] of Object.entries(alike))
      expect(sorted(env[name]), `${role} ${name}`).toEqual(sorted(value));
  }
  expect(readEnv('api').INVOICE_FONT).toBe('/fonts/NotoSansCJK-Regular.ttc#NotoSansCJKjp-Regular');
  // The chart's own Secret alone holds credentials from the values.
  const holding = objects.filter((object) => JSON.stringify(object).includes(ETHEREUM.xpub));
  expect(holding.map(({ kind, metadata }) => `${kind} ${metadata.name}`)).toEqual(['Secret loopstream-api']);
  const [secret] = holding as unknown as { stringData: { cryptoNetworks: string } }[];
  expect(JSON.parse(secret?.stringData.cryptoNetworks ?? '')).toEqual([ETHEREUM]);
  const networks: unknown = JSON.parse(secret?.stringData.cryptoNetworks ?? '');
  const given = { networks, rates: undefined, ratesUrl: alike.CRYPTO_RATES_URL };
  const config = { ...given, quoteSeconds: 900, currency: 'USD' };
  expect([...(cryptoSettings(config)?.networks.keys() ?? [])]).toEqual(['ethereum']);
});

test('the definitions are those of files/crds, and stay when the release goes', async () => {
  const objects = await helm('Helm 3').render(INLINE);
  const crds = objects.filter(({ kind }) => kind === 'CustomResourceDefinition');
  expect(crds).toHaveLength(5);
  for (const { metadata, spec } of crds) {
    expect(metadata.annotations?.['helm.sh/resource-policy']).toBe('keep');
    const file = join(CHART, 'files/crds', `${metadata.name.split('.')[0]}.yaml`);
    expect(spec).toEqual(parse(readFileSync(file, 'utf8')).spec);
  }
});
