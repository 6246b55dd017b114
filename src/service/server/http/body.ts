/** Reads JSON bodies with limits of size and time, and without compression. */
import type { Readable } from 'node:stream';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { AppError, ERRORS, validationFailed } from '../../lib/errors.ts';
import { parseJson } from './json.ts';

export const NoBody = Type.Object({}, { additionalProperties: false });
/** Most clients send no body where all fields are optional. */
export const bodyMayBeMissing = async (request: { body: unknown }): Promise<void> => {
  request.body ??= {};
};

/**
 * Returns whether an operation accepts `{}`, so that its body may be missing. `schema` is the JSON Schema of a route or of the
 * description.
 */
export function takesNoFields(schema: object | undefined): boolean {
  const { type, required, minProperties } = (schema ?? {}) as {
    type?: unknown;
    required?: string[];
    minProperties?: number;
  };
  return type === 'object' && !required?.length && !minProperties;
}

/** Returns whether the operation has no body, or an optional one. Hidden routes are not REST, and have rules of their own. */
function mayLackBody({ routeOptions: { schema } }: FastifyRequest): boolean {
  if (schema?.operationId === undefined) return false;
  return schema.body === undefined || takesNoFields(schema.body as object);
}

/** Some clients declare a type, such as that of a form, without a body. */
function dropTypeOfNothing(request: FastifyRequest): void {
  const { headers } = request;
  const isEmpty = headers['transfer-encoding'] === undefined && Number(headers['content-length'] ?? 0) === 0;
  if (isEmpty && mayLackBody(request)) delete headers['content-type'];
}

const BODY_LIMIT = 1024 * 1024;
/** Bytes read of a body that is too large: most clients read the response only after sending all. */
const DRAIN_LIMIT = 8 * BODY_LIMIT;

/** `timeoutMs` limits a body from its first byte to its last. */
export function acceptJson(app: FastifyInstance, timeoutMs: number): void {
  app.removeAllContentTypeParsers();
  app.addHook('onRequest', (request, _reply, done) => {
    dropTypeOfNothing(request);
    done();
  });
  app.addContentTypeParser('application/json', async (request: FastifyRequest, payload: Readable) => {
    const { headers } = request;
    const encoding = headers['content-encoding'] ?? 'identity';
    // A few bytes may decompress to gigabytes.
    if (encoding !== 'identity')
      throw new AppError('unsupported_media_type', 'The body is compressed. Send it without compression.');
    if (Number(headers['content-length']) > DRAIN_LIMIT) throw tooLarge();
    const bytes = await readBody(payload, timeoutMs);
    // `start` and `stop` have no body, but some clients always send a content type.
    if (bytes.length === 0) return undefined;
    const body = parseJson(bytes);
    // Clients generated in Go send `null` for a missing body.
    if (body === null && mayLackBody(request)) return undefined;
    // Fastify would treat null as a missing body.
    if (body === null) throw validationFailed([{ path: '', message: 'must be an object' }]);
    return body;
  });
}

const tooLarge = () => new AppError('payload_too_large', ERRORS.payload_too_large.meaning);

/** Reads all bytes of a body: at most `limit`, within `timeoutMs` from the first to the last. */
export function readBody(payload: Readable, timeoutMs: number, limit = BODY_LIMIT): Promise<Buffer> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  const chunks: Buffer[] = [];
  let size = 0;
  const take = (chunk: Buffer) => {
    size += chunk.length;
    if (size <= limit) chunks.push(chunk);
    else if (size > DRAIN_LIMIT) reject(tooLarge());
  };
  const end = () => (size > limit ? reject(tooLarge()) : resolve(Buffer.concat(chunks)));
  const cutOff = (cause?: Error) =>
    reject(new AppError('malformed_request', 'The body was cut off.', cause ? { cause } : {}));
  const late = () => reject(new AppError('request_timeout', `The body did not arrive within ${timeoutMs / 1000} s.`));
  const timer = setTimeout(late, timeoutMs);
  payload.on('data', take).once('end', end).once('error', cutOff).once('close', cutOff);
  return promise.finally(() => {
    clearTimeout(timer);
    // The error listener stays: a connection that breaks later must not end the process.
    payload.off('data', take).off('end', end).off('close', cutOff);
  });
}
