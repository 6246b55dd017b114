import { utimes } from 'node:fs/promises';
import { Readable } from 'node:stream';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { sweep } from '../../../../../../src/core/pods/prepare/job/sweep.ts';
import { markDeleted } from '../../../../../../src/core/pods/records/store.ts';
import { chunkKey, entryKey, indexKey } from '../../../../../../src/core/pods/rendition/format.ts';
import {
  computeShard,
  getBaseKey,
  KeepList,
  packKeep,
  shardsFor,
} from '../../../../../../src/core/pods/storage/keep-list.ts';
import type { Storage } from '../../../../../../src/core/pods/storage/storage.ts';
import { cutRendition, publishChunk, publishIndex } from '../../../../../kit/make/chunks.ts';
import { quiet, room } from '../../../../../kit/make/prepare.ts';
import { buildFlv, FPS, override } from '../../../../../kit/make/tiny-rendition.ts';

const HOUR = 3600;
const at = (hours: number) => new Date(Date.UTC(2026, 5, 1) + hours * HOUR * 1000);
const signal = new AbortController().signal;
const all = (storage: Storage, prefix: string): Promise<string[]> => Readable.from(storage.list(prefix)).toArray();
type Room = Awaited<ReturnType<typeof room>>;

const FILES = ['sources/u1', 'sources/u2', 'renditions/aa/video-720p30.flv', 'renditions/aa/video-720p30.flv.json'];
/** Writes files, as of this hour. */
const put = async ({ storage, path }: Room, keys = FILES, hour = -1) => {
  for (const key of keys) {
    await storage.write(key, Buffer.from(key));
    await utimes(path(`media/${key}`), at(hour), at(hour));
    if (key.startsWith('sources/')) await markDeleted(storage, key);
  }
};
const keysIn = async ({ storage }: Room) => (await all(storage, '')).filter((key) => !/^(sweep|deleted)\//.test(key));

const swept = ({ storage }: Room, keep: string[], now: Date, shards = 1, shard = 0) => {
  const task = {
    action: 'sweep' as const,
    keep: packKeep(keep, shard, shards),
    shard,
    shards,
    graceSeconds: 24 * HOUR,
  };
  return sweep(task, { storage, signal, log: quiet }, now);
};

test('an unused file is deleted with its index when its grace time is over; the rest stays', async () => {
  await using place = await room();
  await put(place);
  // The file's own age is irrelevant: the grace time begins when its last reference goes.
  await utimes(place.path('media/sources/u2'), at(-9999), at(-9999));
  expect(await swept(place, ['sources/u1'], at(0))).toEqual({ action: 'swept', deleted: 0, marked: 2 });
  expect(await swept(place, ['sources/u1'], at(23))).toEqual({ action: 'swept', deleted: 0, marked: 2 });
  expect(await keysIn(place)).toHaveLength(4);
  expect(await swept(place, ['sources/u1'], at(24))).toEqual({ action: 'swept', deleted: 2, marked: 0 });
  expect(await keysIn(place)).toEqual(['sources/u1']);
});

const RENDITION = 'renditions/aa/video-720p30.flv';
const chunkAt = (firstFrame: number) => chunkKey(RENDITION, { firstFrame, sha256: 'a'.repeat(64) });
const chunks = (...frames: number[]) => frames.flatMap((frame) => [chunkAt(frame), entryKey(RENDITION, frame)]);

test('the chunks and entries of a rendition stay and go with it', async () => {
  await using place = await room();
  const keys = [...chunks(0, 900, 1800), indexKey(RENDITION)];
  await put(place, [...keys, 'renditions/aa/video-720p30.flv2']);
  await swept(place, [RENDITION], at(0));
  expect(await swept(place, [RENDITION], at(24))).toEqual({ action: 'swept', deleted: 1, marked: 0 });
  expect(await keysIn(place)).toEqual(keys.toSorted());
  expect(await swept(place, [], at(25))).toEqual({ action: 'swept', deleted: 0, marked: 1 });
  expect(await swept(place, [], at(49))).toEqual({ action: 'swept', deleted: 1, marked: 0 });
  expect(await keysIn(place)).toEqual([]);
});

test('a sweep that is interrupted leaves no index without its chunks, and no entry without its chunk', async () => {
  await using place = await room();
  await put(place, [...chunks(0, 900), indexKey(RENDITION)]);
  await swept(place, [], at(0));
  const deleted: string[] = [];
  const storage = new Proxy(place.storage, {
    get: (target, name: keyof Storage) =>
      name === 'delete'
        ? (key: string) => {
            if (key.startsWith(RENDITION)) deleted.push(key);
            return target.delete(key);
          }
        : target[name]?.bind(target),
  });
  await swept({ ...place, storage }, [], at(24));
  expect(deleted[0]).toBe(indexKey(RENDITION));
  expect(deleted.slice(1, 3).sort()).toEqual([0, 900].map((frame) => entryKey(RENDITION, frame)));
  expect(deleted.slice(3).sort()).toEqual([0, 900].map(chunkAt));
});

test('a file that was written again in between keeps its grace time', async () => {
  await using place = await room();
  const rewritten = [
    ...chunks(0, 900),
    indexKey(RENDITION),
    'sources/u1',
    'incoming/u/0000000000000000-0000000000000005',
  ];
  await put(place, rewritten);
  expect(await swept(place, [], at(0))).toMatchObject({ marked: 3 });
  await put(place, rewritten, 20);
  expect(await swept(place, [], at(30))).toMatchObject({ deleted: 0, marked: 3 });
  expect(await keysIn(place)).toEqual(rewritten.toSorted());
  expect(await swept(place, [], at(54))).toMatchObject({ deleted: 3, marked: 0 });
  expect(await keysIn(place)).toEqual([]);
});

test('with an old listing, a sweep leaves no index without its chunks, and deletes no newer ones', async () => {
  await using place = await room();
  await put(place, [...chunks(0, 900), indexKey(RENDITION)]);
  await swept(place, [], at(0));
  const old = await all(place.storage, '');
  const storage = override(place.storage, {
    list: async function* (prefix) {
      for (const key of old) if (key.startsWith(prefix) && key !== indexKey(RENDITION)) yield key;
    },
  });
  await put(place, chunks(1800), 20);
  expect(await swept({ ...place, storage }, [], at(24))).toMatchObject({ deleted: 1 });
  expect(await keysIn(place)).toEqual(chunks(1800));
});

describe('a chunk to which the index of its rendition does not refer', () => {
  const index = cutRendition(buildFlv(70), { fps: FPS, frames: 720 });
  const others = [
    chunkKey(RENDITION, { firstFrame: 0, sha256: 'b'.repeat(64) }),
    chunkKey(RENDITION, { firstFrame: 768, sha256: 'b'.repeat(64) }),
    entryKey(RENDITION, 768),
  ];
  const whole = async (place: Room) => {
    for (const number of index.entries.keys()) await publishChunk(place.storage, RENDITION, index, number);
    await publishIndex(place.storage, RENDITION, index);
    return keysIn(place);
  };

  test('goes when its grace time is over, and the rendition stays', async () => {
    await using place = await room();
    const kept = await whole(place);
    await put(place, others);
    expect(await swept(place, [RENDITION], at(0))).toEqual({ action: 'swept', deleted: 0, marked: 1 });
    expect(await swept(place, [RENDITION], at(23))).toEqual({ action: 'swept', deleted: 0, marked: 1 });
    expect(await keysIn(place)).toHaveLength(kept.length + others.length);
    expect(await swept(place, [RENDITION], at(24))).toEqual({ action: 'swept', deleted: 0, marked: 0 });
    expect(await keysIn(place)).toEqual(kept);
    expect(await swept(place, [RENDITION], at(25))).toMatchObject({ marked: 0 });
  });

  test('stays while it may be of a Job at work: it is new, or there is no index yet', async () => {
    await using place = await room();
    const kept = await whole(place);
    await put(place, others.slice(0, 1));
    await swept(place, [RENDITION], at(0));
    await put(place, others, 20);
    await swept(place, [RENDITION], at(24));
    expect(await keysIn(place)).toEqual([...kept, ...others].sort());
    await place.storage.delete(indexKey(RENDITION));
    await put(place, others);
    await swept(place, [RENDITION], at(25));
    await swept(place, [RENDITION], at(49));
    expect(await keysIn(place)).toEqual([...kept, ...others].filter((key) => key !== indexKey(RENDITION)).sort());
  });
});

test('pieces of a deleted upload vanish all together, those of an unfinished one stay', async () => {
  await using place = await room();
  const pieces = (name: string) => [0, 5, 10].map((at) => `incoming/${name}/${String(at).padStart(16, '0')}-${at + 5}`);
  await put(place, [...pieces('gone'), ...pieces('sent')]);
  const keep = ['incoming/sent'];
  expect(await swept(place, keep, at(0))).toEqual({ action: 'swept', deleted: 0, marked: 1 });
  expect(await swept(place, keep, at(24))).toEqual({ action: 'swept', deleted: 1, marked: 0 });
  expect(await keysIn(place)).toEqual(pieces('sent'));
});

test('a file that is used again in between keeps its grace time a day later', async () => {
  await using place = await room();
  await put(place, ['sources/u1']);
  await swept(place, [], at(0));
  await swept(place, ['sources/u1'], at(12));
  expect(await swept(place, [], at(30))).toMatchObject({ deleted: 0, marked: 1 });
  expect(await swept(place, [], at(54))).toMatchObject({ deleted: 1 });
});

test('a rendition without its index yet counts as kept', async () => {
  await using place = await room();
  await put(place, ['renditions/aa/video-720p30.flv']);
  expect(await swept(place, ['renditions/aa/video-720p30.flv'], at(0))).toMatchObject({ marked: 0 });
});

test('each part is swept by itself, and marks of another division begin again', async () => {
  await using place = await room();
  const keys = Array.from({ length: 40 }, (_, i) => `sources/u${i}`);
  await put(place, keys);
  const first = await swept(place, [], at(0), 2, 0);
  expect(first.marked).toBe(keys.filter((key) => computeShard(key, 2) === 0).length);
  expect(await swept(place, [], at(30), 2, 1)).toMatchObject({ deleted: 0, marked: 40 - first.marked });
  expect(await swept(place, [], at(30), 1)).toMatchObject({ deleted: 0, marked: 40 });
  expect(await all(place.storage, 'sweep/')).toEqual(['sweep/1-0.json']);
});

test('marks that cannot be read delete nothing', async () => {
  await using place = await room();
  await put(place, ['sources/u1']);
  for (const nonsense of ['{', '{"sources/u1":7}', '{"sources/u1":"long ago"}']) {
    await place.storage.write('sweep/1-0.json', Buffer.from(nonsense));
    expect(await swept(place, [], at(1000))).toMatchObject({ deleted: 0, marked: 1 });
  }
});

test('a list holds exactly the packed keys, for any parts', () => {
  const keys = fc.uniqueArray(fc.stringMatching(/^[a-z0-9]{1,12}$/), { maxLength: 60 });
  const property = fc.property(keys, fc.integer({ min: 1, max: 5 }), (all, shards) => {
    const half = all.filter((_, i) => i % 2 === 0);
    for (let shard = 0; shard < shards; shard++) {
      const list = new KeepList(packKeep(half, shard, shards));
      for (const key of all) expect(list.has(key)).toBe(half.includes(key) && computeShard(key, shards) === shard);
    }
  });
  fc.assert(property);
});

test('ten thousand uploads in three profiles fit into a Job', () => {
  const keys = Array.from({ length: 40_000 }, (_, i) => `renditions/${i}/video-720p30.flv`);
  const shards = shardsFor(keys.length);
  for (let shard = 0; shard < shards; shard++) expect(packKeep(keys, shard, shards).length).toBeLessThan(100_000);
  expect(getBaseKey('renditions/a/video-720p30.flv.json')).toBe('renditions/a/video-720p30.flv');
  expect(getBaseKey('renditions/a/video-720p30.flv.plan.json')).toBe('renditions/a/video-720p30.flv');
  expect(getBaseKey('incoming/u.000000000/5.json')).toBe('incoming/u.000000000');
});
