import { copyFile, readFile, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { encodeHeader, encodeTag, isVideoFrame, parseFlv } from '../../../src/core/pods/rendition/flv.ts';
import { indexKey } from '../../../src/core/pods/rendition/format.ts';
import type { ProgramItem } from '../../../src/core/resources/stream/playing.ts';
import { expectNoSeam, live, openStudio, type Running, type Studio } from '../../kit/make/onair.ts';
import { buildIndex, buildProgram, makeRendition, readPackets, writeAtomically } from '../../kit/make/streamer.ts';
import { until } from '../../kit/wait.ts';

/** The file is far larger than the read-ahead, so that a damage shows while it plays. */
const FILLER_BYTES = 20_000;

let studio: Studio;
let storage: string;
let stream: Running;
let good: ProgramItem;
let version = 1;

beforeAll(async () => {
  studio = await openStudio();
  storage = join(studio.root, 'storage');
  good = studio.items[0] as ProgramItem;
  stream = await studio.onAir(buildProgram([good]), { main: [studio.rtmp.url, 'bad'] });
  await live(stream);
});
afterAll(async () => {
  await studio?.cleanUp();
  await studio?.close();
});

const publish = (items: ProgramItem[]) => stream.program(buildProgram(items, { version: ++version }));

/** Makes a rendition of 8 s that filler units make large (H.264, 7.3.2.7); decoders skip them. */
async function largeRendition(id: string): Promise<ProgramItem> {
  const item = await makeRendition(storage, id, { frames: 240 });
  const filler = Buffer.alloc(4 + FILLER_BYTES, 0xff);
  filler.writeUInt32BE(FILLER_BYTES, 0);
  filler[4] = 12;
  filler[filler.length - 1] = 0x80;
  const tags = parseFlv(await readFile(join(storage, item.rendition)));
  const larger = Buffer.concat([
    encodeHeader({ audio: true, video: true }),
    ...tags.map((tag) =>
      encodeTag(tag.type, tag.timestampMs, isVideoFrame(tag) ? Buffer.concat([tag.body, filler]) : tag.body),
    ),
  ]);
  await writeFile(join(storage, item.rendition), larger);
  await writeFile(join(storage, indexKey(item.rendition)), JSON.stringify(buildIndex(larger, 30)));
  return item;
}

/** Every way in which the storage can be wrong before an item plays. */
const DAMAGES: [what: string, code: string, damage: (path: string, index: string) => Promise<void>][] = [
  ['zero-length', 'item_invalid', (path) => truncate(path, 0)],
  ['another-index', 'item_invalid', (_, index) => copyFile(join(storage, indexKey(good.rendition)), index)],
  ['index-of-junk', 'item_invalid', (_, index) => writeFile(index, '{"version":1,"profile":"\\u0000')],
  ['index-empty', 'item_invalid', (_, index) => writeFile(index, '')],
  ['cut-off', 'item_invalid', (path) => truncate(path, 5000)],
  ['not-media', 'item_invalid', async (path) => writeFile(path, Buffer.alloc((await readFile(path)).length, 0x55))],
];

test('an item that is wrong in the storage is passed over with a code, and the others play', async () => {
  const wrong = await Promise.all(
    DAMAGES.map(async ([id, , damage]) => {
      const item = await makeRendition(storage, id, { frames: 30 });
      await damage(join(storage, item.rendition), join(storage, indexKey(item.rendition)));
      return item;
    }),
  );
  const elsewhere = ['../../../etc/passwd', '.', '/', 'renditions/\u0000.flv', 'renditions/absent.flv'].map(
    (rendition, n) => ({ id: `elsewhere-${n}`, name: 'Elsewhere', rendition }),
  );
  await publish([good, ...wrong, ...elsewhere]);
  const broken = await until(
    'all are told',
    async () => {
      const { brokenItems } = await stream.stats();
      return brokenItems.length === wrong.length + elsewhere.length && brokenItems;
    },
    60_000,
  );
  const codes = Object.fromEntries(broken.map(({ id, code }) => [id, code]));
  for (const [id, code] of DAMAGES) expect([id, codes[id]]).toEqual([id, code]);
  expect(elsewhere.map(({ id }) => codes[id])).toEqual([...Array(4).fill('item_invalid'), 'item_missing']);
  const { seam } = await stream.stats();
  await until('a round more', async () => (await stream.stats()).seam.count > seam.count + 1, 30_000);
});

test.each([
  ['cut off', (path: string) => truncate(path, 3_000_000)],
  ['replaced by another', async (path: string) => writeAtomically(path, (await readFile(path)).toString('latin1'))],
  ['emptied', (path: string) => truncate(path, 0)],
])('a file that is %s while it plays ends there, with a code, and the next item plays', async (what, change) => {
  const item = await largeRendition(`changing-${what.replaceAll(' ', '-')}`);
  await publish([item, good]);
  await until('it plays', async () => (await stream.stats()).currentItem?.id === item.id, 30_000);
  const started = performance.now();
  await change(join(storage, item.rendition));
  const told = await until(
    'it is told',
    async () => (await stream.stats()).brokenItems.find(({ id }) => id === item.id),
    30_000,
  );
  expect(told.code).toBe('item_invalid');
  expect((await stream.stats()).live).toBe(true);
  expect(performance.now() - started).toBeLessThan(30_000);
});

test('an empty program is refused; names are shown as they are, whatever they hold', async () => {
  const name = '"quotes" \'n\' \\back\nline\ttab \u202Eright-to-left 🎬 \u0000 </script> {} %s $x';
  await stream.program({ ...buildProgram([]), version: ++version });
  await until('it is refused', () => stream.log().includes('the previous program stays on air'), 20_000);
  expect((await stream.stats()).live).toBe(true);
  await publish([{ ...(studio.items[1] as ProgramItem), name }]);
  await until('it plays', async () => (await stream.stats()).currentItem?.name === name, 30_000);
  const metrics = await (await fetch(`${stream.base}/metrics`)).text();
  expect(metrics.split('\n').every((line) => line === '' || /^(# |loopstream_)/.test(line))).toBe(true);
  for (const line of stream.log().trim().split('\n')) JSON.parse(line);
});

test('all of it was one publish, with no timestamp that goes back and no step longer than a frame', async () => {
  expect(await stream.stats()).toMatchObject({ live: true, reconnects: 0 });
  await stream.stop();
  const recordings = await studio.rtmp.recordings('bad');
  expect(recordings).toHaveLength(1);
  const packets = await readPackets(recordings[0] as string);
  expectNoSeam(packets);
});
