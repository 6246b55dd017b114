/** Tests that parts of a rendition have the pictures and the sound that one encoder of the whole would be given. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import type { VideoStream } from '../../../../../../src/core/pods/prepare/inspect/source.ts';
import { SourceFile } from '../../../../../../src/core/pods/prepare/inspect/source-file.ts';
import {
  canEncodeInParts,
  cutParts,
  listPartTries,
  planPart,
} from '../../../../../../src/core/pods/prepare/transcode/part-plan.ts';
import {
  matchFramerate,
  type Part,
  type PlanInput,
  planRendition,
} from '../../../../../../src/core/pods/prepare/transcode/plan.ts';
import { audioFramesFor, audioSlotMs, videoSlotMs } from '../../../../../../src/core/pods/rendition/frame-times.ts';
import { DEFAULT_LIMITS } from '../../../../../../src/core/protocol/media-limits.ts';
import { FRAMERATES, type Framerate } from '../../../../../../src/core/resources/stream/profile.ts';
import { ffmpeg, media, room } from '../../../../../kit/make/prepare.ts';
import { tools } from '../../../../../kit/make/rendition.ts';

const run = promisify(execFile);
const SECONDS = 63;
/** The sound never repeats, so each sample has its place. It ends softly: an AAC decoder makes much noise of a sudden end. */
const sound = (rate: number) =>
  `aevalsrc='(0.3*sin(2*PI*440*t)+0.2*sin(2*PI*(200+5*t)*t))*min(1,${SECONDS}-t)|0.3*sin(2*PI*660*t+sin(t*7))*min(1,${SECONDS}-t)':s=${rate}:d=${SECONDS}`;
const picture = (fps: number | string) => `testsrc2=s=160x90:r=${fps}:d=${SECONDS}`;
const gop = (frames: number) => ['-g', String(frames), '-bf', '2', '-b:v', '300k'];

async function planFor(path: string, framerate: Framerate) {
  const signal = new AbortController().signal;
  const options = { type: 'video' as const, tools, signal, limits: DEFAULT_LIMITS };
  const file = new SourceFile(path, { ...options, findFramerate: (source) => matchFramerate(source, framerate) });
  const { source, scan } = await file.examine();
  const only = { maxPixels: DEFAULT_LIMITS.pixels, canTonemap: false, allowCopy: false };
  const input: PlanInput = { path, source, scan, type: 'video', quality: '720p', framerate, ...only };
  return { input, plan: planRendition(input) };
}

/** Pictures of a ninth of the size are as different, and cost less. */
const shrink = (filters: string) => filters.replace(/scale=w=.*?setsar=1/, 'scale=80:46');
/** Decoded sound is the same to this number of bits. */
const PCM = ['-c:a', 'pcm_s16le'];

/** Returns a hash of each picture that the encoder is given, with its number, and the samples of the sound with the number of the first. */
async function readPart(input: PlanInput, part: Part) {
  const args = planPart(input, part);
  const filters = args.indexOf('-vf') + 1;
  const secondMap = args.indexOf('-map', args.indexOf('-map') + 1);
  const until = args.indexOf('-fps_mode');
  const head = args
    .slice(0, secondMap)
    .slice(0, until)
    .with(filters, shrink(args[filters] ?? ''));
  const soundArgs = args.slice(secondMap, args.indexOf('-c:a'));
  const hashes = ['-f', 'framehash', '-hash', 'adler32', 'pipe:1'];
  const pictures = [...head, '-fps_mode', 'passthrough', '-c:v', 'rawvideo', '-an', ...hashes];
  const inputs = args.slice(0, args.indexOf('-map'));
  const samples = [...inputs, ...soundArgs, ...PCM, '-f', 's16le', 'pipe:1'];
  const [{ stdout: lines }, { stdout: pcm }] = [
    await run('ffmpeg', pictures, { maxBuffer: 2 ** 26 }),
    await run('ffmpeg', samples, { maxBuffer: 2 ** 28, encoding: 'buffer' }),
  ];
  const frames = lines.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  const fields = frames.map((line) => line.split(',').map((field) => field.trim()));
  const cut = /atrim=start=([\d.]+):end/.exec(args[args.indexOf('-af') + 1] ?? '');
  return {
    pictures: fields.map(([, , time, , , hash]) => `${time} ${hash}`),
    firstSample: Math.round(Number(cut?.[1]) * 48_000),
    pcm,
  };
}

