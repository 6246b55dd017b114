/**
 * Serves one MCP request (https://modelcontextprotocol.io/specification/2026-07-28): it lists tools and prompts, and runs a call.
 * The scopes of a tool's operations decide who may call it.
 */
import {
  type CallToolResult,
  ProtocolError,
  ProtocolErrorCode,
  Server,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { currentSpan, within } from '../../../core/lib/context.ts';
import type { Logger } from '../../../core/lib/log.ts';
import type { AppError } from '../../lib/errors.ts';
import type { Principal } from '../../lib/scopes.ts';
import { type IdempotencyKeys, isClaimed, mayPass } from '../http/idempotency-keys.ts';
import type { ToolOutcome } from '../http/metrics.ts';
import { logProblem, type ProblemLog, toAppError } from '../http/problem.ts';
import type { Operation } from '../operations/list.ts';
import { hasScope, requireScope } from '../operations/scopes.ts';
import type { Services } from '../setup/services.ts';
import { getPrompt, PROMPT_OPERATIONS, PROMPTS } from './prompts.ts';
import { failure, success } from './results.ts';
import { isSelected, type ToolSelection } from './selection.ts';
import type { Tool } from './tool.ts';
import { createTools } from './tools.ts';

/** `ms` is the duration. */
export type Observe = (tool: string, outcome: ToolOutcome, ms: number) => void;

export interface AgentDeps {
  services: Services;
  /** First part of a scope's public name, before the colon. */
  scopePrefix: string;
  idempotencyKeys: IdempotencyKeys;
  version: string;
  publicUrl: string;
  observe: Observe;
  log: ProblemLog & Pick<Logger, 'warn'>;
}

const INSTRUCTIONS =
  'Loops media to streaming platforms without end. To put a stream on air: create_upload_from_link (with wait), ' +
  'create_destination and test_destination, create_stream, get_stream_readiness until it is ready, start_stream ' +
  '(with wait). To keep it healthy: diagnose_stream, which reports problems and the tool to call next. A ' +
  'playlist loops several clips; change_playlist and publish_playlist change what is on air without a break. If ' +
  'time on air costs credit, get_billing returns how long it lasts, and create_top_up creates a payment link ' +
  'for the user. Lists are paginated: pass page.nextCursor as cursor. Errors have a code, and the next step ' +
  'in fix.';

/** The server never requests input of a client, so it validates none; a validator for each server would take milliseconds. */
const NO_VALIDATOR = {
  getValidator: () => () => ({ valid: false as const, data: undefined, errorMessage: 'The request has no content.' }),
};
const LISTS_STAY_MS = 600_000;
const STAYS = { ttlMs: LISTS_STAY_MS, cacheScope: 'private' as const };

/** Returns the operations that a client's message needs, as far as they are known in advance. */
const listOperations = (tools: ReadonlyMap<string, Tool>, body: unknown): readonly Operation[] => {
  const { method, params } = (body ?? {}) as { method?: unknown; params?: { name?: unknown } };
  const name = String(params?.name);
  if (method === 'tools/call') return tools.get(name)?.operations ?? [];
  return (method === 'prompts/get' && PROMPT_OPERATIONS.get(name)) || [];
};

/** Rejects cursors: the first page contains everything. */
const onlyPage = (cursor: string | undefined): void => {
  if (cursor !== undefined)
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'The list has only one page. Omit the cursor.');
};

