/** Builds MCP tools from declared operations. Pure: no I/O, no clock. */
import { type TObject, type TProperties, type TSchema, Type } from 'typebox';
import type { Connection } from '../../lib/list-page.ts';
import { type Call as OperationCall, type OperationOutput, readRoute, type Watch } from '../../lib/operation.ts';
import { flatten, pageSchema } from '../../lib/paging/list.ts';
import type { AnyOperation, ServicesOf } from '../operations/list.ts';
import { isReading, takesIdempotencyKey } from '../operations/scopes.ts';
import {
  Deleted,
  describeDeleted,
  describePage,
  idArgument,
  PAGE,
  progressSchema,
  readPage,
  waitFor,
} from './inputs.ts';
import { type Tool, type ToolCall, tool } from './tool.ts';
import { reportProgress } from './wait.ts';

type Arguments = Record<string, unknown> & { id?: string; wait?: number };

/** Builds the tools of the `operations` that agents may use; `services` are their dependencies. */
export const operationTools = <const Declared extends readonly AnyOperation[]>(
  operations: Declared,
  services: ServicesOf<Declared>,
): Tool[] => {
  const all: readonly AnyOperation[] = operations;
  const isTool = ({ mcp }: AnyOperation) => mcp !== undefined;
  const read = new Set(all.filter((one) => isTool(one) && isReading(one.id)).map(({ output }) => findRecord(output)));
  return all.filter(isTool).map((operation) => {
    const isListedElsewhere = !isReading(operation.id) && read.has(findRecord(operation.output));
    return operationTool(operation, services, isListedElsewhere);
  });
};

/** Returns the schema of the record that an operation returns alone; a new object for all others, which equals none. */
const findRecord = (output: OperationOutput): object => {
  if (output.kind === 'created') return output.schema;
  return output.kind === 'record' ? (output.changed ?? output.schema) : {};
};

/** Returns the tool name of an operation, such as `create_destination`. */
export const toolName = (id: string): string => id.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

function operationTool(operation: AnyOperation, services: unknown, isListedElsewhere: boolean): Tool {
  const { id, input, output, mcp, run } = operation;
  if (!mcp || !run) throw new Error(`The operation ${id} is not a tool.`);
  const { title, description, isRepeatable = false, takesAway = false, reachesOut = false } = mcp;
  return tool<TObject, TProperties, TObject>({
    name: toolName(id),
    title,
    description,
    operations: [id],
    own: ownArguments(operation),
    ...(input && { body: input as TObject }),
    ...(mcp.listed && { listed: mcp.listed }),
    output: pickFields(mcp, outputSchema(output) as TObject),
    isListedElsewhere,
    keyed: takesIdempotencyKey(id, readRoute(operation).method.toLowerCase()),
    repeatable: isRepeatable,
    takesAway,
    reachesOut,
    summarize: (mcp.summarize ?? defaultSentence(output)) as (answer: unknown) => string,
    run: async (call, own, body) =>
      pickValues(mcp, toAnswer(output, await act(operation, services, { call, own, body }), (own as Arguments).id)),
  });
}

/** Returns the part of a record that a tool returns. */
const pickFields = ({ fields }: { fields?: readonly string[] }, schema: TObject): TObject =>
  fields ? Type.Pick(schema, [...fields]) : schema;

const pickValues = (
  { fields }: { fields?: readonly string[] },
  answer: Record<string, unknown>,
): Record<string, unknown> => (fields ? Object.fromEntries(fields.map((name) => [name, answer[name]])) : answer);

interface Asked {
  call: ToolCall;
  own: Arguments;
  body: unknown;
}

/** Runs the operation, and waits for its result if the agent asks for that. */
async function act({ run, mcp }: AnyOperation, services: unknown, { call, own, body }: Asked): Promise<unknown> {
  const { wait: seconds = 0, ...others } = own;
  const { summarize, settle } = mcp?.wait ?? {};
  const args = summarize ? { ...others, wait: seconds } : others;
  const work = async (watch: Watch) => run?.(services as never, buildCall(call, args, body, watch) as never);
  if (!summarize) return work({});
  if (!settle) return reportProgress(call, seconds, summarize, work);
  const result = (await work({})) as never;
  if (seconds === 0) return result;
  return reportProgress(call, seconds, summarize, (watch) => settle(services as never, call, result, seconds, watch));
}

/** Returns the arguments beside those of the body, flat. */
function ownArguments({ http, object, path, query, output, mcp }: AnyOperation): TProperties {
  return {
    ...(http.includes('{id}') && idArgument(`${object?.idName}, as ${object?.listTool} returns it.`)),
    ...path,
    ...(output.kind === 'page' && PAGE),
    ...(mcp?.wait && waitFor(mcp.wait.until)),
    ...(mcp?.query ?? query),
  };
}

function buildCall(
  { principal, accountId }: ToolCall,
  args: Arguments,
  input: unknown,
  watch: Watch,
): Omit<OperationCall, 'where'> {
  const { id = '', ...query } = args;
  return {
    principal,
    accountId,
    id,
    path: query as never,
    query: query as never,
    input: input as never,
    page: readPage(query as { limit?: number; cursor?: string }),
    watch,
  };
}

function outputSchema(output: OperationOutput): TSchema {
  switch (output.kind) {
    case 'record':
    case 'created':
      return output.schema;
    case 'page':
      return pageSchema(output.item, output.title);
    case 'progress':
      return progressSchema(output.schema as TObject);
    case 'deleted':
      return Deleted;
    case 'content':
      return output.types['application/json'] as TSchema;
    default:
      throw new Error(`No tool returns ${output.kind}.`);
  }
}

function toAnswer(output: OperationOutput, result: unknown, id: string | undefined): Record<string, unknown> {
  if (output.kind === 'page') return flatten(result as Connection<never>, output.summarize);
  if (output.kind === 'deleted') return { id, done: result !== false };
  return result as Record<string, unknown>;
}

function defaultSentence({ kind }: OperationOutput): unknown {
  if (kind === 'page') return describePage;
  if (kind === 'deleted') return describeDeleted;
  throw new Error('A tool needs `say`, which renders its result as a sentence.');
}
