/**
 * Deletes objects without references. A sweep only marks the unreferenced objects. A later one deletes those that were
 * marked for the whole grace time, never found referenced in between and not written since. The same holds for chunks of a rendition
 * that is referenced, but to which its index does not refer.
 *
 * A source may be the only copy of a file. It goes after the grace time where the deletion of its Upload was seen; where an Upload is merely
 * not there, as after a loss or half a restore, its source is kept for a month.
 */
import { text } from 'node:stream/consumers';
import { type Static, Type } from 'typebox';
import { Value } from 'typebox/value';
import type { Logger } from '../../../lib/log.ts';
import { deletedKey, type RecordKey, type RecordsTask } from '../../../protocol/records.ts';
import type { PrepareTask, SweepResult } from '../../../protocol/task.ts';
import { listDeleted, listRecords } from '../../records/store.ts';
import { chunkKey, entryKey, indexKey, parseChunkKey, rankDeletion } from '../../rendition/format.ts';
import { parseIndex, type RenditionIndex } from '../../rendition/index.ts';
import { computeShard, getBaseKey, KeepList } from '../../storage/keep-list.ts';
import { type Storage, StorageError } from '../../storage/storage.ts';
import { listChunks } from '../transcode/chunk-writer.ts';
import { applyRecords } from './records.ts';

type SweepTask = Extract<PrepareTask, { action: 'sweep' }>;

/** Prefixes of all objects that clients send and that the Jobs make. */
const PREFIXES = ['incoming/', 'sources/', 'renditions/'];
const MARKS_PREFIX = 'sweep/';
/** Limit of one sweep, so that memory and the marks stay small; the next sweep takes the rest. */
const MAX_CANDIDATES = 50_000;

/** How long a source stays whose Upload is not there although nobody has deleted it. */
const ORPHAN_MS = 30 * 86_400_000;

/** In front of a base of which only chunks may have to go. No key has a space. */
const CHUNKS_MARK = 'chunks ';
/** Time (RFC 3339) since which a base has had no reference, or unused chunks. */
const Marks = Type.Record(Type.String(), Type.String());
type Marks = Static<typeof Marks>;

function readTime(text = ''): Date | undefined {
  const time = new Date(text);
  return Number.isNaN(time.getTime()) ? undefined : time;
}

async function readMarks(storage: Storage, key: string): Promise<Marks> {
  if (!(await storage.head(key))) return {};
  try {
    const marks: unknown = JSON.parse(await text(await storage.read(key)));
    return Value.Check(Marks, marks) ? marks : {};
  } catch (error) {
    // Unreadable marks begin again: that loses time, not media.
    if (error instanceof SyntaxError) return {};
    throw error;
  }
}

/**
 * The part of a base that may have to go: `all`, since it is not on the list; its `only` object, whose key is the base; or `chunks` of a
 * rendition on the list to which its index may not refer.
 */
type Suspect = 'all' | 'only' | 'chunks';

/** Finds the suspects of a listing, in which the objects of a base come one behind the other. */
class Suspects {
  /** By their base. */
  readonly found = new Map<string, Suspect>();
  readonly #judge: (base: string) => 'deleted' | 'kept' | 'other';
  #base = '';
  #verdict: 'deleted' | 'kept' | 'other' = 'other';
  /** The frame at which the last chunks and entries begin, and their numbers: one of each as a rule. */
  #frame: { firstFrame: number; chunks: number; entries: number } | undefined;

  constructor({ keep, shard, shards }: SweepTask) {
    const list = new KeepList(keep);
    this.#judge = (base) => (computeShard(base, shards) !== shard ? 'other' : list.has(base) ? 'kept' : 'deleted');
  }

