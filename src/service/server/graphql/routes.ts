/** Serves /graphql by GraphQL over HTTP (https://graphql.github.io/graphql-over-http/draft/): POST, and queries by GET. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { GraphQLError, getOperationAST } from 'graphql';
import { createHandler } from 'graphql-http';
import { currentSpan } from '../../../core/lib/context.ts';
import type { Db } from '../../db/pool.ts';
import type { AppError } from '../../lib/errors.ts';
import { idempotency } from '../http/idempotency.ts';
import { type IdempotencyDeps, mayPass } from '../http/idempotency-keys.ts';
import { logProblem, type ProblemLog, toAppError } from '../http/problem.ts';
import { requireScope } from '../operations/scopes.ts';
import type { Services } from '../setup/services.ts';
import { createDocuments } from './documents.ts';
import { variableErrors, withoutValues } from './errors.ts';
import { limitsRule, variablesProblem } from './limits.ts';
import type { GraphContext } from './relay.ts';
import { readableHeaders, readRequest } from './request.ts';
import { createSchema } from './schema.ts';

export const GRAPHQL = '/graphql';

/** Receives the result of an operation; `ms` is its duration. */
type Observe = (type: 'query' | 'mutation' | 'invalid', ok: boolean, ms: number) => void;

export interface GraphqlOptions {
  services: Services;
  scopePrefix: string;
  db: Db;
  /** Key for the fingerprints of requests with an Idempotency-Key. */
  secret: string;
  quotas: IdempotencyDeps['quotas'];
  observe?: Observe | undefined;
}

export function graphqlRoutes(app: FastifyInstance, options: GraphqlOptions): void {
  const { services, scopePrefix, observe = () => undefined } = options;
  /** Executed operations by request. */
  const carriedOut = new WeakMap<FastifyRequest, Parameters<Observe>[0]>();
  const failed = new WeakSet<FastifyRequest>();
  /** Requests without an effect that may be tried again. */
  const mayRetry = new WeakSet<FastifyRequest>();
  idempotency(app, { ...options, mayRetry: (request) => mayRetry.has(request) });
  const handler = createHandler<FastifyRequest, unknown, GraphContext>({
    schema: createSchema(services),
    context: ({ raw }) => ({
      principal: raw.principal,
      allow: (operation) => requireScope(raw.principal, operation, scopePrefix),
    }),
    parseRequestParams: readRequest,
    ...createDocuments(),
    validationRules: (_request, { variableValues }, rules) => [limitsRule(variableValues), ...rules],
    onSubscribe: (_request, { variables }) => variablesProblem(variables),
    onOperation: ({ raw }, { document, operationName }, { errors = [], data }) => {
      carriedOut.set(raw, getOperationAST(document, operationName)?.operation === 'mutation' ? 'mutation' : 'query');
      if (errors.length > 0) failed.add(raw);
      const nothingDone = Object.values(data ?? {}).every((value) => value === null);
      if (nothingDone && errors.some(({ originalError }) => originalError && mayPass(toAppError(originalError).status)))
        mayRetry.add(raw);
    },
    formatError: (error) => toGraphQLError(error, app.log),
  });

  const answer = async (request: FastifyRequest, reply: FastifyReply) => {
    const { url, method } = request;
    const headers = readableHeaders(request.headers);
    const body = (request.body ?? null) as Record<string, unknown> | null;
    const since = performance.now();
    const [text, { status, headers: more }] = await handler({ url, method, headers, body, raw: request, context: {} });
    const type = carriedOut.get(request) ?? 'invalid';
    currentSpan()?.set({ 'graphql.operation.type': type });
    observe(type, type !== 'invalid' && !failed.has(request), performance.now() - since);
    return reply
      .code(status)
      .headers({ 'cache-control': 'no-store', ...more })
      .send(status === 405 ? MUTATION_BY_GET : (text ?? ''));
  };
  const route = { config: { perField: true }, schema: { hide: true } as object };
  app.post(GRAPHQL, route, answer);
  app.get(GRAPHQL, route, answer);
}

/** The library returns an error without a code here. */
const MUTATION_BY_GET = JSON.stringify({
  errors: [{ message: 'A mutation must be sent with POST.', extensions: { code: 'method_not_allowed' } }],
});

/** Adds the codes of REST as `extensions.code`; details of internal errors go only to the log. */
function toGraphQLError(error: Readonly<GraphQLError | Error>, log: ProblemLog): GraphQLError {
  if (!(error instanceof GraphQLError)) {
    const { code, message, extras } = toReportedError(error, log);
    return new GraphQLError(message, { extensions: { ...extras, code } });
  }
  const { nodes, source, positions, path, originalError } = error;
  if (!originalError || originalError instanceof GraphQLError) {
    const code = error.extensions.code ?? 'validation_failed';
    const errors = variableErrors(error.message);
    return new GraphQLError(withoutValues(error.message), {
      nodes,
      source,
      positions,
      path,
      extensions: { ...error.extensions, ...(errors ? { errors } : {}), code },
    });
  }
  const { code, message, extras } = toReportedError(originalError, log);
  return new GraphQLError(message, { nodes, source, positions, path, extensions: { ...extras, code } });
}

function toReportedError(error: Error, log: ProblemLog): AppError {
  const known = toAppError(error);
  logProblem(log, known, 'a GraphQL field failed');
  return known;
}
