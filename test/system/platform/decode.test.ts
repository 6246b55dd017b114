/** Decodes real media in the cage: pictures with their times, or a word for why there are none. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import pino from 'pino';
import { beforeAll, expect, test } from 'vitest';
import { type MediaContainer, openDecoder, type PictureDecoder } from '../../../src/core/platform/watch/decode.ts';
import { PICTURE_PIXELS } from '../../../src/core/platform/watch/pictures.ts';
import { makeMedia } from '../../kit/make/made-media.ts';
import { tempDir } from '../../kit/temp-dir.ts';

const dir = tempDir();
const { signal } = new AbortController();
let decoder: PictureDecoder;
beforeAll(() => {
  decoder = openDecoder({ ffmpeg: 'ffmpeg', confine: 'auto' }, pino({ level: 'silent' }));
});

const source = (size = '320x180', seconds = 4) => ['-f', 'lavfi', '-i', `testsrc2=s=${size}:r=30:d=${seconds}`];
const h264 = (gop: number, ...more: string[]) => [
  '-c:v',
  'libx264',
  '-preset',
  'ultrafast',
  '-g',
  String(gop),
  ...more,
];
const make = async (name: string, ...args: string[]) => readFile(await makeMedia(join(dir, name), ...args));
const input = (container: MediaContainer, ...media: Buffer[]) => ({ container, media });

async function decode(...inputs: ReturnType<typeof input>[]) {
  const decoded = await decoder.decode(inputs, signal);
  return decoded.map((one) => (one.kind === 'pictures' ? one.pictures.map(({ ptsMs }) => ptsMs) : one.kind));
}

test('two inputs in one run have their own pictures and times', async () => {
  const ts = await make('a.ts', ...source(), ...h264(60, '-bf', '0'), '-muxdelay', '0', '-output_ts_offset', '100');
  const flv = await make('a.flv', ...source('320x180', 3), ...h264(30, '-bf', '0'));
  expect(await decode(input('mpegts', ts), input('flv', flv))).toEqual([
    [100_000, 102_000],
    [0, 1_000, 2_000],
  ]);
  const [first] = await decoder.decode([input('mpegts', ts)], signal);
  expect(first?.kind === 'pictures' && first.pictures[0]?.luma.length).toBe(PICTURE_PIXELS);
});

test('an input that cannot be decoded takes nothing from the other', async () => {
  const flv = await make('b.flv', ...source(), ...h264(60, '-bf', '0'));
  const sound = await make('sound.ts', '-f', 'lavfi', '-i', 'sine=d=2', '-c:a', 'aac');
  const broken = Buffer.from(
    (await make('c.ts', ...source(), ...h264(60))).map((byte, at) => (at % 188 < 4 ? byte : at & 255)),
  );
  expect(await decode(input('mpegts', sound), input('flv', flv))).toEqual(['no_video', [0, 2_000]]);
  expect(await decode(input('mpegts', broken), input('flv', flv))).toEqual(['broken', [0, 2_000]]);
  expect(await decode(input('mov', Buffer.from('<html></html>')), input('flv', flv))).toEqual(['broken', [0, 2_000]]);
});

test('a stream of keyframes alone gives one picture a second', async () => {
  const [times] = await decode(input('mpegts', await make('d.ts', ...source(), ...h264(1))));
  expect([4, 5]).toContain(times?.length);
});

test('a stream without keyframes behind its beginning is decoded all the same', async () => {
  const whole = await make(
    'e.ts',
    ...source('320x180', 8),
    ...h264(60, '-x264-params', 'intra-refresh=1:keyint=60', '-muxrate', '1M'),
  );
  const half = 188 * Math.floor(whole.length / 188 / 2);
  const [times] = await decode(input('mpegts', whole.subarray(0, 188 * 20), whole.subarray(half)));
  expect(times?.length).toBeGreaterThan(0);
  expect(typeof times).not.toBe('string');
});

test('pictures of 2160 lines are small too, and larger ones than any are not decoded', async () => {
  expect(await decode(input('mpegts', await make('f.ts', ...source('3840x2160', 0.1), ...h264(60))))).toEqual([
    [expect.any(Number)],
  ]);
  expect(await decode(input('mpegts', await make('g.ts', ...source('8704x4608', 0.04), ...h264(60))))).toEqual([
    'broken',
  ]);
});

test('ends at once when it is told to', async () => {
  const over = new AbortController();
  const flv = await make('h.flv', ...source(), ...h264(60));
  const running = decoder.decode([input('flv', flv)], over.signal);
  over.abort(new Error('over'));
  await expect(running).rejects.toThrow('over');
  expect(await decode(input('flv', flv))).toHaveLength(1);
});