describe('parts are given the pictures and the samples of the whole', () => {
  const sources: [string, Framerate, string, { video: string; audio?: string; output: string[] }][] = [
    ['24 frames a second in MP4', 24, 'in.mp4', { video: picture(24), audio: sound(48_000), output: gop(240) }],
    [
      '30 for a profile of 24, ALAC at 44.1 kHz',
      24,
      'in.mp4',
      { video: picture(30), audio: sound(44_100), output: [...gop(200), '-c:a', 'alac'] },
    ],
    [
      '29.97 for 30 in Matroska',
      30,
      'in.mkv',
      { video: picture('30000/1001'), audio: sound(44_100), output: [...gop(250), '-c:a', 'aac'] },
    ],
    [
      '60 for 30, Opus in Matroska',
      30,
      'in.mkv',
      { video: picture(60), audio: sound(48_000), output: [...gop(250), '-c:a', 'libopus'] },
    ],
    [
      '25 for 30, MP3 in QuickTime, open GOPs',
      30,
      'in.mov',
      {
        video: picture(25),
        audio: sound(44_100),
        output: [...gop(200), '-x264-params', 'open-gop=1', '-c:a', 'libmp3lame'],
      },
    ],
    [
      'pictures at irregular times, without sound',
      30,
      'in.mp4',
      { video: `${picture(60)},select='gt(mod(n*n*7919\\,13)\\,6)'`, output: [...gop(150), '-vsync', 'vfr'] },
    ],
  ];
  test.each(sources)('%s', async (_what, framerate, name, source) => {
    await using place = await room();
    const { input, plan } = await planFor(await media(place.path(name), source), framerate);
    expect(canEncodeInParts(input, plan)).toBe(true);
    const frames = plan.videoFrames ?? 0;
    const endSound = audioFramesFor(frames, framerate);
    const whole = await readPart(input, { firstFrame: 0, endFrame: frames, firstSound: 0, endSound });
    expect(whole.pictures).toHaveLength(frames);
    const parts = cutParts(frames, framerate);
    expect(parts.length).toBeGreaterThan(2);
    const made: string[] = [];
    for (const part of parts) {
      const { pictures, pcm, firstSample } = await readPart(input, part);
      made.push(...pictures);
      // Stereo, two bytes a sample. The run-up of each decoder is heard by nobody: only the samples of the part's own frames count.
      const take = (from: Awaited<ReturnType<typeof readPart>>) =>
        from.pcm.subarray(
          (part.firstSound * 1024 - from.firstSample) * 4,
          (part.endSound * 1024 - from.firstSample) * 4,
        );
      // An AAC decoder makes noise of its own. Sound that is a sample too late differs by more than 1000.
      const most = input.source.audio?.codec === 'aac' ? 200 : 1;
      expect(largestDifference(take({ pictures, pcm, firstSample }), take(whole))).toBeLessThanOrEqual(most);
    }
    expect(made).toEqual(whole.pictures);
  });
});

function largestDifference(a: Buffer, b: Buffer): number {
  expect(a.length).toBe(b.length);
  let largest = 0;
  for (let at = 0; at < a.length; at += 2) largest = Math.max(largest, Math.abs(a.readInt16LE(at) - b.readInt16LE(at)));
  return largest;
}

test.each(FRAMERATES)('parts of %d frames a second lie in the file as those of the whole', (framerate) => {
  const frames = 100 * framerate + 7;
  const parts = cutParts(frames, framerate);
  expect(parts.map(({ firstFrame }) => firstFrame)).toEqual(
    [0, 16, 32, 48, 64, 80, 96].map((seconds) => seconds * framerate),
  );
  for (const [at, { endFrame, firstSound, endSound }] of parts.entries()) {
    const next = parts[at + 1];
    expect(endSound).toBe(next?.firstSound ?? audioFramesFor(frames, framerate));
    expect(endFrame).toBe(next?.firstFrame ?? frames);
    const beginMs = videoSlotMs(parts[at]?.firstFrame ?? 0, framerate);
    expect(audioSlotMs(firstSound)).toBeGreaterThanOrEqual(beginMs);
    if (at > 0) expect(audioSlotMs(firstSound - 1)).toBeLessThan(beginMs);
  }
});

describe('one encoder makes the whole where a part cannot begin exactly', () => {
  const video = picture(25);
  test.each([
    ['containers without exact times', 'in.ts', { video, output: gop(50) }],
    ['keyframes that are far apart', 'in.mp4', { video, output: gop(5000) }],
    ['a film of one part', 'in.mp4', { video: 'testsrc2=s=160x90:r=25:d=29', output: gop(50) }],
    [
      'sound in packets of several lengths',
      'in.mkv',
      { video, audio: sound(44_100), output: [...gop(50), '-c:a', 'vorbis', '-strict', '-2'] },
    ],
  ])('%s', async (_what, name, source) => {
    await using place = await room();
    const { input, plan } = await planFor(await media(place.path(name), source), 30);
    expect(canEncodeInParts(input, plan)).toBe(false);
  });

  test('sound with a gap', async () => {
    await using place = await room();
    const whole = await media(place.path('whole.mp4'), { video, audio: sound(48_000), output: gop(50) });
    const gap = place.path('in.mp4');
    await ffmpeg('-i', whole, '-c:v', 'copy', '-af', "aselect='not(between(t,20,23))'", gap);
    const { input, plan } = await planFor(gap, 30);
    expect(canEncodeInParts(input, plan)).toBe(false);
  });
});

test('a part is tried with filters that stay where all of them take pictures of any size', async () => {
  await using place = await room();
  const path = await media(place.path('in.mp4'), { video: 'testsrc2=s=160x90:r=25:d=4', output: gop(50) });
  const { input } = await planFor(path, 30);
  const [part] = cutParts(120, 30) as [Part];
  const [first, second, last] = listPartTries(input, part);
  expect(second).toEqual(first);
  expect(first?.join(' ')).toMatch(/yadif/);
  expect(last?.join(' ')).toMatch(/-reinit_filter 0 /);
  expect(last?.join(' ')).not.toMatch(/yadif/);
  const { source } = input;
  for (const more of [{ interlaced: true }, { orientation: 6 }, { colorTransfer: 'smpte2084' }]) {
    const odd = { ...input, source: { ...source, video: { ...source.video, ...more } as VideoStream } };
    expect(listPartTries(odd, part)).toHaveLength(2);
  }
});
