/**
 * Deletes objects without references. A sweep only marks the unreferenced objects. A later one deletes those that were
 * marked for the whole grace time and never found referenced in between.
 */
import { text } from 'node:stream/consumers';
import { type Static, Type } from 'typebox';
import { Value } from 'typebox/value';
import type { Logger } from '../../../lib/log.ts';
import { rankDeletion } from '../../rendition/format.ts';
import type { Storage } from '../../storage/storage.ts';
import { computeShard, getBaseKey, KeepList } from './keep-list.ts';
import type { PrepareTask, SweepResult } from './task.ts';

type SweepTask = Extract<PrepareTask, { action: 'sweep' }>;

/** Prefixes of all objects that clients send and that the Jobs make. */
const PREFIXES = ['incoming/', 'sources/', 'renditions/'];
const MARKS_PREFIX = 'sweep/';
/** Limit of one sweep, so that memory and the marks stay small; the next sweep takes the rest. */
const MAX_CANDIDATES = 50_000;

/** Time (RFC 3339) since which a base has had no reference. */
const Marks = Type.Record(Type.String(), Type.String());
type Marks = Static<typeof Marks>;

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
 * Lists the bases of this part that are not on the list, and whether the object of that key is the only one. A long rendition has
 * thousands of objects, so they are listed again before they are deleted.
 */
async function listUnreferenced(storage: Storage, { keep, shard, shards }: SweepTask, signal: AbortSignal) {
  const list = new KeepList(keep);
  const found = new Map<string, { isAlone: boolean }>();
  // Objects of a base come one behind the other.
  let last = { base: '', isUnreferenced: false };
  for (const prefix of PREFIXES) {
    for await (const key of storage.list(prefix)) {
      signal.throwIfAborted();
      const base = getBaseKey(key);
      if (base !== last.base) last = { base, isUnreferenced: computeShard(base, shards) === shard && !list.has(base) };
      if (!last.isUnreferenced || (!found.has(base) && found.size >= MAX_CANDIDATES)) continue;
      found.set(base, { isAlone: key === base && (found.get(base)?.isAlone ?? true) });
    }
  }
  return found;
}

/** Deletes all objects of a base. Interrupted, it leaves nothing that looks complete and is not. */
async function deleteAll(storage: Storage, base: string, signal: AbortSignal): Promise<void> {
  const keys: string[] = [];
  const prefix = base.startsWith('incoming/') ? `${base}/` : base;
  for await (const key of storage.list(prefix)) if (getBaseKey(key) === base) keys.push(key);
  for (const key of keys.sort((a, b) => rankDeletion(a) - rankDeletion(b))) {
    signal.throwIfAborted();
    await storage.delete(key);
  }
}

/** Rejects with StorageError or the signal's reason; all objects deleted until then were due. */
export async function sweep(
  task: SweepTask,
  { storage, signal, log }: { storage: Storage; signal: AbortSignal; log: Logger },
  now: Date,
): Promise<SweepResult> {
  const marksKey = `${MARKS_PREFIX}${task.shards}-${task.shard}.json`;
  const marks = await readMarks(storage, marksKey);
  const kept: Marks = {};
  let deleted = 0;
  for (const [base, { isAlone }] of await listUnreferenced(storage, task, signal)) {
    signal.throwIfAborted();
    const since = Date.parse(marks[base] ?? '');
    if (Number.isNaN(since) || now.getTime() - since < task.graceSeconds * 1000) {
      kept[base] = Number.isNaN(since) ? now.toISOString() : (marks[base] ?? '');
      continue;
    }
    await (isAlone ? storage.delete(base) : deleteAll(storage, base, signal));
    log.info({ key: base, since: marks[base] }, 'deleted unreferenced objects');
    deleted++;
  }
  await storage.write(marksKey, Buffer.from(JSON.stringify(kept)));
  for await (const key of storage.list(MARKS_PREFIX)) {
    // Marks of another division of the keys.
    if (!key.startsWith(`${MARKS_PREFIX}${task.shards}-`)) await storage.delete(key);
  }
  return { action: 'swept', deleted, marked: Object.keys(kept).length };
}
