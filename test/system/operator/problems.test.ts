/** Tests a stream in each kind of trouble on a real control plane: REST, GraphQL and kubectl report the same. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { PODS, SECRETS } from '../../../src/core/kube/core.ts';
import type { Resource } from '../../../src/core/kube/types.ts';
import { READINESS_ISSUES } from '../../../src/core/lib/codes/streams.ts';
import type { Lifecycle } from '../../../src/core/lib/lifecycle.ts';
import { GATE } from '../../../src/core/lib/sentences.ts';
import { API_VERSION } from '../../../src/core/resources/common/names.ts';
import { DESTINATIONS } from '../../../src/core/resources/destination/resource.ts';
import { PLAYLISTS } from '../../../src/core/resources/playlist/resource.ts';
import { LOOPSTREAMS } from '../../../src/core/resources/stream/resource.ts';
import type { LoopStreamSpec } from '../../../src/core/resources/stream/spec.ts';
import { UPLOADS } from '../../../src/core/resources/upload/resource.ts';
import { renditionKey } from '../../../src/core/resources/upload/spec.ts';
import { NAMESPACE } from '../../../tools/local/rights.ts';
import { kubectl } from '../../kit/kubectl.ts';
import { MEDIA } from '../../kit/make/operator.ts';
import { type Client, startTestApi, type TestApi } from '../../kit/system/api.ts';
import { createOwned, startApiOperator } from '../../kit/system/api-operator.ts';
import { until } from '../../kit/wait.ts';

interface Issue {
  code: string;
  message: string;
  fix: string;
  field: string;
  since: string;
}

let api: TestApi;
let ada: Client;
let operator: Lifecycle | undefined;

const create = (resource: Resource, name: string, more: object) => createOwned(api, ada, resource, name, more);

async function createUpload(name: string, status?: object, more: object = {}): Promise<void> {
  await create(UPLOADS, name, { spec: { source: { url: `https://media.example/${name}` }, ...more } });
  if (status) await api.kube.mergePatch(UPLOADS, NAMESPACE, name, { status }, { subresource: 'status' });
}
async function createDestination(name: string, rtmpUrl?: string): Promise<void> {
  const secret = { stringData: { rtmpUrl, rtmpKey: 'live_s3cr3t' } };
  if (rtmpUrl) await create(SECRETS, `${name}-secret`, secret);
  await create(DESTINATIONS, name, { spec: { secretName: `${name}-secret` } });
}

/** The definition counts characters, and the operator those of JSON, in which each of these is two. */
const LONG_NOTES = Object.fromEntries(Array.from({ length: 12 }, (_, i) => [`note-${i}`, '"'.repeat(4000)]));

/** The streams by the code of their trouble. */
const STREAMS: Record<keyof typeof CODES, Partial<LoopStreamSpec>> = {
  destination_not_found: { destinationNames: ['none'] },
  destination_secret_missing: { destinationNames: ['secretless'] },
  destination_invalid: { destinationNames: ['web'] },
  upload_not_found: { uploadName: 'none' },
  media_importing: { uploadName: 'fetched' },
  media_preparing: { uploadName: 'imported' },
  media_awaits_credit: { uploadName: 'imported', readinessGates: [{ conditionType: 'CreditAvailable' }] },
  media_awaits_gate: { uploadName: 'imported', readinessGates: [{ conditionType: 'Approved' }] },
  media_failed: { uploadName: 'broken' },
  upload_quarantined: { uploadName: 'held' },
  playlist_not_found: { playlistNames: ['none'] },
  playlist_empty: { playlistNames: ['empty'] },
  schedule_invalid: { schedule: { recurrence: { cron: '0 18 * * 5', timeZone: 'Mars/Base', durationSeconds: 60 } } },
  template_too_large: { template: { annotations: LONG_NOTES } },
  unschedulable: {},
  quota_exceeded: { template: { resources: { requests: { cpu: '50' }, limits: { cpu: '50' } } } },
  pod_refused: { template: { runtimeClassName: 'none' } },
  pod_name_taken: {},
  insufficient_credits: { readinessGates: [{ conditionType: 'CreditAvailable' }] },
};
const CODES = {
  destination_not_found: 'destination "none"',
  destination_secret_missing: 'secretless-secret',
  destination_invalid: 'must begin with rtmp://',
  upload_not_found: 'Upload "none" does not exist.',
  media_importing: 'is still being imported.',
  media_preparing: 'is being prepared for 720p30.',
  media_awaits_credit: 'will be prepared for 720p30 when the account has credit.',
  media_awaits_gate: 'will be prepared for 720p30 when the condition "Approved" is true.',
  media_failed: 'cannot be read',
  upload_quarantined: 'A claim is checked.',
  playlist_not_found: 'Playlist "none" does not exist.',
  playlist_empty: 'has no items.',
  schedule_invalid: 'timeZone "Mars/Base" is not a time zone',
  template_too_large: 'spec.template has ',
  unschedulable: 'No node accepts the pod: ',
  quota_exceeded: 'exceeded quota: few',
  pod_refused: 'RuntimeClass "none" not found',
  pod_name_taken: 'exists but does not belong to this stream',
  insufficient_credits: 'The balance of 0 credits is used up.',
} as const;
const getName = (code: string): string => code.replaceAll('_', '-');

