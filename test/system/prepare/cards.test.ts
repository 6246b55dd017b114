/** Tests the cards of songs, and slates: what they show, how large they are, and that a decoder goes on from one to the next. */
import { copyFile, mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, expect, test } from 'vitest';
import { makeRendition } from '../../../src/core/pods/prepare/job/make-rendition.ts';
import { MAX_CARD_BYTES } from '../../../src/core/pods/rendition/format.ts';
import { indexKey, parseIndex, type RenditionIndex } from '../../../src/core/pods/rendition/index.ts';
import { DIMENSIONS, parseProfile } from '../../../src/core/resources/stream/profile.ts';
import { type Card, cardProfile } from '../../../src/core/resources/upload/card.ts';
import { slateProfile } from '../../../src/core/resources/upload/slate.ts';
import { lookTools } from '../../kit/make/looks.ts';
import { ffmpeg, inspect, media, room } from '../../kit/make/prepare.ts';
import { createContext, joinChunks, picture, rendition, taskFor } from '../../kit/make/rendition.ts';

type Room = Awaited<ReturnType<typeof room>>;
const SONG: Card = { title: 'Ночь 夜', artist: 'Björk & Ünter: 100 %' };
const NOISE = 'nullsrc=s=1200x1200,format=rgb24,noise=alls=100:allf=t+u';

/** Makes a song of a second, with a cover where one is drawn. */
async function sing(place: Room, cover?: string): Promise<string> {
  const song = place.path('song.mp3');
  const sound = ['-f', 'lavfi', '-i', 'sine=440:r=48000:d=1'];
  if (cover === undefined) await ffmpeg(...sound, song);
  else {
    const path = place.path('cover.png');
    await ffmpeg('-f', 'lavfi', '-i', cover, '-frames:v', '1', path);
    const attached = ['-map', '0', '-map', '1', '-c:v', 'copy', '-disposition:v', 'attached_pic'];
    await ffmpeg(...sound, '-i', path, ...attached, song);
  }
  return song;
}

/** Makes the card of a song as the Job does, in the cage. */
const makeCard = (place: Room, path: string, card: Card, profile = '720p30') =>
  makeGop(place, path, { ...taskFor('audio', cardProfile(profile, card)), card }, profile);

/** Makes the slate of an image. */
const makeSlate = (place: Room, path: string, profile = '720p30') =>
  makeGop(place, path, taskFor('video', slateProfile(profile)), profile);

async function makeGop(place: Room, path: string, task: Parameters<typeof makeRendition>[0], profile: string) {
  await mkdir(join(place.dir, 'media', 'sources'), { recursive: true });
  await copyFile(path, join(place.dir, 'media', 'sources', 'x'));
  const context = { ...createContext(place), tools: await lookTools() };
  const made = await makeRendition(task, context);
  expect(made.rendition).toMatchObject({ profile: task.profile, state: 'ready', durationSeconds: 2 });
  // Another Job finds it.
  expect((await makeRendition(task, context)).rendition).toEqual(made.rendition);
  const index = parseIndex(await text(await place.storage.read(indexKey(task.renditionKey)))) as RenditionIndex;
  return { index, file: await joinChunks(place, task.renditionKey, index), frame: DIMENSIONS[qualityOf(profile)] };
}
const qualityOf = (profile: string) => parseProfile(profile)?.quality ?? '720p';

type Made = Awaited<ReturnType<typeof makeGop>>;

/** Returns the colour of a place in the first picture, and in the last; places are parts of the frame. */
async function colourAt(place: Room, { file, frame }: Made, across: number, down: number): Promise<number[][]> {
  const raw = place.path('pixel.rgb');
  const at = `crop=2:2:${Math.round(across * frame.width)}:${Math.round(down * frame.height)},scale=1:1:flags=area`;
  const found: number[][] = [];
  for (const number of [0, 59]) {
    await ffmpeg(
      '-i',
      file,
      '-vf',
      `select=eq(n\\,${number}),${at}`,
      '-frames:v',
      '1',
      '-pix_fmt',
      'rgb24',
      '-f',
      'rawvideo',
      raw,
    );
    found.push([...(await readFile(raw))]);
  }
  return found;
}

/** The lightest pixel of a part of the frame, of 255. */
async function lightest(place: Room, { file, frame }: Made, from: number, to: number): Promise<number> {
  const crop = `crop=iw:${Math.round((to - from) * frame.height)}:0:${Math.round(from * frame.height)}`;
  const show = `${crop},signalstats,metadata=print:key=lavfi.signalstats.YMAX:file=${place.path('light.txt')}`;
  await ffmpeg('-i', file, '-vf', show, '-frames:v', '1', '-f', 'null', '-');
  return Number(/YMAX=(\d+)/.exec(await readFile(place.path('light.txt'), 'utf8'))?.[1]);
}

const isRed = ([red = 0, green = 255, blue = 255]: number[]) => red > 200 && green < 60 && blue < 60;

