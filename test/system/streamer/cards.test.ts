/** Tests what a receiver sees of songs with cards: each has a grey of its own, and each song a pitch. */
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import type { ProgramItem } from '../../../src/core/resources/stream/playing.ts';
import { makeMedia } from '../../kit/make/made-media.ts';
import { expectNoSeam, live, openStudio, type Studio } from '../../kit/make/onair.ts';
import { buildProgram, makeRendition, readPackets, storeRendition } from '../../kit/make/streamer.ts';
import { run } from '../../kit/run.ts';
import { until } from '../../kit/wait.ts';

const FPS = 30;
const SONGS = 20;
const GOP_SECONDS = 2;
/** Lengths in pictures: none is a whole number of GOPs. */
const lengthOf = (song: number): number => 75 + 7 * (song % 5);
/** Of 255, and far from the test picture of the list. */
const greyOf = (song: number): number => 24 + 11 * song;

let studio: Studio;
let songs: ProgramItem[];
beforeAll(async () => {
  studio = await openStudio();
  const storage = join(studio.root, 'storage');
  const encoder = ['-c:v', 'libx264', '-pix_fmt', 'yuv420p', '-bf', '0', '-g', '60', '-keyint_min', '60'];
  const flv = ['-c:a', 'aac', '-b:a', '32k', '-f', 'flv', '-flvflags', 'no_duration_filesize'];
  const card = async (song: number) => {
    const grey = greyOf(song).toString(16).padStart(2, '0').repeat(3);
    const picture = ['-f', 'lavfi', '-i', `color=0x${grey}:s=320x180:r=${FPS}:d=${GOP_SECONDS}`];
    const silence = ['-f', 'lavfi', '-i', `anullsrc=r=48000:cl=stereo,atrim=end=${GOP_SECONDS}`];
    const make = (path: string) => makeMedia(path, ...picture, ...silence, ...encoder, ...flv);
    return (await storeRendition(storage, `card-${song}`, FPS, async (path) => void (await make(path)))).rendition;
  };
  songs = [];
  for (let song = 0; song < SONGS; song++) {
    const options = { frames: lengthOf(song), audioOnly: true, hertz: song % 2 === 0 ? 300 : 3000 };
    songs.push({ ...(await makeRendition(storage, `song-${song}`, options)), card: await card(song) });
  }
}, 240_000);
afterEach(() => studio.cleanUp());
afterAll(() => studio?.close());

/** Returns the light of each picture, and the times at which the pitch changes, in seconds. */
async function perceive(path: string): Promise<{ pictures: { at: number; light: number }[]; changes: number[] }> {
  const show = 'signalstats,metadata=print:key=lavfi.signalstats.YAVG:file=-';
  const high = 'highpass=f=1500:p=2,highpass=f=1500:p=2,silencedetect=noise=-40dB:d=0.5';
  const { stdout, stderr } = await run('ffmpeg', [
    '-hide_banner',
    '-i',
    path,
    '-vf',
    show,
    '-af',
    high,
    '-f',
    'null',
    '-',
  ]);
  const shown = [...stdout.matchAll(/pts_time:([\d.]+)\s+lavfi\.signalstats\.YAVG=([\d.]+)/g)];
  const changes = [...stderr.matchAll(/silence_(?:start|end): ([\d.]+)/g)].map(([, at]) => Number(at));
  return { pictures: shown.map(([, at, light]) => ({ at: Number(at), light: Number(light) })), changes };
}

/** The song whose grey a picture has, in the range of video; undefined for another picture. */
function findSong(light: number): number | undefined {
  const near = Array.from({ length: SONGS }, (_, song) => song).filter(
    (song) => Math.abs(16 + (greyOf(song) * 219) / 255 - light) < 2.5,
  );
  return near.length === 1 ? near[0] : undefined;
}

async function readRecording(key: string): Promise<string> {
  const recordings = await studio.rtmp.recordings(key);
  expect(recordings).toHaveLength(1);
  expectNoSeam(await readPackets(recordings[0] as string));
  return recordings[0] as string;
}

test('twenty songs: each has its card within a GOP of its first sample, and the list is never seen', async () => {
  const audio = { mode: 'sequential' as const, items: songs };
  const stream = await studio.onAir(buildProgram(studio.items, { audio }), { main: [studio.rtmp.url, 'cards'] });
  await live(stream);
  const playing = async () => (await stream.stats()).currentAudioItem?.id;
  await until('the last song', async () => (await playing()) === `song-${SONGS - 1}`, 120_000);
  await until('the first song again', async () => (await playing()) === 'song-1', 30_000);
  const stats = await stream.stats();
  expect(stats).toMatchObject({ reconnects: 0, skippedItems: 0, brokenItems: [], currentItem: null });
  await stream.stop();

  const { pictures, changes } = await perceive(await readRecording('cards'));
  const seen = pictures.map(({ at, light }) => ({ at, song: findSong(light) }));
  expect(seen.filter(({ song }) => song === undefined)).toEqual([]);
  const begins = seen.filter(({ song }, i) => i > 0 && song !== seen[i - 1]?.song);
  expect(new Set(seen.map(({ song }) => song)).size).toBe(SONGS);
  for (const [i, { song }] of begins.entries()) expect(song).toBe(((begins[0]?.song ?? 0) + i) % SONGS);
  const late = begins.map(({ at }) => at - Math.max(...changes.filter((change) => change <= at + 0.2)));
  expect(late.length).toBeGreaterThanOrEqual(SONGS - 1);
  expect(Math.max(...late)).toBeLessThanOrEqual(GOP_SECONDS + 0.2);
});

test('a song without a card, and one whose card cannot be read, have the pictures of the list', async () => {
  const [first, second, third] = songs as [ProgramItem, ProgramItem, ProgramItem];
  const { card: _, ...plain } = second;
  const items = [first, plain, { ...third, card: 'renditions/nobody.flv' }];
  const audio = { mode: 'sequential' as const, items };
  const program = buildProgram(studio.items, { audio });
  const stream = await studio.onAir(program, { main: [studio.rtmp.url, 'some'] });
  await live(stream);
  const playing = (id: string) => until(id, async () => (await stream.stats()).currentAudioItem?.id === id, 40_000);
  for (const id of ['song-1', 'song-2', 'song-0', 'song-1']) await playing(id);
  await stream.program(buildProgram(studio.items, { version: 2, epoch: program.epoch }));
  await until('the list', async () => (await stream.stats()).clock.video?.version === 2, 40_000);
  expect(await stream.stats()).toMatchObject({ reconnects: 0, skippedItems: 0, brokenItems: [] });
  await stream.stop();
  expect(stream.log()).toContain('"storageKey":"renditions/nobody.flv"');

  const { pictures } = await perceive(await readRecording('some'));
  const first0 = pictures.filter(({ light }) => findSong(light) === 0);
  expect(first0.length).toBeGreaterThanOrEqual(2 * FPS * GOP_SECONDS);
  expect(pictures.length - first0.length).toBeGreaterThan(4 * FPS);
});
