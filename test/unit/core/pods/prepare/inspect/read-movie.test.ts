/** Tests that the packets of an MP4 are the same by its tables and by a reading of the whole file. */
import { appendFile, readFile, truncate } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { openBoxes } from '../../../../../../src/core/pods/prepare/inspect/boxes.ts';
import { type MediaTools, readPackets } from '../../../../../../src/core/pods/prepare/inspect/ffprobe.ts';
import { readMovie } from '../../../../../../src/core/pods/prepare/inspect/movie-tables.ts';
import type { Packet } from '../../../../../../src/core/pods/prepare/inspect/packet.ts';
import { probe } from '../../../../../../src/core/pods/prepare/inspect/probe.ts';
import { openMovie } from '../../../../../../src/core/pods/prepare/inspect/read-movie.ts';
import { ffmpeg, media, room } from '../../../../../kit/make/prepare.ts';

const tools: MediaTools = { ffmpeg: 'ffmpeg', ffprobe: 'ffprobe' };
const PICTURES = 'testsrc2=s=96x64:r=25:d=3';
const TONE = 'sine=440:r=44100:d=3';
const AVC = ['-c:v', 'libx264', '-pix_fmt', 'yuv420p', '-g', '12', '-sc_threshold', '0', '-threads', '1'];
const AAC = ['-c:a', 'aac'];

const within = () => ({ signal: new AbortController().signal, deadline: AbortSignal.timeout(60_000) });

async function readByTables(path: string): Promise<Packet[] | undefined> {
  const source = await probe(path, tools, within().signal);
  const movie = await openMovie(path, source, { tools, options: [], ...within() });
  const packets: Packet[] = [];
  movie?.each((packet) => packets.push({ ...packet }));
  return movie && packets;
}

/** Reads the whole file; the packets of each track are together, as tables have them. */
async function readWhole(path: string): Promise<Packet[]> {
  const packets: Packet[] = [];
  await readPackets({ path }, tools, [], within(), (packet) => packets.push(packet));
  return packets.sort((a, b) => a.index - b.index);
}

/** Times within two of the last digits that ffprobe writes. */
function expectSame(found: readonly Packet[] | undefined, whole: readonly Packet[]): void {
  expect(found?.length).toBe(whole.length);
  for (const [n, packet] of whole.entries()) {
    const { pts, dts, duration, ...rest } = found?.[n] ?? ({} as Packet);
    expect(rest, `packet ${n}`).toEqual({
      index: packet.index,
      sizeBytes: packet.sizeBytes,
      byte: packet.byte,
      isKey: packet.isKey,
      isHidden: packet.isHidden,
    });
    expect(Math.abs(pts - packet.pts), `pts of packet ${n}`).toBeLessThan(3e-6);
    expect(Math.abs(dts - packet.dts), `dts of packet ${n}`).toBeLessThan(3e-6);
    expect(Math.abs(duration - packet.duration), `duration of packet ${n}`).toBeLessThan(3e-6);
  }
}

