/**
 * Declares the record of an imported Upload, a small JSON object in the storage, from which a restored Upload finds its source again; and what
 * the operator tells a Job of records. They hold no secret. Pure: no I/O, no clock.
 */
import { createHash } from 'node:crypto';
import { type Static, Type } from 'typebox';
import { MediaInfo, UPLOAD_TYPES } from '../resources/upload/spec.ts';
import { UploadWarnings } from '../resources/upload/warnings.ts';
import { type Read, readJson, readMessage } from './read-message.ts';

/** A UID of Kubernetes, and a segment of a storage key. */
const Uid = Type.String({ pattern: '^[A-Za-z0-9][A-Za-z0-9-]{0,62}$' });
const SourceKey = Type.String({ pattern: '^sources/[A-Za-z0-9][A-Za-z0-9-]{0,62}$' });

/** An Upload as Kubernetes knows it: all of it has to agree before a restored Upload gets a source. */
export const UploadIdentity = Type.Object({
  /** UID of the namespace kube-system, which no restore copies. */
  installation: Uid,
  namespace: Type.String({ minLength: 1, maxLength: 63 }),
  name: Type.String({ minLength: 1, maxLength: 253 }),
  /** The label that the API server writes; an Upload that was made with kubectl has none. */
  account: Type.Optional(Type.String({ minLength: 1, maxLength: 63 })),
  uid: Uid,
  track: Type.Enum(UPLOAD_TYPES),
  /** `sent`, or `link:` and the SHA-256 hash of the URL, which may hold a secret. */
  origin: Type.String({ pattern: '^(sent|link:[0-9a-f]{64})$' }),
});
export type UploadIdentity = Static<typeof UploadIdentity>;

export const UploadRecord = Type.Object({
  ...UploadIdentity.properties,
  /** Uploads of an account with equal content share one source. */
  sourceKey: SourceKey,
  media: MediaInfo,
  warnings: Type.Optional(UploadWarnings),
});
export type UploadRecord = Static<typeof UploadRecord>;

/** The records part of a Job's environment (LOOPSTREAM_RECORDS, JSON). */
export const RecordsTask = Type.Object({
  installation: Uid,
  /** Of an import: the Upload that the Job works for. */
  upload: Type.Optional(UploadIdentity),
  /** Of an import: UIDs of deleted Uploads, whose records no other Upload takes up. */
  deletedUids: Type.Optional(Type.Array(Uid)),
  /** Of a sweep: Uploads whose deletion was seen, and the source that each had. */
  deleted: Type.Optional(Type.Array(Type.Object({ uid: Uid, sourceKey: SourceKey }))),
  /** Of a sweep: records that have to be there. */
  records: Type.Optional(Type.Array(UploadRecord)),
});
export type RecordsTask = Static<typeof RecordsTask>;

export const RECORDS_PREFIX = 'records/';
/** Below it: the sources of Uploads whose deletion was seen. */
export const DELETED_PREFIX = 'deleted/';
/** Names the installation that may write to the storage. */
export const OWNER_KEY = 'installation.json';
const SOURCES = 'sources/';
const PLACE_CHARS = 32;

const hash = (text: string): string => createHash('sha256').update(text).digest('hex');

export const hashLink = (url: string): string => `link:${hash(url)}`;

export const listPrefix = ({ installation, namespace, name }: Omit<UploadIdentity, 'uid' | 'track' | 'origin'>) =>
  `${RECORDS_PREFIX}${installation}/${hash(`${namespace}/${name}`).slice(0, PLACE_CHARS)}/`;

/** The key names the Upload and its source, so that a listing says which sources have a record. */
export const recordKey = (record: Pick<UploadRecord, keyof UploadIdentity | 'sourceKey'>): string =>
  `${listPrefix(record)}${record.uid}_${record.sourceKey.slice(SOURCES.length)}.json`;

export interface RecordKey {
  key: string;
  installation: string;
  uid: string;
  sourceKey: string;
}

const KEY = /^records\/([A-Za-z0-9-]+)\/[0-9a-f]+\/([A-Za-z0-9-]+)_([A-Za-z0-9-]+)\.json$/;

/** Undefined for an object that is no record. */
export function parseRecordKey(key: string): RecordKey | undefined {
  const [, installation, uid, source] = KEY.exec(key) ?? [];
  if (installation === undefined || uid === undefined || source === undefined) return undefined;
  return { key, installation, uid, sourceKey: `${SOURCES}${source}` };
}

export const deletedKey = (sourceKey: string): string => `${DELETED_PREFIX}${sourceKey.slice(SOURCES.length)}`;
export const parseDeletedKey = (key: string): string => `${SOURCES}${key.slice(DELETED_PREFIX.length)}`;

/** Reads a record, also one of a later release that says more. Undefined for anything else, and for one that lies below another's key. */
export function parseRecord(text: string, key: string): UploadRecord | undefined {
  const read = readJson(UploadRecord, text, 'strict');
  return read.ok && recordKey(read.message) === key ? read.message : undefined;
}

export const readRecordsTask = (value: unknown): Read<RecordsTask> => readMessage(RecordsTask, value, 'strict');

/**
 * Whether a record is that of an Upload which was restored under another UID. A name alone is not enough: everybody in a namespace may use it
 * again.
 */
export const isRecordOf = (record: UploadRecord, upload: UploadIdentity): boolean =>
  record.installation === upload.installation &&
  record.namespace === upload.namespace &&
  record.name === upload.name &&
  record.account === upload.account &&
  record.track === upload.track &&
  record.origin === upload.origin;
