/**
 * Serves resumable uploads by the protocol tus 1.0.0 (https://tus.io/protocols/resumable-upload). The library implements the
 * protocol; its store calls the service, for the caller's account.
 */
import { Readable } from 'node:stream';
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { DataStore, Metadata, Server, Upload } from '@tus/server';
import type { FastifyInstance, FastifyReply, FastifyRequest, RouteHandlerMethod } from 'fastify';
import type { PieceMemory } from '../../../core/pods/storage/pieces.ts';
import { StorageError } from '../../../core/pods/storage/storage.ts';
import type { AdmittedRequest } from '../../domain/uploads/admission.ts';
import { CHECKSUM_ALGORITHMS, type Checksum, readChecksum } from '../../domain/uploads/checksum.ts';
import type { Incoming } from '../../domain/uploads/incoming.ts';
import { Locks } from '../../domain/uploads/locks.ts';
import { type MinimumRate, readAtRate } from '../../domain/uploads/minimum-rate.ts';
import { concatHeader, readConcat } from '../../domain/uploads/parts.ts';
import { BYTES } from '../../domain/uploads/resumable.ts';
import { AppError, validationFailed } from '../../lib/errors.ts';
import { isBytes, protocolHeaders } from './headers.ts';

const PATH = '/uploads/resumable';
const VERSION = '1.0.0';
/** Time for a request to end after another one for the same upload arrives. */
const DRAIN_MS = 300;
/** Headers of the library that we set ourselves, or that CORS handles. */
const NOT_PASSED_ON = /^(content-length|connection|access-control-.*)$/;

/** Includes the account, so that accounts never block each other. */
const nameLock = (accountId: string, id: string): string => `${accountId}/${id}`;

const EXTENSIONS = [
  'creation',
  'creation-with-upload',
  'creation-defer-length',
  'expiration',
  'termination',
  // The library lacks these extensions: this module reads them.
  'concatenation',
  'checksum',
];

/** Parts of a request that the library ignores. */
interface DeclaredFields {
  checksum: Checksum | undefined;
  /** Only for PATCH. */
  length: number | undefined;
}

class AccountStore extends DataStore {
  override extensions = EXTENSIONS;
  readonly #incoming: Incoming;
  readonly #accountId: string;
  readonly #locks: Locks;
  readonly #memory: PieceMemory | undefined;
  readonly #declared: DeclaredFields;

  constructor(
    incoming: Incoming,
    accountId: string,
    locks: Locks,
    memory: PieceMemory | undefined,
    declared: DeclaredFields,
  ) {
    super();
    this.#declared = declared;
    this.#incoming = incoming;
    this.#accountId = accountId;
    this.#locks = locks;
    this.#memory = memory;
  }