beforeAll(async () => {
  api = await startTestApi({}, { alone: true });
  ada = await api.client('ada');
  await createDestination('tv', 'rtmp://127.0.0.1/live');
  await createDestination('web', 'https://127.0.0.1/live');
  await createDestination('secretless');
  const imported = { observedGeneration: 1, sourceKey: 'sources/x', media: MEDIA };
  const key = renditionKey(MEDIA.sha256, 'video', '720p30');
  const ready = { ...imported, phase: 'ready', renditions: [{ profile: '720p30', state: 'ready', key }] };
  await createUpload('film', ready);
  await createUpload('held', ready, { quarantine: { reason: 'A claim is checked.' } });
  await createUpload('fetched');
  await createUpload('imported', { ...imported, media: { ...MEDIA, sha256: 'b'.repeat(64) } });
  const error = { code: 'media_unreadable', message: 'The file cannot be read.' };
  await createUpload('broken', { observedGeneration: 1, phase: 'failed', error });
  await create(PLAYLISTS, 'empty', { spec: { items: [] } });
  await create({ ...PODS, kind: 'ResourceQuota', plural: 'resourcequotas' }, 'few', {
    spec: { hard: { 'requests.cpu': '20' } },
  });
  const container = { name: 'x', image: 'x', resources: { requests: { cpu: '1m' } } };
  await create(PODS, 'pod-name-taken-onair', { spec: { containers: [container] } });
  for (const [code, spec] of Object.entries(STREAMS)) {
    const media = spec.playlistNames ? {} : { uploadName: 'film' };
    const full = { quality: '720p', framerate: 30, destinationNames: ['tv'], ...media, ...spec };
    await create(LOOPSTREAMS, getName(code), { spec: full });
  }
  const closed = { status: 'False', lastTransitionTime: '2026-01-01T00:00:00Z' };
  const unpaid = {
    type: 'CreditAvailable',
    reason: 'InsufficientCredits',
    message: 'The balance of 0 credits is used up.',
  };
  const refused = { type: 'Approved', reason: 'Refused', message: 'Somebody has to approve it.' };
  for (const [code, condition] of [
    ['insufficient_credits', unpaid],
    ['media_awaits_credit', unpaid],
    ['media_awaits_gate', refused],
  ] as const)
    await api.kube.apply(
      LOOPSTREAMS,
      NAMESPACE,
      {
        apiVersion: API_VERSION,
        kind: 'LoopStream',
        metadata: { name: getName(code) },
        status: { conditions: [{ ...condition, ...closed }] },
      },
      { fieldManager: 'billing', subresource: 'status' },
    );
  operator = await startApiOperator(api);
});
afterAll(async () => {
  await operator?.stop();
  await api?.stop();
});

async function describeStream(name: string): Promise<string> {
  return kubectl(api.kubernetes, 'describe', 'loopstream', name);
}

test('every trouble that has a fix is tried', () => {
  expect(Object.keys(CODES).sort()).toEqual(
    Object.values(READINESS_ISSUES)
      .map(({ code }) => code)
      .sort(),
  );
});

test.each(Object.entries(CODES))('%s', async (code, words) => {
  const id = getName(code);
  const issues = await until(`REST says ${code}`, async () => {
    const { body } = await ada.call<{ ready: boolean; issues: Issue[] }>('GET', `/v1/streams/${id}/readiness`);
    const [first, ...others] = body.issues;
    // A gate that media waits for is an issue of its own.
    const gates = code.startsWith('media_awaits') ? 1 : 0;
    return first?.code === code && others.length === gates && !body.ready && body.issues;
  });
  const [issue] = issues;
  if (!issue) throw new Error(`no issue of ${code}`);
  expect(issue.message.toLowerCase()).toContain(words.toLowerCase());
  const query = `{ stream(id: "${id}") { ready readiness { ready issues { code message fix field since } } } }`;
  const graph = await ada.call<{ data: unknown }>('POST', '/graphql', { query });
  expect(graph.body.data).toEqual({ stream: { ready: false, readiness: { ready: false, issues } } });
  const onlyTime = code === 'media_importing' || code === 'media_preparing';
  const told = onlyTime ? issue.message : `${issue.message} ${issue.fix}`;
  const story = await until('the event is told', async () => {
    const text = await describeStream(id);
    return text.split('\n').some((line) => /^ +(Warning|Normal) /.test(line) && line.trimEnd().endsWith(told)) && text;
  });
  expect(story).toContain(`Message:               ${issue.message}`);
  expect(story).not.toContain('s3cr3t');
});

test.each([
  ['Live', GATE[1]],
  ['Ready', GATE[1]],
  ['Stalled', GATE[1]],
  ['no type!', GATE[0]],
])('a gate of the type "%s" is refused', async (conditionType, rule) => {
  const spec = { uploadName: 'film', destinationNames: ['tv'], readinessGates: [{ conditionType }] };
  await expect(create(LOOPSTREAMS, 'refused', { spec })).rejects.toThrow(
    `spec.readinessGates[0].conditionType: Invalid value: "${conditionType}": ${rule?.sentence}`,
  );
});
