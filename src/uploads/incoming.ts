/**
 * Uploads that clients send in pieces. How much is to come and has come stands in the resource, the bytes are in storage, and
 * nothing is in this server's memory: any server goes on where another one died.
 */
import type { Owned } from '../account/owned.ts';
import type { Leases } from '../db/leases.ts';
import { AppError, validationFailed } from '../errors.ts';
import type { Upload as Resource } from '../kube/resources.ts';
import { appendPieces, arrivedBytes, deletePieces, type PieceMemory } from '../storage/pieces.ts';
import type { Storage } from '../storage/storage.ts';
import { UPLOAD_METADATA_ANNOTATION } from '../streams/names.ts';
import { type Arrivals, memoryRefusal } from './arrivals.ts';
import { type Metadata, readKind, readName } from './kind.ts';
import { nameFrom } from './name.ts';
import type { Within } from './quota.ts';
import { incomingKey, isArriving } from './spec.ts';

/** A smaller step forward is not written to the resource: Kubernetes is no place for a progress bar's every move. */
const STEP = 0.05;
const NO_KIND =
  'must be one of VIDEO, AUDIO, or a MIME type such as video/mp4 (also as `filetype`); without one, `filename` needs the ' +
  'extension of a media file, such as film.mp4';

interface IncomingDeps {
  uploads: Owned<Resource>;
  within: Pick<Within, 'sent'>;
  storage: Storage;
  maxSourceBytes: number;
  /** From the beginning on, in milliseconds. */
  expireMs: number;
  leases: Leases;
  arrivals: Arrivals;
}

interface Progress {
  sizeBytes: number;
  receivedBytes: number;
  /** RFC 3339. */
  createdAt: string;
  /** What the client said of it at the beginning, as it said it. */
  metadata: string | undefined;
}

export type Incoming = ReturnType<typeof createIncoming>;

export function createIncoming({ uploads, within, storage, maxSourceBytes, expireMs, leases, arrivals }: IncomingDeps) {
  const sentOf = (accountId: string, id: string) => {
    const upload = uploads.get(accountId, id);
    const { sent } = upload.spec.source;
    if (!sent) throw new AppError('upload_not_found', `The upload ${id} is imported from a link.`);
    return { upload, sent, key: incomingKey(upload.metadata.uid) };
  };
  const tell = (upload: Resource, receivedBytes: number) =>
    uploads.patch(upload, { spec: { source: { sent: { receivedBytes } } } });

  return {
    maxSourceBytes,
    expireMs,
    /** By which one request at a time, on whichever server, is at an upload. */
    leases,
    /** Who may send bytes now. */
    arrivals,

    /** Makes the upload and answers its objectID. `given`: what the client says of it; `metadata`: the same in its words. */
    async begin(accountId: string, sizeBytes: number, given: Metadata, metadata: string): Promise<string> {
      const type = readKind(given);
      if (!type) throw validationFailed([{ path: '/Upload-Metadata/type', message: NO_KIND }]);
      if (sizeBytes < 1) throw validationFailed([{ path: '/Upload-Length', message: 'must be at least 1' }]);
      if (sizeBytes > maxSourceBytes)
        throw new AppError('media_too_large', `An upload may have ${maxSourceBytes} bytes at most.`);
      const displayName = nameFrom(readName(given));
      const spec = (): Resource['spec'] => ({
        ...(displayName !== undefined && { displayName }),
        type,
        source: { sent: { sizeBytes, receivedBytes: 0 } },
      });
      const annotations = { [UPLOAD_METADATA_ANNOTATION]: metadata };
      const make = (room: { maxDurationSeconds: number }) =>
        uploads.create(accountId, () => ({ ...spec(), ...room }), annotations);
      return (await within.sent(accountId, sizeBytes, { ...spec(), ...annotations }, make)).metadata.name;
    },

    /** Throws `upload_not_found`; rejects with StorageError. */
    async find(accountId: string, id: string): Promise<Progress> {
      const { upload, sent, key } = sentOf(accountId, id);
      const { creationTimestamp: createdAt, annotations } = upload.metadata;
      const shown = { sizeBytes: sent.sizeBytes, createdAt, metadata: annotations?.[UPLOAD_METADATA_ANNOTATION] };
      // The pieces of one that has come whole may have been put together and cleared away.
      if (!isArriving(upload.spec)) return { ...shown, receivedBytes: sent.sizeBytes };
      const receivedBytes = await arrivedBytes(storage, key);
      // The server that took the last piece may have died before it could say so.
      if (receivedBytes === sent.sizeBytes) await tell(upload, receivedBytes);
      return { ...shown, receivedBytes };
    },

    /**
     * Keeps what `body` brings from byte `start` on, by way of `memory`, and answers where it ends. Rejects as `find` and `body`
     * do, with `server_busy`, and with `upload_conflict` when `mayKeep` does not hold any more: then another request has
     * taken over.
     */
    async receive(
      accountId: string,
      id: string,
      start: number,
      body: AsyncIterable<Buffer>,
      mayKeep: () => boolean,
      memory: PieceMemory | undefined,
    ): Promise<number> {
      const { upload, sent, key } = sentOf(accountId, id);
      let told = sent.receivedBytes;
      const kept: Pick<Storage, 'write'> = {
        write: async (to, piece) => {
          if (!mayKeep()) throw new AppError('upload_conflict', 'Another request for this upload has taken over.');
          await storage.write(to, piece);
        },
      };
      const onKept = async (bytes: number): Promise<void> => {
        const whole = bytes === sent.sizeBytes;
        if (!whole && bytes - told < STEP * sent.sizeBytes) return;
        told = bytes;
        // On the way it is only for those who watch; the end begins the import.
        await tell(upload, bytes).catch((error: unknown) => {
          if (whole) throw error;
        });
      };
      try {
        return await appendPieces(kept, key, start, body, onKept, memory);
      } catch (error) {
        throw memoryRefusal(error);
      }
    },

    /** Ends one that has not come whole. Throws `upload_conflict` for one that has. */
    async abandon(accountId: string, id: string): Promise<void> {
      const { upload, key } = sentOf(accountId, id);
      if (!isArriving(upload.spec))
        throw new AppError('upload_conflict', 'All of it has come: it is deleted with DELETE /v1/uploads/{id}.');
      await uploads.delete(upload);
      await deletePieces(storage, key);
    },

    /** Clears away those of `all` that have not come whole in time. What fails is tried again at the next time. */
    async expire(all: readonly Resource[], now: Date): Promise<void> {
      for (const upload of all) {
        const age = now.getTime() - Date.parse(upload.metadata.creationTimestamp);
        if (!isArriving(upload.spec) || age < expireMs) continue;
        await uploads.delete(upload);
        await deletePieces(storage, incomingKey(upload.metadata.uid));
      }
    },
  };
}
