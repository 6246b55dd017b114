/**
 * Builds the records part of a Job's environment (pods/records): the Upload of an import, and the records that a sweep writes and removes.
 * Pure: no I/O, no clock.
 */
import { Value } from 'typebox/value';
import { hashLink, type RecordsTask, type UploadIdentity, UploadRecord } from '../../protocol/records.ts';
import { ACCOUNT_LABEL } from '../../resources/common/names.ts';
import type { Upload } from '../../resources/upload/resource.ts';
import { sourceKey } from '../../resources/upload/spec.ts';

/** An Upload whose deletion was seen, until a sweep has written that down. */
export interface DeletedUpload {
  uid: string;
  name: string;
  sourceKey: string;
}

/** Of one sweep. A container's environment takes 128 KiB a variable, and a record some 700 bytes; more where a file has many tracks. */
const MAX_RECORDS = 100;
const MAX_RECORDS_BYTES = 80_000;
const MAX_DELETED = 300;

/** A part is never imported, so it has no source. */
export const hasSource = ({ spec }: Upload): boolean => spec.source.sent?.isPart !== true;

/**
 * Drops a status that describes another Upload: one that was restored from a backup, or copied. Its source and media are true only if their
 * record says so, which the import finds out.
 */
export function dropForeignStatus(upload: Upload): Upload {
  const { status, ...own } = upload;
  return status?.uid === undefined || status.uid === upload.metadata.uid ? upload : own;
}

export function buildIdentity({ metadata, spec }: Upload, installation: string): UploadIdentity {
  const { namespace = '', name, uid, labels } = metadata;
  const account = labels?.[ACCOUNT_LABEL];
  const { url } = spec.source;
  return {
    installation,
    namespace,
    name,
    ...(account && { account }),
    uid,
    track: spec.track,
    origin: url === undefined ? 'sent' : hashLink(url),
  };
}

/** Builds the records part of an import's environment; undefined where the installation is not known. */
export function buildImportRecords(
  upload: Upload,
  installation: string | undefined,
  deleted: readonly DeletedUpload[],
): RecordsTask | undefined {
  if (installation === undefined) return undefined;
  const deletedUids = deleted.flatMap(({ name, uid }) => (name === upload.metadata.name ? [uid] : []));
  return {
    installation,
    upload: buildIdentity(upload, installation),
    ...(deletedUids.length > 0 && { deletedUids }),
  };
}

function buildRecord(upload: Upload, installation: string): UploadRecord | undefined {
  const { media, warnings, ...status } = dropForeignStatus(upload).status ?? {};
  if (!media || status.sourceKey === undefined) return undefined;
  const record = {
    ...buildIdentity(upload, installation),
    sourceKey: status.sourceKey,
    media,
    ...(warnings && { warnings }),
  };
  // A source that an earlier release has put elsewhere has no record.
  return Value.Check(UploadRecord, record) ? record : undefined;
}

/**
 * Builds the records part of a sweep's environment. Records are written by imports; a sweep writes those of Uploads that an earlier release imported, or that share the
 * source of another one: these first, then the next of all in turn, beginning after the name `after`.
 */
export function buildSweepRecords(
  uploads: readonly Upload[],
  deleted: readonly DeletedUpload[],
  installation: string,
  after = '',
): { task: RecordsTask; last: string } {
  const sorted = uploads
    .filter(({ metadata }) => !metadata.deletionTimestamp)
    .sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
  const at = sorted.findIndex(({ metadata }) => metadata.name > after);
  const turn = at < 0 ? sorted : [...sorted.slice(at), ...sorted.slice(0, at)];
  const shares = ({ metadata, status }: Upload) => status?.sourceKey !== sourceKey(metadata.uid);
  const records: UploadRecord[] = [];
  let last = '';
  let bytes = 0;
  for (const upload of [...turn.filter(shares).slice(0, MAX_RECORDS / 2), ...turn.filter((one) => !shares(one))]) {
    if (records.length === MAX_RECORDS) break;
    const record = buildRecord(upload, installation);
    if (!record) continue;
    bytes += Buffer.byteLength(JSON.stringify(record));
    if (bytes > MAX_RECORDS_BYTES) break;
    records.push(record);
    last = upload.metadata.name;
  }
  const gone = deleted.slice(0, MAX_DELETED).map(({ uid, sourceKey: had }) => ({ uid, sourceKey: had }));
  return { task: { installation, deleted: gone, records }, last };
}
