/**
 * Serves /mcp: Streamable HTTP without sessions (https://modelcontextprotocol.io/specification/2026-07-28/basic/transports), so
 * that any replica can serve any request. Requests are authenticated, counted and limited as all others are.
 */
import { createMcpHandler } from '@modelcontextprotocol/server';
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest, onRequestHookHandler } from 'fastify';
import { AGENTS_PATH } from '../../auth/addresses.ts';
import type { Db } from '../../db/pool.ts';
import { AppError, type ErrorCode } from '../../lib/errors.ts';
import type { Principal } from '../../lib/scopes.ts';
import { createIdempotencyKeys, type IdempotencyDeps } from '../http/idempotency-keys.ts';
import { toAppError, toProblem } from '../http/problem.ts';
import type { Services } from '../setup/services.ts';
import { EVENTS_TYPE, JSON_TYPE, readAcceptedForm, toForm } from './accept.ts';
import { createCancellations } from './cancellation.ts';
import { readSelection, type ToolSelection } from './selection.ts';
import { createAgentServers, type Observe } from './server.ts';

export const MCP = AGENTS_PATH;

export interface AgentOptions {
  services: Services;
  scopePrefix: string;
  db: Db;
  /** Key for the fingerprints of calls with an idempotencyKey. */
  secret: string;
  quotas: IdempotencyDeps['quotas'];
  publicUrl: string;
  /** Origins of pages that may call it besides our own. */
  corsOrigins: readonly string[];
  version: string;
  observe?: Observe | undefined;
}

/** Codes of JSON-RPC 2.0, section 5.1, for invalid JSON and invalid requests. */
const REFUSALS: Partial<Record<ErrorCode, number>> = {
  malformed_json: -32700,
  malformed_request: -32600,
  validation_failed: -32600,
};

export function agentRoutes(app: FastifyInstance, options: AgentOptions): void {
  const { log } = app;
  const { publicUrl, observe = () => undefined } = options;
  const servers = createAgentServers({ ...options, idempotencyKeys: createIdempotencyKeys(options), observe, log });
  const callers = new WeakMap<Request, { principal: Principal; selection: ToolSelection }>();
  const cancellations = createCancellations();
  const handler = createMcpHandler(
    ({ requestInfo }) => {
      const caller = requestInfo && callers.get(requestInfo);
      if (!caller) throw new Error('A request was not authenticated before its handler.');
      return servers.serve(caller.principal, caller.selection);
    },
    // Lists never change, as the capabilities state: a subscription is acknowledged as empty, and ends at once.
    { onerror: (err) => log.debug({ err }, 'an MCP message was rejected') },
  );
  app.addHook('preClose', handler.close);
  refuseInItsWords(app);

  const answer = async (request: FastifyRequest, reply: FastifyReply) => {
    const { principal, body, query } = request;
    const selection = readSelection(query, servers.toolsets);
    servers.require(principal, body);
    const gone = new AbortController();
    reply.raw.once('close', () => gone.abort());
    const asked = new Request(new URL(MCP, publicUrl), {
      method: 'POST',
      headers: readHeaders(request),
      signal: gone.signal,
    });
    callers.set(asked, { principal, selection });
    cancellations.heed(principal, body, gone);
    const form = readAcceptedForm(request.headers.accept);
    return reply.send(await toForm(await handler.fetch(asked, { parsedBody: body }), form));
  };
  const preHandler = async ({ body }: FastifyRequest) => {
    if (Array.isArray(body))
      throw new AppError('malformed_request', 'The server takes one message per request, not a list.');
    if (body === undefined) throw new AppError('malformed_request', 'The body is empty. Send a JSON object.');
  };
  const onRequest = fromKnownOrigin([new URL(publicUrl).origin, ...options.corsOrigins]);
  // Some clients append a slash to the address, or keep one that a person typed.
  for (const path of [MCP, `${MCP}/`])
    app.post(
      path,
      { config: { perField: true, resource: 'agents' }, schema: { hide: true } as object, onRequest, preHandler },
      answer,
    );
}

/** Headers of the protocol; none of them identifies the caller. */
const HEADERS = /^(content-type|mcp-.*)$/;

/** The handler serves clients that accept both forms alone; `toForm` then gives each client the form that it accepts. */
const readHeaders = ({ headers }: FastifyRequest): Record<string, string> => ({
  ...Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      HEADERS.test(name) && typeof value === 'string' ? [[name, value]] : [],
    ),
  ),
  accept: `${JSON_TYPE}, ${EVENTS_TYPE}`,
});

/** DNS rebinding can lead a foreign page here, but the page sends its Origin. Programs send none. */
function fromKnownOrigin(origins: readonly string[]): onRequestHookHandler {
  return ({ headers: { origin } }, _reply, done) => {
    if (origin === undefined || origins.includes('*') || origins.includes(origin)) return done();
    done(new AppError('cross_site_request', 'Pages of this origin may not call tools of this server.'));
  };
}

/** Reports invalid messages in the form of the protocol; other errors are as everywhere. */
function refuseInItsWords(app: FastifyInstance): void {
  const asElsewhere = app.errorHandler;
  app.setErrorHandler(function (error: FastifyError, request, reply) {
    const known = toAppError(error);
    const code = REFUSALS[known.code];
    if (code === undefined) return asElsewhere.call(this, error, request, reply);
    const refusal = { code, message: known.message, data: toProblem(known) };
    return reply
      .code(400)
      .type('application/json')
      .send(JSON.stringify({ jsonrpc: '2.0', id: null, error: refusal }));
  });
}