describe('a card shows, for two seconds from a keyframe on,', () => {
  test('the cover in the middle of a darker one, and title and artist below it', async () => {
    await using place = await room();
    const song = await sing(place, 'color=red:s=600x600,format=rgb24');
    const card = await makeCard(place, song, SONG);
    const { videoTimes, keyframes } = await inspect(card.file);
    expect({ frames: videoTimes.length, keyframes }).toEqual({ frames: 60, keyframes: [0] });
    for (const colour of await colourAt(place, card, 0.5, 0.4))
      expect({ colour, isRed: isRed(colour) }).toMatchObject({ isRed: true });
    for (const [red = 0, green = 0] of await colourAt(place, card, 0.1, 0.4))
      expect({ isDark: red > 80 && red < 150, green: green < 40 }).toEqual({ isDark: true, green: true });
    expect(await lightest(place, card, 0.76, 0.86)).toBeGreaterThan(220);
    expect(await lightest(place, card, 0.87, 0.94)).toBeGreaterThan(180);
    const silent = await makeCard(place, song, { title: '', artist: '' });
    expect(await lightest(place, silent, 0.76, 0.94)).toBeLessThan(120);
  });

  test('title and artist in the middle, where the song has no cover', async () => {
    await using place = await room();
    const card = await makeCard(place, await sing(place), SONG);
    expect(await lightest(place, card, 0.45, 0.56)).toBeGreaterThan(220);
    expect(await lightest(place, card, 0.7, 1)).toBeLessThan(60);
  });

  test('a picture of the owner behind the cover, cut to the shape of the frame', async () => {
    await using place = await room();
    const song = await sing(place, 'color=red:s=600x600,format=rgb24');
    await mkdir(join(place.dir, 'media', 'sources'), { recursive: true });
    const image = join(place.dir, 'media', 'sources', 'image');
    await ffmpeg(
      '-f',
      'lavfi',
      '-i',
      'color=blue:s=90x300,format=rgb24',
      '-frames:v',
      '1',
      '-f',
      'image2',
      '-c:v',
      'png',
      image,
    );
    const background = { imageKey: 'sources/image', imageSha256: '0'.repeat(64) };
    const card = await makeCard(place, song, { ...SONG, background });
    for (const [red = 0, , blue = 0] of await colourAt(place, card, 0.05, 0.05))
      expect([red < 40, blue > 200]).toEqual([true, true]);
    for (const colour of await colourAt(place, card, 0.5, 0.4)) expect(isRed(colour)).toBe(true);
  });
});

describe('a slate is an image', () => {
  test('that is whole, on black where its shape is another, for two seconds from a keyframe on', async () => {
    await using place = await room();
    const image = place.path('image.png');
    await ffmpeg('-f', 'lavfi', '-i', 'color=red:s=300x300,format=rgb24', '-frames:v', '1', image);
    const slate = await makeSlate(place, image);
    const { videoTimes, keyframes } = await inspect(slate.file);
    expect({ frames: videoTimes.length, keyframes }).toEqual({ frames: 60, keyframes: [0] });
    for (const down of [0.02, 0.5, 0.98])
      for (const colour of await colourAt(place, slate, 0.5, down))
        expect({ colour, isRed: isRed(colour) }).toMatchObject({ isRed: true });
    for (const across of [0.02, 0.2, 0.8, 0.98])
      for (const colour of await colourAt(place, slate, across, 0.5)) expect(Math.max(...colour)).toBeLessThan(20);
  });

  test('of 1 MB at most, whatever it shows, and however large it is', async () => {
    await using place = await room();
    const image = place.path('image.png');
    const noise = NOISE.replace('1200x1200', '2400x1600');
    await ffmpeg('-f', 'lavfi', '-i', noise, '-frames:v', '1', image);
    const { index } = await makeSlate(place, image, '1080p60');
    expect(index.sizeBytes).toBeLessThanOrEqual(MAX_CARD_BYTES);
  });
});

test.each(['720p30', '1080p60'])(
  'a card of %s has 1 MB at most, whatever its cover is, and the headers of its renditions',
  async (profile) => {
    await using place = await room();
    const film = await media(place.path('film.mp4'), { video: picture('320x180', 25, 2) });
    const { index: plain } = await rendition(place, film, 'video', profile);
    const noise = await makeCard(place, await sing(place, NOISE), SONG, profile);
    expect(noise.index.sizeBytes).toBeLessThanOrEqual(MAX_CARD_BYTES);
    const calm = await makeCard(place, await sing(place), { title: 'x'.repeat(256), artist: 'y'.repeat(256) }, profile);
    expect(calm.index.sizeBytes).toBeLessThan(MAX_CARD_BYTES / 4);
    const headerOf = ({ chunks }: RenditionIndex) => chunks[0]?.video?.header;
    expect([headerOf(noise.index), headerOf(calm.index)]).toEqual([headerOf(plain), headerOf(plain)]);
  },
);