  override async getUpload(id: string): Promise<Upload> {
    const { sizeBytes, receivedBytes, createdAt, metadata } = await this.#incoming.find(this.#accountId, id);
    return new Upload({
      id,
      // A client may repeat the length; the library accepts one only if there is none yet.
      ...(sizeBytes !== undefined && sizeBytes !== this.#declared.length && { size: sizeBytes }),
      offset: receivedBytes,
      // Without a date it counts as new: a complete upload does not expire.
      ...(receivedBytes !== sizeBytes && { creation_date: createdAt }),
      ...(metadata && { metadata: Metadata.parse(metadata) }),
    });
  }

  override write(body: Readable, id: string, start: number): Promise<number> {
    const mayKeep = () => this.#locks.isHeld(nameLock(this.#accountId, id));
    const { checksum } = this.#declared;
    return this.#incoming.receive(this.#accountId, id, { start, body, mayKeep, memory: this.#memory, checksum });
  }

  override declareUploadLength(id: string, length: number): Promise<void> {
    return this.#incoming.declare(this.#accountId, id, length);
  }

  override remove(id: string): Promise<void> {
    return this.#incoming.abandon(this.#accountId, id);
  }

  override getExpiration(): number {
    return this.#incoming.expireMs;
  }
}

function webRequest(
  { raw, method, headers }: FastifyRequest,
  more: Record<string, string>,
  rate: MinimumRate | undefined,
): Request {
  const body = rate && (Readable.toWeb(Readable.from(readAtRate(raw, rate))) as ReadableStream);
  return new Request(new URL(raw.url ?? '/', 'http://tus'), {
    method,
    headers: { ...protocolHeaders(headers), ...more },
    ...(body && { body, duplex: 'half' }),
  });
}

/** Returns whether a request sends bytes of an upload. */
const hasBytes = ({ method, headers }: FastifyRequest): boolean =>
  method === 'PATCH' ||
  (method === 'POST' &&
    isBytes(headers['content-type']) &&
    (headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0));

const header = ({ headers }: FastifyRequest, name: string): string | undefined => {
  const value = headers[name];
  return Array.isArray(value) ? value[0] : value;
};

/** Converts the library's error to ours. `thrown` is its cause, if it was thrown. */
function refusal({ status }: Response, text: string, method: string, thrown: unknown): unknown {
  if (thrown instanceof StorageError) return new AppError('upstream_unavailable', thrown.message, { cause: thrown });
  if (thrown instanceof Error && !('status_code' in thrown)) return thrown;
  const known = (code: 'upload_not_found' | 'upload_conflict' | 'media_too_large') => new AppError(code);
  const message = text.trim();
  if (status === 404 || status === 410) return known('upload_not_found');
  if (status === 413) return known('media_too_large');
  // Another request of the same client has taken over, or still holds the lock.
  if (status === 409 || /lock/.test(message)) return known('upload_conflict');
  if (status === 500) return thrown;
  if (method === 'PATCH' && message.startsWith('Upload-Length'))
    return validationFailed([
      { path: '/Upload-Length', message: 'was set before, or is less than the bytes received' },
    ]);
  const [, header] = /\b(upload-[a-z-]+|content-type)/i.exec(message) ?? [];
  return validationFailed([{ path: `/${header ?? 'Upload-Length'}`, message: message || 'is not allowed' }]);
}

interface TusOptions {
  incoming: Incoming;
  serve: (app: FastifyInstance, handler: RouteHandlerMethod) => void;
}

export const tusRoutes: FastifyPluginAsyncTypebox<TusOptions> = async (app, { incoming, serve }) => {
  // Bodies are not parsed. A creation may have any content type, since some clients always send one.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (_request, _payload, done) => done(null));
  app.addHook('onRequest', async (_request, reply) => {
    void reply.header('tus-resumable', VERSION).header('tus-version', VERSION);
  });
  app.addHook('preValidation', async (request, reply) => {
    if (request.method !== 'OPTIONS' && header(request, 'tus-resumable') !== VERSION)
      throw new AppError('tus_version_unsupported');
    if (request.method === 'PATCH' && !isBytes(request.headers['content-type'])) {
      void reply.header('accept-patch', BYTES);
      throw new AppError('unsupported_media_type', `The body must have the Content-Type ${BYTES}.`);
    }
    // An Idempotency-Key compares this object: here headers contain what other requests have in their bodies.
    const { 'upload-length': length, 'upload-metadata': metadata, 'upload-concat': concat } = request.headers;
    if (request.method === 'POST') request.body = { length, metadata, concat };
  });
  const locks = new Locks(incoming.leases);

  async function answer(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    // OPTIONS only reads the capabilities, and has no account.
    const accountId = request.principal?.accountId ?? '';
    if (!hasBytes(request)) return handle(request, reply, accountId);
    let arrival: AdmittedRequest | undefined;
    try {
      arrival = await incoming.admission.admit(accountId);
      return await handle(request, reply, accountId, arrival);
    } finally {
      arrival?.release();
      // The rest of the body is not read.
      if (!request.raw.complete && !reply.sent) void reply.header('connection', 'close');
    }
  }

  /** Reads the parts of a request that the library ignores. */
  async function read(request: FastifyRequest, accountId: string) {
    const { id } = request.params as { id?: string };
    const [isPost, isPatch] = [request.method === 'POST', request.method === 'PATCH'];
    const concat = isPost ? readConcat(header(request, 'upload-concat')) : undefined;
    if (isPatch && id !== undefined && incoming.resource(accountId, id).spec.source.sent?.parts)
      throw new AppError(
        'upload_is_final',
        'This upload is a concatenation of parts, so it takes no bytes of its own.',
      );
    return {
      id,
      isPart: concat?.isPart ?? false,
      parts: concat?.isPart === false ? await incoming.parts(accountId, concat.partIds) : undefined,
      declared: {
        checksum: readChecksum(header(request, 'upload-checksum')),
        length: isPatch ? Number(header(request, 'upload-length')) : undefined,
      },
    };
  }

  async function handle(
    request: FastifyRequest,
    reply: FastifyReply,
    accountId: string,
    arrival?: AdmittedRequest,
  ): Promise<FastifyReply> {
    const { id, isPart, parts, declared } = await read(request, accountId);
    let made: string | undefined;
    let thrown: unknown;
    const tus = new Server({
      path: `/v1${PATH}`,
      relativeLocation: true,
      lockDrainTimeout: DRAIN_MS,
      datastore: new AccountStore(incoming, accountId, locks, arrival?.memory, declared),
      locker: { newLock: (id) => locks.newLock(nameLock(accountId, id)) },
      maxSize: incoming.maxSourceBytes,
      getFileIdFromRequest: () => id,
      namingFunction: async ({ headers }, metadata = {}) => {
        const length = headers.get('upload-length');
        const given = { metadata, header: headers.get('upload-metadata') ?? '', isPart };
        made = parts
          ? await incoming.join(accountId, parts, given)
          : await incoming.begin(accountId, { ...given, sizeBytes: length === null ? undefined : Number(length) });
        return made;
      },
      onResponseError: (_request, error) => {
        thrown = error;
        return undefined;
      },
    });
    // A joined upload has the length of its parts; the library sees nothing else of them.
    const more: Record<string, string> = parts ? { 'upload-length': String(parts.sizeBytes) } : {};
    const response = await tus.handleWeb(webRequest(request, more, arrival));
    const text = await response.text();
    // The rest of the body is not read.
    if (!request.raw.complete) void reply.header('connection', 'close');
    if (response.status >= 400) {
      // A creation whose first bytes fail must leave no upload.
      if (made && !parts && thrown instanceof AppError && !request.held) await incoming.abandon(accountId, made);
      throw refusal(response, text, request.method, thrown);
    }
    if (request.method === 'OPTIONS') void reply.header('tus-checksum-algorithm', CHECKSUM_ALGORITHMS);
    if (request.method === 'HEAD' && id !== undefined) {
      const value = concatHeader(incoming.resource(accountId, id), `/v1${PATH}`);
      if (value !== undefined) void reply.header('upload-concat', value);
    }
    for (const [name, value] of response.headers) if (!NOT_PASSED_ON.test(name)) void reply.header(name, value);
    return reply.code(response.status).send(text);
  }

  serve(app as unknown as FastifyInstance, answer);
};
