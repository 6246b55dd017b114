/**
 * Defines a tool for agents. It names its operations: their scopes decide who may call it, and provide most of its annotations.
 * REST's schemas validate its arguments, with the same messages; models send numbers as texts and the reverse. Arguments are flat: ids, pages and waits beside the fields of the
 * body.
 * Pure: no I/O, no clock.
 */
import type { Tool as ListedTool } from '@modelcontextprotocol/server';
import { type Static, type TObject, type TProperties, type TSchema, Type } from 'typebox';
import { AppError, type FieldError } from '../../lib/errors.ts';
import { PERSON, type Principal } from '../../lib/scopes.ts';
import { compileBody } from '../http/validation.ts';
import { findOperation, type Operation } from '../operations/list.ts';
import { isOperation, isReading, OPERATION_SCOPES } from '../operations/scopes.ts';
import { toPortableInput, toPortableOutput } from './portable-schema.ts';

export interface ToolCall {
  principal: Principal;
  accountId: string;
  /** Aborts when the client leaves. */
  signal: AbortSignal;
  /** Reports the elapsed and total waiting time. */
  report(progress: { seconds: number; total: number; message: string }): void;
}

/** Annotations that the table of scopes lacks. */
interface Effects {
  /** A repetition with the same arguments changes nothing more. */
  repeatable?: boolean;
  /** It deletes something or takes it off air: no other call restores it. */
  takesAway?: boolean;
  /** It connects to third parties at once. */
  reachesOut?: boolean;
  /** Takes an idempotencyKey, as REST's POST does. */
  keyed?: boolean;
}

interface Definition<Own extends TProperties, Body extends TObject, Out extends TObject> extends Effects {
  /** In snake_case. */
  name: string;
  title: string;
  description: string;
  /** All operations that it runs; the caller needs the scopes of all of them. */
  operations: readonly [Operation, ...Operation[]];
  /** Arguments beside those of the body. */
  own?: Own;
  body?: Body;
  /** Shorter schemas of fields of the body, to be listed in the place of their own. */
  listed?: TProperties;
  output: Out;
  /** Another tool reads the record and lists all of its fields, so this one lists the outer ones alone. */
  isListedElsewhere?: boolean;
  /** Describes the result in a sentence. */
  summarize: (output: Static<Out>) => string;
  run: (call: ToolCall, own: Static<TObject<Own>>, body: Static<Body>) => Promise<Static<Out>> | Static<Out>;
}

/** Result of a tool, and a sentence about it. */
export interface Answer {
  output: Record<string, unknown>;
  sentence: string;
}

export interface Tool {
  readonly name: string;
  readonly operations: readonly Operation[];
  /** The tag of its first operation, by which clients select tools. */
  readonly toolset: string;
  readonly keyed: boolean;
  /** Description in the list of tools. */
  readonly listed: ListedTool;
  /** Throws `validation_failed` with each invalid argument; otherwise returns the function that runs the call. */
  prepare(args: Readonly<Record<string, unknown>>): {
    key: string | undefined;
    run: (call: ToolCall) => Promise<Answer>;
  };
}

const Nothing = Type.Object({}, { additionalProperties: false });

const KEY = {
  idempotencyKey: Type.Optional(
    Type.String({
      description: 'Unique for each action: repeats act once for 24 hours.',
    }),
  ),
};

const refused = (errors: FieldError[]): AppError =>
  new AppError('validation_failed', errors.map((e) => `${e.path || 'arguments'} ${e.message}`).join('; '), {
    extras: { errors },
  });

/** Converts a schema to JSON: types carry symbols that are no part of it. */
const plain = (schema: TSchema): never => JSON.parse(JSON.stringify(schema)) as never;

function buildAnnotations({
  title,
  operations,
  ...effects
}: Effects & { title: string; operations: readonly Operation[] }) {
  const scopes = operations.map((operation) => {
    const scope = isOperation(operation) ? OPERATION_SCOPES[operation] : null;
    if (scope === null || scope === PERSON) throw new Error(`No tool may do ${operation}.`);
    return scope;
  });
  const reads = operations.every(isReading);
  const deletes = scopes.includes('destructive');
  return {
    // Clients of all versions of the protocol show it from here where a tool has no `title` of its own (MCP 2025-06-18, "Tool").
    title,
    readOnlyHint: reads,
    destructiveHint: deletes || effects.takesAway === true,
    idempotentHint: reads || deletes || effects.repeatable === true,
    openWorldHint: effects.reachesOut === true,
  };
}

export function tool<
  Out extends TObject,
  Own extends TProperties = Record<never, never>,
  Body extends TObject = typeof Nothing,
>(definition: Definition<Own, Body, Out>): Tool {
  const { name, description, operations, output, summarize, run, keyed = false, isListedElsewhere } = definition;
  const own: TProperties = { ...definition.own, ...(keyed && KEY) };
  const body: TObject = definition.body ?? Nothing;
  const checkOwn = compileBody(Type.Object(own, { additionalProperties: false }), 'all');
  const checkBody = compileBody(body, 'all');
  const inputSchema = Type.Object(
    { ...own, ...body.properties, ...definition.listed },
    { additionalProperties: false },
  );
  return {
    name,
    operations,
    toolset: findOperation(operations[0])?.tag ?? '',
    keyed,
    listed: {
      name,
      description,
      annotations: buildAnnotations(definition),
      inputSchema: toPortableInput(plain(inputSchema)) as never,
      outputSchema: toPortableOutput(plain(output), isListedElsewhere) as never,
    },
    prepare(args) {
      const isOwn = ([argument]: [string, unknown]) => Object.hasOwn(own, argument);
      const given = Object.entries(args);
      const mine = checkOwn(Object.fromEntries(given.filter(isOwn)));
      const rest = checkBody(Object.fromEntries(given.filter((entry) => !isOwn(entry))));
      const errors = [mine, rest].flatMap((one) =>
        'error' in one ? ((one.error as AppError).extras.errors as FieldError[]) : [],
      );
      if ('error' in mine || 'error' in rest) throw refused(errors);
      const { idempotencyKey: key, ...named } = mine.value as Record<string, unknown> & { idempotencyKey?: string };
      return {
        key,
        run: async (call) => {
          const answer = await run(call, named as Static<TObject<Own>>, rest.value as Static<Body>);
          return { output: answer as Record<string, unknown>, sentence: summarize(answer) };
        },
      };
    },
  };
}
