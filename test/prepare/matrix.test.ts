/** Sources that are made by hand: what encoders, phones and editors leave behind. */
import { stat, truncate, writeFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { describeMedia, probe, scanPackets } from '../../src/prepare/probe.ts';
import { ffmpeg, media, room } from '../support/prepare.ts';
import { picture, rendition, TONE, tools } from '../support/rendition.ts';

/** Value of a signalstats field, frame by frame. */
async function levels(file: string, field: 'YAVG' | 'UAVG' | 'VAVG', before = 'null'): Promise<number[]> {
  const filters = `${before},signalstats,metadata=print:file=-:key=lavfi.signalstats.${field}`;
  const { stdout } = await ffmpeg('-i', file, '-vf', filters, '-f', 'null', '-');
  return [...stdout.matchAll(new RegExp(`${field}=(\\S+)`, 'g'))].map(([, value]) => Number(value));
}

/** Seconds at which the sound falls silent (for a tenth of a second at least), and those at which it is back. */
async function silence(file: string) {
  const filters = 'silencedetect=n=-40dB:d=0.1,ametadata=print:file=-';
  const { stdout } = await ffmpeg('-i', file, '-af', filters, '-f', 'null', '-');
  const of = (what: string) =>
    [...stdout.matchAll(new RegExp(`silence_${what}=(\\S+)`, 'g'))].map(([, s]) => Number(s));
  return { starts: of('start'), ends: of('end') };
}

/** What the Upload's status would say. */
async function described(path: string) {
  const { signal } = new AbortController();
  const source = await probe(path, tools, signal);
  return describeMedia(source, await scanPackets(path, source, tools, signal));
}

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
      const file = await media(place.path('in.webm'), { video: picture('320x180'), audio: TONE, output });
      if (!readable) return expect(rendition(place, file)).rejects.toMatchObject({ code: 'prepare_failed' });
      expect((await rendition(place, file)).videoTimes).toHaveLength(30);
    });
  }
});

test('pictures at irregular times are shown when they are due', async () => {
  await using place = await room();
  // Thirty frames a second for a while, then two, and in between a gap: a screen recording.
  const video =
    "color=black:s=320x180:r=30:d=2,drawbox=t=fill:c=white:enable='between(t,1,1.49)'," +
    "select='lt(t,0.4)+eq(n,30)+eq(n,45)+eq(n,59)'";
  const output = ['-fps_mode', 'vfr', '-g', '10'];
  const made = await rendition(place, await media(place.path('in.mkv'), { video, audio: 'sine=440:d=2', output }));
  expect(Math.abs(made.videoTimes.length - 60)).toBeLessThanOrEqual(1);
  const bright = (await levels(made.file, 'YAVG')).flatMap((y, frame) => (y > 120 ? [frame] : []));
  expect(bright).toEqual(Array.from({ length: 15 }, (_, frame) => 30 + frame));
});

describe('HDR becomes SDR', () => {
  /** PQ (SMPTE ST 2084) signal of a luminance in cd/m², as 10-bit luma of narrow range. */
  const pq = (nits: number) => {
    const y = (nits / 10_000) ** 0.1593017578125;
    return Math.round(64 + 876 * ((0.8359375 + 18.8515625 * y) / (1 + 18.6875 * y)) ** 78.84375);
  };
  const hdr = async (path: string, luma: number, cb = 512, cr = 512) =>
    media(path, {
      video: `color=black:s=320x180:r=30:d=0.4,format=yuv420p10le,geq=lum=${luma}:cb=${cb}:cr=${cr}`,
      output: [
        ...['-c:v', 'libx265', '-pix_fmt', 'yuv420p10le', '-color_range', 'tv'],
        ...['-color_primaries', 'bt2020', '-color_trc', 'smpte2084', '-colorspace', 'bt2020nc'],
        ...['-x265-params', 'log-level=none:colorprim=bt2020:transfer=smpte2084:colormatrix=bt2020nc'],
      ],
    });
  const middle = async (file: string) =>
    Promise.all((['YAVG', 'UAVG', 'VAVG'] as const).map(async (field) => (await levels(file, field))[6] ?? 0));

  test('mid grey stays mid grey and colourless, and the tags say BT.709', async () => {
    await using place = await room();
    // ITU-R BT.2408: a grey card of 18 % is shown at 26 cd/m². In SDR its BT.709 signal is 0.41: luma 106.
    const { file, video } = await rendition(place, await hdr(place.path('in.mp4'), pq(26)));
    expect(video).toMatchObject({
      color_space: 'bt709',
      color_transfer: 'bt709',
      color_primaries: 'bt709',
      color_range: 'tv',
    });
    const [y = 0, u, v] = await middle(file);
    expect(Math.abs(y - 106)).toBeLessThanOrEqual(12);
    expect(u).toBeCloseTo(128, -0.5);
    expect(v).toBeCloseTo(128, -0.5);
  });

  test('white is bright but not burnt, and red is red', async () => {
    await using place = await room();
    const [white = 0] = await middle((await rendition(place, await hdr(place.path('w.mp4'), pq(203)))).file);
    expect(white).toBeGreaterThan(165);
    expect(white).toBeLessThan(235);
    const red = await rendition(place, await hdr(place.path('r.mp4'), 330, 450, 680), 'video', '720p25');
    const [, u = 0, v = 0] = await middle(red.file);
    expect(v).toBeGreaterThan(160);
    expect(u).toBeLessThan(125);
  });
});

