/**
 * The MCP server of one request (https://modelcontextprotocol.io/specification/2026-07-28): it lists tools and prompts, and
 * carries out a call. The scopes of a tool's operations say who may call it.
 */
import {
  type CallToolResult,
  ProtocolError,
  ProtocolErrorCode,
  Server,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { within } from '../../lib/context.ts';
import type { AppError } from '../../lib/errors.ts';
import type { Logger } from '../../lib/log.ts';
import type { Principal } from '../../lib/scopes.ts';
import { isHeld, type Keyed } from '../http/keyed.ts';
import type { ToolOutcome } from '../http/metrics.ts';
import { isOurFault, toAppError } from '../http/problem.ts';
import type { Operation } from '../operations/list.ts';
import { requireScope } from '../operations/scopes.ts';
import type { Services } from '../services.ts';
import { getPrompt, PROMPT_OPERATIONS, PROMPTS } from './prompts.ts';
import { failure, success } from './results.ts';
import type { Tool } from './tool.ts';
import { createTools } from './tools.ts';

/** `ms` is how long it took. */
export type Observe = (tool: string, outcome: ToolOutcome, ms: number) => void;

export interface AgentDeps {
  services: Services;
  /** Before the colon of a scope's public name. */
  scopePrefix: string;
  keyed: Keyed;
  version: string;
  publicUrl: string;
  observe: Observe;
  log: Pick<Logger, 'error' | 'warn'>;
}

const INSTRUCTIONS =
  'Loops media to streaming platforms without an end. To put a channel on air: create_upload_from_link (with wait), ' +
  'create_destination and test_destination, create_stream, get_stream_readiness until it is ready, start_stream (with ' +
  'wait). To keep it healthy: diagnose_stream, which says what is wrong and which tool to call. Several clips are ' +
  'looped by a playlist; change_playlist and publish_playlist change what is on air without a break. Where time on air ' +
  'costs credit, get_billing tells how long it lasts, and create_top_up makes a link for the person to pay by. Lists have ' +
  'pages: go on with cursor from page.nextCursor. Errors carry a code, and in fix the next step.';

/** Nothing is ever asked of a client, so that there is nothing to check; one for each server would take milliseconds. */
const NO_VALIDATOR = {
  getValidator: () => () => ({ valid: false as const, data: undefined, errorMessage: 'Nothing was asked for.' }),
};
const LISTS_STAY_MS = 600_000;
const STAYS = { ttlMs: LISTS_STAY_MS, cacheScope: 'private' as const };

/** What a message of a client needs, as far as that can be told in advance. */
const listOperations = (tools: ReadonlyMap<string, Tool>, body: unknown): readonly Operation[] => {
  const { method, params } = (body ?? {}) as { method?: unknown; params?: { name?: unknown } };
  const name = String(params?.name);
  if (method === 'tools/call') return tools.get(name)?.operations ?? [];
  return (method === 'prompts/get' && PROMPT_OPERATIONS.get(name)) || [];
};

/** All the same for clients, who are told everything in the first page. */
const onlyPage = (cursor: string | undefined): void => {
  if (cursor !== undefined) throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'There is one page only.');
};

export function createAgentServers(deps: AgentDeps) {
  const { services, scopePrefix, keyed, version, publicUrl, observe, log } = deps;
  const tools = createTools(services);
  const listed = [...tools.values()].map((tool) => tool.listed);
  const allow = (principal: Principal, operations: readonly Operation[]): void => {
    for (const operation of operations) requireScope(principal, operation, scopePrefix);
  };

  /** The result of a call, and the status that REST would answer it with. */
  const act = async (tool: Tool, principal: Principal, args: Record<string, unknown>, ctx: ServerContext) => {
    const { accountId } = principal;
    const { signal } = ctx.mcpReq;
    const { key, run } = tool.prepare(args);
    const work = async () => ({
      status: 200,
      result: success(await run({ principal, accountId, signal, tell: teller(ctx) })),
    });
    if (key === undefined) return work();
    const { idempotencyKey: _key, ...rest } = args;
    const request = `tool ${tool.name}\n${JSON.stringify(rest)}`;
    const begun = await keyed.begin({ accountId, key, request, path: '/idempotencyKey' });
    if (!isHeld(begun)) return { status: begun.status, result: JSON.parse(begun.body) as CallToolResult };
    const done = await within({ intent: begun.intent }, work).catch((error) => failed(tool, error));
    // What failed on our side may be tried again with the same key; so may what nobody has waited for to the end.
    const answer = { status: done.status, headers: {}, body: JSON.stringify(done.result) };
    const isOver = done.status < 500 && !signal.aborted;
    await begun.end(isOver ? answer : undefined).catch((err) => log.warn({ err }, 'an answer could not be kept'));
    return done;
  };

  const failed = (tool: Tool, error: unknown) => {
    const known: AppError = toAppError(error);
    if (isOurFault(known)) log.error({ err: known.cause ?? known, code: known.code, tool: tool.name }, 'a tool failed');
    return { status: known.status, result: failure(known) };
  };

  const call = async (tool: Tool, principal: Principal, args: Record<string, unknown>, ctx: ServerContext) => {
    const since = performance.now();
    const { status, result } = await (async () => {
      allow(principal, tool.operations);
      return act(tool, principal, args, ctx);
    })().catch((error: unknown) => failed(tool, error));
    observe(tool.name, readOutcome(status, result, ctx.mcpReq.signal), performance.now() - since);
    return result;
  };

  return {
    /**
     * Throws when the principal may not do what a message asks for, so that its client can ask for more (RFC 6750). Whose account
     * is locked has nothing to ask for: the tool's answer says so, in words that whoever called it reads.
     */
    require(principal: Principal, body: unknown): void {
      const isCall = (body as { method?: unknown } | null)?.method === 'tools/call';
      allow(isCall ? { ...principal, isSuspended: false } : principal, listOperations(tools, body));
    },

    /** A server for one request. */
    serve(principal: Principal): Server {
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
        return { tools: listed };
      });
      server.setRequestHandler('tools/call', ({ params: { name, arguments: args = {} } }, ctx) => {
        const tool = tools.get(name);
        if (tool) return call(tool, principal, args, ctx);
        throw new ProtocolError(ProtocolErrorCode.InvalidParams, `The server has no tool ${name.slice(0, 100)}.`);
      });
      server.setRequestHandler('prompts/list', ({ params }) => {
        onlyPage(params?.cursor);
        return { prompts: PROMPTS };
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

/** Progress is told to whoever asked for it, by the token that came with the call. */
function teller({ mcpReq }: ServerContext) {
  const { progressToken } = mcpReq._meta ?? {};
  return ({ seconds, total, message }: { seconds: number; total: number; message: string }): void => {
    if (progressToken === undefined || mcpReq.signal.aborted) return;
    const params = { progressToken, progress: seconds, total, message };
    // Whoever has gone hears nothing.
    mcpReq.notify({ method: 'notifications/progress', params }).catch(() => undefined);
  };
}
