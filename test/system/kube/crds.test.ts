/** Tests the definitions on the real API server, which judges accepted objects and prints columns. */
import { readdir, readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { TSchema } from 'typebox';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { createKube } from '../../../src/core/kube/client.ts';
import { CONFIG_MAPS, CRDS, LEASES, NAMESPACES, PODS, SECRETS } from '../../../src/core/kube/core.ts';
import { collectionPath, formatApiVersion, objectPath } from '../../../src/core/kube/paths.ts';
import type { Kube, KubeObject, Resource } from '../../../src/core/kube/types.ts';
import { API_VERSION } from '../../../src/core/resources/common/names.ts';
import { applyCrds } from '../../../src/core/resources/crd/install.ts';
import { DESTINATIONS } from '../../../src/core/resources/destination/resource.ts';
import { PLAYLISTS } from '../../../src/core/resources/playlist/resource.ts';
import { SCENES } from '../../../src/core/resources/scene/resource.ts';
import { LOOPSTREAMS } from '../../../src/core/resources/stream/resource.ts';
import { LoopStreamSpec } from '../../../src/core/resources/stream/spec.ts';
import { UPLOADS } from '../../../src/core/resources/upload/resource.ts';
import { shareTestKubernetes, type TestKubernetes } from '../../kit/real/kubernetes.ts';
import { until } from '../../kit/wait.ts';

const ROOT = resolve(import.meta.dirname, '../../..');
const NAMESPACE = 'crds';
const OURS = [LOOPSTREAMS, PLAYLISTS, UPLOADS, DESTINATIONS, SCENES] as Resource[];

let kubernetes: TestKubernetes;
let kube: Kube;

beforeAll(async () => {
  kubernetes = await shareTestKubernetes();
  kube = createKube({ kubeconfig: kubernetes.kubeconfig });
  await applyCrds(kube);
  await kube.create(NAMESPACES, '', { metadata: { name: NAMESPACE }, spec: {} });
});
afterAll(async () => {
  await kube?.delete(NAMESPACES, '', NAMESPACE);
  await kube?.close();
  await kubernetes?.stop();
});

const manifest = (resource: Resource, name: string, spec: unknown) => ({
  apiVersion: formatApiVersion(resource),
  kind: resource.kind,
  metadata: { name },
  spec,
});

/** Posts with kubectl's query: unknown fields are errors. */
const post = (resource: Resource, body: unknown) =>
  kube.raw('POST', `${collectionPath(resource, NAMESPACE)}?fieldValidation=Strict`, body);

const table = async (resource: Resource, wide = false) => {
  const accept = 'application/json;as=Table;v=v1;g=meta.k8s.io';
  const { text } = await kube.raw('GET', collectionPath(resource, NAMESPACE), undefined, { accept });
  const { columnDefinitions, rows } = JSON.parse(text) as {
    columnDefinitions: { name: string; priority: number }[];
    rows: { cells: unknown[] }[];
  };
  const shown = columnDefinitions.flatMap(({ name, priority }, i) =>
    wide || priority === 0 ? [[name, i] as const] : [],
  );
  return rows.map(({ cells }) => Object.fromEntries(shown.map(([name, i]) => [name, cells[i]])));
};

test('the definitions are established, and applying them again changes nothing', async () => {
  const names = OURS.map((resource) => `${resource.plural}.${resource.group}`);
  const before = await Promise.all(names.map((name) => kube.get(CRDS, '', name)));
  for (const crd of before) {
    const { conditions } = crd.status as { conditions: { type: string; status: string; message: string }[] };
    expect(conditions.find((c) => c.type === 'Established')?.status).toBe('True');
    expect(conditions.find((c) => c.type === 'NonStructuralSchema')).toBeUndefined();
  }
  await applyCrds(kube, { dir: join(ROOT, 'crds') });
  const after = await Promise.all(names.map((name) => kube.get(CRDS, '', name)));
  expect(after.map((c) => c.metadata.resourceVersion)).toEqual(before.map((c) => c.metadata.resourceVersion));
});

test('the samples are accepted as they stand', async () => {
  const dir = join(ROOT, 'manifests/samples');
  const byKind = new Map([...OURS, SECRETS as Resource].map((resource) => [resource.kind, resource]));
  const kinds: string[] = [];
  for (const file of (await readdir(dir)).sort()) {
    const text = await readFile(join(dir, file), 'utf8');
    expect(text.startsWith('# '), `${file} begins by saying what it is`).toBe(true);
    for (const document of parseAllDocuments(text)) {
      const object = document.toJS() as KubeObject;
      const resource = byKind.get(object.kind ?? '');
      if (!resource) throw new Error(`${file}: ${object.kind}`);
      const { status, text: answer } = await post(resource, object);
      expect(status, answer).toBe(201);
      kinds.push(resource.kind);
    }
  }
  expect(kinds.sort()).toEqual(['Destination', 'LoopStream', 'LoopStream', 'Playlist', 'Scene', 'Secret', 'Upload']);
});

/** A node of the OpenAPI document that the API server publishes. */
interface Published {
  description?: string;
  required?: string[];
  default?: unknown;
  properties?: Record<string, Published>;
  items?: Published;
  'x-kubernetes-group-version-kind'?: { kind: string }[];
}

describe('the OpenAPI document of the API server', () => {
  const kinds = async () => {
    const { text } = await kube.raw('GET', `/openapi/v3/apis/${formatApiVersion(LOOPSTREAMS as Resource)}`);
    const { schemas } = (JSON.parse(text) as { components: { schemas: Record<string, Published> } }).components;
    return OURS.map(({ kind }) => {
      const found = Object.values(schemas).find((one) => one['x-kubernetes-group-version-kind']?.[0]?.kind === kind);
      return [kind, found ?? {}] as const;
    });
  };
  /** Lists every field of a node by its path. Kubernetes describes metadata itself. */
  const fields = (node: Published, path: string): [string, Published, Published][] =>
    Object.entries(node.properties ?? {}).flatMap(([name, field]) => {
      const at = `${path}.${name}`;
      return [[at, field, node], ...(name === 'metadata' ? [] : fields(field.items ?? field, at))];
    });

  test('has a text for kubectl explain on every field of every kind', async () => {
    const all = (await kinds()).flatMap(([kind, node]) => [[kind, node] as const, ...fields(node, kind)]);
    expect(all.length).toBeGreaterThan(100);
    const silent = all.filter(([path, { description }]) => !description && !path.endsWith('.metadata'));
    expect(silent.map(([path]) => path)).toEqual([]);
  });

  test('asks for no field that is filled in', async () => {
    const all = (await kinds()).flatMap(([kind, node]) => fields(node, kind));
    const asked = all.filter(
      ([path, field, parent]) => field.default !== undefined && parent.required?.includes(path.split('.').at(-1) ?? ''),
    );
    expect(asked.map(([path]) => path)).toEqual([]);
  });
});

type Property = TSchema & { default?: unknown };

test('defaults', async () => {
  const stream = await kube.create(
    LOOPSTREAMS,
    NAMESPACE,
    manifest(LOOPSTREAMS as Resource, 'defaults', {
      uploadName: 'u',
      destinationNames: ['d'],
    }) as never,
  );
  const filledIn = {
    replicas: 1,
    quality: '1080p',
    framerate: 30,
    disruptionPolicy: 'OnDrain',
    itemFailurePolicy: 'Skip',
    startPolicy: 'Progressive',
  };
  expect(stream.spec).toMatchObject(filledIn);
  const defaults = Object.entries(LoopStreamSpec.properties).flatMap(
    ([name, { default: value }]: [string, Property]) => (value === undefined ? [] : [[name, value]]),
  );
  expect(stream.spec).toEqual({ uploadName: 'u', destinationNames: ['d'], ...Object.fromEntries(defaults) });
  const playlist = await kube.create(
    PLAYLISTS,
    NAMESPACE,
    manifest(PLAYLISTS as Resource, 'defaults', { items: [] }) as never,
  );
  expect(playlist.spec).toEqual({ track: 'video', mode: 'sequential', items: [] });
  const source = { url: 'https://example.com/a.mp4' };
  const upload = await kube.create(UPLOADS, NAMESPACE, manifest(UPLOADS as Resource, 'defaults', { source }) as never);
  expect(upload.spec).toEqual({ track: 'video', source });
});

test('a name of 57 characters is accepted', async () => {
  const body = manifest(LOOPSTREAMS as Resource, 'n'.repeat(57), { uploadName: 'u', destinationNames: ['d'] });
  expect((await post(LOOPSTREAMS as Resource, body)).status).toBe(201);
});

test('kubectl get shows the first facts that an SRE needs, and more with -o wide', async () => {
  const liveSince = new Date(Date.now() - 120_000).toISOString();
  const isReady = { type: 'Ready', status: 'True', reason: 'Live', message: '', lastTransitionTime: liveSince };
  const status = {
    conditions: [isReady],
    phase: 'live',
    canStart: true,
    destinationSummary: 'sample',
    liveSince,
    restarts: 3,
    podName: 'sample-onair',
  };
  await kube.mergePatch(LOOPSTREAMS, NAMESPACE, 'sample', { status }, { subresource: 'status' });
  const row = (rows: Record<string, unknown>[]) => rows.find((r) => r.Name === 'sample');
  expect(row(await table(LOOPSTREAMS))).toEqual({
    Name: 'sample',
    State: 'live',
    Ready: 'True',
    Destination: 'sample',
    Viewers: null,
    Uptime: '2m',
    Restarts: 3,
    Age: expect.stringMatching(/^\d+s$/),
    Title: 'Sample stream',
  });
  expect(row(await table(LOOPSTREAMS, true))).toMatchObject({
    Quality: '720p',
    Framerate: 30,
    Upload: 'sample',
    'Can start': true,
    Pod: 'sample-onair',
  });
  // No operator has seen these.
  expect((await table(UPLOADS))[0]).toMatchObject({ State: null, Ready: 'Unknown' });
  expect((await table(PLAYLISTS))[0]).toMatchObject({ Track: 'video', Version: null, Ready: 'Unknown' });
  expect((await table(DESTINATIONS))[0]).toMatchObject({ Ready: 'Unknown' });
  expect(Object.keys((await table(DESTINATIONS))[0] ?? {})).toEqual([
    'Name',
    'Ready',
    'URL',
    'Age',
    'Title',
    'Viewers',
  ]);
});

test('streams are found by upload and by state, and scaled to nothing', async () => {
  const found = async (fieldSelector: string) =>
    (await kube.list(LOOPSTREAMS, { namespace: NAMESPACE, fieldSelector })).map((o) => o.metadata.name);
  expect(await found('spec.uploadName=sample')).toEqual(['sample']);
  expect(await found('status.phase=live')).toEqual(['sample']);
  const scale = objectPath(LOOPSTREAMS, NAMESPACE, 'sample', 'scale');
  const { status } = await kube.raw(
    'PATCH',
    scale,
    { spec: { replicas: 0 } },
    { 'content-type': 'application/merge-patch+json' },
  );
  expect(status).toBe(200);
  expect((await kube.get(LOOPSTREAMS, NAMESPACE, 'sample')).spec.replicas).toBe(0);
});

test('conditions are merged by type, so that others can add their own', async () => {
  const condition = (type: string) => ({
    type,
    status: 'True',
    reason: 'Fine',
    message: '',
    lastTransitionTime: '2026-01-01T00:00:00Z',
  });
  const apply = (fieldManager: string, type: string) =>
    kube.apply(
      LOOPSTREAMS,
      NAMESPACE,
      { ...manifest(LOOPSTREAMS as Resource, 'sample', undefined), status: { conditions: [condition(type)] } },
      { fieldManager, subresource: 'status' },
    );
  await apply('one', 'MediaReady');
  const both = await apply('two', 'CreditAvailable');
  expect(both.status?.conditions?.map((c) => c.type)).toEqual(['Ready', 'MediaReady', 'CreditAvailable']);
  const { text } = await kube.raw('GET', objectPath(LOOPSTREAMS as Resource, NAMESPACE, 'sample'));
  const { managedFields } = (
    JSON.parse(text) as { metadata: { managedFields: { manager: string; fieldsV1: object }[] } }
  ).metadata;
  // A condition is one managed field: those of its parts would take as much room in etcd as all conditions.
  expect(managedFields.find(({ manager }) => manager === 'two')?.fieldsV1).toEqual({
    'f:status': { 'f:conditions': { 'k:{"type":"CreditAvailable"}': {} } },
  });
});

describe('the roles', () => {
  beforeAll(async () => {
    const text = await readFile(join(ROOT, 'manifests/rbac.yaml'), 'utf8');
    for (const document of parseAllDocuments(text)) {
      const object = document.toJS() as KubeObject & { apiVersion: string; kind: string };
      const [group = '', version = 'v1'] = object.apiVersion.includes('/') ? object.apiVersion.split('/') : ['', 'v1'];
      const plural = `${object.kind.toLowerCase()}s`;
      const resource = {
        group,
        version,
        kind: object.kind,
        plural,
        namespaced: !/^(Namespace|Cluster.*)$/.test(object.kind),
      };
      await kube.apply(resource, object.metadata.namespace ?? '', { ...object }, { fieldManager: 'test' });
    }
    // The API server checks rights from its watches, which follow writes with a delay.
    for (const account of ['operator', 'api', 'billing', 'platform'])
      await until(`the rights of ${account}`, async () => {
        const status = await as(`loopstream-${account}`, 'GET', here(LOOPSTREAMS as Resource<never>));
        return status === 200;
      });
  });

  const as = async (account: string, method: string, path: string, body?: unknown) => {
    const headers = {
      'impersonate-user': `system:serviceaccount:loopstream:${account}`,
      ...(method === 'PATCH' ? { 'content-type': 'application/merge-patch+json' } : {}),
    };
    return (await kube.raw(method, `${path}${path.includes('?') ? '&' : '?'}dryRun=All`, body, headers)).status;
  };
  const here = (resource: Resource<never>) => collectionPath(resource as Resource, 'loopstream');
  const secret = { metadata: { name: 's' }, stringData: { rtmpKey: 'x' } };

  test('let billing write counts and credit, and neither make a stream nor see a Secret', async () => {
    const one = `${here(LOOPSTREAMS as Resource<never>)}/none`;
    expect(await as('loopstream-billing', 'PATCH', `${one}/status`, { status: {} })).toBe(404);
    expect(await as('loopstream-billing', 'PATCH', one, { metadata: {} })).toBe(404);
    expect(await as('loopstream-billing', 'DELETE', one)).toBe(403);
    expect(await as('loopstream-billing', 'POST', here(LOOPSTREAMS as Resource<never>), {})).toBe(403);
    expect(await as('loopstream-billing', 'GET', `${here(SECRETS as Resource<never>)}/none`)).toBe(403);
    expect(await as('loopstream-billing', 'GET', here(PODS as Resource<never>))).toBe(200);
    expect(await as('loopstream-billing', 'DELETE', `${here(PODS as Resource<never>)}/none`)).toBe(403);
  });

  test('let the role platform say what viewers see, and write nothing else of a destination or a stream', async () => {
    const platform = (method: string, path: string, body?: unknown) => as('loopstream-platform', method, path, body);
    const one = `${here(DESTINATIONS as Resource<never>)}/none`;
    expect(await platform('GET', one)).toBe(404);
    expect(await platform('PATCH', `${one}/status`, { status: {} })).toBe(404);
    expect(await platform('PATCH', one, { spec: {} })).toBe(403);
    expect(await platform('DELETE', one)).toBe(403);
    const stream = `${here(LOOPSTREAMS as Resource<never>)}/none`;
    for (const path of [stream, `${stream}/status`]) expect(await platform('PATCH', path, {})).toBe(403);
    expect(await platform('GET', here(PODS as Resource<never>))).toBe(200);
    expect(await platform('DELETE', `${here(PODS as Resource<never>)}/none`)).toBe(403);
    const secrets = here(SECRETS as Resource<never>);
    expect(await platform('GET', `${secrets}/none`)).toBe(404);
    expect(await platform('GET', secrets)).toBe(403);
    expect(await platform('POST', secrets, secret)).toBe(403);
    expect(await platform('PATCH', `${secrets}/none`, secret)).toBe(403);
    const configMaps = here(CONFIG_MAPS as Resource<never>);
    expect(await platform('PATCH', `${configMaps}/loopstream-platform`, {})).toBe(404);
    expect(await platform('PATCH', `${configMaps}/loopstream-deleted-uploads`, {})).toBe(403);
    expect(await platform('GET', configMaps)).toBe(403);
    const leases = here(LEASES as Resource<never>);
    expect(await platform('GET', `${leases}/loopstream-platform`)).toBe(404);
    expect(await platform('GET', `${leases}/loopstream-operator`)).toBe(403);
    for (const subresource of ['exec', 'log', 'portforward'])
      expect(await platform('GET', `${here(PODS as Resource<never>)}/none/${subresource}`)).toBe(403);
  });

  test('let the operator read one Secret by name and no list of them', async () => {
    expect(await as('loopstream-operator', 'GET', `${here(SECRETS as Resource<never>)}/none`)).toBe(404);
    expect(await as('loopstream-operator', 'GET', here(SECRETS as Resource<never>))).toBe(403);
    expect(await as('loopstream-operator', 'GET', '/api/v1/secrets')).toBe(403);
    expect(await as('loopstream-operator', 'GET', '/api/v1/namespaces/kube-system/secrets/none')).toBe(403);
    expect(await as('loopstream-operator', 'PATCH', `${here(SECRETS as Resource<never>)}/none`, secret)).toBe(403);
    // It deletes those of destinations that are gone; the chart's policy keeps it from others.
    expect(await as('loopstream-operator', 'DELETE', `${here(SECRETS as Resource<never>)}/none`)).toBe(404);
  });

  test('let the API server write Secrets and never read them', async () => {
    expect(await as('loopstream-api', 'POST', here(SECRETS as Resource<never>), secret)).toBe(201);
    expect(await as('loopstream-api', 'GET', `${here(SECRETS as Resource<never>)}/none`)).toBe(403);
    expect(await as('loopstream-api', 'GET', here(SECRETS as Resource<never>))).toBe(403);
  });

  test('let each do its work in its namespace and nowhere else', async () => {
    const streams = here(LOOPSTREAMS as Resource<never>);
    expect(await as('loopstream-operator', 'GET', streams)).toBe(200);
    const status = {
      apiVersion: API_VERSION,
      kind: LOOPSTREAMS.kind,
      metadata: { name: 'none', resourceVersion: '1' },
    };
    expect(await as('loopstream-operator', 'PUT', `${streams}/none/status`, status)).toBe(404);
    // The operator deletes streams whose time is up, and no other object of people.
    expect(await as('loopstream-operator', 'DELETE', `${streams}/none`)).toBe(404);
    expect(await as('loopstream-operator', 'DELETE', `${here(DESTINATIONS as Resource<never>)}/none`)).toBe(403);
    expect(await as('loopstream-operator', 'DELETE', '/api/v1/namespaces/loopstream/pods/none')).toBe(404);
    expect(await as('loopstream-api', 'DELETE', `${streams}/none`)).toBe(404);
    expect(await as('loopstream-api', 'DELETE', '/api/v1/namespaces/loopstream/pods/none')).toBe(403);
    expect(await as('loopstream-api', 'PATCH', `${here(DESTINATIONS as Resource<never>)}/none/status`, {})).toBe(404);
    expect(await as('loopstream-api', 'PATCH', `${streams}/none/status`, {})).toBe(403);
    expect(await as('loopstream-api', 'GET', '/api/v1/namespaces/loopstream/events')).toBe(200);
    for (const account of ['loopstream-operator', 'loopstream-api'])
      expect(await as(account, 'GET', collectionPath(LOOPSTREAMS, 'default'))).toBe(403);
  });
});
