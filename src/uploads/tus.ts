/**
 * REST: resumable uploads by the protocol tus 1.0.0 (https://tus.io/protocols/resumable-upload). The library speaks it; what
 * it asks of a store is answered by the service, for the account that asks.
 */
import { Readable } from 'node:stream';
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { DataStore, Metadata, Server, Upload } from '@tus/server';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { AppError, ERRORS, validationFailed } from '../errors.ts';
import type { PieceMemory } from '../storage/pieces.ts';
import { StorageError } from '../storage/storage.ts';
import type { Arrival } from './arrivals.ts';
import type { Incoming } from './incoming.ts';
import { Locks } from './locks.ts';
import { inTime, type Pace } from './pace.ts';
import { BYTES, isBytes, protocolHeaders } from './tus-headers.ts';
import { tusOperations } from './tus-operations.ts';

const PATH = '/uploads/resumable';
const VERSION = '1.0.0';
/** How long a request goes on taking bytes when another one for the same upload has come. */
const DRAIN_MS = 300;
/** Those of the library's headers that are ours to give, or that say what CORS allows. */
const NOT_PASSED_ON = /^(content-length|connection|access-control-.*)$/;

/** No account holds up another one's. */
const lockOf = (accountId: string, id: string): string => `${accountId}/${id}`;

class AccountStore extends DataStore {
  override extensions = ['creation', 'creation-with-upload', 'expiration', 'termination'];
  readonly #incoming: Incoming;
  readonly #accountId: string;
  readonly #locks: Locks;
  readonly #memory: PieceMemory | undefined;

  constructor(incoming: Incoming, accountId: string, locks: Locks, memory: PieceMemory | undefined) {
    super();
    this.#incoming = incoming;
    this.#accountId = accountId;
    this.#locks = locks;
    this.#memory = memory;
  }

  override async getUpload(id: string): Promise<Upload> {
    const { sizeBytes, receivedBytes, createdAt, metadata } = await this.#incoming.find(this.#accountId, id);
    return new Upload({
      id,
      size: sizeBytes,
      offset: receivedBytes,
      // Without one it counts as made now: what has come whole does not expire.
      ...(receivedBytes < sizeBytes && { creation_date: createdAt }),
      ...(metadata && { metadata: Metadata.parse(metadata) }),
    });
  }

  override write(body: Readable, id: string, offset: number): Promise<number> {
    const mayKeep = () => this.#locks.isHeld(lockOf(this.#accountId, id));
    return this.#incoming.receive(this.#accountId, id, offset, body, mayKeep, this.#memory);
  }

  override remove(id: string): Promise<void> {
    return this.#incoming.abandon(this.#accountId, id);
  }

  override getExpiration(): number {
    return this.#incoming.expireMs;
  }
}

function webRequest({ raw, method, headers }: FastifyRequest, pace: Pace | undefined): Request {
  const body = pace && (Readable.toWeb(Readable.from(inTime(raw, pace))) as ReadableStream);
  return new Request(new URL(raw.url ?? '/', 'http://tus'), {
    method,
    headers: protocolHeaders(headers),
    ...(body && { body, duplex: 'half' }),
  });
}

/** Whether a request brings bytes of an upload. */
const hasBytes = ({ method, headers }: FastifyRequest): boolean =>
  method === 'PATCH' ||
  (method === 'POST' &&
    isBytes(headers['content-type']) &&
    (headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0));

/** The library's refusal as an error of ours. `thrown` is what it was made from, if it was thrown. */
function refusal(status: number, text: string, thrown: unknown): unknown {
  if (thrown instanceof StorageError) return new AppError('upstream_unavailable', thrown.message, { cause: thrown });
  if (thrown instanceof Error && !('status_code' in thrown)) return thrown;
  const known = (code: 'upload_not_found' | 'upload_conflict' | 'media_too_large' | 'tus_version_unsupported') =>
    new AppError(code, ERRORS[code].meaning);
  const said = text.trim();
  if (status === 412 || /^Invalid.* tus-resumable/.test(said)) return known('tus_version_unsupported');
  if (status === 404 || status === 410) return known('upload_not_found');
  if (status === 413) return known('media_too_large');
  // Another request of the same client has taken over, or would not let go.
  if (status === 409 || /lock/.test(said)) return known('upload_conflict');
  if (status === 500) return thrown;
  const [, header] = /\b(upload-[a-z-]+|content-type)\b/i.exec(said) ?? [];
  return validationFailed([{ path: `/${header ?? 'Upload-Length'}`, message: said || 'is not allowed' }]);
}

export const tusRoutes: FastifyPluginAsyncTypebox<{ incoming: Incoming }> = async (app, { incoming }) => {
  // The bytes are taken as they come. A creation may have any content type, since some clients always send one.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (_request, _payload, done) => done(null));
  app.addHook('onRequest', async (_request, reply) => {
    void reply.header('tus-resumable', VERSION).header('tus-version', VERSION);
  });
  app.addHook('preValidation', async (request, reply) => {
    if (request.method === 'PATCH' && !isBytes(request.headers['content-type'])) {
      void reply.header('accept-patch', BYTES);
      throw new AppError('unsupported_media_type', `The bytes of an upload are sent with Content-Type: ${BYTES}.`);
    }
    // The request of which an Idempotency-Key allows one: its headers say what other requests say in their bodies.
    const { 'upload-length': length, 'upload-metadata': metadata } = request.headers;
    if (request.method === 'POST') request.body = { length, metadata };
  });
  const locks = new Locks(incoming.leases);

  async function answer(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    // Nobody has an account who only asks what is possible (OPTIONS).
    const accountId = request.principal?.accountId ?? '';
    if (!hasBytes(request)) return handle(request, reply, accountId);
    const arrival = await incoming.arrivals.admit(accountId).catch((error: unknown) => {
      void reply.header('connection', 'close');
      throw error;
    });
    try {
      return await handle(request, reply, accountId, arrival);
    } finally {
      arrival.release();
    }
  }

  async function handle(
    request: FastifyRequest,
    reply: FastifyReply,
    accountId: string,
    arrival?: Arrival,
  ): Promise<FastifyReply> {
    let thrown: unknown;
    const tus = new Server({
      path: `/v1${PATH}`,
      relativeLocation: true,
      lockDrainTimeout: DRAIN_MS,
      datastore: new AccountStore(incoming, accountId, locks, arrival?.memory),
      locker: { newLock: (id) => locks.newLock(lockOf(accountId, id)) },
      maxSize: incoming.maxSourceBytes,
      getFileIdFromRequest: () => (request.params as { id?: string }).id,
      namingFunction: ({ headers }, metadata = {}) =>
        incoming.begin(accountId, Number(headers.get('upload-length')), metadata, headers.get('upload-metadata') ?? ''),
      onResponseError: (_request, error) => {
        thrown = error;
        return undefined;
      },
    });
    const response = await tus.handleWeb(webRequest(request, arrival));
    const text = await response.text();
    // The rest of what the client is sending is not read.
    if (!request.raw.complete) void reply.header('connection', 'close');
    if (response.status >= 400) throw refusal(response.status, text, thrown);
    for (const [name, value] of response.headers) if (!NOT_PASSED_ON.test(name)) void reply.header(name, value);
    return reply.code(response.status).send(text);
  }

  for (const route of tusOperations(PATH)) app.route({ ...route, handler: answer });
};
