/**
 * Tests bad manifests on the real API server: each refusal names the field and has a sentence. REST uses the same words for the same
 * mistake.
 */
import { afterAll, beforeAll, describe, expect, onTestFailed, test } from 'vitest';
import { CRDS } from '../../../src/core/kube/core.ts';
import { collectionPath } from '../../../src/core/kube/paths.ts';
import type { KubeObject, Resource } from '../../../src/core/kube/types.ts';
import { SENTENCES } from '../../../src/core/lib/sentences.ts';
import { customResourceDefinitions } from '../../../src/core/resources/crd/crds.ts';
import { applyCrds } from '../../../src/core/resources/crd/install.ts';
import { PLAYLISTS } from '../../../src/core/resources/playlist/resource.ts';
import { LOOPSTREAMS } from '../../../src/core/resources/stream/resource.ts';
import { UPLOADS } from '../../../src/core/resources/upload/resource.ts';
import { NAMESPACE } from '../../../tools/local/rights.ts';
import { type Client, startTestApi, type TestApi } from '../../kit/system/api.ts';
import { until } from '../../kit/wait.ts';
import { OTHERS } from './manifests/others.ts';
import { object, PLAYLIST, STREAM, UPLOAD } from './manifests/shapes.ts';
import { SCHEDULES, STREAMS } from './manifests/streams.ts';

let api: TestApi;
let client: Client;

beforeAll(async () => {
  api = await startTestApi();
  client = await api.client('ada');
});
afterAll(() => api?.stop());

/** Translates Kubernetes' messages about a schema into ours: the same fact with the same limit. */
const TRANSLATIONS: [RegExp, (limit: string) => string][] = [
  [/must be of type integer: /, () => 'must be a whole number'],
  [/must be of type string: /, () => 'must be a string'],
  [/must be of type boolean: /, () => 'must be yes or no'],
  [/must be of type array: /, () => 'must be a list'],
  [/must be of type object: /, () => 'must be an object'],
  [/must be of type date-time: /, () => 'must be a time such as 2027-01-31T18:00:00Z'],
  [/^Unsupported value: .*: supported values: (.*)$/, (values) => `must be one of ${values.replaceAll('"', '')}`],
  [/^Too long: may not be more than (\d+) /, (limit) => `must have at most ${limit} characters`],
  [/^Too many: \d+: must have at most (\d+) items$/, (limit) => `must have at most ${limit} entries`],
  [/should (?:have at least 1 items|be at least 1 chars long)$/, () => 'must not be empty'],
  [/should be greater than or equal to (\d+)$/, (limit) => `must be at least ${limit}`],
  [/should be less than or equal to (\d+)$/, (limit) => `must be at most ${limit}`],
  [/^Required value$/, () => 'is required'],
];

interface Cause {
  field: string;
  message: string;
}

/** Converts a cause to our words: a schema's message is translated, and a rule's message loses the value in front. */
function inOurWords({ field, message }: Cause): Cause {
  for (const [pattern, ours] of TRANSLATIONS) {
    const found = pattern.exec(message);
    if (found) return { field, message: ours(found[1] ?? '') };
  }
  return { field, message: message.replace(/^(Forbidden|Required value|Invalid value(: "(?:[^"\\]|\\.)*")?): /, '') };
}

async function causes(resource: Resource, body: unknown, method = 'POST', name = ''): Promise<Cause[]> {
  const path = `${collectionPath(resource, NAMESPACE)}${name && `/${name}`}?fieldValidation=Strict&dryRun=All`;
  const headers = method === 'PATCH' ? { 'content-type': 'application/merge-patch+json' } : {};
  const { status, text } = await api.kube.raw(method, path, body, headers);
  expect(status, text).toBeGreaterThanOrEqual(400);
  expect(status, text).toBeLessThan(500);
  const answer = JSON.parse(text) as { message: string; details?: { causes?: Cause[] } };
  const unknown = /unknown field "([^"]+)"/.exec(answer.message)?.[1];
  if (unknown !== undefined) return [{ field: unknown, message: 'is not known' }];
  return (answer.details?.causes ?? []).map(inOurWords);
}

