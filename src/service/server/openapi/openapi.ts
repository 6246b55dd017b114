/**
 * Builds the description (OpenAPI 3.1) from the routes: their schemas describe each, and this module adds what all share. Pure: no
 * I/O, no clock.
 */

import { Problem } from '../../domain/problem/record.ts';
import { ERRORS, type ErrorCode } from '../../lib/errors.ts';
import { examplePage } from '../../lib/paging/list.ts';
import { PERSON, SCOPES, type Scope } from '../../lib/scopes.ts';
import { isCached } from '../http/age-header.ts';
import { takesNoFields } from '../http/body.ts';
import { PROBLEM_TYPE } from '../http/problem.ts';
import { type AnyOperation, findOperation } from '../operations/list.ts';
import { takesIdempotencyKey } from '../operations/scopes.ts';
import { addBounds } from './bounds.ts';
import type { Json, MediaTypeObject, OpenApi, OperationObject, Response } from './document.ts';
import { INTRODUCTION } from './introduction.ts';
import { addLinks } from './links.ts';
import { listCodes } from './operation-errors.ts';
import { problemExample } from './problem-examples.ts';
import { nameValues, shapeSchemas } from './shapes.ts';
import { buildPathItems, buildWebhooks } from './webhooks.ts';

/** Options of @fastify/swagger. The server's address is that of the document itself. */
export const OPENAPI = {
  openapi: {
    openapi: '3.1.0',
    info: {
      title: 'loopstream',
      version: '1.0.0',
      description: INTRODUCTION,
      contact: { name: 'Documentation of loopstream', url: '/docs' },
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/' }],
    tags: [
      { name: 'account', description: 'The account and its access.' },
      { name: 'billing', description: 'Cost of streams, and payments.' },
      { name: 'crypto', description: 'Payments by crypto currency.' },
      { name: 'destinations', description: 'Servers that streams are sent to.' },
      { name: 'endpoints', description: 'Webhooks, mailboxes and chats that are told of events.' },
      { name: 'events', description: 'What happened to streams, uploads and playlists.' },
      { name: 'meta', description: 'The service itself, open to everyone.' },
      { name: 'playlists', description: 'Ordered lists of uploads.' },
      { name: 'scenes', description: 'Texts and pictures over the items of streams, shared by name.' },
      { name: 'streams', description: 'Looping streams, on air now or on a schedule.' },
      { name: 'uploads', description: 'Media files, each imported once.' },
    ],
  },
};

const RATE_HEADERS = {
  'RateLimit-Limit': 'Requests per window.',
  'RateLimit-Remaining': 'Requests left in the current window.',
  'RateLimit-Reset': 'Seconds until the window resets.',
};

const integerHeaders = (texts: Record<string, string>) =>
  Object.fromEntries(
    Object.entries(texts).map(([name, description]) => [
      name,
      { description, schema: { type: 'integer', format: 'int64', minimum: 0 } },
    ]),
  );

const textHeader = (description: string, required = false) => ({
  description,
  ...(required && { required }),
  schema: { type: 'string' },
});

/** `components.headers`, to which responses refer by these names. */
const HEADERS = {
  'X-Request-Id': textHeader('Id of the request: the one that was sent, or a new one. The log contains it.', true),
  ...integerHeaders(RATE_HEADERS),
  ...integerHeaders({ 'Retry-After': 'Time to wait, in seconds.' }),
  'WWW-Authenticate': textHeader('Accepted authentication schemes.', true),
  Location: textHeader('Path of the created object.', true),
  ...integerHeaders({
    Age:
      'Time since the data was last known to be current, in seconds. Set only while Kubernetes is unavailable and ' +
      'the last known data is returned.',
  }),
};

const headers = (...names: string[]): Json =>
  Object.fromEntries(
    ['X-Request-Id', ...Object.keys(RATE_HEADERS), ...names].map((name) => [
      name,
      { $ref: `#/components/headers/${name}` },
    ]),
  );

function problemHeaders(status: number): Json {
  if (status === 401) return headers('WWW-Authenticate');
  return status === 429 || status > 500 ? headers('Retry-After') : headers();
}

/** Returns references to problem responses by status; adds the responses to `shared`, named by their codes. */
function problems(codes: ErrorCode[], shared: Record<string, Response>): Record<string, { $ref: string }> {
  const byStatus = Map.groupBy(codes, (code) => ERRORS[code].status);
  return Object.fromEntries(
    [...byStatus].map(([status, group]) => {
      const name = group.join('.');
      shared[name] ??= problemResponse(status, group);
      return [String(status), { $ref: `#/components/responses/${name}` }];
    }),
  );
}

function problemResponse(status: number, codes: ErrorCode[]): Response {
  // A schema for each set of codes would become a type in generated clients; `examples` has the codes.
  const schema = { $ref: '#/components/schemas/Problem' };
  const examples = Object.fromEntries(codes.map((code) => [code, { value: problemExample(code) }]));
  return {
    description: codes.map((code) => `\`${code}\`: ${ERRORS[code].meaning}`).join('\n\n'),
    headers: problemHeaders(status),
    content: { [PROBLEM_TYPE]: { schema, examples } },
  };
}

/** Resolves a reference to a response. */
export const resolveResponse = ({ components }: OpenApi, response: Response | { $ref: string }): Response =>
  '$ref' in response && typeof response.$ref === 'string'
    ? (components.responses[response.$ref.replace('#/components/responses/', '')] ?? {})
    : (response as Response);

const SUCCESS: Record<string, string> = {
  '200': 'Success.',
  '201': 'Created.',
  '202': 'Accepted, but not finished yet.',
  '204': 'Gone.',
};

/** A body without required fields is optional. */
function optionalBody({ requestBody }: OperationObject, schemas: Record<string, Json>): void {
  const { $ref, ...schema } = requestBody?.content['application/json']?.schema ?? {};
  const named = typeof $ref === 'string' ? schemas[$ref.replace('#/components/schemas/', '')] : undefined;
  if (requestBody && takesNoFields(named ?? schema)) requestBody.required = false;
}

const IDEMPOTENCY_KEY = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description: 'A repeated request with the same key and body gets the same response for 24 hours.',
  schema: { type: 'string', minLength: 1, maxLength: 255, pattern: '^[!-~]+$' },
  example: '6b0b9a3e-9d0f-4a52-8a62-1c1f7f3f6d11',
};

