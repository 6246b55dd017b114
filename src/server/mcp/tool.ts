/**
 * Defines a tool for agents. It names its operations, whose scopes say who may call it and most of what is told of it in advance.
 * Its arguments are checked by the schemas and with the words of REST, flat: ids, pages and waits beside the fields of the body.
 * Pure: no I/O, no clock.
 */
import type { Tool as ListedTool } from '@modelcontextprotocol/server';
import { type Static, type TObject, type TProperties, type TSchema, Type } from 'typebox';
import { AppError, type FieldError } from '../../lib/errors.ts';
import { PERSON, type Principal } from '../../lib/scopes.ts';
import { compileBody } from '../http/validation.ts';
import type { Operation } from '../operations/list.ts';
import { isOperation, isReading, OPERATION_SCOPES } from '../operations/scopes.ts';

/** One call of a tool. */
export interface Call {
  principal: Principal;
  accountId: string;
  /** Aborts when nobody waits for the answer any more. */
  signal: AbortSignal;
  /** Tells who waits how long it has been waited for, and of how much. */
  tell(progress: { seconds: number; total: number; message: string }): void;
}

/** What of it is not in the table of scopes. */
interface Effects {
  /** To call it again with the same arguments changes nothing more. */
  repeatable?: boolean;
  /** What was there is gone afterwards, or off air: a call of a tool does not bring it back. */
  takesAway?: boolean;
  /** It sends to, or fetches from, others at once. */
  reachesOut?: boolean;
  /** Takes an idempotencyKey, as the POST of REST does. */
  keyed?: boolean;
}

interface Definition<Own extends TProperties, Body extends TObject, Out extends TObject> extends Effects {
  /** In snake_case. */
  name: string;
  title: string;
  description: string;
  /** All that it does; whoever calls it needs the scopes of all of them. */
  operations: readonly [Operation, ...Operation[]];
  /** Arguments beside those of the body. */
  own?: Own;
  body?: Body;
  output: Out;
  /** The answer in a sentence. */
  say: (output: Static<Out>) => string;
  run: (call: Call, own: Static<TObject<Own>>, body: Static<Body>) => Promise<Static<Out>> | Static<Out>;
}

/** What a tool answers, and the same in a sentence. */
export interface Answer {
  output: Record<string, unknown>;
  sentence: string;
}

export interface Tool {
  readonly name: string;
  readonly operations: readonly Operation[];
  readonly keyed: boolean;
  /** As clients are told of it. */
  readonly listed: ListedTool;
  /** Throws `validation_failed`, naming each argument that is wrong; otherwise answers how to do it. */
  prepare(args: Readonly<Record<string, unknown>>): { key: string | undefined; run: (call: Call) => Promise<Answer> };
}

const Nothing = Type.Object({}, { additionalProperties: false });

const KEY = {
  idempotencyKey: Type.Optional(
    Type.String({
      description:
        'Any text of your own, unique for each action. A repeated call with the same key and arguments acts once, and ' +
        'returns the same result for 24 hours.',
    }),
  ),
};

const refused = (errors: FieldError[]): AppError =>
  new AppError('validation_failed', errors.map((e) => `${e.path || 'arguments'} ${e.message}`).join('; '), {
    extras: { errors },
  });

/** As JSON has it: types carry marks that are no part of it. */
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
  const { name, title, description, operations, output, say, run, keyed = false } = definition;
  const own: TProperties = { ...definition.own, ...(keyed && KEY) };
  const body: TObject = definition.body ?? Nothing;
  const checkOwn = compileBody(Type.Object(own, { additionalProperties: false }));
  const checkBody = compileBody(body);
  const inputSchema = Type.Object({ ...own, ...body.properties }, { additionalProperties: false });
  return {
    name,
    operations,
    keyed,
    listed: {
      name,
      title,
      description,
      annotations: buildAnnotations(definition),
      inputSchema: plain(inputSchema),
      outputSchema: plain(output),
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
          return { output: answer as Record<string, unknown>, sentence: say(answer) };
        },
      };
    },
  };
}
