/** Tests that an import reads the tags of files as players do, and keeps a bounded part of what a hostile file says. */
import { readFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { importMedia } from '../../kit/make/imports.ts';
import { ffmpeg, room } from '../../kit/make/prepare.ts';

const TAGS = { title: 'Ночь 夜 🎵', artist: 'Björk', album: 'Ünter' };
const RIGHTS = {
  isrc: 'USRC17607839',
  label: 'Étiquette',
  license: 'https://creativecommons.org/licenses/by/4.0/',
};
const LICENSED = { ...TAGS, ...RIGHTS, licenseUrl: RIGHTS.license };
const state = (tags: object) => Object.entries(tags).flatMap(([name, value]) => ['-metadata', `${name}=${value}`]);

/** Makes a second of sound with these tags, and resolves with its bytes. */
async function song(name: string, tags: object, ...options: string[]): Promise<Buffer> {
  await using place = await room();
  const path = place.path(name);
  await ffmpeg('-f', 'lavfi', '-i', 'sine=440:r=48000:d=1', '-map_metadata', '-1', ...state(tags), ...options, path);
  return await readFile(path);
}
const plainMp3 = () => song('in.mp3', {}, '-id3v2_version', '0');
const tagsOf = async (file: Buffer) => (await importMedia(file, { type: 'audio' })).tags;

const ENCODINGS = {
  latin1: (text: string) => Buffer.concat([Buffer.from([0]), Buffer.from(text, 'latin1')]),
  utf16: (text: string) => Buffer.concat([Buffer.from([1, 0xff, 0xfe]), Buffer.from(text, 'utf16le')]),
  utf8: (text: string) => Buffer.concat([Buffer.from([3]), Buffer.from(text)]),
};

/** ID3v2.4: sizes have seven bits in each byte. */
const size = (bytes: number) => Buffer.from([21, 14, 7, 0].map((shift) => (bytes >> shift) & 0x7f));
function id3v2(frames: [string, string][], encoding: keyof typeof ENCODINGS): Buffer {
  const bodies = frames.map(([name, text]) => {
    const body = ENCODINGS[encoding](text);
    return Buffer.concat([Buffer.from(name), size(body.length), Buffer.alloc(2), body]);
  });
  const all = Buffer.concat(bodies);
  return Buffer.concat([Buffer.from('ID3'), Buffer.from([4, 0, 0]), size(all.length), all]);
}

describe('the tags are read of', () => {
  const FRAMES = { ...TAGS, TSRC: RIGHTS.isrc, publisher: RIGHTS.label, LICENSE: RIGHTS.license };
  test.each<[string, string, object, ...string[]]>([
    ['ID3v2.3 in UTF-16', 'in.mp3', FRAMES, '-id3v2_version', '3'],
    ['ID3v2.4 in UTF-8', 'in.mp3', FRAMES, '-id3v2_version', '4'],
    ['Ogg with Opus', 'in.opus', { ...TAGS, ...RIGHTS }],
    ['Ogg with Vorbis', 'in.ogg', { ...TAGS, ...RIGHTS }],
    ['FLAC', 'in.flac', { ...TAGS, ...RIGHTS }],
    ['MP4', 'in.m4a', { ...TAGS, ...RIGHTS }, '-movflags', 'use_metadata_tags'],
    ['Matroska', 'in.mka', { ...TAGS, ...RIGHTS }],
  ])('%s', async (_kind, name, tags, ...options) => {
    expect(await tagsOf(await song(name, tags, ...options))).toEqual(LICENSED);
  });

  test("MP4 with iTunes' own names", async () => {
    expect(await tagsOf(await song('in.m4a', TAGS))).toEqual(TAGS);
  });

  test('ID3v2 in Latin-1', async () => {
    const tags = id3v2(
      [
        ['TIT2', 'Café'],
        ['TPE1', 'Björk'],
      ],
      'latin1',
    );
    expect(await tagsOf(Buffer.concat([tags, await plainMp3()]))).toEqual({ title: 'Café', artist: 'Björk' });
  });

  test('ID3v1, which is Latin-1 as a rule', async () => {
    const last = Buffer.alloc(128);
    last.write('TAG');
    last.write('Café', 3, 'latin1');
    last.write('Björk', 33, 'latin1');
    expect(await tagsOf(Buffer.concat([await plainMp3(), last]))).toEqual({ title: 'Café', artist: 'Björk' });
  });

  test('no file that has none, and no track in their place', async () => {
    expect(await tagsOf(await song('in.mka', {}, '-metadata:s:a:0', 'title=Stereo'))).toBeUndefined();
  });
});

describe('a hostile file', () => {
  test('has a title of a megabyte left out, and its other tags read', async () => {
    const tags = id3v2(
      [
        ['TIT2', 'x'.repeat(2 ** 20)],
        ['TPE1', '\u202eB\u0007j\u001b[31m'],
      ],
      'utf8',
    );
    expect(await tagsOf(Buffer.concat([tags, await plainMp3()]))).toEqual({ artist: 'B j [31m' });
  });

  test('has texts behind NULs and thousands of other tags ignored', async () => {
    const many = Array.from({ length: 5000 }, (_, at): [string, string] => ['TXXX', `key${at}\0value`]);
    const tags = id3v2([['TIT2', 'Song\0hidden'], ...many, ['TALB', 'One']], 'utf8');
    expect(await tagsOf(Buffer.concat([tags, await plainMp3()]))).toEqual({ title: 'Song', album: 'One' });
  });

  test('has bytes that are no text replaced', async () => {
    const file = await song('in.flac', { title: 'Song', artist: 'AdaXX' });
    const at = file.indexOf('AdaXX');
    file.writeUInt16BE(0xfffe, at + 3);
    const { title, artist } = (await tagsOf(file)) ?? {};
    expect({ title, artist }).toEqual({ title: 'Song', artist: expect.stringMatching(/^Ada\ufffd+$/) });
  });

  test('is imported as ever where each of many tracks has long tags', async () => {
    await using place = await room();
    const path = place.path('in.mka');
    const count = 60;
    const maps = Array.from({ length: count }, () => ['-map', '0:a']).flat();
    const long = 'x'.repeat(390);
    const tags = Array.from({ length: count }, (_, at) =>
      ['title', 'artist', 'album', 'label', 'license'].flatMap((name) => [`-metadata:s:a:${at}`, `${name}=${long}`]),
    ).flat();
    await ffmpeg('-f', 'lavfi', '-i', 'sine=440:d=1', ...maps, '-c:a', 'pcm_s16le', ...tags, path);
    const { tracks, tags: found } = await importMedia(path, { type: 'audio' });
    expect(tracks).toHaveLength(count);
    expect(found).toBeUndefined();
  });
});
