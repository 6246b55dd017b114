/**
 * Declares what a client can ask of the API: each operation once, beside its service, as plain data. REST, GraphQL, MCP, the
 * OpenAPI description, the client, the table of scopes and the lists of errors are made from these declarations (docs/architecture.md).
 * Pure: no I/O, no clock.
 */
import { type Static, type TObject, type TProperties, type TSchema, Type } from 'typebox';
import type { ErrorCode } from './errors.ts';
import type { Connection, ListArgs } from './list-page.ts';
import type { PERSON, Principal, Scope } from './scopes.ts';

/** The scope that an operation requires. `PERSON`: a signed-in user only. null: no authentication. */
export type Access = Scope | typeof PERSON | null;

/** The subject of a result: an item of a page, or the record of a progress. */
type Shown<Result> =
  Result extends Connection<infer Item>
    ? Item
    : Result extends { done: boolean }
      ? Omit<Result, 'done'>[Exclude<keyof Result, 'done'>]
      : Result;

/** The progress that a waiting client receives. */
export interface Watch<Now = never> {
  onChange?: (now: Now) => void;
  /** Ends the waiting, and nothing else. */
  signal?: AbortSignal;
}

/** One request, whichever transport it came by. */
export interface Call<Input = never, Query = never, Path = never, Result = never> {
  principal: Principal;
  accountId: string;
  /** From the path; empty for an operation on no single object. */
  id: string;
  /** The parameters of the path besides `id`. */
  path: Path;
  query: Query;
  input: Input;
  /** Of a list: which page. */
  page: ListArgs<never>;
  /** Of a list: whether a record is asked for. Only GraphQL filters so. */
  where: Result extends Connection<infer Item> ? ((item: Item) => boolean) | undefined : undefined;
  /** Of an operation that waits: receives its progress. */
  watch: Watch<Shown<Result>>;
}

/** How the result of `run` is returned; `Result` is its type. */
export type OperationOutput<Result = unknown> = { readonly result?: Result } & (
  | { kind: 'record'; schema: TSchema; isMemoized?: boolean; attachment?: string; changed?: TSchema }
  | { kind: 'created'; schema: TSchema; locate?: (result: Result) => string }
  | ({ kind: 'page'; item: TSchema; title: string } & PageOptions)
  | { kind: 'progress'; schema: TSchema; field: string }
  | { kind: 'deleted'; mayTakeLonger: boolean }
  | { kind: 'content'; types: Record<string, TSchema> }
  | { kind: 'headers'; status: number; headers: TProperties }
);

interface RecordOptions {
  /** The service returns the same object until it changes, so that its JSON can be kept. */
  isMemoized?: boolean;
  /** Browsers save it as a file of this name. */
  attachment?: string;
}

interface PageOptions {
  /** As of a record. */
  isMemoized?: boolean;
  /** Returns what a page shows of an item, where that is not all of it. */
  summarize?: (item: never) => unknown;
  /** Media types in which the list comes as well, for requests that accept nothing else, with the schema of a part. Their routes are written by hand. */
  alsoAs?: Readonly<Record<string, TSchema>>;
}

/** One record, with status 200. */
export const record = <T extends TSchema>(schema: T, options: RecordOptions = {}): OperationOutput<Static<T>> => ({
  kind: 'record',
  schema,
  ...options,
});

/**
 * The changed record and what the change means, with status 200: `schema` has the fields of `changed` and those of the effect. REST and
 * MCP return one object; GraphQL returns the effect beside the record.
 */
export const change = <T extends TSchema>(schema: T, changed: TSchema): OperationOutput<Static<T>> => ({
  kind: 'record',
  schema,
  changed,
});

/** The new record, with status 201; `locate` returns its path. */
export const created = <T extends TSchema>(
  schema: T,
  locate?: (result: Static<T>) => string,
): OperationOutput<Static<T>> => ({
  kind: 'created',
  schema,
  ...(locate && { locate }),
});

/** A page of a list; `title` names the schema of the page. */
export const page = <T extends TSchema>(
  item: T,
  title: string,
  options: PageOptions = {},
): OperationOutput<Connection<Static<T>>> => ({ kind: 'page', item, title, ...options });

