/** POST /graphql, as GraphQL over HTTP has it (https://graphql.github.io/graphql-over-http/draft/). */
import type { FastifyBaseLogger, FastifyInstance, FastifyRequest } from 'fastify';
import { GraphQLError, getOperationAST, parse } from 'graphql';
import { createHandler } from 'graphql-http';
import { requireScope } from '../auth/scopes.ts';
import type { AppError } from '../errors.ts';
import { toAppError } from '../http/problem.ts';
import { limitsRule, MAX_TOKENS } from './limits.ts';
import type { GraphContext } from './relay.ts';
import { createSchema, type Services } from './schema.ts';

/** What came of an operation; `ms` is how long it took. */
type Observe = (type: 'query' | 'mutation' | 'invalid', ok: boolean, ms: number) => void;

export function graphqlRoutes(
  app: FastifyInstance,
  services: Services,
  scopePrefix: string,
  observe: Observe = () => undefined,
): void {
  /** The operations that could be carried out, of requests at work. */
  const carriedOut = new WeakMap<FastifyRequest, Parameters<Observe>[0]>();
  const failed = new WeakSet<FastifyRequest>();
  const handler = createHandler<FastifyRequest, unknown, GraphContext>({
    schema: createSchema(services),
    context: ({ raw }) => ({
      principal: raw.principal,
      allow: (operation) => requireScope(raw.principal, operation, scopePrefix),
    }),
    parse: (source, options) => parse(source, { ...options, maxTokens: MAX_TOKENS }),
    validationRules: [limitsRule],
    onOperation: ({ raw }, { document, operationName }, { errors }) => {
      carriedOut.set(raw, getOperationAST(document, operationName)?.operation === 'mutation' ? 'mutation' : 'query');
      if (errors?.length) failed.add(raw);
    },
    formatError: (error) => toGraphQLError(error, app.log),
  });

  app.post('/graphql', { config: { perField: true }, schema: { hide: true } as object }, async (request, reply) => {
    const { url, method, headers } = request;
    const body = request.body as Record<string, unknown> | null;
    const since = performance.now();
    const [text, { status, headers: more }] = await handler({ url, method, headers, body, raw: request, context: {} });
    const type = carriedOut.get(request) ?? 'invalid';
    observe(type, type !== 'invalid' && !failed.has(request), performance.now() - since);
    return reply
      .code(status)
      .headers(more ?? {})
      .send(text ?? '');
  });
}

/** The same codes as REST, in `extensions.code`; what is thrown inside reaches the log and nothing else. */
function toGraphQLError(error: Readonly<GraphQLError | Error>, log: Pick<FastifyBaseLogger, 'error'>): GraphQLError {
  if (!(error instanceof GraphQLError)) {
    const { code, message } = told(error, log);
    return new GraphQLError(message, { extensions: { code } });
  }
  const { nodes, source, positions, path, originalError } = error;
  if (!originalError || originalError instanceof GraphQLError) {
    const code = error.extensions.code ?? 'validation_failed';
    return new GraphQLError(error.message, {
      nodes,
      source,
      positions,
      path,
      extensions: { ...error.extensions, code },
    });
  }
  const { code, message, extras } = told(originalError, log);
  return new GraphQLError(message, { nodes, source, positions, path, extensions: { ...extras, code } });
}

function told(error: Error, log: Pick<FastifyBaseLogger, 'error'>): AppError {
  const known = toAppError(error);
  if (known.status >= 500) log.error({ err: error }, 'a GraphQL field failed');
  return known;
}
