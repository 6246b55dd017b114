/**
 * Holds the declared costs of GraphQL's fields against the processor time that they take. Every field that a query can reach is asked, by
 * the schema itself, so a new one is measured without anybody's thinking of it. The measure is what a point of an ordinary query takes on
 * the same machine at the same time.
 */
import {
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLSchema,
  getNamedType,
  isEnumType,
  isInterfaceType,
  isNonNullType,
  isObjectType,
} from 'graphql';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createSchema } from '../../../src/service/server/graphql/schema.ts';
import type { Services } from '../../../src/service/server/setup/services.ts';
import { createQuery } from '../../kit/make/graphql.ts';
import { type StreamsApi, startStreamsApi } from '../../kit/make/streams.ts';

/** Aliases of a field in one query: as many as are allowed. */
const ALIASES = 20;
const PAGE = 20;
const ROUNDS = 3;
/**
 * Processor time of a point, as a multiple of that of an ordinary query. Fields that cost 1 take between nothing and some of these; one
 * that evaluated a recurrence for 1 took thousands.
 */
const MOST = 100;

let started: StreamsApi;
let ask: ReturnType<typeof createQuery>;
let ids: Record<string, string>;
let schema: GraphQLSchema;

beforeAll(async () => {
  started = await startStreamsApi();
  const { api, ada, create, destinationID, videoUploadObjectID, videoList } = started;
  ask = createQuery(ada);
  schema = createSchema({} as Services);
  // Rare and in a zone with summer time, which takes the longest to evaluate.
  const recurrence = { cron: '30 2 29 2 *', timeZone: 'Europe/Berlin', durationSeconds: 3600 };
  const { id } = await create({ recurrence });
  const others = await Promise.all(Array.from({ length: PAGE - 1 }, (_, i) => create({ name: `Stream ${i}` })));
  // Readiness waits for an operator that has not seen a stream yet.
  for (const stream of [id, ...others.map((other) => other.id)]) await api.observe(stream, { phase: 'stopped' });
  const items = Array.from({ length: 500 }, () => ({ uploadObjectID: videoUploadObjectID }));
  expect((await ada.call('PATCH', `/v1/playlists/${videoList}`, { version: 1, items })).status).toBe(200);
  ids = { stream: id, destination: destinationID, upload: videoUploadObjectID, playlist: videoList, node: id };
});
afterAll(() => started?.api.stop());

interface Asked {
  name: string;
  /** Points of all of its aliases together. */
  points: number;
  query: string;
  /** The same without the field. */
  base: string;
}

const costOf = ({ extensions }: GraphQLField<unknown, unknown>) => (extensions.cost as number | undefined) ?? 1;
const isComposite = (type: GraphQLNamedType) => isObjectType(type) || isInterfaceType(type);

/** Gives each argument that a field must have, and the size of a page. */
function fillArguments({ name, args, extensions }: GraphQLField<unknown, unknown>): string {
  const given = args.flatMap((arg) => {
    if (arg.name === 'first' && extensions.isPaged) return [`first: ${PAGE}`];
    if (!isNonNullType(arg.type)) return [];
    const type = getNamedType(arg.type);
    if (arg.name === 'id')
      return [`id: "${Object.entries(ids).find(([noun]) => name.startsWith(noun))?.[1] ?? 'none'}"`];
    if (isEnumType(type)) return [`${arg.name}: ${type.getValues()[0]?.name}`];
    return [`${arg.name}: ${type.name === 'Int' ? 1 : '"none"'}`];
  });
  return given.length > 0 ? `(${given.join(', ')})` : '';
}

/** Lists every field that a query can reach, each once, by the shortest way to its type. */
function listFields(): Asked[] {
  const asked: Asked[] = [];
  const seen = new Set<string>();
  const queue = [
    { type: schema.getQueryType() as GraphQLNamedType, wrap: (inner: string) => `{ ${inner} }`, times: 1 },
  ];
  for (let next = queue.shift(); next; next = queue.shift()) {
    const { type, wrap, times } = next;
    if (seen.has(type.name) || !(isObjectType(type) || isInterfaceType(type))) continue;
    seen.add(type.name);
    for (const field of Object.values(type.getFields())) {
      const inner = getNamedType(field.type);
      const text = `${field.name}${fillArguments(field)}`;
      const shown = isComposite(inner) ? `${text} { __typename }` : text;
      const page = field.extensions.isPaged ? PAGE : 1;
      const points = ALIASES * times * (costOf(field) + (isComposite(inner) ? page : 0));
      const aliases = Array.from({ length: ALIASES }, (_, i) => `a${i}: ${shown}`).join(' ');
      asked.push({ name: `${type.name}.${field.name}`, points, query: wrap(aliases), base: wrap('__typename') });
      queue.push({ type: inner, wrap: (more) => wrap(`${text} { ${more} }`), times: times * page });
    }
  }
  return asked;
}

/** Returns the least processor time of some rounds, in milliseconds: another process cannot shorten it. */
async function measure(query: string): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let round = 0; round < ROUNDS; round += 1) {
    const before = process.cpuUsage();
    await ask(query);
    const { user, system } = process.cpuUsage(before);
    least = Math.min(least, (user + system) / 1000);
  }
  return least;
}

test('no field takes far more of a processor than its cost says', async () => {
  const fields = listFields();
  // One of every noun, and those deep in a record.
  for (const name of [
    'Query.streams',
    'Query.liveStats',
    'Stream.upcoming',
    'Stream.state',
    'Playlist.items',
    'Billing.currency',
  ])
    expect(fields.map((field) => field.name)).toContain(name);
  const ordinary = `{ streams(first: ${PAGE}) { edges { node { id name state createdAt } } } }`;
  const ordinaryPoints = 1 + PAGE * 6;
  for (let i = 0; i < 50; i += 1) await ask(ordinary);
  const point = (await measure(ordinary)) / ordinaryPoints;
  const found: { name: string; ratio: number }[] = [];
  const bases = new Map<string, number>();
  for (const { name, points, query, base } of fields) {
    const without = bases.get(base) ?? (await measure(base));
    bases.set(base, without);
    const taken = (await measure(query)) - without;
    found.push({ name, ratio: Math.round((10 * taken) / points / point) / 10 });
  }
  found.sort((a, b) => b.ratio - a.ratio);
  expect(found.filter(({ ratio }) => ratio > MOST)).toEqual([]);
});
