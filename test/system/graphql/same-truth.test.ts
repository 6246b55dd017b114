/**
 * Tests that REST, GraphQL and the real kubectl agree about the same streams, in every state, also before the operator's first reconcile.
 */
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Stored } from '../../../src/core/kube/types.ts';
import { READINESS_ISSUES } from '../../../src/core/lib/codes/streams.ts';
import { findCondition } from '../../../src/core/resources/common/conditions.ts';
import { ACCOUNT_LABEL } from '../../../src/core/resources/common/names.ts';
import { LOOPSTREAMS, type LoopStream } from '../../../src/core/resources/stream/resource.ts';
import {
  ALWAYS_REPORTED,
  type LoopStreamSpec,
  type LoopStreamStatus,
  PHASES,
  READINESS_CONDITIONS,
} from '../../../src/core/resources/stream/spec.ts';
import type { Readiness, Stream } from '../../../src/service/domain/streams/record.ts';
import { NAMESPACE } from '../../../tools/local/rights.ts';
import { kubectl } from '../../kit/kubectl.ts';
import { createQuery } from '../../kit/make/graphql.ts';
import { type Client, startTestApi, type TestApi } from '../../kit/system/api.ts';

const STREAMS = 200;
const AT_ONCE = 20;
const FINALIZER = 'loopstream.dev/test';
/** How much of its status the operator has written, for each phase. */
const MANNERS = [
  'all',
  'of an older spec',
  'nothing',
  'all, and it is being deleted',
  'not of each condition',
] as const;

let api: TestApi;
let ada: Client;

beforeAll(async () => {
  api = await startTestApi();
  ada = await api.client('ada');
});
afterAll(async () => {
  if (!api) return;
  const release = { metadata: { finalizers: [] } };
  for (const { metadata } of await objects())
    if (metadata.finalizers?.includes(FINALIZER))
      await api.kube.mergePatch(LOOPSTREAMS, NAMESPACE, metadata.name, release);
  await api.stop();
});

const selector = () => `${ACCOUNT_LABEL}=${ada.accountId}`;
/** The objects as `kubectl -o json` prints them. */
async function objects(): Promise<Stored<LoopStream>[]> {
  const listed = await kubectl(api.kubernetes, 'get', 'loopstreams', '-l', selector(), '-o', 'json');
  return (JSON.parse(listed) as { items: Stored<LoopStream>[] }).items;
}

const time = fc.integer({ min: 1, max: 28 }).map((day) => `2031-02-${String(day).padStart(2, '0')}T10:00:00Z`);
const schedule = fc.oneof(
  fc.constant(undefined),
  fc.record({ startAt: time }),
  fc.record({ startAt: fc.constant('2031-01-01T00:00:00Z'), endAt: time }),
  fc.record({
    recurrence: fc.record({
      cron: fc.constantFrom('0 6 * * *', '*/30 * * * 1'),
      timeZone: fc.constantFrom('UTC', 'Europe/Berlin'),
      durationSeconds: fc.integer({ min: 60, max: 9_000 }),
    }),
  }),
);
const reasons = Object.keys(READINESS_ISSUES) as (keyof typeof READINESS_ISSUES)[];
const condition = fc.record({
  status: fc.constantFrom('True', 'False', 'Unknown'),
  reason: fc.constantFrom(...reasons),
});
const generated = fc.record({
  replicas: fc.constantFrom(0 as const, 1 as const),
  suspend: fc.constantFrom(undefined, undefined, true),
  schedule,
  conditions: fc.tuple(condition, condition, condition),
  said: fc.subarray([...READINESS_CONDITIONS], { maxLength: 2 }),
  name: fc.string({ unit: fc.constantFrom('a', 'é', ' ', '😀', '"'), minLength: 1, maxLength: 20 }),
});
type Generated = typeof generated extends fc.Arbitrary<infer T> ? T : never;