/** Completes the description of @fastify/swagger: components, security, headers, examples and problems. */
export function completeOpenApi(made: object, scopePrefix: string): OpenApi {
  const schemas: Record<string, Json> = {};
  shapeSchemas(JSON.parse(JSON.stringify(Problem)), schemas);
  const doc = shapeSchemas(JSON.parse(JSON.stringify(made)), schemas) as OpenApi;
  nameValues(schemas);
  const responses: Record<string, Response> = {};
  for (const [path, item] of Object.entries(doc.paths))
    for (const [method, operation] of Object.entries(item)) {
      // The generator assumes that every HEAD belongs to a GET.
      if (method === 'head') operation.operationId = operation.operationId.replace(/-head$/, '');
      const declared = findOperation(operation.operationId);
      if (!declared) continue;
      operation.description ??= declared.description;
      operation.security = buildSecurity(declared.scope, scopePrefix);
      completeSuccess(operation, method, declared);
      optionalBody(operation, schemas);
      completeRequest(operation, declared);
      const codes = listCodes(declared, {
        method,
        path,
        hasBody: operation.requestBody !== undefined,
        hasParameters: operation.parameters !== undefined,
      });
      operation.responses = { ...operation.responses, ...problems(codes, responses) };
      if (takesIdempotencyKey(declared.id, method))
        operation.parameters = [...(operation.parameters ?? []), IDEMPOTENCY_KEY];
    }
  addLinks(doc);
  const components = {
    schemas,
    responses,
    headers: HEADERS,
    securitySchemes: securitySchemes(scopePrefix),
    pathItems: buildPathItems(),
  };
  const whole = { ...doc, webhooks: buildWebhooks(), components };
  addBounds(whole);
  return whole;
}

