/** Runs the peers in a process of their own: a bare Fastify that answers the same JSON, and graphql-http with constants. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import Fastify from 'fastify';
import { GraphQLID, GraphQLInt, GraphQLList, GraphQLObjectType, GraphQLSchema, GraphQLString } from 'graphql';
import { createHandler } from 'graphql-http/lib/use/http';
import { serve } from './worker.ts';

const HOST = '127.0.0.1';

const bodies = new Map<string, unknown>();
const app = Fastify();
app.get('/v1/*', async (request) => bodies.get(request.url));
let listening: Promise<string> | undefined;

/** Serves each path's body, serialized for each request. Resolves to the server's URL. */
function fastify(answers: Record<string, unknown>): Promise<string> {
  for (const [path, body] of Object.entries(answers)) bodies.set(path, body);
  listening ??= app.listen({ host: HOST, port: 0 });
  return listening;
}

/** Serves `nodes` as `streams`, for any arguments. */
async function graphql(nodes: { id: string; name: string; state: string }[]): Promise<string> {
  const text = { type: GraphQLString };
  const Stream = new GraphQLObjectType({
    name: 'Stream',
    fields: { id: { type: GraphQLID }, name: text, state: text },
  });
  const Edge = new GraphQLObjectType({ name: 'Edge', fields: { node: { type: Stream } } });
  const Streams = new GraphQLObjectType({ name: 'Streams', fields: { edges: { type: new GraphQLList(Edge) } } });
  const constant = { edges: nodes.map((node) => ({ node })) };
  const streams = { type: Streams, args: { first: { type: GraphQLInt } }, resolve: () => constant };
  const schema = new GraphQLSchema({ query: new GraphQLObjectType({ name: 'Query', fields: { streams } }) });
  const server = createServer(createHandler({ schema }));
  await new Promise<void>((resolve) => server.listen(0, HOST, resolve));
  return `http://${HOST}:${(server.address() as AddressInfo).port}/graphql`;
}

const jobs = { fastify, graphql };
export type PeerJobs = typeof jobs;
serve(jobs);