describe('tables have the same packets as the whole file', () => {
  const cases: [what: string, output: string[]][] = [
    ['H.264 with B-frames, and AAC', [...AVC, '-bf', '2', ...AAC]],
    ['tables in front', [...AVC, '-bf', '2', ...AAC, '-movflags', '+faststart']],
    ['without B-frames', [...AVC, '-bf', '0', ...AAC]],
    ['negative shifts', [...AVC, '-bf', '2', ...AAC, '-movflags', '+negative_cts_offsets']],
    ['without edit lists', [...AVC, '-bf', '2', ...AAC, '-use_editlist', '0']],
    ['a coarse movie clock', [...AVC, '-bf', '2', ...AAC, '-movie_timescale', '10']],
    ['pictures that begin later', [...AVC, '-bf', '2', '-vf', 'setpts=PTS+1.5/TB', ...AAC]],
    ['sound that begins later', [...AVC, '-bf', '2', '-af', 'asetpts=PTS+0.7/TB', ...AAC]],
    [
      'irregular times',
      [...AVC, '-bf', '2', '-vf', "select='not(between(n,20,50))+eq(n,33)'", '-vsync', 'vfr', ...AAC],
    ],
    [
      'irregular times without B-frames',
      [...AVC, '-bf', '0', '-vf', "select='lt(n,20)+gt(n,60)'", '-vsync', 'vfr', ...AAC],
    ],
    ['QuickTime', [...AVC, '-bf', '2', ...AAC, '-f', 'mov']],
    [
      'HEVC',
      ['-c:v', 'libx265', '-x265-params', 'log-level=none:pools=none', '-pix_fmt', 'yuv420p', '-g', '20', ...AAC],
    ],
    ['MPEG-4', ['-c:v', 'mpeg4', '-bf', '2', ...AAC]],
    ['MJPEG', ['-c:v', 'mjpeg', '-pix_fmt', 'yuvj420p', ...AAC, '-f', 'mov']],
    ['ProRes and ALAC', ['-c:v', 'prores_ks', '-c:a', 'alac', '-f', 'mov']],
    ['AV1 and Opus', ['-c:v', 'libaom-av1', '-cpu-used', '8', '-c:a', 'libopus', '-strict', '-2']],
    ['FLAC', [...AVC, '-c:a', 'flac', '-strict', '-2']],
    ['pictures alone', [...AVC, '-bf', '2', '-an']],
    ['sound alone', ['-vn', ...AAC]],
  ];
  test.each(cases)('%s', async (_what, output) => {
    await using place = await room();
    const path = await media(place.path('in.mp4'), { video: PICTURES, audio: TONE, output });
    expectSame(await readByTables(path), await readWhole(path));
  });

  test.each([
    ['0.4', '1.7'],
    ['0', '1'],
    ['0.02', '2.9'],
    ['1.3', '0.3'],
  ])('cut without encoding, from %s for %s seconds', async (from, seconds) => {
    await using place = await room();
    const film = await media(place.path('film.mp4'), {
      video: PICTURES,
      audio: TONE,
      output: [...AVC, '-bf', '2', ...AAC],
    });
    const path = place.path('in.mp4');
    await ffmpeg('-ss', from, '-i', film, '-t', seconds, '-c', 'copy', path);
    expectSame(await readByTables(path), await readWhole(path));
  });
});

describe('ffprobe reads the whole file', () => {
  const film = [...AVC, '-bf', '2', ...AAC];
  const cases: [what: string, output: string[], change?: (path: string) => Promise<void>][] = [
    ['fragments', [...film, '-movflags', 'frag_keyframe+empty_moov']],
    ['sound whose samples ffmpeg joins', [...AVC, '-c:a', 'pcm_s16le', '-f', 'mov']],
    [
      'half of the media',
      [...film, '-movflags', '+faststart'],
      async (path) => truncate(path, (await readFile(path)).length >> 1),
    ],
    ['two movies', film, async (path) => appendFile(path, await readFile(path))],
  ];
  test.each(cases)('%s', async (_what, output, change) => {
    await using place = await room();
    const path = await media(place.path('in.mp4'), { video: PICTURES, audio: TONE, output });
    await change?.(path);
    expect(await readByTables(path)).toBeUndefined();
  });
});

test('no tables make the reader fail, and none make more packets than their bytes describe', async () => {
  await using place = await room();
  const path = await media(place.path('in.mp4'), {
    video: PICTURES,
    audio: TONE,
    output: [...AVC, '-bf', '2', ...AAC],
  });
  const moov = openBoxes(await readFile(path)).find(({ type }) => type === 'moov')?.content ?? Buffer.alloc(0);
  let read = 0;
  const values = [0, 0x7f, 0xff];
  for (let at = 0; at < moov.length; at++) {
    const changed = Buffer.from(moov);
    changed[at] = values[at % values.length] ?? 0;
    for (const { timeline } of readMovie(changed) ?? []) {
      let packets = 0;
      timeline?.each(() => packets++);
      expect(packets).toBeLessThan(moov.length / 4);
      read += packets;
    }
  }
  expect(read).toBeGreaterThan(0);
});
