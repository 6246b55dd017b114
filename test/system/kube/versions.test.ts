/** Tests on the real API server that an object is the same in each version, whichever it was written in. */
import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parseAllDocuments, stringify } from 'yaml';
import { createKube } from '../../../src/kube/client.ts';
import { NAMESPACES } from '../../../src/kube/core.ts';
import { collectionPath, objectPath } from '../../../src/kube/paths.ts';
import type { Kube, KubeObject, Resource } from '../../../src/kube/types.ts';
import { API_VERSION, GROUP } from '../../../src/resources/common/names.ts';
import { applyCrds } from '../../../src/resources/crd/install.ts';
import { DESTINATIONS } from '../../../src/resources/destination/resource.ts';
import { PLAYLISTS } from '../../../src/resources/playlist/resource.ts';
import { LOOPSTREAMS } from '../../../src/resources/stream/resource.ts';
import { UPLOADS } from '../../../src/resources/upload/resource.ts';
import { convertTo } from '../../../src/resources/versions/convert.ts';
import { KINDS, type Kind, VERSIONS, type Version } from '../../../src/resources/versions/names.ts';
import { generateObjects } from '../../kit/make/objects.ts';
import { type Conversion, startConversion } from '../../kit/real/conversion.ts';
import { startSmallKubernetes, type TestKubernetes } from '../../kit/real/kubernetes.ts';

const SAMPLES = resolve(import.meta.dirname, '../../../manifests/samples');
const NAMESPACE = 'versions';
const ALPHA = `${GROUP}/v1alpha1`;
const RESOURCES = {
  LoopStream: LOOPSTREAMS,
  Playlist: PLAYLISTS,
  Upload: UPLOADS,
  Destination: DESTINATIONS,
} as unknown as Record<Kind, Resource>;

const resourceOf = (kind: Kind, version: Version): Resource => ({ ...RESOURCES[kind], version });
const other = (version: Version): Version => (version === 'v1beta1' ? 'v1alpha1' : 'v1beta1');

let kubernetes: TestKubernetes;
let kube: Kube;
let conversion: Conversion;

beforeAll(async () => {
  kubernetes = await startSmallKubernetes();
  kube = createKube({ kubeconfig: kubernetes.kubeconfig });
  conversion = await startConversion(join(kubernetes.stateDir, 'conversion'));
  await applyCrds(kube, { alpha: conversion });
  await kube.create(NAMESPACES, '', { metadata: { name: NAMESPACE }, spec: {} });
});
afterAll(async () => {
  await kube?.close();
  await conversion?.close();
  await kubernetes?.stop();
});

/** Sends what kubectl sends: unknown fields are errors. */
async function send(method: string, path: string, body?: unknown, type = 'application/json'): Promise<KubeObject> {
  const { status, text } = await kube.raw(method, `${path}?fieldValidation=Strict`, body, { 'content-type': type });
  expect(status, text).toBeLessThan(300);
  return JSON.parse(text);
}

/** The part of an object that its writers own. */
const own = ({ metadata: { labels, annotations, generation }, spec, status }: KubeObject) => ({
  ...{ labels, annotations, generation },
  ...{ spec, status },
});

describe.each(KINDS)('%s', (kind) => {
  test.each(VERSIONS)(
    'written as %s is the same after it was read and replaced in the other version',
    async (version) => {
      const here = resourceOf(kind, version);
      const there = resourceOf(kind, other(version));
      const property = fc.asyncProperty(generateObjects(kind, version), async (object) => {
        const made = await send('POST', collectionPath(here, NAMESPACE), object);
        const path = (resource: Resource, subresource?: string) =>
          objectPath(resource, NAMESPACE, made.metadata.name, subresource);
        await send('PUT', path(here, 'status'), { ...made, status: object.status });
        const before = await send('GET', path(here));
        const read = await send('GET', path(there));
        expect(own(read)).toEqual(own(convertTo(`${GROUP}/${other(version)}`, before)));
        const replaced = await send('PUT', path(there), read);
        await send('PUT', path(there, 'status'), replaced);
        expect(own(await send('GET', path(here)))).toEqual(own(before));
        await send('DELETE', path(there));
      });
      await fc.assert(property, { numRuns: 15 });
    },
  );
});