export function createAgentServers(deps: AgentDeps) {
  const { services, scopePrefix, idempotencyKeys, version, publicUrl, observe, log } = deps;
  const tools = createTools(services);
  const allow = (principal: Principal, operations: readonly Operation[]): void => {
    for (const operation of operations) requireScope(principal, operation, scopePrefix);
  };

  /** A program with a token can ask its user for more scopes, so it sees all tools. A key never gets more than it has. */
  const mayGet = (principal: Principal, operations: readonly Operation[]): boolean =>
    principal.via !== 'key' || operations.every((operation) => hasScope(principal, operation));

  /** Returns the result of a call, and the status of REST for it. */
  const act = async (tool: Tool, principal: Principal, args: Record<string, unknown>, ctx: ServerContext) => {
    const { accountId } = principal;
    const { signal } = ctx.mcpReq;
    const { key, run } = tool.prepare(args);
    const work = async () => ({
      status: 200,
      result: success(await run({ principal, accountId, signal, report: teller(ctx) })),
    });
    if (key === undefined) return work();
    const { idempotencyKey: _key, ...rest } = args;
    // A key that is limited to some objects is not given what another one made.
    const request = `tool ${tool.name}\n${JSON.stringify(rest)}${principal.reach?.selector ?? ''}`;
    const begun = await idempotencyKeys.begin({ accountId, key, request, path: '/idempotencyKey' });
    if (!isClaimed(begun)) return { status: begun.status, result: JSON.parse(begun.body) as CallToolResult };
    const done = await within({ intent: begun.intent }, work).catch((error) => failed(tool, error));
    // A passing failure may be retried with the same key, and so may a call that the client left.
    const answer = { status: done.status, headers: {}, body: JSON.stringify(done.result) };
    const isOver = !mayPass(done.status) && !signal.aborted;
    await begun
      .end(isOver ? answer : undefined)
      .catch((err) => log.warn({ err }, 'a result could not be stored for its idempotency key'));
    return done;
  };

  const failed = (tool: Tool, error: unknown) => {
    const known: AppError = toAppError(error);
    logProblem(log, known, 'a tool failed', tool.name);
    return { status: known.status, result: failure(known) };
  };

  const call = async (tool: Tool, principal: Principal, args: Record<string, unknown>, ctx: ServerContext) => {
    const since = performance.now();
    currentSpan()?.set({ 'mcp.method.name': 'tools/call', 'gen_ai.tool.name': tool.name });
    const { status, result } = await (async () => {
      allow(principal, tool.operations);
      return act(tool, principal, args, ctx);
    })().catch((error: unknown) => failed(tool, error));
    observe(tool.name, readOutcome(status, result, ctx.mcpReq.signal), performance.now() - since);
    return result;
  };

  return {
    /** The names by which clients select tools. */
    toolsets: [...new Set([...tools.values()].map(({ toolset }) => toolset))],

    /**
     * Throws if the principal lacks a scope for a message, so that its client can request more (RFC 6750). More scopes
     * do not help a suspended account: the tool's result explains that to the caller.
     */
    require(principal: Principal, body: unknown): void {
      const isCall = (body as { method?: unknown } | null)?.method === 'tools/call';
      allow(isCall ? { ...principal, isSuspended: false } : principal, listOperations(tools, body));
    },

    serve(principal: Principal, selection: ToolSelection): Server {
      const server = new Server(
        { name: 'loopstream', title: 'loopstream', version, websiteUrl: publicUrl },
        {
          capabilities: { tools: {}, prompts: {} },
          instructions: INSTRUCTIONS,
          jsonSchemaValidator: NO_VALIDATOR,
          cacheHints: { 'tools/list': STAYS, 'prompts/list': STAYS },
        },
      );
      server.setRequestHandler('tools/list', ({ params }) => {
        onlyPage(params?.cursor);
        const shown = [...tools.values()].filter(
          (tool) => isSelected(selection, tool) && mayGet(principal, tool.operations),
        );
        return { tools: shown.map(({ listed }) => listed) };
      });
      server.setRequestHandler('tools/call', ({ params: { name, arguments: args = {} } }, ctx) => {
        const tool = tools.get(name);
        if (tool && isSelected(selection, tool)) return call(tool, principal, args, ctx);
        const where = tool ? ' among those that the query of its address selects' : '';
        throw new ProtocolError(
          ProtocolErrorCode.InvalidParams,
          `The server has no tool ${name.slice(0, 100)}${where}.`,
        );
      });
      server.setRequestHandler('prompts/list', ({ params }) => {
        onlyPage(params?.cursor);
        return { prompts: PROMPTS.filter(({ name }) => mayGet(principal, PROMPT_OPERATIONS.get(name) ?? [])) };
      });
      server.setRequestHandler('prompts/get', ({ params }) => {
        allow(principal, PROMPT_OPERATIONS.get(params.name) ?? []);
        return getPrompt(services, principal.accountId, params);
      });
      return server;
    },
  };
}

function readOutcome(status: number, { isError = false }: CallToolResult, { aborted }: AbortSignal): ToolOutcome {
  if (aborted) return 'cancelled';
  if (!isError) return 'ok';
  return status >= 500 ? 'failed' : 'refused';
}

/** Reports progress to the client by the token of its call. */
function teller({ mcpReq }: ServerContext) {
  const { progressToken } = mcpReq._meta ?? {};
  return ({ seconds, total, message }: { seconds: number; total: number; message: string }): void => {
    if (progressToken === undefined || mcpReq.signal.aborted) return;
    const params = { progressToken, progress: seconds, total, message };
    // The client may have disconnected.
    mcpReq.notify({ method: 'notifications/progress', params }).catch(() => undefined);
  };
}