async function put({ replicas, suspend, schedule, conditions, said, name }: Generated, i: number): Promise<void> {
  const manner = MANNERS[Math.floor(i / PHASES.length) % MANNERS.length];
  const spec: LoopStreamSpec = {
    displayName: name,
    replicas,
    quality: '720p',
    framerate: 30,
    destinationNames: ['none'],
    uploadName: 'none',
    ...(schedule === undefined ? {} : { schedule }),
    ...(suspend && { suspend }),
  };
  const metadata = {
    name: `str-${String(i).padStart(3, '0')}`,
    namespace: NAMESPACE,
    labels: { [ACCOUNT_LABEL]: ada.accountId },
    finalizers: manner === 'all, and it is being deleted' ? [FINALIZER] : [],
  };
  const made = await api.kube.create(LOOPSTREAMS, NAMESPACE, {
    apiVersion: 'loopstream.dev/v1beta1',
    kind: 'LoopStream',
    metadata,
    spec,
  } as never);
  if (manner === 'nothing') return;
  const observedGeneration = made.metadata.generation ?? 1;
  const told = conditions.flatMap((one, at) => {
    const type = READINESS_CONDITIONS[at] ?? 'MediaReady';
    if (manner === 'not of each condition' && !said.includes(type)) return [];
    const lastTransitionTime = '2026-01-01T00:00:00Z';
    return [{ type, message: `${one.reason} it is.`, observedGeneration, ...one, lastTransitionTime }];
  });
  const status = {
    observedGeneration,
    phase: PHASES[i % PHASES.length],
    conditions: told,
    ready: told.length === READINESS_CONDITIONS.length && told.every((one) => one.status === 'True'),
  };
  await api.kube.mergePatch(LOOPSTREAMS, NAMESPACE, metadata.name, { status }, { subresource: 'status' });
  if (manner === 'of an older spec')
    await api.kube.mergePatch(LOOPSTREAMS, NAMESPACE, metadata.name, { spec: { replicas: 1 - replicas } });
  if (manner === 'all, and it is being deleted') await api.kube.delete(LOOPSTREAMS, NAMESPACE, metadata.name);
}

type Truth = Pick<Stream, 'scheduleStartAt' | 'scheduleEndAt' | 'recurrence' | 'nextStartAt'> & {
  state: string;
  ready: boolean;
  readiness: Readiness;
};

/**
 * Computes the state by the rule of docs/streams.md ("Before the operator has looked"), from kubectl's output. No window has begun here.
 */
function computeState({ metadata, spec, status }: LoopStream): string {
  if (metadata.deletionTimestamp !== undefined) return 'stopping';
  if (status?.phase && status.observedGeneration === metadata.generation) return status.phase;
  const isWanted = spec.replicas === 1 && !spec.suspend;
  const isOffAir = ['idle', 'scheduled', 'stopped', 'ended', 'failed'].includes(status?.phase ?? 'idle');
  if (!isOffAir) return isWanted ? (status?.phase ?? '') : 'stopping';
  if (isWanted && spec.schedule) return 'scheduled';
  if (isWanted && status?.phase) return 'starting';
  return status?.phase && status.phase !== 'scheduled' ? status.phase : 'idle';
}

const FIELDS = ['destinationIDs', 'videoUploadObjectID', 'scheduleStartAt'];
function listIssues({ metadata, status }: Stored<LoopStream>): Readiness['issues'] {
  return READINESS_CONDITIONS.flatMap((type, at) => {
    const told = (status as LoopStreamStatus | undefined)?.conditions?.find((one) => one.type === type);
    if (told?.status === 'True' || (!told && !ALWAYS_REPORTED.includes(type))) return [];
    const { code, fix, field } = told
      ? READINESS_ISSUES[told.reason as keyof typeof READINESS_ISSUES]
      : { code: 'not_checked', fix: expect.stringContaining('whether the operator runs'), field: FIELDS[at] ?? '' };
    const message = told?.message ?? 'The operator has not checked this stream yet.';
    return [{ code, message, fix, field, since: told?.lastTransitionTime ?? metadata.creationTimestamp }];
  });
}

/** Returns how much is prepared: what the status says, or all once the media is ready. */
function ofPreparation(status: LoopStream['status']) {
  const isReady = findCondition(status?.conditions, 'MediaReady')?.status === 'True';
  const { prepared, estimatedReadyAt } = status?.preparation ?? { prepared: isReady ? 1 : 0 };
  return { prepared, estimatedReadyAt: estimatedReadyAt ?? null };
}

/** Returns the object's own data in public words. */
function ofObject(object: Stored<LoopStream>): Omit<Truth, 'nextStartAt'> {
  const { spec, status } = object;
  const issues = listIssues(object);
  return {
    state: computeState(object),
    ready: status?.canStart ?? false,
    readiness: { ready: issues.length === 0, issues, warnings: [], ...ofPreparation(status) },
    scheduleStartAt: spec.schedule?.startAt ?? null,
    scheduleEndAt: spec.schedule?.endAt ?? null,
    recurrence: spec.schedule?.recurrence ?? null,
  };
}

const SHOWN = `id state ready scheduleStartAt scheduleEndAt recurrence { cron timeZone durationSeconds } nextStartAt
  readiness { ready issues { code message fix field since } warnings { code } prepared estimatedReadyAt }`;
