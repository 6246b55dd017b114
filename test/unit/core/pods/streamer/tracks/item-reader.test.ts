import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { indexKey } from '../../../../../../src/core/pods/rendition/index.ts';
import { DirectoryStorage } from '../../../../../../src/core/pods/storage/directory.ts';
import { ItemReader } from '../../../../../../src/core/pods/streamer/tracks/item-reader.ts';
import { makeRendition } from '../../../../../kit/make/streamer.ts';
import { tempDir } from '../../../../../kit/temp-dir.ts';
import { until } from '../../../../../kit/wait.ts';

const dir = tempDir();

test('a rendition that is replaced while it plays ends there: no byte of the new one follows', async () => {
  const storage = new DirectoryStorage(dir);
  const item = await makeRendition(dir, 'old', { frames: 240, size: '640x360', bitrateKbps: 4000 });
  const other = await makeRendition(dir, 'new', { frames: 240, size: '640x360', bitrateKbps: 4000, hertz: 880 });
  const size = (await storage.head(item.rendition))?.sizeBytes ?? 0;
  // More than the reader buffers.
  expect(size).toBeGreaterThan(2 ** 20);
  let said = 0;
  const reader = await ItemReader.open({ storage, item, kind: 'video', offsetTicks: 0, onData: () => said++ });
  for (const pick of [(key: string) => key, indexKey])
    await storage.write(pick(item.rendition), await readFile(join(dir, pick(other.rendition))));
  let bytes = 0;
  await until('its end', () => {
    for (const take of [() => reader.takeVideo(), () => reader.takeAudio()]) {
      for (let tag = take(); tag !== 'wait'; tag = take()) {
        if (tag === 'end') return true;
        bytes += tag.body.length;
      }
    }
    return false;
  });
  expect(reader.error).toMatchObject({
    code: 'item_invalid',
    message: 'The rendition was replaced while it was read.',
  });
  expect(said).toBeGreaterThan(0);
  expect(bytes).toBeLessThan(size);
  reader.close();
});