describe.each([
  ['a stream', STREAMS],
  ['a schedule', SCHEDULES],
  ['an upload, a playlist, a destination or a scene', OTHERS],
])('%s that makes no sense is refused with its field and a sentence, by REST in the same words', (_kind, table) => {
  test.each(Object.entries(table))('%s', async (_what, bad) => {
    const { field, sentence: message } = bad;
    expect(await causes(bad.kind as Resource, object(bad))).toContainEqual({ field, message });
    if (!bad.rest) return;
    const { path, body, ...rest } = bad.rest;
    const answer = await client.call<{ errors: { path: string; message: string }[] }>('POST', path, body);
    expect(answer.status, JSON.stringify(answer.body)).toBe(422);
    const told = rest.sentence ? expect.stringMatching(rest.sentence) : message;
    expect(answer.body.errors).toContainEqual({ path: rest.field, message: told });
  });
});

describe('valid manifests are accepted', () => {
  const dryRun = (resource: Resource<never>, spec: object) => {
    const path = `${collectionPath(resource as Resource, NAMESPACE)}?fieldValidation=Strict&dryRun=All`;
    return api.kube.raw('POST', path, object({ kind: resource, spec }));
  };
  const entries = (length: number) =>
    Object.fromEntries(Array.from({ length: 64 }, (_, i) => [`example.com/key-${i}`, 'v'.repeat(length)]));
  const longest = (count: number) => Array.from({ length: count }, (_, i) => `${i}`.padStart(253, 'n'));

  test('as large as it may be: no rule costs more than the API server spends on it', async () => {
    const displayName = '字'.repeat(200);
    const cron = Array.from({ length: 60 }, (_, i) => i).join();
    const recurrence = { cron: `${cron} * * * *`, timeZone: 'America/Argentina/ComodRivadavia', durationSeconds: 60 };
    const rules = longest(50).map((playlistName, i) => ({
      name: `rule-${i}`,
      playlistName,
      when: { window: recurrence },
    }));
    const items = longest(500).map((uploadName) => ({ uploadName }));
    const playlist = await dryRun(PLAYLIST, { displayName, items, rules });
    expect(playlist.status, playlist.text).toBe(201);
    const playlistNames = longest(20);
    const largest = {
      displayName,
      playlistNames,
      audioPlaylistNames: playlistNames,
      destinationNames: longest(5),
      schedule: { startAt: '2099-01-01T00:00:00Z', endAt: '2099-01-01T00:00:01Z', recurrence },
      template: {
        resources: { requests: { cpu: 1, memory: '96Mi' }, limits: { cpu: '2', memory: '1Gi' } },
        nodeSelector: entries(63),
        tolerations: Array.from({ length: 32 }, (_, i) => ({ key: `k${i}`, operator: 'Exists', effect: 'NoExecute' })),
        affinity: { nodeAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [] } },
        labels: entries(63),
        // With the rest, 63 of the 64 KiB that a template may have.
        annotations: entries(720),
        runtimeClassName: 'r'.repeat(253),
        priorityClassName: 'p'.repeat(253),
      },
    };
    const stream = await dryRun(STREAM, largest);
    expect(stream.status, stream.text).toBe(201);
    const url = `https://example.com/${'a'.repeat(4076)}`;
    const upload = await dryRun(UPLOAD, { displayName, source: { url } });
    expect(upload.status, upload.text).toBe(201);
  });

  test.each([
    '*/5 8-18 ? * MON-FRI',
    '0 18 L * *',
    '0 18 15W jan,JUL *',
    '0 0 * * 5#2',
    '0 0 1 * +MON',
    ' 1,2  3 4 5 6 ',
  ])('cron %j', async (cron) => {
    const recurrence = { cron, timeZone: 'Europe/Berlin', durationSeconds: 60 };
    const { status, text } = await dryRun(STREAM, {
      uploadName: 'u',
      destinationNames: ['d'],
      schedule: { recurrence },
    });
    expect(status, text).toBe(201);
  });
});

describe('immutable fields', () => {
  const source = { url: 'https://example.com/a' };
  const make = (resource: Resource<never>, spec: object) =>
    api.kube.create(resource as Resource, NAMESPACE, object({ kind: resource, name: 'kept', spec }));

  test('name the alternative in their error, and all others can be changed', async () => {
    await make(UPLOAD, { source });
    await make(PLAYLIST, { items: [] });
    const change = async (resource: Resource<never>, spec: object) =>
      causes(resource as Resource, { spec }, 'PATCH', 'kept').then(([first]) => first);
    const fixed = (field: string, kind: string) => ({ field: `spec.${field}`, message: SENTENCES.fixed(kind) });
    expect(await change(UPLOAD, { source: { url: 'https://example.com/b' } })).toEqual(fixed('source', 'Upload'));
    expect(await change(UPLOAD, { source: { url: null, sent: { sizeBytes: 5 } } })).toEqual(fixed('source', 'Upload'));
    expect(await change(UPLOAD, { track: 'audio' })).toEqual(fixed('track', 'Upload'));
    expect(await change(PLAYLIST, { track: 'audio' })).toEqual(fixed('track', 'Playlist'));
    for (const resource of [UPLOADS, PLAYLISTS] as Resource[])
      await api.kube.mergePatch(resource, NAMESPACE, 'kept', { spec: { displayName: 'Another name' } });
  });
});