/** The record under `field`, with status 200 when what was asked for has happened, and with 202 when that takes longer. */
export const progress = <Field extends string, T extends TSchema>(
  field: Field,
  schema: T,
): OperationOutput<{ [F in Field]: Static<T> } & { done: boolean }> => ({ kind: 'progress', schema, field });

/** Nothing, with status 204. */
export const deleted: OperationOutput<void> = { kind: 'deleted', mayTakeLonger: false };

/** Nothing, with status 204 when all of it is gone, and with 202 when that takes longer. */
export const deletedInTime: OperationOutput<boolean> = { kind: 'deleted', mayTakeLonger: true };

/** Bodies that are not plain JSON, by media type. The route is written by hand. */
export const content = <Result>(types: Record<string, TSchema>): OperationOutput<Result> => ({
  kind: 'content',
  types,
});

/** An answer without a body, whose headers say all. The route is written by hand. */
export const headers = (status: number, fields: TProperties): OperationOutput<void> => ({
  kind: 'headers',
  status,
  headers: fields,
});

/** How GraphQL shows an operation, beside what follows from the rest of its declaration. */
export interface GraphqlUse {
  /** The root field, where it has another name: `liveStats` for getStreamLiveStats. */
  field?: string;
  description: string;
  /** The result's field in the payload of a mutation, where it has another name than the record. */
  payload?: string;
  /** The input type, where it has another name than the body. */
  inputName?: string;
  /** Fields of the body are arguments of their own. */
  isFlat?: boolean;
  /** Arguments in place of those of the query. */
  query?: TProperties;
  /** The field is null, with an error, when it cannot be read; fields with an id always are. */
  isNullable?: boolean;
  cost?: number;
}

/** How agents use an operation, beside what follows from the rest of its declaration. */
export interface AgentUse<Services, Result> {
  title: string;
  description: string;
  /** Puts the result in a sentence. Pages and deletions have one. */
  summarize?: (result: Result) => string;
  /** Fields of the record that an agent gets, and that `summarize` reads. By default it gets all. */
  fields?: readonly string[];
  /** Shorter schemas of fields of the body, which are listed in the place of their own. Requests are checked by their own. */
  listed?: TProperties;
  /** Arguments in place of those of the query. */
  query?: TProperties;
  /** To call it again with the same arguments changes nothing more. */
  isRepeatable?: boolean;
  /** Something is gone afterwards, or off air: another call of a tool does not bring it back. */
  takesAway?: boolean;
  /** It sends to, or fetches from, others at once. */
  reachesOut?: boolean;
  /** The agent may wait for what was asked for. */
  wait?: {
    until: string;
    summarize: (now: Shown<Result>) => string;
    /** Waits after `run` has returned. Without it, `run` itself waits, by `query.wait` and `watch`. */
    settle?: (
      services: Services,
      call: Pick<Call, 'accountId'>,
      result: Result,
      seconds: number,
      watch: Watch<Shown<Result>>,
    ) => Promise<Result>;
  };
}

interface Examples<Input, Result> {
  input?: Input;
  output?: Shown<Result>;
  /** Of the query and the headers. */
  parameters?: Record<string, unknown>;
  /** Of bodies by media type. */
  content?: Record<string, unknown>;
}

/**
 * How the client for programs shows an operation, where its path and id do not say it. By default, the noun is the first segment of the
 * path, and the method is the verb of the id: `startStream` is `client.streams.start`. After `get`, `list`, `create` and `update`, the
 * method is what the id adds to the noun, if anything: `getStreamReadiness` is `client.streams.readiness`. A record with a path of one
 * segment belongs to no noun: `GET /me` is `client.me`.
 */
export interface ClientUse {
  /** `topUps` for the methods of `client.topUps`. */
  noun?: string;
  /** `windows` for getStreamSchedule. */
  method?: string;
  /** How much longer than other operations it may take, in seconds. */
  extraSeconds?: number;
}

/** The common part of the operations on one noun. */
export interface Group {
  /** In the description of the API. */
  tag: string;
  /** The object that `id` in their paths names. */
  object?: {
    /** Describes the id: `Destination id`. */
    idName?: string;
    /** The tool that lists such objects. */
    listTool?: string;
    exampleId: string;
    /** An id that leads to nothing fails with this code. */
    notFound: ErrorCode;
  };
  /** False where programs never call it. Operations whose answer is not JSON have no method in any case. */
  client?: ClientUse | false;
  /**
   * A key that is limited by a label selector may run them: they reach objects by their labels (limits/owned-resources.ts), or show
   * nothing of the account's objects. Such a key is refused everywhere else.
   */
  isOpenToLimitedKeys?: boolean;
}