describe('server-side apply', () => {
  /** One stream, which managers apply in any version. */
  const createStream = (name: string) => {
    const path = (version: Version) => objectPath(resourceOf('LoopStream', version), NAMESPACE, name);
    return {
      apply: (version: Version, fieldManager: string, spec: unknown, force = false) => {
        const body = { apiVersion: `${GROUP}/${version}`, kind: 'LoopStream', metadata: { name }, spec };
        const headers = { 'content-type': 'application/apply-patch+yaml' };
        return kube.raw('PATCH', `${path(version)}?fieldManager=${fieldManager}&force=${force}`, body, headers);
      },
      readSpec: async (version: Version) => (await send('GET', path(version))).spec,
    };
  };

  test('by a manager of each version: each keeps its fields, and gives up those that it leaves out', async () => {
    const { apply, readSpec } = createStream('shared');
    const first = { uploadRef: 'film', destinationRefs: ['tv'], onItemFailure: 'Block' };
    expect((await apply('v1alpha1', 'old', first)).status).toBe(201);
    expect((await apply('v1beta1', 'new', { startPolicy: 'Prepared', disruptionPolicy: 'Never' })).status).toBe(200);
    expect(await readSpec('v1beta1')).toMatchObject({
      uploadName: 'film',
      destinationNames: ['tv'],
      itemFailurePolicy: 'Block',
      startPolicy: 'Prepared',
      disruptionPolicy: 'Never',
    });
    // A field that its manager leaves out becomes the default again; the other's fields stay.
    expect((await apply('v1alpha1', 'old', { uploadRef: 'film', destinationRefs: ['tv'] })).status).toBe(200);
    expect((await apply('v1beta1', 'new', { startPolicy: 'Prepared' })).status).toBe(200);
    expect(await readSpec('v1alpha1')).toMatchObject({
      uploadRef: 'film',
      destinationRefs: ['tv'],
      onItemFailure: 'Skip',
      start: 'Prepared',
      disruption: 'OnDrain',
    });
  });

  test('of a field that a manager has in the other version is a conflict, which names that manager', async () => {
    const { apply, readSpec } = createStream('contested');
    expect((await apply('v1alpha1', 'old', { uploadRef: 'film', destinationRefs: ['tv'] })).status).toBe(201);
    const { status, text } = await apply('v1beta1', 'thief', { uploadName: 'another' });
    expect(status).toBe(409);
    expect((JSON.parse(text) as { message: string }).message).toContain('conflict with "old": .spec.uploadRef');
    expect((await apply('v1beta1', 'thief', { uploadName: 'another' }, true)).status).toBe(200);
    expect(await readSpec('v1alpha1')).toMatchObject({ uploadRef: 'another' });
  });
});

test('kubectl apply of a manifest of v1alpha1 works, and says that it is deprecated', async () => {
  const text = await readFile(join(SAMPLES, 'loopstream.yaml'), 'utf8');
  const [sample] = parseAllDocuments(text).map((document) => document.toJS() as KubeObject);
  if (sample?.kind !== 'LoopStream' || sample.apiVersion !== API_VERSION) throw new Error('The sample is another one.');
  const file = join(kubernetes.stateDir, 'old-sample.yaml');
  await writeFile(file, stringify(convertTo(ALPHA, sample)));
  const kubectl = (...args: string[]) =>
    promisify(execFile)(kubernetes.binaries.kubectl, ['-n', NAMESPACE, ...args], {
      env: { KUBECONFIG: kubernetes.kubeconfig, HOME: kubernetes.stateDir, PATH: process.env.PATH },
    });
  const { stdout, stderr } = await kubectl('apply', '--validate=strict', '-f', file);
  expect(stdout).toContain('created');
  expect(stderr).toContain('Warning: loopstream.dev/v1alpha1 LoopStream is deprecated; write loopstream.dev/v1beta1');
  const again = await kubectl('apply', '-f', file);
  expect(again.stdout).toContain('unchanged');
  const shown = await kubectl('get', 'loopstreams', sample.metadata.name, '-o', 'json');
  expect(JSON.parse(shown.stdout)).toMatchObject({ apiVersion: API_VERSION, spec: sample.spec as object });
  expect(shown.stderr).toBe('');
});

const createSong = (name: string) =>
  send('POST', collectionPath(resourceOf('Upload', 'v1alpha1'), NAMESPACE), {
    apiVersion: ALPHA,
    kind: 'Upload',
    metadata: { name },
    spec: { type: 'audio', source: { url: 'https://example.com/a.mp3' } },
  });

test('each version is searched by its own names of fields', async () => {
  await createSong('song');
  const find = async (version: Version, fieldSelector: string) =>
    (await kube.list(resourceOf('Upload', version), { namespace: NAMESPACE, fieldSelector })).map(
      ({ metadata }) => metadata.name,
    );
  expect(await find('v1alpha1', 'spec.type=audio')).toEqual(['song']);
  expect(await find('v1beta1', 'spec.track=audio')).toEqual(['song']);
  expect(await find('v1beta1', 'spec.track=video')).toEqual([]);
});

// The last one: no other has a webhook after it.
test('while the webhook is away, only clients of v1alpha1 notice', async () => {
  await createSong('alone');
  await conversion.close();
  const path = (version: Version) => objectPath(resourceOf('Upload', version), NAMESPACE, 'alone');
  const old = await kube.raw('GET', path('v1alpha1'));
  expect([old.status, old.text]).toEqual([500, expect.stringContaining('conversion webhook')]);
  const song = await send('GET', path('v1beta1'));
  await send('PUT', path('v1beta1'), { ...song, metadata: { ...song.metadata, labels: { team: 'a' } } });
  expect(await kube.delete(UPLOADS, NAMESPACE, 'alone')).toBe(true);
});
