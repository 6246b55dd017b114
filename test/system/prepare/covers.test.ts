/** Tests that the cover inside a song becomes its poster, and that a cover of any kind keeps no song from being imported. */
import { readFile, writeFile } from 'node:fs/promises';
import { buffer } from 'node:stream/consumers';
import { describe, expect, test } from 'vitest';
import { isPoster } from '../../../src/core/resources/upload/poster.ts';
import { importInto } from '../../kit/make/imports.ts';
import { ffmpeg, room } from '../../kit/make/prepare.ts';

type Room = Awaited<ReturnType<typeof room>>;
const RENDITIONS = { content: 'upload-x' };
const COVER = 'color=red:s=600x600,format=rgb24';

async function draw(place: Room, name: string, source = COVER): Promise<string> {
  const path = place.path(name);
  await ffmpeg('-f', 'lavfi', '-i', source, '-frames:v', '1', path);
  return path;
}

/** A block of FLAC's type PICTURE: type 3, the front cover. */
function block(picture: Buffer, mime: string): Buffer {
  const number = (value: number) => {
    const bytes = Buffer.alloc(4);
    bytes.writeUInt32BE(value);
    return bytes;
  };
  const counted = (bytes: Buffer) => Buffer.concat([number(bytes.length), bytes]);
  const shape = Buffer.concat([600, 600, 24, 0].map(number));
  return Buffer.concat([number(3), counted(Buffer.from(mime)), counted(Buffer.alloc(0)), shape, counted(picture)]);
}

/** Makes a song of a second with a cover as the container keeps it. */
async function sing(place: Room, name: string, cover: string): Promise<string> {
  const path = place.path(name);
  const sound = ['-f', 'lavfi', '-i', 'sine=440:r=48000:d=1'];
  if (/\.(?:ogg|opus)$/.test(name)) {
    const picture = block(await readFile(cover), 'image/png').toString('base64');
    // Too long for an argument, where pictures are larger than this one.
    await ffmpeg(...sound, '-metadata:s:a', `METADATA_BLOCK_PICTURE=${picture}`, path);
    return path;
  }
  const attached = ['-map', '0', '-map', '1', '-c:v', 'copy', '-disposition:v', 'attached_pic'];
  await ffmpeg(...sound, '-i', cover, ...attached, path);
  return path;
}

async function importSong(place: Room, path: string) {
  const imported = await importInto(place.storage, path, { type: 'audio', renditions: RENDITIONS });
  const key = 'renditions/upload-x/audio-poster.jpg';
  const picture = imported.poster ? await buffer(await place.storage.read(key)) : undefined;
  return { ...imported, picture };
}

/** The mean colour of a picture. */
async function mean(place: Room, picture: Buffer | undefined): Promise<number[]> {
  expect(picture && isPoster(picture)).toBe(true);
  const [path, raw] = [place.path('poster.jpg'), place.path('poster.rgb')];
  await writeFile(path, picture ?? Buffer.alloc(0));
  await ffmpeg('-i', path, '-vf', 'scale=1:1:flags=area', '-pix_fmt', 'rgb24', '-f', 'rawvideo', raw);
  return [...(await readFile(raw))];
}

describe('the cover of a song is its poster, as it is kept in', () => {
  test.each([
    ['ID3v2 (APIC)', 'song.mp3', 'cover.jpg'],
    ['ID3v2 (APIC), as PNG', 'song.mp3', 'cover.png'],
    ['MP4 (covr)', 'song.m4a', 'cover.jpg'],
    ['FLAC (PICTURE)', 'song.flac', 'cover.png'],
    ['Ogg with Vorbis (METADATA_BLOCK_PICTURE)', 'song.ogg', 'cover.png'],
    ['Ogg with Opus (METADATA_BLOCK_PICTURE)', 'song.opus', 'cover.png'],
  ])('%s', async (_kind, name, cover) => {
    await using place = await room();
    const { media, picture } = await importSong(place, await sing(place, name, await draw(place, cover)));
    expect(media).toMatchObject({ durationSeconds: expect.closeTo(1, 0), tracks: [{ kind: 'audio' }] });
    expect(media).not.toHaveProperty('video');
    const [red = 0, green = 255, blue = 255] = await mean(place, picture);
    expect({ isRed: red > 200, isPure: Math.max(green, blue) < 50 }).toEqual({ isRed: true, isPure: true });
  });
});

describe('a song is imported whatever its cover is:', () => {
  test('one of 30 MB', async () => {
    await using place = await room();
    const cover = await draw(place, 'noise.png', 'nullsrc=s=4600x4600,format=rgb24,noise=alls=100:allf=t+u');
    expect((await readFile(cover)).length).toBeGreaterThan(30e6);
    const { media } = await importSong(place, await sing(place, 'song.mp3', cover));
    expect(media).toMatchObject({ durationSeconds: expect.closeTo(1, 0), audio: { codec: 'mp3' } });
  });

  test('one of 60,000 pixels a side, which is left out', async () => {
    await using place = await room();
    const path = await sing(place, 'song.mp3', await draw(place, 'cover.png'));
    const song = await readFile(path);
    const header = song.indexOf('IHDR');
    song.writeUInt32BE(60_000, header + 4);
    song.writeUInt32BE(60_000, header + 8);
    await writeFile(path, song);
    const { media, picture } = await importSong(place, path);
    expect({ codec: media.audio?.codec, picture }).toEqual({ codec: 'mp3', picture: undefined });
  });

  test('no picture at all, which is left out', async () => {
    await using place = await room();
    const path = await sing(place, 'song.mp3', await draw(place, 'cover.png'));
    const song = await readFile(path);
    song.fill(0x55, song.indexOf('IHDR'), song.indexOf('IEND'));
    await writeFile(path, song);
    const { media, picture } = await importSong(place, path);
    expect({ codec: media.audio?.codec, picture }).toEqual({ codec: 'mp3', picture: undefined });
  });
});
