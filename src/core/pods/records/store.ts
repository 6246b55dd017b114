/** Reads and writes the records of Uploads in a storage, the marks of deleted ones, and the mark of the installation that owns the storage. */
import { Type } from 'typebox';
import { Value } from 'typebox/value';
import {
  DELETED_PREFIX,
  deletedKey,
  listPrefix,
  OWNER_KEY,
  parseDeletedKey,
  parseRecord,
  parseRecordKey,
  RECORDS_PREFIX,
  type RecordKey,
  recordKey,
  type UploadIdentity,
  type UploadRecord,
} from '../../protocol/records.ts';
import { readSmall } from '../storage/read-small.ts';
import type { Storage } from '../storage/storage.ts';

const Owner = Type.Object({ installation: Type.String({ minLength: 1, maxLength: 63 }) });

const toBytes = (value: unknown): Buffer => Buffer.from(JSON.stringify(value));

export const writeRecord = (storage: Storage, record: UploadRecord): Promise<void> =>
  storage.write(recordKey(record), toBytes(record));

/** Undefined where there is no record that can be read. */
export async function readRecord(storage: Storage, key: string): Promise<UploadRecord | undefined> {
  const found = await readSmall(storage, key);
  return found === undefined ? undefined : parseRecord(found, key);
}

/** Lists the keys of all records, or of those of one name. */
export async function* listRecords(storage: Storage, upload?: UploadIdentity): AsyncGenerator<RecordKey> {
  for await (const key of storage.list(upload ? listPrefix(upload) : RECORDS_PREFIX)) {
    const parsed = parseRecordKey(key);
    if (parsed) yield parsed;
  }
}

/** Marks a source whose Upload was deleted, where there is one. */
export async function markDeleted(storage: Storage, sourceKey: string): Promise<void> {
  if (await storage.head(sourceKey)) await storage.write(deletedKey(sourceKey), toBytes({ sourceKey }));
}

/** Storage keys of all sources that are marked. */
export async function listDeleted(storage: Storage): Promise<Set<string>> {
  const sources = new Set<string>();
  for await (const key of storage.list(DELETED_PREFIX)) sources.add(parseDeletedKey(key));
  return sources;
}

/**
 * Returns the UID of the installation that owns a storage; undefined where none does. A storage with records and without a mark belongs to the
 * installation that wrote them.
 */
export async function readOwner(storage: Storage): Promise<string | undefined> {
  const found = await readSmall(storage, OWNER_KEY);
  if (found !== undefined) {
    try {
      const owner: unknown = JSON.parse(found);
      if (Value.Check(Owner, owner)) return owner.installation;
    } catch {
      // An unreadable mark says nothing: the records do.
    }
  }
  for await (const { installation } of listRecords(storage)) return installation;
  return undefined;
}

/** Gives a storage to an installation, also where another one had it. */
export const writeOwner = (storage: Storage, installation: string): Promise<void> =>
  storage.write(OWNER_KEY, toBytes({ installation }));

/** Takes a storage that nobody has. Returns the UID of the installation that has it: another one where it came first. */
export async function claimStorage(storage: Storage, installation: string): Promise<string> {
  const owner = await readOwner(storage);
  if (owner !== undefined) return owner;
  await writeOwner(storage, installation);
  // Of two that come at the same moment, the later one wins.
  return (await readOwner(storage)) ?? installation;
}
