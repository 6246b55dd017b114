import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ProgramItem } from '../../../src/core/resources/stream/playing.ts';
import { expectNoSeam, live, openStudio, type Studio } from '../../kit/make/onair.ts';
import { buildProgram, makeRendition, readPackets } from '../../kit/make/streamer.ts';
import { until } from '../../kit/wait.ts';

let studio: Studio;
let songs: ProgramItem[];
beforeAll(async () => {
  studio = await openStudio();
  const storage = join(studio.root, 'storage');
  // One is longer than a round of the pictures (5.5 s), the others end inside an item.
  songs = await Promise.all(
    Object.entries({ long: 240, short: 30, middle: 75 }).map(([id, frames], i) =>
      makeRendition(storage, id, { frames, audioOnly: true, hertz: 220 * (i + 1) }),
    ),
  );
});
afterAll(async () => {
  await studio?.cleanUp();
  await studio?.close();
});

test('songs come, change, and go over looping pictures in one publish; neither track shows a seam', async () => {
  const program = buildProgram(studio.items);
  const stream = await studio.onAir(program, { main: [studio.rtmp.url, 'songs'] });
  await live(stream);
  expect((await stream.stats()).currentAudioItem).toBeNull();
  const playing = (what: string, check: (id: string | undefined) => boolean) =>
    until(what, async () => check((await stream.stats()).currentAudioItem?.id), 40_000);

  const audio = { mode: 'sequential' as const, items: songs };
  await stream.program({ ...program, version: 2, epoch: new Date().toISOString(), audio });
  await playing('a song', (id) => id !== undefined);
  await playing('the short one', (id) => id === 'short');
  await playing('the one behind it', (id) => id === 'middle');
  await playing('the long one again', (id) => id === 'long');

  await stream.program({ ...program, version: 3, audio: { mode: 'shuffle', items: songs.slice(1) } });
  await playing('one of the new list', (id) => id !== 'long' && id !== undefined);
  await until('version 3', async () => (await stream.stats()).programVersion === 3);

  await stream.program({ ...program, version: 4 });
  await playing('no song', (id) => id === undefined);
  const { seam } = await stream.stats();
  await until('two seams more', async () => (await stream.stats()).seam.count > seam.count + 1, 40_000);
  const last = await stream.stats();
  expect(last).toMatchObject({ reconnects: 0, skippedItems: 0, programVersion: 4 });
  expect(Math.abs(last.avSkewMs)).toBeLessThanOrEqual(1024 / 48);
  await stream.stop();

  const recordings = await studio.rtmp.recordings('songs');
  expect(recordings).toHaveLength(1);
  const packets = await readPackets(recordings[0] as string);
  expectNoSeam(packets);
});