  see(key: string): void {
    const base = getBaseKey(key);
    if (base !== this.#base) {
      this.end();
      this.#base = base;
      this.#verdict = this.#judge(base);
    }
    if (this.#verdict === 'kept') this.#count(key);
    if (this.#verdict !== 'deleted') return;
    const isOnly = key === base && (this.found.get(base) ?? 'only') === 'only';
    this.#add(isOnly ? 'only' : 'all');
  }

  #count(key: string): void {
    const chunk = parseChunkKey(key);
    if (chunk?.firstFrame !== this.#frame?.firstFrame) this.end();
    if (!chunk) return;
    this.#frame ??= { firstFrame: chunk.firstFrame, chunks: 0, entries: 0 };
    if (chunk.isEntry) this.#frame.entries++;
    else this.#frame.chunks++;
  }

  /** Nothing more of this base comes, or of the frame. */
  end(): void {
    if (this.#frame && (this.#frame.chunks !== 1 || this.#frame.entries !== 1)) this.#add('chunks');
    this.#frame = undefined;
  }

  #add(suspect: Suspect): void {
    if (this.found.has(this.#base) || this.found.size < MAX_CANDIDATES) this.found.set(this.#base, suspect);
  }
}

/** A long rendition has thousands of objects, so they are listed again before they are deleted. */
async function listSuspects(storage: Storage, task: SweepTask, signal: AbortSignal): Promise<Map<string, Suspect>> {
  const suspects = new Suspects(task);
  for (const prefix of PREFIXES) {
    for await (const key of storage.list(prefix)) {
      signal.throwIfAborted();
      suspects.see(key);
    }
  }
  suspects.end();
  return suspects.found;
}

/** Objects whose marks fit into one block of a disk. */
const FEW_MARKS = 16;

/** A full storage has no room to replace the marks. The room of the old ones takes a few, so that it does not stay full. */
async function writeMarks(storage: Storage, key: string, marks: Marks): Promise<void> {
  const write = (some: Marks) => storage.write(key, Buffer.from(JSON.stringify(some)));
  const unlessFull = (error: unknown) => {
    if (!(error instanceof StorageError && error.code === 'full')) throw error;
    return error;
  };
  if (!(await write(marks).catch(unlessFull))) return;
  await storage.delete(key);
  if (await write(marks).catch(unlessFull)) await write(Object.fromEntries(Object.entries(marks).slice(0, FEW_MARKS)));
}

const isOlder = async (storage: Storage, key: string, than: Date): Promise<boolean> => {
  const object = await storage.head(key);
  return object === undefined || object.modifiedAt < than;
};

/**
 * Deletes all objects of a base. Interrupted, it leaves nothing that looks complete and is not. Resolves to false where it deletes
 * nothing, since somebody has written there after `since`.
 */
async function deleteAll(
  storage: Storage,
  { base, isOnly, since }: { base: string; isOnly: boolean; since: Date },
  signal: AbortSignal,
): Promise<boolean> {
  const isSent = base.startsWith('incoming/');
  // A listing may be old, and lack the index.
  const keys = new Set(isSent || isOnly ? [] : [indexKey(base)]);
  if (isOnly) keys.add(base);
  else for await (const key of storage.list(isSent ? `${base}/` : base)) if (getBaseKey(key) === base) keys.add(key);
  const sorted = [...keys].sort((a, b) => rankDeletion(a) - rankDeletion(b));
  // An index is written last, and without one the last piece or chunk.
  for (const key of [sorted[0], sorted.at(-1)]) if (key && !(await isOlder(storage, key, since))) return false;
  for (const key of sorted) {
    signal.throwIfAborted();
    await storage.delete(key);
  }
  return true;
}

/**
 * Deletes the chunks and entries of a complete rendition to which its index does not refer: of an interrupted Job, of
 * concurrent Jobs or of earlier content. A running Job may own objects newer than `since`.
 */
async function deleteUnused(storage: Storage, base: string, since: Date, signal: AbortSignal): Promise<number> {
  const index = await readIndex(storage, base);
  if (!index) return 0;
  const { chunks, version } = index;
  const used = new Set(chunks.flatMap((chunk) => [chunkKey(base, chunk, version), entryKey(base, chunk.firstFrame)]));
  let deleted = 0;
  for await (const { key } of listChunks(storage, base)) {
    signal.throwIfAborted();
    if (used.has(key) || !(await isOlder(storage, key, since))) continue;
    await storage.delete(key);
    deleted++;
  }
  return deleted;
}

/** Undefined without an index of chunks. */
async function readIndex(storage: Storage, base: string): Promise<RenditionIndex | undefined> {
  const key = indexKey(base);
  if (!(await storage.head(key))) return undefined;
  const index = parseIndex(await text(await storage.read(key)));
  return index?.version === 1 ? undefined : index;
}

/** The storage's own notes of sources to which no Upload refers. */
interface Evidence {
  /** Sources whose Uploads were seen deleted. */
  deleted: ReadonlySet<string>;
  /** Records by their source. */
  records: ReadonlyMap<string, readonly RecordKey[]>;
}

async function readEvidence(storage: Storage): Promise<Evidence> {
  const records = new Map<string, RecordKey[]>();
  for await (const record of listRecords(storage))
    records.set(record.sourceKey, [...(records.get(record.sourceKey) ?? []), record]);
  return { deleted: await listDeleted(storage), records };
}

/**
 * Whether a source may go after the grace time (`deleted`), after a month (`orphan`), or never, since another installation has a record of
 * it (`foreign`).
 */
function judgeSource(
  key: string,
  { deleted, records }: Evidence,
  installation: string | undefined,
): 'deleted' | 'orphan' | 'foreign' {
  const named = records.get(key) ?? [];
  if (named.some((record) => record.installation !== installation)) return 'foreign';
  return deleted.has(key) && named.length === 0 ? 'deleted' : 'orphan';
}

/** Removes what was kept of a source that is deleted. */
async function forgetSource(storage: Storage, key: string, { deleted, records }: Evidence): Promise<void> {
  for (const record of records.get(key) ?? []) await storage.delete(record.key);
  if (deleted.has(key)) await storage.delete(deletedKey(key));
}

interface SweepContext {
  storage: Storage;
  signal: AbortSignal;
  log: Logger;
  records?: RecordsTask | undefined;
}

/** Rejects with StorageError or the signal's reason; all objects deleted until then were due. */
export async function sweep(task: SweepTask, context: SweepContext, now: Date): Promise<SweepResult> {
  const { storage, signal, log, records } = context;
  if (records) await applyRecords(records, context);
  const evidence = await readEvidence(storage);
  let suspicious = 0;
  const marksKey = `${MARKS_PREFIX}${task.shards}-${task.shard}.json`;
  const marks = await readMarks(storage, marksKey);
  const kept: Marks = {};
  let deleted = 0;
  for (const [base, suspect] of await listSuspects(storage, task, signal)) {
    signal.throwIfAborted();
    const name = suspect === 'chunks' ? `${CHUNKS_MARK}${base}` : base;
    const marked = readTime(marks[name]);
    const since = marked ?? now;
    kept[name] = since.toISOString();
    const isSource = base.startsWith('sources/');
    const verdict = isSource ? judgeSource(base, evidence, records?.installation) : 'deleted';
    // A deletion that the operator has just seen is written down by the next sweep.
    if (verdict !== 'deleted' && marked) suspicious++;
    const waitMs = verdict === 'deleted' ? task.graceSeconds * 1000 : ORPHAN_MS;
    if (!marked || verdict === 'foreign' || now.getTime() - since.getTime() < waitMs) continue;
    if (suspect === 'chunks') {
      const objects = await deleteUnused(storage, base, since, signal);
      delete kept[name];
      log.info({ storageKey: base, since, objects }, 'deleted unused chunks');
    } else if (await deleteAll(storage, { base, isOnly: suspect === 'only', since }, signal)) {
      delete kept[name];
      if (isSource) await forgetSource(storage, base, evidence);
      if (verdict !== 'deleted') suspicious--;
      log.info({ storageKey: base, since }, 'deleted unreferenced objects');
      deleted++;
    } else {
      kept[name] = now.toISOString();
    }
  }
  await writeMarks(storage, marksKey, kept);
  for await (const key of storage.list(MARKS_PREFIX)) {
    // Marks of another division of the keys.
    if (!key.startsWith(`${MARKS_PREFIX}${task.shards}-`)) await storage.delete(key);
  }
  return { action: 'swept', deleted, marked: Object.keys(kept).length, ...(suspicious > 0 && { suspicious }) };
}
