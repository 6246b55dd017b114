/**
 * Gives up sources whose Upload is merely not there: each is marked as if its deletion had been seen, and the next sweeps delete it. A sweep
 * asks again what the Uploads have, so a source that one of them has is never deleted.
 */
import type { Kube } from '../../kube/types.ts';
import { listDeleted, listRecords, markDeleted, readOwner, readRecord } from '../../pods/records/store.ts';
import { getBaseKey } from '../../pods/storage/keep-list.ts';
import type { Storage } from '../../pods/storage/storage.ts';
import { isRecordOf, type RecordKey, type UploadRecord } from '../../protocol/records.ts';
import { UPLOADS, type Upload } from '../../resources/upload/resource.ts';
import { sourceKey } from '../../resources/upload/spec.ts';
import { buildIdentity } from '../upload/records.ts';
import { RefusedError } from './refused.ts';

export interface ForgetOptions {
  namespace: string;
  /** UID of kube-system in the cluster here. */
  installation: string;
  /** Another installation, which staff say is gone. */
  goneInstallation?: string | undefined;
  dryRun?: boolean;
  onProgress: (line: string) => void;
}

export interface Forgotten {
  forgotten: number;
  bytes: number;
  /** Sources without an Upload here that are not given up. */
  kept: number;
}

interface Note extends RecordKey {
  /** Undefined for a record that cannot be read. */
  record: UploadRecord | undefined;
}

async function readNotes(storage: Storage): Promise<Map<string, Note[]>> {
  const notes = new Map<string, Note[]>();
  for await (const key of listRecords(storage)) {
    const note = { ...key, record: await readRecord(storage, key.key) };
    notes.set(key.sourceKey, [...(notes.get(key.sourceKey) ?? []), note]);
  }
  return notes;
}

const listUsed = (uploads: readonly Upload[]): Set<string> =>
  new Set(
    uploads.flatMap(({ metadata, status }) => [
      sourceKey(metadata.uid),
      ...(status?.sourceKey ? [status.sourceKey] : []),
    ]),
  );

/** Says why a source is kept; undefined where it may be given up. */
function findKeeper(notes: readonly Note[], uploads: readonly Upload[], options: ForgetOptions): string | undefined {
  const { namespace, installation, goneInstallation } = options;
  for (const { installation: writer, record } of notes) {
    if (writer === goneInstallation) continue;
    if (writer !== installation) return `installation ${writer} has it`;
    if (record && record.namespace !== namespace) return `namespace ${record.namespace} has it`;
    const owner = uploads.find((upload) => record && isRecordOf(record, buildIdentity(upload, installation)));
    if (owner) return `upload ${owner.metadata.name} takes it up`;
  }
  return undefined;
}

const describe = ([note]: readonly Note[]): string =>
  note?.record ? `${note.record.name}, ${note.record.account ?? 'no account'}` : 'no record';

/** May be interrupted and run again. Rejects with RefusedError, StorageError and KubeError. */
export async function forgetSources(
  kube: Pick<Kube, 'list'>,
  storage: Storage,
  options: ForgetOptions,
): Promise<Forgotten> {
  const { namespace, installation, dryRun = false, onProgress } = options;
  const owner = await readOwner(storage);
  if (owner !== undefined && owner !== installation)
    throw new RefusedError(
      `The storage is that of installation ${owner}, and this is ${installation}: nothing is deleted here.`,
    );
  const [notes, deleted] = [await readNotes(storage), await listDeleted(storage)];
  const uploads = await kube.list(UPLOADS, { namespace });
  const used = listUsed(uploads);
  const counts: Forgotten = { forgotten: 0, bytes: 0, kept: 0 };
  for await (const key of storage.list('sources/')) {
    const its = notes.get(key) ?? [];
    const object = key === getBaseKey(key) && !used.has(key) ? await storage.head(key) : undefined;
    if (!object || (deleted.has(key) && its.length === 0)) continue;
    const keeper = findKeeper(its, uploads, options);
    const words = `${key}  ${object.sizeBytes} bytes  ${object.modifiedAt.toISOString()}  ${describe(its)}`;
    onProgress(keeper === undefined ? `forgotten  ${words}` : `kept  ${words}: ${keeper}`);
    if (keeper !== undefined) {
      counts.kept++;
      continue;
    }
    counts.forgotten++;
    counts.bytes += object.sizeBytes;
    if (dryRun) continue;
    // The mark is first: a source without a mark and a record would look suspicious again.
    await markDeleted(storage, key);
    for (const one of its) await storage.delete(one.key);
  }
  return counts;
}