interface Definition<
  Id,
  A,
  Services,
  Result,
  Input extends TSchema,
  Query extends TProperties,
  Path extends TProperties,
> {
  id: Id;
  scope: A;
  /** Method and path below the version: `PATCH /destinations/{id}`. */
  http: string;
  summary: string;
  description: string;
  /** The body. */
  input?: Input;
  query?: Query;
  /** Parameters of the path besides `id`. */
  path?: Path;
  /** Of a protocol within HTTP; they are checked by hand. */
  headers?: TProperties;
  /** The media type of the body, where it is not JSON. */
  consumes?: string;
  output: OperationOutput<Result>;
  /** Codes that it can fail with, besides those that follow from the rest. */
  errors?: readonly ErrorCode[];
  /** It can be done while staff have locked the account. */
  isOpenWhileSuspended?: boolean;
  /** In place of the group's. */
  isOpenToLimitedKeys?: boolean;
  /** It reads from elsewhere than the caches of Kubernetes' resources, so what it returns has no age. */
  isUncached?: boolean;
  examples?: Examples<Static<Input>, NoInfer<Result>>;
  mcp?: AgentUse<Services, NoInfer<Result>>;
  graphql?: GraphqlUse;
  /** In place of the group's. */
  client?: ClientUse | false;
  /** Calls the service. An operation without it has a route that is written by hand. */
  run?: (
    services: Services,
    call: Call<Static<Input>, Static<TObject<Query>>, Static<TObject<Path>>, NoInfer<Result>>,
  ) => NoInfer<Result> | Promise<NoInfer<Result>>;
}

/** A declaration as the transports read it. */
export interface OperationDeclaration<Id extends string = string, A extends Access = Access, Services = never>
  extends Group {
  id: Id;
  scope: A;
  http: string;
  summary: string;
  description: string;
  input?: TSchema;
  query?: TProperties;
  path?: TProperties;
  headers?: TProperties;
  consumes?: string;
  output: OperationOutput;
  errors?: readonly ErrorCode[];
  isOpenWhileSuspended?: boolean;
  isUncached?: boolean;
  examples?: Examples<unknown, unknown>;
  mcp?: AgentUse<Services, never>;
  graphql?: GraphqlUse;
  run?(services: Services, call: Call): unknown;
}

/** Returns the function that declares operations of one noun, which call `Services`. */
export const createOperationBuilder =
  <Services>(group: Group) =>
  <
    const Id extends string,
    const A extends Access,
    Result,
    Input extends TSchema = TObject<Record<never, never>>,
    Query extends TProperties = Record<never, never>,
    Path extends TProperties = Record<never, never>,
  >(
    definition: Definition<Id, A, Services, Result, Input, Query, Path>,
  ): OperationDeclaration<Id, A, Services> =>
    ({ ...group, ...definition }) as unknown as OperationDeclaration<Id, A, Services>;

/** The query of an operation that can be tried without a change. */
export const DRY_RUN = {
  dryRun: Type.Optional(
    Type.Boolean({
      description: 'If true, the request is checked and answered as ever, and nothing is changed.',
    }),
  ),
};

/** The query of an operation that answers as JSON or as CSV. */
export const FORMAT = {
  format: Type.Optional(
    Type.Enum(['json', 'csv'], {
      title: 'ResponseFormat',
      description: 'Format of the response. If not set, the header Accept chooses: text/csv, otherwise JSON.',
    }),
  ),
};

/** Method and path of an operation. */
export const readRoute = ({ http }: Pick<OperationDeclaration, 'http'>): { method: string; path: string } => {
  const [method = '', path = ''] = http.split(' ');
  return { method, path };
};

/** Ends the description of a list. */
export const PAGED = 'Paginated: pass `page.nextCursor` as `cursor` to get the next page. It is null on the last page.';

/** Describes the filters of a list. */
export const FILTERED =
  'All filters must hold. A filter of another list and a value that is not known fail with 422 and the known ones.';

/** Ends the description of a record. */
export const OWNED = 'Objects of other accounts are not found.';
