/** Serves declared operations over HTTP: builds each route, reads the request and returns the result with its status. */
import type { FastifyInstance, FastifyReply, FastifyRequest, RouteHandlerMethod, RouteShorthandOptions } from 'fastify';
import { type TProperties, type TSchema, Type } from 'typebox';
import { validationFailed } from '../../lib/errors.ts';
import type { Connection } from '../../lib/list-page.ts';
import { type Call, type OperationOutput, readRoute } from '../../lib/operation.ts';
import { flatten, pageArgs, pageQuery, pageSchema } from '../../lib/paging/list.ts';
import { namesFilter } from '../../lib/paging/noun-list.ts';
import { bodyMayBeMissing, NoBody, takesNoFields } from '../http/body.ts';
import { pointerPart } from '../http/json.ts';
import { compileListSerializer, compileRecordSerializer } from '../http/memoized-json.ts';
import type { AnyOperation, ServicesOf } from '../operations/list.ts';

export const V1 = '/v1';

/** Handwritten routes by operation id, and by `<id> <media type>` for a list that comes in other forms as well. */
export type Handlers = Readonly<Record<string, RouteHandlerMethod>>;

/** Registers a route for each of `operations`, in their order. `services` are their dependencies by name. */
export function serveOperations<const Declared extends readonly AnyOperation[]>(
  app: FastifyInstance,
  operations: Declared,
  services: ServicesOf<Declared>,
  handlers: Handlers = {},
): void {
  for (const operation of operations) {
    const { method, path } = readRoute(operation);
    const handler = byMediaType(operation, handlers, handlers[operation.id] ?? handle(operation, services));
    app.route({ method, url: path.replace(/{(\w+)}/g, ':$1'), ...routeOptions(operation), handler });
  }
}

/** Another form of a list is sent to a client that asks for it by name. */
function byMediaType(
  { id, output }: AnyOperation,
  handlers: Handlers,
  otherwise: RouteHandlerMethod,
): RouteHandlerMethod {
  const types = output.kind === 'page' ? Object.keys(output.alsoAs ?? {}) : [];
  if (types.length === 0) return otherwise;
  return function choose(request, reply) {
    const accepted = request.headers.accept?.toLowerCase() ?? '';
    const type = types.find((one) => accepted.includes(one));
    void reply.header('vary', 'accept');
    return (handlers[`${id} ${type}`] ?? otherwise).call(this, request, reply);
  };
}

/** Words that other APIs have for it. */
const DRY_RUN = /^dry[-_]?run$/i;

/** Unknown parameters are ignored, but for this one: the request would do what it was only to try. */
const refuseUnknownDryRun =
  ({ query = {} }: AnyOperation) =>
  async (request: FastifyRequest): Promise<void> => {
    const asked = Object.keys(request.query as object).find(
      (name) => DRY_RUN.test(name) && !Object.hasOwn(query, name),
    );
    if (asked === undefined) return;
    const message = 'dryRun' in query ? 'is written dryRun' : 'is not possible here: this request has no dry run';
    throw validationFailed([{ path: `/${asked}`, message }]);
  };

/** Other parameters that are not known are ignored, as those of caches and campaigns. */
const refuseUnknownFilter =
  (known: readonly string[]) =>
  async (request: FastifyRequest): Promise<void> => {
    const asked = Object.keys(request.query as object).filter((name) => !known.includes(name) && namesFilter(name));
    if (asked.length === 0) return;
    const message = `is not known; this list knows ${known.join(', ')}`;
    throw validationFailed(asked.map((name) => ({ path: pointerPart(name), message })));
  };

/** A protocol within HTTP has its own codes for invalid headers, so its handler validates them. */
const unchecked = () => () => true as const;

