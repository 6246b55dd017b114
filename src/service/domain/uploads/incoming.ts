/**
 * Receives uploads that clients send in pieces. The resource records the expected and received bytes, and storage has the bytes.
 * This server's memory has neither, so any server continues where another one died.
 */

import { writeJoin } from '../../../core/pods/storage/joins.ts';
import {
  appendPieces,
  arrivedBytes,
  deletePieces,
  dropUnverified,
  markUnverified,
  type PieceMemory,
} from '../../../core/pods/storage/pieces.ts';
import type { Storage } from '../../../core/pods/storage/storage.ts';
import { UPLOAD_METADATA_ANNOTATION } from '../../../core/resources/common/names.ts';
import { nameFrom } from '../../../core/resources/upload/name.ts';
import type { Upload as Resource } from '../../../core/resources/upload/resource.ts';
import { computeCountedBytes } from '../../../core/resources/upload/size.ts';
import { incomingKey, isArriving, sourceKey } from '../../../core/resources/upload/spec.ts';
import type { Leases } from '../../db/leases.ts';
import { AppError, validationFailed } from '../../lib/errors.ts';
import type { OwnedResources } from '../limits/owned-resources.ts';
import { memoryRefusal, type UploadAdmission } from './admission.ts';
import { type Checksum, verifyBody } from './checksum.ts';
import { createGrowingReservation } from './growing-reservation.ts';
import { findParts, listJoinedParts, type Parts, toPart } from './parts.ts';
import type { UploadQuota } from './quota.ts';
import { checkChoice } from './tracks.ts';
import { type Metadata, readGivenLabels, readKind, readName, readTracks } from './tus-metadata.ts';

/** Smaller progress is not written to the resource, which spares Kubernetes the writes. */
const STEP = 0.05;
const NO_KIND =
  'must be VIDEO, AUDIO, IMAGE, or a MIME type such as video/mp4 (also as `filetype`); without one, `filename` needs the ' +
  'extension of a media file, such as film.mp4';

/** Returns the storage of an upload's namespace. */
export type FindStorage = (upload: Pick<Resource, 'metadata'>) => Storage;

interface IncomingDeps {
  uploads: OwnedResources<Resource>;
  quota: Pick<UploadQuota, 'sent' | 'grow'>;
  findStorage: FindStorage;
  maxSourceBytes: number;
  /** Lifetime from the start of the upload. */
  expireMs: number;
  leases: Leases;
  admission: UploadAdmission;
}

interface Progress {
  /** Undefined until the client declares it. */
  sizeBytes: number | undefined;
  receivedBytes: number;
  /** RFC 3339. */
  createdAt: string;
  /** `Upload-Metadata` as the client sent it. */
  metadata: string | undefined;
}

/** Describes an upload that a client begins. */
export interface Beginning {
  /** Undefined if the client declares it later. */
  sizeBytes: number | undefined;
  metadata: Metadata;
  /** Unparsed `Upload-Metadata`. */
  header: string;
  isPart?: boolean;
}

/** Bytes of a request, beginning at `start`. */
export interface Bytes {
  start: number;
  body: AsyncIterable<Buffer>;
  /** Returns whether the request may still write, since another one may have taken over. */
  mayKeep: () => boolean;
  memory: PieceMemory | undefined;
  checksum?: Checksum | undefined;
}

const refuseEmpty = (): AppError =>
  new AppError('validation_failed', 'This file is empty. Send one that has content.', {
    extras: { errors: [{ path: '/Upload-Length', message: 'must be at least 1: the file is empty' }] },
  });

export type Incoming = ReturnType<typeof createIncoming>;