type Node = Truth & { id: string };
const truths = (nodes: Node[]) => new Map(nodes.map(({ id, ...truth }) => [id, truth]));

/** Reads all pages of a list, to which `next` leads. */
async function pages<T>(next: (cursor: string | null) => Promise<{ items: T[]; cursor: string | null }>): Promise<T[]> {
  const all: T[] = [];
  for (let cursor: string | null = null, more = true; more; more = cursor !== null) {
    const page: { items: T[]; cursor: string | null } = await next(cursor);
    all.push(...page.items);
    cursor = page.cursor;
  }
  return all;
}

const throughGraphqlList = (shown: string): Promise<Node[]> =>
  pages(async (after) => {
    const query = `query($after: Cursor) { streams(first: 50, after: $after) {
      pageInfo { hasNextPage endCursor } edges { node { ${shown} } } } }`;
    const { data, errors } = await createQuery(ada)(query, { after });
    expect(errors).toBeUndefined();
    const { pageInfo, edges } = (
      data as { streams: { pageInfo: { hasNextPage: boolean; endCursor: string }; edges: { node: Node }[] } }
    ).streams;
    return { items: edges.map(({ node }) => node), cursor: pageInfo.hasNextPage ? pageInfo.endCursor : null };
  });

async function throughGraphqlNode(ids: string[]): Promise<Node[]> {
  const nodes = ids.map((id, i) => `n${i}: node(id: "${id}") { ... on Stream { ${SHOWN} } }`);
  const { data, errors } = await createQuery(ada)(`{ ${nodes.join(' ')} }`);
  expect(errors).toBeUndefined();
  return Object.values(data ?? {}) as Node[];
}

const ofRest = ({ id, status, ready, scheduleStartAt, scheduleEndAt, recurrence, nextStartAt }: Stream) => ({
  id,
  state: status,
  ready,
  scheduleStartAt,
  scheduleEndAt,
  recurrence,
  nextStartAt,
});
const throughRestList = () =>
  pages(async (cursor) => {
    const path = `/v1/streams?limit=50${cursor === null ? '' : `&cursor=${cursor}`}`;
    const { body } = await ada.call<{ data: Stream[]; page: { nextCursor: string | null } }>('GET', path);
    return { items: body.data.map(ofRest), cursor: body.page.nextCursor };
  });
async function throughRest(id: string): Promise<Node> {
  const stream = ofRest((await ada.call<Stream>('GET', `/v1/streams/${id}`)).body);
  return { ...stream, readiness: (await ada.call<Readiness>('GET', `/v1/streams/${id}/readiness`)).body };
}

test('REST, GraphQL and kubectl say the same of state, readiness and schedule, for 200 streams in every state', async () => {
  const all = fc.sample(generated, { numRuns: STREAMS, seed: 6 });
  for (let i = 0; i < STREAMS; i += AT_ONCE)
    await Promise.all(all.slice(i, i + AT_ONCE).map((one, at) => put(one, i + at)));
  const shown = await objects();
  const expected = new Map(shown.map((object) => [object.metadata.name, ofObject(object)]));
  expect(expected.size).toBe(STREAMS);
  expect(new Set(shown.map(({ status }) => status?.phase))).toEqual(new Set([...PHASES, undefined]));
  expect(new Set([...expected.values()].map(({ state }) => state))).toEqual(new Set(PHASES));
  // The watch has then passed the last of them; the next lines check the result.
  const states = async () => (await throughGraphqlList('id state')).map(({ id, state }) => [id, state]);
  await expect
    .poll(async () => new Map((await states()) as [string, string][]), { timeout: 60_000 })
    .toEqual(new Map([...expected].map(([id, { state }]) => [id, state])));

  const listed = truths(await throughGraphqlList(SHOWN));
  const inRest = new Map((await throughRestList()).map(({ id, ...rest }) => [id, rest]));
  const ids = [...expected.keys()];
  for (let i = 0; i < STREAMS; i += AT_ONCE) {
    const some = ids.slice(i, i + AT_ONCE);
    const [nodes, ones] = await Promise.all([throughGraphqlNode(some), Promise.all(some.map(throughRest))]);
    const [asNode, asOne] = [truths(nodes), truths(ones)];
    for (const id of some) {
      expect(asOne.get(id), id).toMatchObject(expected.get(id) ?? {});
      expect(listed.get(id), id).toEqual(asOne.get(id));
      expect(asNode.get(id), id).toEqual(asOne.get(id));
      const { readiness: _, ...rest } = asOne.get(id) as Truth;
      expect(inRest.get(id), id).toEqual(rest);
    }
  }
}, 240_000);