function routeOptions(operation: AnyOperation): RouteShorthandOptions {
  const { id, http, tag, summary, description, consumes, headers, output } = operation;
  const body = bodySchema(operation);
  const { params, querystring } = parameterSchemas(operation);
  return {
    // Streamed content is not produced for a HEAD request.
    ...(output.kind === 'content' && !output.types['application/json'] && { exposeHeadRoute: false }),
    ...(output.kind === 'record' && output.isMemoized && { serializerCompiler: compileRecordSerializer }),
    ...(output.kind === 'page' &&
      output.isMemoized && { serializerCompiler: compileListSerializer as () => (data: unknown) => string }),
    ...(output.kind === 'headers' && { validatorCompiler: unchecked }),
    ...(http.startsWith('HEAD ') && { config: { swagger: { exposeHeadRoute: true } } as object }),
    preValidation: [
      ...(takesNoFields(body) ? [bodyMayBeMissing] : []),
      ...(readRoute(operation).method === 'GET' ? [] : [refuseUnknownDryRun(operation)]),
      ...(output.kind === 'page' ? [refuseUnknownFilter(Object.keys(querystring?.properties ?? {}).sort())] : []),
    ],
    schema: {
      operationId: id,
      tags: [tag],
      summary,
      description,
      ...(params && { params }),
      ...(querystring && { querystring }),
      ...(consumes && { consumes: [consumes] }),
      ...(headers && { headers: Type.Object(headers) }),
      ...(body && { body }),
      response: responseSchemas(output),
    },
  };
}

/** POST requires a body, which may be empty. A handwritten route reads its own. */
function bodySchema({ input, run, ...operation }: AnyOperation): TSchema | undefined {
  if (input) return input;
  return run && readRoute(operation).method === 'POST' ? NoBody : undefined;
}

function parameterSchemas({ http, object, path = {}, query, output }: AnyOperation) {
  const description = object?.idName === undefined ? {} : { description: `${object.idName}.` };
  const inPath: TProperties = { ...(http.includes('{id}') && { id: Type.String(description) }), ...path };
  const inQuery: TProperties = { ...(output.kind === 'page' && pageQuery), ...query };
  return {
    params: Object.keys(inPath).length > 0 ? Type.Object(inPath) : undefined,
    querystring: Object.keys(inQuery).length > 0 ? Type.Object(inQuery) : undefined,
  };
}

const describeContent = (types: Readonly<Record<string, TSchema>>) =>
  Object.fromEntries(Object.entries(types).map(([type, schema]) => [type, { schema }]));

function responseSchemas(output: OperationOutput): Record<number, unknown> {
  switch (output.kind) {
    case 'record':
      return { 200: output.schema };
    case 'created':
      return { 201: output.schema };
    case 'page': {
      const schema = pageSchema(output.item, output.title);
      if (!output.alsoAs) return { 200: schema };
      const forms = { 'application/json': schema, ...output.alsoAs };
      return { 200: { content: describeContent(forms) } };
    }
    case 'progress':
      return { 200: output.schema, 202: output.schema };
    case 'deleted':
      return output.mayTakeLonger ? { 202: Type.Null(), 204: Type.Null() } : { 204: Type.Null() };
    case 'content':
      return { 200: { content: describeContent(output.types) } };
    case 'headers':
      return { [output.status]: { type: 'null', headers: output.headers } };
  }
}

function handle(operation: AnyOperation, services: unknown): RouteHandlerMethod {
  const { run, output } = operation;
  if (!run) throw new Error(`The operation ${operation.id} has neither a service to call nor a route.`);
  return async (request, reply) => respond(reply, output, await run(services as never, readCall(request) as never));
}

function readCall({ principal, params, query, body }: FastifyRequest): Omit<Call, 'where'> {
  const { id = '', ...path } = (params ?? {}) as { id?: string };
  return {
    principal,
    accountId: principal?.accountId,
    id,
    path: path as never,
    query: query as never,
    input: body as never,
    page: pageArgs(query as { limit: number; cursor?: string }),
    watch: {},
  };
}

function respond(reply: FastifyReply, output: OperationOutput, result: unknown): unknown {
  switch (output.kind) {
    case 'record':
      if (output.attachment) void reply.header('content-disposition', `attachment; filename="${output.attachment}"`);
      return result;
    case 'created':
      if (output.locate) void reply.header('location', `${V1}${output.locate(result)}`);
      return reply.code(201).send(result);
    case 'page':
      return flatten(result as Connection<never>, output.summarize);
    case 'progress': {
      const { done, [output.field]: record } = result as Record<string, unknown>;
      return reply.code(done ? 200 : 202).send(record);
    }
    case 'deleted':
      return reply.code(result === false ? 202 : 204).send(null);
    default:
      throw new Error(`A response of the kind ${output.kind} needs a handler of its own.`);
  }
}
