/** Tests that a stream whose media has gone stays on air with the slate, as its receiver sees it. */
import { rename } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { indexKey } from '../../../src/core/pods/rendition/format.ts';
import { DIMENSIONS } from '../../../src/core/resources/stream/profile.ts';
import { decodeErrors } from '../../kit/make/media.ts';
import { expectNoSeam, live, openStudio, type Running, type Studio } from '../../kit/make/onair.ts';
import { buildProgram, readPackets } from '../../kit/make/streamer.ts';
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

/** Returns how many pictures of a recording have the size of the slate. The item's are smaller. */
async function countSlate(recording: string): Promise<number> {
  const args = ['-v', 'error', '-select_streams', 'v', '-show_entries', 'frame=width', '-of', 'csv=p=0', recording];
  const { stdout } = await run('ffprobe', args);
  return stdout.split('\n').filter((width) => Number.parseInt(width, 10) === DIMENSIONS['720p'].width).length;
}

test('while no item can be played, the receiver gets the slate in the same publish, and then the item again', async () => {
  const [item] = studio.items;
  if (!item) throw new Error('no item');
  const stream = await studio.onAir(buildProgram([item]), { main: [studio.rtmp.url, 'slate'] });
  await live(stream);
  await sendMore(stream, 60);
  const media = ['', '.json'].map((suffix) =>
    join(studio.root, 'storage', suffix ? indexKey(item.rendition) : item.rendition),
  );
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
  const slate = await countSlate(recording);
  expect(slate).toBeGreaterThanOrEqual(150);
  // It comes in whole seconds.
  expect(slate % 30).toBe(0);
}, 120_000);