test('data, subtitles and chapters beside the media change nothing', async () => {
  await using place = await room();
  const plain = await media(place.path('plain.mp4'), { video: picture('320x180'), audio: TONE });
  await writeFile(place.path('s.srt'), '1\n00:00:00,000 --> 00:00:01,000\nHello\n');
  await writeFile(place.path('c.txt'), ';FFMETADATA1\n[CHAPTER]\nTIMEBASE=1/10\nSTART=0\nEND=10\ntitle=One\n');
  const file = place.path('in.mov');
  const inputs = ['-i', place.path('s.srt'), '-i', plain, '-i', place.path('c.txt')];
  const streams = ['-map', '0', '-map', '1', '-map_chapters', '2', '-c', 'copy', '-c:s', 'mov_text'];
  await ffmpeg(...inputs, ...streams, '-timecode', '01:00:00:00', file);
  expect((await described(file)).video?.codec).toBe('h264');
  const made = await rendition(place, file);
  expect(made.videoTimes).toHaveLength(30);
  expect(made.streams).toBe(2);
});

describe('an edit list that trims the start is obeyed', () => {
  /** White for a second, then black, and a tone that stops with the white. */
  const SCENE = {
    video: "color=black:s=1280x720:r=30:d=2,drawbox=t=fill:c=white:enable='lt(t,0.99)'",
    audio: "aevalsrc='if(lt(t,1),0.5*sin(2764*t),0)':s=48000:d=2:c=stereo",
  };
  const trimmed = async (path: (name: string) => string, name: string, output: string[]) => {
    const whole = await media(path(`whole-${name}`), { ...SCENE, output });
    await ffmpeg('-ss', '0.6', '-i', whole, '-c', 'copy', path(name));
    return path(name);
  };

  test.each([
    ['of pictures that would be encoded', ['-bf', '2', '-s', '320x180']],
    // Everything else about it is as a rendition has it.
    [
      'of pictures that would be copied',
      ['-profile:v', 'main', '-bf', '0', '-g', '60', '-b:v', '2M', '-maxrate', '2M'],
    ],
  ])('%s', async (_what, output) => {
    await using place = await room();
    const file = await trimmed(place.path, 'in.mp4', [...output, '-pix_fmt', 'yuv420p', '-bufsize', '4M']);
    expect((await described(file)).durationSeconds).toBeCloseTo(1.4, 2);
    const made = await rendition(place, file);
    expect(made.videoTimes).toHaveLength(42);
    const white = (await levels(made.file, 'YAVG')).filter((y) => y > 200);
    expect(white).toHaveLength(12);
    expect((await silence(made.file)).starts[0]).toBeCloseTo(0.4, 1);
  });

  test('of sound alone', async () => {
    await using place = await room();
    const file = await trimmed(place.path, 'in.m4a', ['-map', '1:a', '-c:a', 'aac']);
    expect((await described(file)).durationSeconds).toBeCloseTo(1.4, 1);
    const made = await rendition(place, file, 'audio');
    expect(made.index.durationSeconds).toBeCloseTo(1.4, 1);
    expect((await silence(made.file)).starts[0]).toBeCloseTo(0.4, 1);
  });
});

describe('a broken last frame costs a frame, not the file', () => {
  test.each([
    ['in.mp4', ['-movflags', '+faststart'], 200],
    ['in.mkv', [], 900],
    ['in.ts', [], 1000],
  ])('%s', async (name, output, bytes) => {
    await using place = await room();
    const file = await media(place.path(name), { video: picture('320x180'), audio: TONE, output });
    await truncate(file, (await stat(file)).size - bytes);
    const made = await rendition(place, file);
    expect(made.videoTimes.length).toBeGreaterThanOrEqual(27);
    expect(made.videoTimes.length).toBeLessThanOrEqual(31);
  });
});

describe('the sound is as long as the pictures', () => {
  test('when it goes on for three seconds more', async () => {
    await using place = await room();
    const source = { video: picture('320x180', 30, 0.8), audio: 'sine=440:r=44100:d=3.8' };
    const made = await rendition(place, await media(place.path('in.mp4'), source));
    expect(made.videoTimes).toHaveLength(24);
    expect((await silence(made.file)).starts).toEqual([]);
  });

  test('when it ends three seconds before: silence follows', async () => {
    await using place = await room();
    const source = { video: picture('160x90', 30, 3.5), audio: 'sine=440:r=48000:d=0.5' };
    const made = await rendition(place, await media(place.path('in.mp4'), source));
    expect(made.videoTimes).toHaveLength(105);
    expect((await silence(made.file)).starts).toEqual([expect.closeTo(0.5, 1)]);
  });
});