export function createIncoming(deps: IncomingDeps) {
  const { uploads, quota, findStorage, maxSourceBytes, expireMs, leases, admission } = deps;
  const findSent = (accountId: string, id: string) => {
    const upload = uploads.get(accountId, id);
    const { sent } = upload.spec.source;
    if (!sent) throw new AppError('upload_not_found', 'This upload is imported from a link, so it accepts no bytes.');
    return { upload, sent, storage: findStorage(upload), key: incomingKey(upload.metadata.uid) };
  };
  const recordProgress = (upload: Resource, receivedBytes: number) =>
    uploads.patch(upload, { spec: { source: { sent: { receivedBytes } } } }, { completes: true });

  /** An import that began while the client was sending may have joined and deleted the pieces before the last progress is recorded. */
  async function countReceived(upload: Resource): Promise<number> {
    const { metadata, spec } = upload;
    const storage = findStorage(upload);
    const bytes = await dropUnverified(storage, incomingKey(metadata.uid));
    const { sizeBytes } = spec.source.sent ?? {};
    if (bytes > 0 || sizeBytes === undefined) return bytes;
    const source = await storage.head(sourceKey(metadata.uid));
    return source?.sizeBytes === sizeBytes ? sizeBytes : bytes;
  }

  type Sent = NonNullable<Resource['spec']['source']['sent']>;
  async function make(
    accountId: string,
    { metadata, header, isPart = false }: Omit<Beginning, 'sizeBytes'>,
    sent: Sent,
    parts: readonly Resource[],
  ): Promise<string> {
    const left = () => parts.filter(({ metadata }) => uploads.find(accountId, metadata.name));
    const { sizeBytes } = sent;
    const type = readKind(metadata) ?? (isPart ? 'video' : undefined);
    if (!type) throw validationFailed([{ path: '/Upload-Metadata/type', message: NO_KIND }]);
    if (sizeBytes !== undefined && sizeBytes > maxSourceBytes)
      throw new AppError('media_too_large', `The upload is larger than the limit of ${maxSourceBytes} bytes.`);
    const displayName = nameFrom(readName(metadata));
    const tracks = readTracks(metadata);
    checkChoice(tracks, '/Upload-Metadata');
    const labels = readGivenLabels(metadata);
    const spec = (): Resource['spec'] => ({
      ...(displayName !== undefined && { displayName }),
      track: type,
      ...(tracks && { tracks }),
      source: { sent },
    });
    const annotations = { [UPLOAD_METADATA_ANNOTATION]: header };
    const create = async (room: { maxDurationSeconds: number }) => {
      // Checked inside the turn: another request may have joined the same parts meanwhile.
      for (const { metadata } of parts) uploads.get(accountId, metadata.name);
      const upload = await uploads.create(accountId, () => ({ ...spec(), ...room }), { annotations, labels });
      return sent.parts ? takeOver(upload, parts) : upload;
    };
    const made = await quota.sent(accountId, { sizeBytes, parts: left }, { ...spec(), ...annotations }, create);
    return made.metadata.name;
  }

  /** Gives the bytes of parts to the upload that is joined from them: its import begins then. An interrupted call may be repeated. */
  async function takeOver(upload: Resource, parts: readonly Resource[]): Promise<Resource> {
    const { sizeBytes = 0, parts: named = [] } = upload.spec.source.sent ?? {};
    let joined = upload;
    if (isArriving(upload.spec)) {
      const keys = named.map(({ uid }) => incomingKey(uid));
      await writeJoin(findStorage(upload), incomingKey(upload.metadata.uid), keys);
      joined = await recordProgress(upload, sizeBytes);
    }
    // A part that cannot be deleted counts until it expires. Its bytes belong to the upload now.
    for (const part of parts) await uploads.delete(part).catch(() => undefined);
    return joined;
  }

  return {
    maxSourceBytes,
    expireMs,
    /** A lease admits one request at a time to an upload, across servers. */
    leases,
    admission,

    /** Creates the upload and returns its objectID. A part has no kind of its own. Throws as `Within.sent` does. */
    begin: (accountId: string, { sizeBytes, ...given }: Beginning): Promise<string> => {
      if (sizeBytes !== undefined && sizeBytes < 1) throw refuseEmpty();
      const sent = {
        ...(sizeBytes !== undefined && { sizeBytes }),
        receivedBytes: 0,
        ...(given.isPart && { isPart: true }),
      };
      return make(accountId, given, sent, []);
    },

    /** Finds the parts that `Upload-Concat` names. Throws `upload_not_found`, `upload_conflict` and `validation_failed`. */
    parts: (accountId: string, ids: readonly string[]): Promise<Parts> => findParts(uploads, accountId, ids),

    /** Joins parts to an upload, deletes them, and returns the upload's objectID. Throws as `Within.sent` does. */
    async join(
      accountId: string,
      { made, found, sizeBytes }: Parts,
      given: Omit<Beginning, 'sizeBytes'>,
    ): Promise<string> {
      const parts = [...new Set(found)];
      if (made) return (await takeOver(made, parts)).metadata.name;
      // The import begins when all is received: not before the parts are the upload's own.
      return make(accountId, given, { sizeBytes, receivedBytes: 0, parts: found.map(toPart) }, parts);
    },

    /** Returns the cached resource. Throws `upload_not_found`. */
    resource: (accountId: string, id: string): Resource => findSent(accountId, id).upload,

    /** Rejects with `upload_not_found` and StorageError. Callers hold the lock, because unverified bytes are deleted. */
    async find(accountId: string, id: string): Promise<Progress> {
      // Another server may have recorded the size a moment ago, under the same lock.
      if (findSent(accountId, id).sent.sizeBytes === undefined) await uploads.load(accountId, id);
      const { upload, sent } = findSent(accountId, id);
      const { creationTimestamp: createdAt, annotations } = upload.metadata;
      const shown = { sizeBytes: sent.sizeBytes, createdAt, metadata: annotations?.[UPLOAD_METADATA_ANNOTATION] };
      // The pieces of a complete upload may have been joined and deleted.
      if (!isArriving(upload.spec)) return { ...shown, receivedBytes: sent.receivedBytes };
      const receivedBytes = await countReceived(upload);
      // The server that received the last piece may have died before it recorded it.
      if (receivedBytes === sent.sizeBytes && sent.receivedBytes < receivedBytes)
        await recordProgress(upload, receivedBytes);
      return { ...shown, receivedBytes };
    },

    /**
     * Sets a length that the client deferred. Throws `upload_quota_exceeded`, `media_too_large`, and `validation_failed` for an
     * impossible length.
     */
    async declare(accountId: string, id: string, sizeBytes: number): Promise<void> {
      const { upload, sent, storage, key } = findSent(accountId, id);
      if (sent.sizeBytes === sizeBytes) return;
      if (sizeBytes < 1) throw refuseEmpty();
      const receivedBytes = await arrivedBytes(storage, key);
      const whole = receivedBytes === sizeBytes ? { receivedBytes } : {};
      const patch = { spec: { source: { sent: { sizeBytes, roomBytes: null, ...whole } } } };
      const bytes = computeCountedBytes(upload);
      await quota.grow(accountId, { bytes, wanted: sizeBytes }, () =>
        uploads.patch(upload, patch, { completes: true }),
      );
    },

    /**
     * Stores the bytes of a request and returns the new offset. Rejects as `find` and the body do, with `server_busy`,
     * `upload_quota_exceeded`, `upload_checksum_mismatch`, and with `upload_conflict` if another request has taken over.
     */
    async receive(accountId: string, id: string, { start, body, mayKeep, memory, checksum }: Bytes): Promise<number> {
      const { upload, sent, storage, key } = findSent(accountId, id);
      const { sizeBytes } = sent;
      let recordedBytes = sent.receivedBytes;
      let end = start;
      const room = createGrowingReservation(uploads, quota, accountId, upload);
      const guarded: Pick<Storage, 'write'> = {
        write: async (to, piece) => {
          if (!mayKeep()) throw new AppError('upload_conflict', 'Another request took over this upload.');
          end += (piece as Buffer).length;
          if (sizeBytes === undefined) await room.ensure(end);
          await storage.write(to, piece);
        },
      };
      const onKept = async (bytes: number): Promise<void> => {
        const whole = bytes === sizeBytes;
        if (!whole && bytes - recordedBytes < STEP * (sizeBytes ?? Number.POSITIVE_INFINITY)) return;
        recordedBytes = bytes;
        // Progress is only informative, so its failure is ignored; the final write starts the import.
        await recordProgress(upload, bytes).catch((error: unknown) => {
          if (whole) throw error;
        });
      };
      try {
        if (!checksum) return await appendPieces(guarded, key, start, body, onKept, memory);
        const sum = verifyBody(body, checksum);
        const verified = await markUnverified(storage, key, start);
        try {
          await appendPieces(guarded, key, start, sum.body, async () => undefined, memory);
          sum.check();
        } catch (error) {
          if (mayKeep()) await dropUnverified(storage, key);
          throw error;
        }
        await verified();
        await onKept(end);
        return end;
      } catch (error) {
        throw memoryRefusal(error);
      }
    },

    /** Deletes an incomplete upload. Throws `upload_conflict` for a complete one. */
    async abandon(accountId: string, id: string): Promise<void> {
      const { upload, storage, key } = findSent(accountId, id);
      if (!isArriving(upload.spec))
        throw new AppError('upload_conflict', 'The upload is complete. To delete it, send DELETE /v1/uploads/{id}.');
      await uploads.delete(upload);
      await deletePieces(storage, key);
    },

    /**
     * Deletes uploads of `all` that are incomplete after their lifetime. A failed deletion holds up no other, and is retried next
     * time. Rejects with the first failure at the end.
     */
    async expire(all: readonly Resource[], now: Date): Promise<void> {
      const taken = listJoinedParts(all);
      const failures: unknown[] = [];
      const remove = async (upload: Resource): Promise<void> => {
        await uploads.delete(upload);
        const { uid } = upload.metadata;
        if (!taken.has(uid)) await deletePieces(findStorage(upload), incomingKey(uid));
      };
      for (const upload of all) {
        const age = now.getTime() - Date.parse(upload.metadata.creationTimestamp);
        if (!isArriving(upload.spec) || age < expireMs) continue;
        await remove(upload).catch((error: unknown) => failures.push(error));
      }
      if (failures.length > 0) throw failures[0];
    },
  };
}
