/** Tests what a rendition's chunks in storage are while Jobs are interrupted, meet each other, or find what others have left. */
import { buffer, text } from 'node:stream/consumers';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { deleteChunks } from '../../../../../../src/core/pods/prepare/transcode/chunk-writer.ts';
import {
  type Chunk,
  chunkKey,
  entryKey,
  type RenditionIndex,
} from '../../../../../../src/core/pods/rendition/index.ts';
import { StorageError } from '../../../../../../src/core/pods/storage/storage.ts';
import { halfWritten, room } from '../../../../../kit/make/prepare.ts';
import {
  buildFlv,
  followEntries,
  KEY,
  listKeys,
  makeChunks,
  openOutput,
  override,
  readAll,
  writeFlv,
} from '../../../../../kit/make/tiny-rendition.ts';

const getKeys = (...chunks: Chunk[]) =>
  chunks.flatMap((chunk) => [chunkKey(KEY, chunk), entryKey(KEY, chunk.firstFrame)]);
const getStarts = ({ chunks }: RenditionIndex) => chunks.map(({ firstFrame }) => firstFrame);
const isEntry = (key: string) => key.endsWith('.json');

describe('chunks in storage', () => {
  const flv = buildFlv(70);

  test('are the rendition, and each has an entry as soon as it can be played', async () => {
    await using place = await room();
    const prepared: number[] = [];
    const output = openOutput(place.storage, { onPrepared: (frames) => prepared.push(frames) });
    await writeFlv(output, flv);
    const index = await output.end();
    expect(prepared).toEqual([720, 1440, 1680]);
    expect(getStarts(index)).toEqual([0, 720, 1440]);
    expect(await listKeys(place.storage)).toEqual(getKeys(...index.chunks));
    expect(await readAll(place.storage, index)).toEqual(flv);
  });

  test('stay when a Job ends anywhere, and the next one ends with the same index and touches none of them', async () => {
    await using whole = await room();
    const expected = await makeChunks(whole.storage, flv);
    const property = fc.asyncProperty(fc.integer({ min: 1, max: flv.length - 1 }), async (end) => {
      await using place = await room();
      const killed = openOutput(place.storage);
      await writeFlv(killed, flv, end);
      await killed.stop();
      expect(await halfWritten(place.path('media'))).toEqual([]);
      const left = await listKeys(place.storage);
      const versions = await Promise.all(left.map((key) => place.storage.head(key)));
      expect(await makeChunks(place.storage, flv)).toEqual(expected);
      expect(await Promise.all(left.map((key) => place.storage.head(key)))).toEqual(versions);
    });
    await fc.assert(property, { numRuns: 20 });
  });

  test('are kept as they are, also where the next Job would make others of the same frames', async () => {
    await using place = await room();
    const first = openOutput(place.storage);
    await writeFlv(first, flv, Math.floor(flv.length / 2));
    await first.stop();
    const index = await makeChunks(place.storage, buildFlv(70, { mark: 'ee' }));
    const bytes = await readAll(place.storage, index);
    expect(bytes.includes(Buffer.from('0265ff', 'hex'))).toBe(true);
    expect(bytes.includes(Buffer.from('0265ee', 'hex'))).toBe(true);
    expect(index.sizeBytes).toBe(bytes.length);
  });

  test('of another division can be found no more, nor those behind them, but a stream that reads one reads on', async () => {
    await using place = await room();
    const before = await makeChunks(place.storage, buildFlv(70, { gopSeconds: 4 }));
    expect(getStarts(before)).toEqual([0, 768, 1536]);
    const index = await makeChunks(place.storage, flv);
    expect(getStarts(index)).toEqual([0, 720, 1440]);
    expect((await listKeys(place.storage)).filter(isEntry)).toEqual(getKeys(...index.chunks).filter(isEntry));
    expect(await readAll(place.storage, index)).toEqual(flv);
    expect(await readAll(place.storage, before)).toEqual(buildFlv(70, { gopSeconds: 4 }));
    await deleteChunks(place.storage, KEY);
    expect(await listKeys(place.storage)).toEqual([]);
  });

  test('whose entry cannot be read are made again', async () => {
    await using place = await room();
    const expected = await makeChunks(place.storage, flv);
    await place.storage.write(entryKey(KEY, 720), Buffer.from('{'));
    expect(await makeChunks(place.storage, flv)).toEqual(expected);
    expect(JSON.parse(await text(await place.storage.read(entryKey(KEY, 720))))).toMatchObject({
      chunk: { firstFrame: 720 },
    });
  });

  test('that two Jobs make at once are the same for both', async () => {
    await using place = await room();
    const [one, other] = await Promise.all([makeChunks(place.storage, flv), makeChunks(place.storage, flv)]);
    expect(one).toEqual(other);
    expect(await readAll(place.storage, one)).toEqual(flv);
    expect(await halfWritten(place.path('media'))).toEqual([]);
  });

  test('that two Jobs make at once of different bytes are whole for whoever reads them, and for both indexes', async () => {
    const [one, other] = [flv, buildFlv(70, { mark: 'ee' })];
    const property = fc.asyncProperty(fc.scheduler(), fc.boolean(), async (order, keepsSameOnly) => {
      await using place = await room();
      // Each call waits for its turn, and the turns come in any order.
      const taken = () => order.schedule(Promise.resolve());
      const { storage } = place;
      const inTurn = override(storage, {
        head: (key) => taken().then(() => storage.head(key)),
        read: (key, ...rest) => taken().then(() => storage.read(key, ...rest)),
        write: (key, body) => taken().then(() => storage.write(key, body)),
        publish: (key, fill, complete) => storage.publish(key, (path) => fill(path).then(() => taken()), complete),
        delete: (key) => taken().then(() => storage.delete(key)),
      });
      const jobs = Promise.all([one, other].map((bytes) => makeChunks(inTurn, bytes, { keepsSameOnly })));
      const reader = async () => {
        for (let step = 0; step < 10; step++) await taken().then(() => followEntries(storage));
      };
      const [indexes] = await order.waitFor(Promise.all([jobs, reader()]));
      for (const index of indexes) expect((await readAll(storage, index)).length).toBe(index.sizeBytes);
      expect(await followEntries(storage)).toBe(1680);
      expect(await halfWritten(place.path('media'))).toEqual([]);
    });
    await fc.assert(property, { numRuns: 40 });
  });

  test('whose entries vanish under a Job that looks at them are made by it', async () => {
    await using place = await room();
    await makeChunks(place.storage, flv);
    const { storage } = place;
    const vanishing = override(storage, {
      read: async (key) => {
        await storage.delete(key);
        throw new StorageError('not_found', `Object ${key} does not exist.`);
      },
    });
    const index = await makeChunks(vanishing, flv);
    expect(await readAll(storage, index)).toEqual(flv);
    expect(await followEntries(storage)).toBe(1680);
  });

  test('whose delay of reordering differs are not joined to others: some of the sound would be lost', async () => {
    await using place = await room();
    const { chunks } = await makeChunks(place.storage, flv);
    const [, second] = chunks as [Chunk, Chunk];
    const key = entryKey(KEY, second.firstFrame);
    const entry = JSON.parse(await text(await place.storage.read(key)));
    entry.chunk.video.delayFrames = 2;
    await place.storage.write(key, Buffer.from(JSON.stringify(entry)));
    expect((await makeChunks(place.storage, flv)).chunks).toEqual(chunks);
    expect(JSON.parse(await text(await place.storage.read(key)))).toMatchObject({
      chunk: { video: { delayFrames: 0 } },
    });
  });

  test('of an earlier version are made again under their names of now', async () => {
    await using place = await room();
    const { chunks } = await makeChunks(place.storage, flv);
    for (const chunk of chunks) {
      const entry = JSON.parse(await text(await place.storage.read(entryKey(KEY, chunk.firstFrame))));
      await place.storage.write(chunkKey(KEY, chunk, 2), await buffer(await place.storage.read(chunkKey(KEY, chunk))));
      await place.storage.delete(chunkKey(KEY, chunk));
      const old = JSON.stringify({ ...entry, version: 2 });
      await place.storage.write(entryKey(KEY, chunk.firstFrame), Buffer.from(old));
    }
    const index = await makeChunks(place.storage, flv);
    expect(index.chunks).toEqual(chunks);
    expect(await readAll(place.storage, index)).toEqual(flv);
    expect(await followEntries(place.storage)).toBe(1680);
  });

  test('that are provisional cannot be played before they are approved', async () => {
    await using whole = await room();
    const expected = await makeChunks(whole.storage, flv);
    await using place = await room();
    const prepared: number[] = [];
    const output = openOutput(place.storage, {
      provisional: true,
      onPrepared: (frames) => prepared.push(frames),
    });
    await writeFlv(output, flv, Math.floor(flv.length / 2));
    expect((await listKeys(place.storage)).filter(isEntry)).toEqual([]);
    expect(prepared).toEqual([]);
    await output.approve();
    expect(prepared).toEqual([720]);
    await output.stop();
    const [first] = expected.chunks;
    expect(await listKeys(place.storage)).toEqual(getKeys(first as Chunk));
    await deleteChunks(place.storage, KEY);
    expect(await listKeys(place.storage)).toEqual([]);
  });

  test('that cannot be written end the work with the storage’s error, and leave nothing half', async () => {
    await using place = await room();
    const full = Object.assign(new Error('no space left on device'), { code: 'ENOSPC' });
    const storage = override(place.storage, { write: () => Promise.reject(full) });
    const output = openOutput(storage);
    await expect(writeFlv(output, flv).then(() => output.end())).rejects.toBe(full);
    await output.stop();
    expect(await halfWritten(place.path('media'))).toEqual([]);
    expect((await listKeys(place.storage)).filter(isEntry)).toEqual([]);
  });
});
