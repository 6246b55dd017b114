import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { LOOPSTREAMS, type LoopStream } from '../../src/kube/resources.ts';
import { NAMESPACE } from '../../src/local/rights.ts';
import { ACCOUNT_LABEL } from '../../src/streams/names.ts';
import type { Readiness, Stream } from '../../src/streams/record.ts';
import { type LoopStreamSpec, PHASES, READINESS_CONDITIONS, READINESS_ISSUES } from '../../src/streams/spec.ts';
import { type Client, startTestApi, type TestApi } from '../support/api.ts';
import { asker } from '../support/graphql.ts';

const STREAMS = 200;
const AT_ONCE = 20;

let api: TestApi;
let ada: Client;

beforeAll(async () => {
  api = await startTestApi();
  ada = await api.client('ada');
});
afterAll(() => api?.stop());

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
  schedule,
  conditions: fc.tuple(condition, condition, condition),
  name: fc.string({ unit: fc.constantFrom('a', 'é', ' ', '😀', '"'), minLength: 1, maxLength: 20 }),
});
type Generated = typeof generated extends fc.Arbitrary<infer T> ? T : never;

async function put({ replicas, schedule, conditions, name }: Generated, i: number): Promise<void> {
  const spec: LoopStreamSpec = {
    ...{ displayName: name, replicas, quality: '720p', framerate: 30, destinationRefs: ['none'], uploadRef: 'none' },
    ...(schedule === undefined ? {} : { schedule }),
  };
  const metadata = {
    name: `str-${String(i).padStart(3, '0')}`,
    namespace: NAMESPACE,
    labels: { [ACCOUNT_LABEL]: ada.accountId },
  };
  const made = await api.kube.create(LOOPSTREAMS, NAMESPACE, {
    ...{ apiVersion: 'loopstream.dev/v1alpha1', kind: 'LoopStream', metadata, spec },
  } as never);
  const observedGeneration = made.metadata.generation ?? 1;
  const status = {
    observedGeneration,
    phase: PHASES[i % PHASES.length],
    ready: conditions.every((one) => one.status === 'True'),
    conditions: conditions.map((one, at) => ({
      ...{ type: READINESS_CONDITIONS[at], message: `${one.reason} it is.`, observedGeneration, ...one },
      lastTransitionTime: '2026-01-01T00:00:00Z',
    })),
  };
  await api.kube.mergePatch(LOOPSTREAMS, NAMESPACE, metadata.name, { status }, { subresource: 'status' });
}

type Truth = Pick<Stream, 'scheduleStartAt' | 'scheduleEndAt' | 'recurrence' | 'nextStartAt'> & {
  state: string;
  ready: boolean;
  readiness: Readiness;
};

/** What the object itself says, in the public words. */
function ofObject({ spec, status }: LoopStream): Omit<Truth, 'nextStartAt'> {
  const issues = (status?.conditions ?? [])
    .filter((one) => one.status !== 'True')
    .map(({ reason, message, lastTransitionTime }) => {
      const { code, fix, field } = READINESS_ISSUES[reason as keyof typeof READINESS_ISSUES];
      return { code, message, fix, field, since: lastTransitionTime };
    });
  return {
    ...{ state: status?.phase ?? '', ready: status?.ready ?? false, readiness: { ready: issues.length === 0, issues } },
    scheduleStartAt: spec.schedule?.startAt ?? null,
    scheduleEndAt: spec.schedule?.endAt ?? null,
    recurrence: spec.schedule?.recurrence ?? null,
  };
}

const QUERY = `query($after: Cursor) { streams(first: 50, after: $after) { totalCount pageInfo { hasNextPage endCursor } edges { node {
  id state ready scheduleStartAt scheduleEndAt recurrence { cron timeZone durationSeconds } nextStartAt
  readiness { ready issues { code message fix field since } } } } } }`;

async function throughGraphql(): Promise<Map<string, Truth>> {
  interface Page {
    pageInfo: { hasNextPage: boolean; endCursor: string };
    edges: { node: Truth & { id: string } }[];
  }
  const found = new Map<string, Truth>();
  for (let after: string | undefined, more = true; more; ) {
    const { data, errors } = await asker(ada)(QUERY, { after });
    expect(errors).toBeUndefined();
    const { pageInfo, edges } = (data as { streams: Page }).streams;
    for (const { node } of edges) {
      const { id, ...truth } = node;
      found.set(id, truth);
    }
    [after, more] = [pageInfo.endCursor, pageInfo.hasNextPage];
  }
  return found;
}

async function throughRest(id: string): Promise<Truth> {
  const { status, ready, scheduleStartAt, scheduleEndAt, recurrence, nextStartAt } = (
    await ada.call<Stream>('GET', `/v1/streams/${id}`)
  ).body;
  const readiness = (await ada.call<Readiness>('GET', `/v1/streams/${id}/readiness`)).body;
  return { state: status, ready, scheduleStartAt, scheduleEndAt, recurrence, nextStartAt, readiness };
}

test('REST, GraphQL and the object say the same of state, readiness and schedule, for 200 streams in every state', async () => {
  const all = fc.sample(generated, { numRuns: STREAMS, seed: 6 });
  for (let i = 0; i < STREAMS; i += AT_ONCE)
    await Promise.all(all.slice(i, i + AT_ONCE).map((one, at) => put(one, i + at)));
  const labelSelector = `${ACCOUNT_LABEL}=${ada.accountId}`;
  const objects = await api.kube.list(LOOPSTREAMS, { namespace: NAMESPACE, labelSelector });
  expect(new Set(objects.map(({ status }) => status?.phase))).toEqual(new Set(PHASES));
  // Until the last status has come through the watch.
  const states = () => throughGraphql().then((found) => [...found.values()].map(({ state }) => state).sort());
  await expect.poll(states, { timeout: 60_000 }).toEqual(objects.map(({ status }) => status?.phase).sort());

  const graphql = await throughGraphql();
  for (let i = 0; i < STREAMS; i += AT_ONCE)
    await Promise.all(
      objects.slice(i, i + AT_ONCE).map(async (object) => {
        const { name } = object.metadata;
        const rest = await throughRest(name);
        expect(graphql.get(name), name).toEqual(rest);
        expect(rest, name).toMatchObject(ofObject(object as LoopStream));
      }),
    );
});
