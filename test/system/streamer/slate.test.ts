/** Tests that a stream whose media has gone stays on air with the slate, as its receiver sees it. */
import { rename } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { indexKey } from '../../../src/core/pods/rendition/format.ts';
import { DIMENSIONS } from '../../../src/core/resources/stream/profile.ts';
import { makeMedia } from '../../kit/make/made-media.ts';
import { decodeErrors } from '../../kit/make/media.ts';
import { expectNoSeam, live, openStudio, type Running, type Studio } from '../../kit/make/onair.ts';
import { buildProgram, readPackets, storeRendition } from '../../kit/make/streamer.ts';
import { run } from '../../kit/run.ts';
import { until } from '../../kit/wait.ts';

let studio: Studio;
beforeAll(async () => {
  studio = await openStudio();
});
afterEach(() => studio?.cleanUp());
afterAll(() => studio?.close());

const framesSent = async (stream: Running): Promise<number> => (await stream.stats()).framesSent;

async function sendMore(stream: Running, frames: number): Promise<void> {
  const before = await framesSent(stream);
  await until(`${frames} frames more`, async () => (await framesSent(stream)) >= before + frames, 30_000);
}

/** Returns how many pictures of a recording have this width: the built-in slate is wider than the items. */
async function countPictures(recording: string, wide: number): Promise<number> {
  const args = ['-v', 'error', '-select_streams', 'v', '-show_entries', 'frame=width', '-of', 'csv=p=0', recording];
  const { stdout } = await run('ffprobe', args);
  return stdout.split('\n').filter((width) => Number.parseInt(width, 10) === wide).length;
}

/** Files of a rendition and of its index. */
const listFiles = (rendition: string): string[] =>
  [rendition, indexKey(rendition)].map((key) => join(studio.root, 'storage', key));

/** Stores two seconds of one colour as a slate, larger than the items, and returns its storage key. */
async function storeSlate(): Promise<string> {
  const picture = ['-f', 'lavfi', '-i', 'color=0x208040:s=480x270:r=30:d=2'];
  const silence = ['-f', 'lavfi', '-i', 'anullsrc=r=48000:cl=stereo,atrim=end=2'];
  const encoder = ['-c:v', 'libx264', '-pix_fmt', 'yuv420p', '-bf', '0', '-g', '60', '-keyint_min', '60'];
  const flv = ['-c:a', 'aac', '-b:a', '32k', '-f', 'flv', '-flvflags', 'no_duration_filesize'];
  const make = async (path: string) => void (await makeMedia(path, ...picture, ...silence, ...encoder, ...flv));
  return (await storeRendition(join(studio.root, 'storage'), 'slate', 30, make)).rendition;
}

test('while no item can be played, the receiver gets the slate in the same publish, and then the item again', async () => {
  const [item] = studio.items;
  if (!item) throw new Error('no item');
  const stream = await studio.onAir(buildProgram([item]), { main: [studio.rtmp.url, 'slate'] });
  await live(stream);
  await sendMore(stream, 60);
  const media = listFiles(item.rendition);
  for (const path of media) await rename(path, `${path}.away`);
  await until('no item can be played', async () => !(await stream.stats()).playable);
  await until('the slate is on air', async () => (await stream.stats()).currentItem === null);
  await sendMore(stream, 150);
  expect(await stream.stats()).toMatchObject({ live: true, playable: false, reconnects: 0 });
  expect(await stream.status('/readyz')).toBe(200);

  for (const path of media) await rename(`${path}.away`, path);
  await until('the item is on air again', async () => (await stream.stats()).currentItem?.id === item.id, 30_000);
  await sendMore(stream, 90);
  const stats = await stream.stats();
  expect(stats).toMatchObject({ live: true, playable: true, reconnects: 0, brokenItems: [] });
  await stream.stop();
  const [recording = '', ...more] = await studio.rtmp.recordings('slate');
  expect(more).toEqual([]);
  expectNoSeam(await readPackets(recording));
  expect(await decodeErrors(recording)).toBe('');
  const slate = await countPictures(recording, DIMENSIONS['720p'].width);
  expect(slate).toBeGreaterThanOrEqual(150);
  // It comes in whole seconds.
  expect(slate % 30).toBe(0);
}, 120_000);

test('a slate of the owner is shown in its place, from memory, while it is away from the storage too', async () => {
  const [item] = studio.items;
  if (!item) throw new Error('no item');
  const slate = await storeSlate();
  const stream = await studio.onAir(buildProgram([item], { slate }), { main: [studio.rtmp.url, 'own'] });
  await live(stream);
  await sendMore(stream, 60);
  const away = [...listFiles(item.rendition), ...listFiles(slate)];
  for (const path of away) await rename(path, `${path}.away`);
  await until('the slate is on air', async () => (await stream.stats()).currentItem === null);
  await sendMore(stream, 150);
  expect(await stream.stats()).toMatchObject({ live: true, playable: false, reconnects: 0 });
  for (const path of away) await rename(`${path}.away`, path);
  await until('the item is on air again', async () => (await stream.stats()).currentItem?.id === item.id, 30_000);
  await sendMore(stream, 90);
  expect(await stream.stats()).toMatchObject({ live: true, playable: true, reconnects: 0, brokenItems: [] });
  await stream.stop();

  const [recording = '', ...more] = await studio.rtmp.recordings('own');
  expect(more).toEqual([]);
  expectNoSeam(await readPackets(recording));
  expect(await decodeErrors(recording)).toBe('');
  const shown = await countPictures(recording, 480);
  expect(shown).toBeGreaterThanOrEqual(150);
  expect(shown % 60).toBe(0);
  expect(await countPictures(recording, DIMENSIONS['720p'].width)).toBe(0);
}, 120_000);

test('a slate of the owner that cannot be read leaves the place to the built-in one', async () => {
  const [item] = studio.items;
  if (!item) throw new Error('no item');
  const program = buildProgram([item], { slate: 'renditions/nobody.flv' });
  const stream = await studio.onAir(program, { main: [studio.rtmp.url, 'none'] });
  await live(stream);
  const away = listFiles(item.rendition);
  for (const path of away) await rename(path, `${path}.away`);
  await until('the slate is on air', async () => (await stream.stats()).currentItem === null);
  await sendMore(stream, 60);
  for (const path of away) await rename(`${path}.away`, path);
  await stream.stop();
  expect(stream.log()).toContain('"storageKey":"renditions/nobody.flv"');
  const [recording = ''] = await studio.rtmp.recordings('none');
  expect(await countPictures(recording, DIMENSIONS['720p'].width)).toBeGreaterThan(0);
}, 120_000);
