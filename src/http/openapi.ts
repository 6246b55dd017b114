/**
 * The machine-readable description, made from the routes: their schemas say what is special about each, this file adds
 * what is true of all. Pure: no I/O, no clock.
 */
import { isOperation, OPERATION_SCOPES, type Operation, SCOPES } from '../auth/scopes.ts';
import { ERRORS, type ErrorCode } from '../errors.ts';
import { PROBLEM_TYPE, Problem } from './problem.ts';

type Json = Record<string, unknown>;

const RATE_HEADERS = {
  'RateLimit-Limit': 'Requests per window.',
  'RateLimit-Remaining': 'Requests left in the current window.',
  'RateLimit-Reset': 'Seconds until the window resets.',
};

const integerHeaders = (texts: Record<string, string>) =>
  Object.fromEntries(
    Object.entries(texts).map(([name, description]) => [name, { description, schema: { type: 'integer' } }]),
  );

/** Codes that any operation may answer with, beside those of its own. */
const COMMON: ErrorCode[] = ['validation_failed', 'rate_limited', 'internal', 'upstream_unavailable', 'shutting_down'];
const GUARDED: ErrorCode[] = ['unauthenticated', 'insufficient_scope'];
const WITH_BODY: ErrorCode[] = ['malformed_json', 'payload_too_large', 'unsupported_media_type'];

const OWN: Partial<Record<Operation, ErrorCode[]>> = {
  updateStream: ['conflict'],
  deleteStream: ['conflict'],
  startStream: ['stream_not_ready', 'conflict'],
  stopStream: ['conflict'],
  skipStreamItem: ['stream_not_live', 'conflict'],
  scheduleStream: ['conflict'],
  unscheduleStream: ['conflict'],
  getStreamPreview: ['stream_not_live'],
  updateDestination: ['conflict'],
  deleteDestination: ['destination_in_use'],
  deleteUpload: ['upload_in_use'],
  deletePlaylist: ['playlist_in_use'],
};

const NOT_FOUND: Record<string, ErrorCode> = {
  streams: 'stream_not_found',
  destinations: 'destination_not_found',
  uploads: 'upload_not_found',
  playlists: 'playlist_not_found',
};

function codesOf(id: Operation, method: string, path: string, hasBody: boolean): ErrorCode[] {
  const notFound = path.includes('{id}') ? NOT_FOUND[path.split('/')[2] ?? ''] : undefined;
  return [
    ...(OPERATION_SCOPES[id] === null ? [] : GUARDED),
    ...(notFound ? [notFound] : []),
    ...(OWN[id] ?? []),
    ...(method === 'post' && OPERATION_SCOPES[id] !== null ? (['idempotency_key_reused'] as const) : []),
    ...(hasBody ? WITH_BODY : []),
    ...COMMON,
  ];
}

function problems(codes: ErrorCode[]): Record<string, unknown> {
  const byStatus = Map.groupBy(new Set(codes), (code) => ERRORS[code].status);
  return Object.fromEntries(
    [...byStatus].map(([status, group]) => [
      String(status),
      {
        description: group.map((code) => `\`${code}\`: ${ERRORS[code].meaning}`).join('\n\n'),
        headers: integerHeaders({
          ...RATE_HEADERS,
          ...(status === 429 || status === 503 ? { 'Retry-After': 'Seconds to wait.' } : {}),
        }),
        content: { [PROBLEM_TYPE]: { schema: { $ref: '#/components/schemas/Problem' } } },
      },
    ]),
  );
}

const SUCCESS: Record<string, string> = {
  '200': 'As asked.',
  '201': 'Created.',
  '202': 'On its way: not finished when this was answered.',
  '204': 'Gone.',
};

const LOCATION = { Location: { description: 'Path of what was created.', schema: { type: 'string' } } };

/** A body that may have no fields may be left out. */
function optionalBody(operation: Json): void {
  const body = operation.requestBody as { required?: boolean; content?: Record<string, { schema?: Json }> } | undefined;
  const schema = body?.content?.['application/json']?.schema;
  if (body && schema && Object.keys((schema.properties as object | undefined) ?? { none: 1 }).length === 0)
    body.required = false;
}

const IDEMPOTENCY_KEY = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description: 'The same key with the same body gets the same answer for 24 hours.',
  schema: { type: 'string', minLength: 1, maxLength: 255 },
};

/** Adds to the description that @fastify/swagger made: components, security, headers and problems of each operation. */
export function completeOpenApi(made: Json, scopePrefix: string): Json {
  const schemas: Json = { Problem: JSON.parse(JSON.stringify(Problem)) };
  const doc = hoist(JSON.parse(JSON.stringify(made)), schemas) as Json & { paths: Record<string, Json> };
  for (const [path, item] of Object.entries(doc.paths)) {
    for (const [method, operation] of Object.entries(item) as [string, Json][]) {
      const id = operation.operationId as string | undefined;
      if (!isOperation(id)) continue;
      const scope = OPERATION_SCOPES[id];
      operation.security =
        scope === null ? [] : [{ apiKey: [] }, { bearer: [] }, { oauth2: [`${scopePrefix}:${scope}`] }];
      for (const [status, response] of Object.entries(operation.responses as Record<string, Json>)) {
        response.description = SUCCESS[status] ?? 'Success';
        response.headers = { ...integerHeaders(RATE_HEADERS), ...(status === '201' ? LOCATION : {}) };
      }
      optionalBody(operation);
      const codes = codesOf(id, method, path, operation.requestBody !== undefined);
      operation.responses = { ...(operation.responses as Json), ...problems(codes) };
      if (codes.includes('idempotency_key_reused'))
        operation.parameters = [...((operation.parameters as unknown[]) ?? []), IDEMPOTENCY_KEY];
    }
  }
  return { ...doc, components: { schemas, securitySchemes: securitySchemes(scopePrefix) } };
}

/** Schemas that have a title become components, so that generated clients give them that name. */
function hoist(value: unknown, schemas: Json): unknown {
  if (Array.isArray(value)) return value.map((entry) => hoist(entry, schemas));
  if (typeof value !== 'object' || value === null) return value;
  const object = Object.fromEntries(Object.entries(value).map(([key, entry]) => [key, hoist(entry, schemas)]));
  // Of what else has a title (the document's `info`), nothing has a type.
  if (typeof object.title !== 'string' || object.type !== 'object') return object;
  schemas[object.title] = object;
  return { $ref: `#/components/schemas/${object.title}` };
}

const GRANTS: Record<(typeof SCOPES)[number], string> = {
  read: 'Read streams, destinations, uploads, playlists and billing status.',
  write: 'Create and control streams, destinations, uploads and playlists.',
  destructive: 'Delete streams, destinations, uploads and playlists.',
  billing: 'Read billing and usage, and create top-up links.',
};

const securitySchemes = (prefix: string): Json => ({
  apiKey: { type: 'apiKey', in: 'header', name: 'X-API-Key', description: 'Has the full access of its owner.' },
  bearer: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' },
  oauth2: {
    type: 'oauth2',
    flows: {
      authorizationCode: {
        authorizationUrl: '/api/auth/oauth2/authorize',
        tokenUrl: '/api/auth/oauth2/token',
        scopes: Object.fromEntries(SCOPES.map((scope) => [`${prefix}:${scope}`, GRANTS[scope]])),
      },
    },
  },
});