test('of a client’s upload, the offset grows up to the length, and nothing else changes', async () => {
  const spec = { source: { sent: { sizeBytes: 10 } } };
  await api.kube.create(UPLOADS as Resource, NAMESPACE, object({ kind: UPLOAD, name: 'sent', spec }));
  const patchSent = async (change: object) => {
    const [first] = await causes(UPLOADS as Resource, { spec: { source: { sent: change } } }, 'PATCH', 'sent');
    return first?.message;
  };
  expect(await patchSent({ receivedBytes: 11 })).toBe(SENTENCES.tooMuchSent);
  await api.kube.mergePatch(UPLOADS, NAMESPACE, 'sent', { spec: { source: { sent: { receivedBytes: 7 } } } });
  expect(await patchSent({ receivedBytes: 6 })).toBe(SENTENCES.fixed('Upload'));
  expect(await patchSent({ sizeBytes: 20 })).toBe(SENTENCES.fixed('Upload'));
});

describe('objects stored before a rule existed', () => {
  type Node = { [key: string]: unknown };
  /** Removes all rules from the definitions. */
  const lenient = (node: unknown): unknown => {
    if (Array.isArray(node)) return node.map(lenient);
    if (node === null || typeof node !== 'object') return node;
    const rest = Object.entries(node as Node).filter(([key]) => key !== 'x-kubernetes-validations');
    return Object.fromEntries(rest.map(([key, value]) => [key, lenient(value)]));
  };
  const LONG = 'n'.repeat(58);
  const old = { displayName: 'rings \u0007', uploadName: 'u', playlistNames: ['p'], destinationNames: ['d'] };
  const accepted = async (name: string) => {
    const path = `${collectionPath(LOOPSTREAMS, NAMESPACE)}?dryRun=All`;
    const body = object({ kind: STREAM, name, spec: old });
    return (await api.kube.raw('POST', path, body)).status === 201;
  };

  test('can get a status, metadata edits and a deletion, and fail only where the bad part is edited', async () => {
    // Other files rely on the rules, and do not apply them again.
    onTestFailed(() => applyCrds(api.kube));
    for (const crd of customResourceDefinitions())
      await api.kube.apply(CRDS, '', lenient(crd) as KubeObject as never, { fieldManager: 'loopstream-install' });
    await until('there are no rules', () => accepted(LONG));
    await api.kube.create(LOOPSTREAMS, NAMESPACE, {
      ...object({ kind: STREAM, spec: old }),
      metadata: { name: LONG, finalizers: ['example.com/held'] },
    } as never);
    await applyCrds(api.kube);
    await until('the rules are there', async () => !(await accepted('short')));

    const status = { phase: 'waiting' };
    await api.kube.mergePatch(LOOPSTREAMS, NAMESPACE, LONG, { status }, { subresource: 'status' });
    await api.kube.mergePatch(LOOPSTREAMS, NAMESPACE, LONG, { metadata: { labels: { team: 'a' } } });
    const refused = await causes(LOOPSTREAMS, { spec: { replicas: 0 } }, 'PATCH', LONG);
    expect(refused).toEqual([{ field: 'spec.playlistNames', message: SENTENCES.twoMedia }]);
    await api.kube.mergePatch(LOOPSTREAMS, NAMESPACE, LONG, { spec: { playlistNames: null, replicas: 0 } });
    await api.kube.delete(LOOPSTREAMS, NAMESPACE, LONG);
    await api.kube.mergePatch(LOOPSTREAMS, NAMESPACE, LONG, { metadata: { finalizers: null } });
    await until('it is gone', async () => {
      const left = await api.kube.list(LOOPSTREAMS, { namespace: NAMESPACE });
      return left.every(({ metadata }) => metadata.name !== LONG);
    });
  });
});