function buildSecurity(scope: Scope | typeof PERSON | null, prefix: string): Record<string, string[]>[] {
  if (scope === null) return [];
  if (scope === PERSON) return [{ session: [] }];
  return [{ apiKey: [] }, { bearer: [] }, { oauth2: [`${prefix}:${scope}`] }];
}

function completeSuccess({ responses }: OperationObject, method: string, declared: AnyOperation): void {
  for (const [status, response] of Object.entries(responses) as [string, Response][]) {
    response.description = SUCCESS[status] ?? 'Success';
    const own = status === '201' ? ['Location'] : isCached(declared.id, method) ? ['Age'] : [];
    response.headers = { ...headers(...own), ...response.headers };
    giveExamples(response.content, outputExamples(declared));
  }
}

/** Examples by media type. */
function outputExamples({ output, examples = {} }: AnyOperation): Record<string, unknown> {
  const example = output.kind === 'page' && examples.output ? examplePage(examples.output) : examples.output;
  return { 'application/json': example, ...examples.content };
}

/** Examples of the parameters of all lists. */
const PAGE_EXAMPLES = { limit: 20, cursor: examplePage({}).page.nextCursor };
const FILTER_EXAMPLES = {
  q: 'evening',
  label: ['team=news'],
  createdAfter: '2027-01-01T00:00:00Z',
  createdBefore: '2027-02-01T00:00:00Z',
  sort: 'name',
};

function completeRequest(operation: OperationObject, { object, examples }: AnyOperation): void {
  giveExamples(operation.requestBody?.content, { 'application/json': examples?.input });
  const known: Record<string, unknown> = {
    id: object?.exampleId,
    ...PAGE_EXAMPLES,
    ...FILTER_EXAMPLES,
    ...examples?.parameters,
  };
  for (const parameter of operation.parameters ?? []) {
    const example = known[parameter.name];
    if (example !== undefined) parameter.example = example;
    // The server fills in a default, so the parameter is optional.
    if (parameter.schema.default !== undefined) parameter.required = false;
  }
}

/** `examples` are by media type. */
function giveExamples(content: Record<string, MediaTypeObject> | undefined, examples: Record<string, unknown>): void {
  for (const [type, media] of Object.entries(content ?? {})) {
    if (examples[type] !== undefined) media.example = examples[type];
    else if (Object.keys((media.schema?.properties as object | undefined) ?? { none: 1 }).length === 0)
      media.example = {};
  }
}

const GRANTS: Record<(typeof SCOPES)[number], string> = {
  read: 'Read streams, destinations, uploads, playlists and billing status.',
  write: 'Create and control streams, destinations, uploads and playlists.',
  destructive: 'Delete streams, destinations, uploads and playlists.',
  billing: 'Read billing and usage, and create top-up links.',
};

const securitySchemes = (prefix: string): Json => ({
  apiKey: {
    type: 'apiKey',
    in: 'header',
    name: 'X-API-Key',
    description: 'API key. It has the full access of its account, or the scopes that it was made with.',
  },
  bearer: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'JWT',
    description: 'OAuth access token, or an API key.',
  },
  session: {
    type: 'apiKey',
    in: 'cookie',
    name: '__Host-loopstream.session',
    description: 'Session of a user who is signed in to the dashboard. Accepted only from pages of the dashboard.',
  },
  oauth2: {
    type: 'oauth2',
    flows: {
      authorizationCode: {
        authorizationUrl: '/api/auth/oauth2/authorize',
        tokenUrl: '/api/auth/oauth2/token',
        refreshUrl: '/api/auth/oauth2/token',
        scopes: Object.fromEntries(SCOPES.map((scope) => [`${prefix}:${scope}`, GRANTS[scope]])),
      },
    },
  },
});
