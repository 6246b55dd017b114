/**
 * Keeps the records of Uploads: an import writes one, an Upload that was restored takes its own up, and a sweep writes and removes what the
 * operator tells it. Nothing is deleted here but records.
 */
import { createHash } from 'node:crypto';
import type { Logger } from '../../../lib/log.ts';
import {
  isRecordOf,
  type RecordsTask,
  recordKey,
  type UploadIdentity,
  type UploadRecord,
} from '../../../protocol/records.ts';
import type { PrepareTask } from '../../../protocol/task.ts';
import { claimStorage, listRecords, markDeleted, readRecord, writeRecord } from '../../records/store.ts';
import type { Storage } from '../../storage/storage.ts';
import { PrepareError } from '../failure/failure.ts';
import type { JobContext } from '../steps/context.ts';
import { arrived, findKeys, hasSource } from './join-upload.ts';

type ImportTask = Extract<PrepareTask, { action: 'import' }>;
type TakenUp = Pick<UploadRecord, 'media' | 'warnings' | 'sourceKey'>;

/** Takes a storage that nobody has. Rejects with PrepareError where it is another installation's: its sweep would delete what is written here. */
export async function requireOwner(storage: Storage, installation: string): Promise<void> {
  const owner = await claimStorage(storage, installation);
  if (owner === installation) return;
  throw new PrepareError(
    'storage_taken',
    `It is that of installation ${owner}, and this is ${installation}. Give each installation a prefix of its own in ` +
      'LOOPSTREAM_STORAGE_URL. If the other one is gone for good, take the storage over by loopstream adopt (docs/backup.md).',
  );
}

/** Writes the record of an Upload, and removes those that it had before. */
export async function replaceRecord(storage: Storage, record: UploadRecord): Promise<void> {
  await writeRecord(storage, record);
  for await (const { key, uid } of listRecords(storage, record))
    if (uid === record.uid && key !== recordKey(record)) await storage.delete(key);
}

/** Whether the bytes of the Upload are still to be fetched or joined: what a client has just sent is never replaced by an older source. */
async function isMissing(task: ImportTask, storage: Storage): Promise<boolean> {
  if (!('sent' in task)) return true;
  const { sizeBytes, isArriving = false } = task.sent;
  if (isArriving || (await hasSource(storage, task.sourceKey, sizeBytes))) return false;
  const keys = await findKeys(storage, task.sent);
  return keys === undefined || (await arrived(storage, keys)) !== sizeBytes;
}

/** The records of an Upload, the latest first. */
async function findRecords(storage: Storage, upload: UploadIdentity, deletedUids: readonly string[]) {
  const found: { record: UploadRecord; writtenAt: Date }[] = [];
  for await (const { key, uid } of listRecords(storage, upload)) {
    if (deletedUids.includes(uid)) continue;
    const record = await readRecord(storage, key);
    const object = record && (await storage.head(key));
    if (object && isRecordOf(record, upload)) found.push({ record, writtenAt: object.modifiedAt });
  }
  return found.sort((a, b) => b.writtenAt.getTime() - a.writtenAt.getTime()).map(({ record }) => record);
}

/** Says why the source of a record is not the one that was imported; undefined where it is. Reads all of it. */
async function findFault(
  { sourceKey, media }: UploadRecord,
  { storage, signal, onProgress }: Pick<JobContext, 'storage' | 'signal' | 'onProgress'>,
): Promise<string | undefined> {
  const object = await storage.head(sourceKey);
  if (!object) return 'the source is not there';
  if (object.sizeBytes !== media.sizeBytes) return `the source has ${object.sizeBytes} of ${media.sizeBytes} bytes`;
  const hash = createHash('sha256');
  let done = 0;
  for await (const chunk of await storage.read(sourceKey, { version: object.version }, signal)) {
    const bytes = chunk as Buffer;
    hash.update(bytes);
    done += bytes.length;
    onProgress?.(done / media.sizeBytes);
  }
  return hash.digest('hex') === media.sha256 ? undefined : 'the source has other bytes than were imported';
}

/**
 * Finds the source of an Upload that was restored under a new UID, by its record, and checks it to its last byte. Undefined where the Upload
 * has to be imported. Rejects with StorageError or the signal's reason.
 */
export async function takeUpSource(
  task: ImportTask,
  { upload, deletedUids = [] }: Partial<RecordsTask> = {},
  context: Pick<JobContext, 'storage' | 'signal' | 'onProgress' | 'log'>,
): Promise<TakenUp | undefined> {
  const { storage, log } = context;
  if (!upload || !(await isMissing(task, storage))) return undefined;
  for (const record of await findRecords(storage, upload, deletedUids)) {
    const isOfSize = !('sent' in task) || record.media.sizeBytes === task.sent.sizeBytes;
    const fault = isOfSize ? await findFault(record, context) : 'it is of a file of another size';
    if (fault !== undefined) {
      log.warn({ uid: record.uid, storageKey: record.sourceKey }, `a record of this upload is not used: ${fault}`);
      continue;
    }
    const { media, warnings, sourceKey } = record;
    await replaceRecord(storage, { ...record, uid: upload.uid });
    if (record.uid !== upload.uid) await storage.delete(recordKey(record));
    log.info({ uid: record.uid, storageKey: sourceKey }, 'the restored upload has its source again');
    return { media, sourceKey, ...(warnings && { warnings }) };
  }
  return undefined;
}

/**
 * Removes the records of Uploads whose deletion was seen, marks their sources, and writes the records that are missing. It may be interrupted at
 * any place and done again.
 */
export async function applyRecords(
  { installation, deleted = [], records = [] }: RecordsTask,
  { storage, signal, log }: { storage: Storage; signal: AbortSignal; log: Logger },
): Promise<void> {
  if (deleted.length === 0 && records.length === 0) return;
  const known = new Map<string, { key: string; sourceKey: string }[]>();
  for await (const { uid, key, sourceKey, ...record } of listRecords(storage))
    if (record.installation === installation) known.set(uid, [...(known.get(uid) ?? []), { key, sourceKey }]);
  for (const { uid, sourceKey } of deleted) {
    signal.throwIfAborted();
    const sources = new Set([`sources/${uid}`, sourceKey]);
    for (const one of known.get(uid) ?? []) {
      sources.add(one.sourceKey);
      await storage.delete(one.key);
    }
    for (const source of sources) await markDeleted(storage, source);
    log.info({ uid, storageKey: sourceKey }, 'the upload was deleted: its source goes when nothing else has it');
  }
  for (const record of records) {
    signal.throwIfAborted();
    const key = recordKey(record);
    const own = `sources/${record.uid}`;
    const had = known.get(record.uid) ?? [];
    if (!had.some((one) => one.key === key)) await writeRecord(storage, record);
    for (const one of had) if (one.key !== key) await storage.delete(one.key);
    // Equal content shares the older source: the Upload's own copy is not needed any more.
    if (record.sourceKey !== own) await markDeleted(storage, own);
  }
}
