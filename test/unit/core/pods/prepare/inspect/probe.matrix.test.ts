/** Tests handmade sources with the leftovers of encoders, phones and editors. */
import { stat, truncate, writeFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { describeMedia, probe, scanPackets } from '../../../../../../src/core/pods/prepare/inspect/probe.ts';
import { ffmpeg, media, room } from '../../../../../kit/make/prepare.ts';
import { picture, played, rendition, tools } from '../../../../../kit/make/rendition.ts';

/** Returns the description for the Upload's status. */
async function described(path: string) {
  const { signal } = new AbortController();
  const source = await probe(path, tools, signal);
  return describeMedia(source, await scanPackets(path, source, tools, signal));
}

const BRIEF = { video: picture('320x180', 30, 0.4), audio: 'sine=440:r=48000:d=0.4' };
const listed = async (what: '-encoders' | '-decoders') => (await ffmpeg('-hide_banner', what)).stdout;
const has = (list: string, names: string[]) => names.find((name) => new RegExp(`^ [VAS]\\S+ ${name} `, 'm').test(list));

describe('codecs of the web', async () => {
  const encoders = await listed('-encoders');
  const decoders = await listed('-decoders');
  const codecs: [string, string[], string[], string[]][] = [
    ['VP9', ['libvpx-vp9'], ['vp9', 'libvpx-vp9'], ['-deadline', 'realtime', '-cpu-used', '8']],
    ['AV1', ['libsvtav1'], ['libdav1d', 'libaom-av1'], ['-preset', '12']],
  ];
  for (const [codec, encoder, decoder, options] of codecs) {
    const by = has(encoders, encoder);
    const readable = has(decoders, decoder) !== undefined;
    const name = !by
      ? `${codec} cannot be proven: this ffmpeg has no encoder to make it`
      : readable
        ? `${codec} becomes a rendition`
        : `${codec}, for which this ffmpeg has no decoder, fails for good`;
    test(name, async () => {
      if (!by) return expect(encoders).not.toMatch(encoder.join('|'));
      await using place = await room();
      const output = ['-c:v', by, ...options, '-c:a', 'libopus'];
      const file = await media(place.path('in.webm'), { ...BRIEF, output });
      if (!readable) return expect(rendition(place, file)).rejects.toMatchObject({ code: 'prepare_failed' });
      expect((await rendition(place, file)).videoTimes).toHaveLength(12);
    });
  }
});

test('pictures at irregular times are shown when they are due', async () => {
  await using place = await room();
  // Thirty frames a second for a while, a gap, then two a second: a screen recording.
  const video =
    "color=black:s=320x180:r=30:d=1,drawbox=t=fill:c=white:enable='between(t,0.5,0.74)'," +
    "select='lt(t,0.2)+eq(n,15)+eq(n,23)+eq(n,29)'";
  const output = ['-fps_mode', 'vfr', '-g', '10'];
  const made = await rendition(place, await media(place.path('in.mkv'), { video, audio: 'sine=440:d=1', output }));
  expect(Math.abs(made.videoTimes.length - 30)).toBeLessThanOrEqual(1);
  const bright = (await played(made.file)).y.flatMap((y, frame) => (y > 120 ? [frame] : []));
  expect(bright).toEqual(Array.from({ length: 8 }, (_, frame) => 15 + frame));
});

describe('HDR becomes SDR', () => {
  /** PQ (SMPTE ST 2084) signal of a luminance in cd/m², as 10-bit luma of narrow range. */
  const pq = (nits: number) => {
    const y = (nits / 10_000) ** 0.1593017578125;
    return Math.round(64 + 876 * ((0.8359375 + 18.8515625 * y) / (1 + 18.6875 * y)) ** 78.84375);
  };
  test('grey stays grey, white is bright but not burnt, red is red, and the tags say BT.709', async () => {
    await using place = await room();
    // Four frames of each. ITU-R BT.2408: a grey card of 18 % is shown at 26 cd/m², and white at 203.
    const colours = [
      [pq(26), 512, 512],
      [pq(203), 512, 512],
      [330, 450, 680],
    ];
    const [lum, cb, cr] = [0, 1, 2].map((plane) => {
      const [grey, white, red] = colours.map((colour) => colour[plane]);
      return `'if(lt(N,4),${grey},if(lt(N,8),${white},${red}))'`;
    });
    const source = await media(place.path('in.mp4'), {
      video: `color=black:s=160x90:r=30:d=0.4,format=yuv420p10le,geq=lum=${lum}:cb=${cb}:cr=${cr}`,
      output: [
        ...['-c:v', 'libx265', '-pix_fmt', 'yuv420p10le', '-color_range', 'tv'],
        ...['-color_primaries', 'bt2020', '-color_trc', 'smpte2084', '-colorspace', 'bt2020nc'],
        ...['-x265-params', 'log-level=none:colorprim=bt2020:transfer=smpte2084:colormatrix=bt2020nc'],
      ],
    });
    const { file, video } = await rendition(place, source);
    expect(video).toMatchObject({
      color_space: 'bt709',
      color_transfer: 'bt709',
      color_primaries: 'bt709',
      color_range: 'tv',
    });
    const { y, u, v } = await played(file);
    const [grey, white, red] = [2, 6, 10].map((frame) => [y[frame] ?? 0, u[frame] ?? 0, v[frame] ?? 0] as const);
    // In SDR the BT.709 signal of the grey card is 0.41: luma 106.
    expect(Math.abs((grey?.[0] ?? 0) - 106)).toBeLessThanOrEqual(12);
    expect(grey?.[1]).toBeCloseTo(128, -0.5);
    expect(grey?.[2]).toBeCloseTo(128, -0.5);
    expect(white?.[0]).toBeGreaterThan(165);
    expect(white?.[0]).toBeLessThan(235);
    expect(red?.[2]).toBeGreaterThan(160);
    expect(red?.[1]).toBeLessThan(125);
  });
});

test('data, subtitles and chapters beside the media change nothing', async () => {
  await using place = await room();
  const plain = await media(place.path('plain.mp4'), BRIEF);
  await writeFile(place.path('s.srt'), '1\n00:00:00,000 --> 00:00:00,400\nHello\n');
  await writeFile(place.path('c.txt'), ';FFMETADATA1\n[CHAPTER]\nTIMEBASE=1/10\nSTART=0\nEND=4\ntitle=One\n');
  const file = place.path('in.mov');
  const inputs = ['-i', place.path('s.srt'), '-i', plain, '-i', place.path('c.txt')];
  const streams = ['-map', '0', '-map', '1', '-map_chapters', '2', '-c', 'copy', '-c:s', 'mov_text'];
  await ffmpeg(...inputs, ...streams, '-timecode', '01:00:00:00', file);
  expect((await described(file)).video?.codec).toBe('h264');
  const made = await rendition(place, file);
  expect(made.videoTimes).toHaveLength(12);
  expect(made.streams).toBe(2);
});

describe('an edit list that trims the start is obeyed', () => {
  /** White for a second, then black, and a tone that stops with the white. */
  const scene = (size: string) => ({
    video: `color=black:s=${size}:r=30:d=1.4,drawbox=t=fill:c=white:enable='lt(t,0.99)'`,
    audio: "aevalsrc='if(lt(t,1),0.5*sin(2764*t),0)':s=48000:d=1.4:c=stereo",
  });
  const trimmed = async (path: (name: string) => string, name: string, output: string[], size = '320x180') => {
    const whole = await media(path(`whole-${name}`), { ...scene(size), output });
    await ffmpeg('-ss', '0.6', '-i', whole, '-c', 'copy', path(name));
    return path(name);
  };

  test.each([
    ['of pictures that would be encoded', '320x180', ['-bf', '2']],
    // All other properties are those of a rendition.
    [
      'of pictures that would be copied',
      '1280x720',
      ['-profile:v', 'main', '-bf', '0', '-g', '60', '-b:v', '2M', '-maxrate', '2M'],
    ],
  ])('%s', async (_what, size, output) => {
    await using place = await room();
    const file = await trimmed(place.path, 'in.mp4', [...output, '-pix_fmt', 'yuv420p', '-bufsize', '4M'], size);
    expect((await described(file)).durationSeconds).toBeCloseTo(0.8, 2);
    const made = await rendition(place, file);
    expect(made.videoTimes).toHaveLength(24);
    const { y, silent } = await played(made.file);
    expect(y.filter((brightness) => brightness > 200)).toHaveLength(12);
    expect(silent[0]).toBeCloseTo(0.4, 1);
  });

  test('of sound alone', async () => {
    await using place = await room();
    const file = await trimmed(place.path, 'in.m4a', ['-map', '1:a', '-c:a', 'aac']);
    expect((await described(file)).durationSeconds).toBeCloseTo(0.8, 1);
    const made = await rendition(place, file, 'audio');
    expect(made.index.durationSeconds).toBeCloseTo(0.8, 1);
    expect((await played(made.file)).silent[0]).toBeCloseTo(0.4, 1);
  });
});

describe('a broken last frame costs a frame, not the file', () => {
  test.each([
    ['in.mp4', ['-movflags', '+faststart'], 200],
    ['in.mkv', [], 900],
    ['in.ts', [], 1000],
  ])('%s', async (name, output, bytes) => {
    await using place = await room();
    const file = await media(place.path(name), { ...BRIEF, output });
    await truncate(file, (await stat(file)).size - bytes);
    const made = await rendition(place, file);
    expect(made.videoTimes.length).toBeGreaterThanOrEqual(9);
    expect(made.videoTimes.length).toBeLessThanOrEqual(13);
  });
});

describe('sound and pictures are as long as the longer of the two', () => {
  test('when the sound goes on for three seconds more: the last picture is held', async () => {
    await using place = await room();
    const source = { video: picture('320x180', 30, 0.4), audio: 'sine=440:r=44100:d=3.4' };
    const made = await rendition(place, await media(place.path('in.mp4'), source));
    expect(made.videoTimes).toHaveLength(102);
    expect((await played(made.file)).silent).toEqual([]);
  });

  test('when the sound ends a second before: silence follows', async () => {
    await using place = await room();
    const source = { video: 'smptebars=s=160x90:r=30:d=1.3', audio: 'sine=440:r=48000:d=0.3' };
    const made = await rendition(place, await media(place.path('in.mp4'), source));
    expect(made.videoTimes).toHaveLength(39);
    expect((await played(made.file)).silent).toEqual([expect.closeTo(0.3, 1)]);
  });
});
