/**
 * Measures a rendition that must be encoded, beside one ffmpeg that encodes the whole source with the same settings: processor time, wall time,
 * and the quality of the pictures behind the beginning of each chunk.
 */
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { readEndedChildrenSeconds } from '../processes.ts';
import { prepareOnce } from '../remux.ts';
import { median, type Row } from '../report.ts';
import { during, formatRange, run, say, timed } from './run.ts';

const FPS = 30;
/** x264's default, which puts keyframes elsewhere than the chunks begin. */
const SOURCE_GOP_FRAMES = 250;
const PROFILE = '1080p30';
/** Its peaks are limited, which takes the longest. */
const SOUND_PROFILE = 'sound-8-9-20';
const LOOK_PROFILE = `${PROFILE}-l000000`;
const CHUNK = /\.(\d{9})\.[0-9a-f]{16}$/;
/** The settings of src/core/pods/prepare/transcode/plan.ts for 1080p30. */
const SETTINGS = [
  ...['-c:v', 'libx264', '-preset', 'veryfast', '-profile:v', 'high', '-pix_fmt', 'yuv420p', '-bf', '0'],
  ...['-g', '60', '-keyint_min', '60', '-sc_threshold', '0', '-flags', '+cgop'],
  ...['-b:v', '6000k', '-maxrate', '6000k', '-bufsize', '12000k'],
  ...['-c:a', 'aac', '-b:a', '160k', '-ar', '48000', '-ac', '2'],
];

interface EncodeOptions {
  dir: string;
  times: number;
  signal: AbortSignal;
}

interface Cost {
  wallSeconds: number;
  cpuSeconds: number;
}

async function cost(work: () => Promise<unknown>): Promise<Cost> {
  const before = readEndedChildrenSeconds();
  const wallSeconds = await timed(work);
  return { wallSeconds, cpuSeconds: readEndedChildrenSeconds() - before };
}

/** Makes a source that does not fit, since its keyframes are too far apart. */
function makeSource(path: string, seconds: number, signal: AbortSignal): Promise<void> {
  const picture = `testsrc2=s=1920x1080:r=${FPS}:d=${seconds},noise=alls=6:allf=t`;
  const gop = String(SOURCE_GOP_FRAMES);
  return during(`ffmpeg encodes a source of ${seconds} s`, () =>
    run(
      'ffmpeg',
      [
        ...['-v', 'error', '-nostdin', '-y', '-f', 'lavfi', '-i', picture],
        ...['-f', 'lavfi', '-i', `anoisesrc=r=48000:a=0.1:d=${seconds}`, '-c:v', 'libx264', '-preset', 'superfast'],
        ...['-pix_fmt', 'yuv420p', '-g', gop, '-keyint_min', gop, '-sc_threshold', '0', '-b:v', '6000k'],
        ...['-c:a', 'aac', '-b:a', '160k', '-movflags', '+faststart', path],
      ],
      signal,
    ),
  );
}

/** Writes the chunks one behind the other, which is the rendition as a file. Resolves with the numbers of their first frames. */
async function joinChunks(media: string, path: string): Promise<number[]> {
  const names = (await readdir(join(media, 'renditions/x'))).filter((name) => CHUNK.test(name)).sort();
  for (const [n, name] of names.entries())
    await pipeline(
      createReadStream(join(media, 'renditions/x', name)),
      createWriteStream(path, { flags: n === 0 ? 'w' : 'a' }),
    );
  return names.map((name) => Number(CHUNK.exec(name)?.[1]));
}

/** Resolves with the PSNR of each picture's luma, in dB. */
async function measurePsnr(dir: string, made: string, source: string, signal: AbortSignal): Promise<number[]> {
  const stats = join(dir, 'psnr');
  const graph = `[0:v]setpts=N/${FPS}/TB[a];[1:v]setpts=N/${FPS}/TB[b];[a][b]psnr=stats_file=${stats}`;
  await run(
    'ffmpeg',
    ['-v', 'error', '-nostdin', '-i', made, '-i', source, '-lavfi', graph, '-an', '-f', 'null', '-'],
    signal,
  );
  const text = await readFile(stats, 'latin1');
  return [...text.matchAll(/psnr_y:([\d.]+|inf)/g)].map(([, value]) => (value === 'inf' ? 100 : Number(value)));
}

/** Returns the mean over the first second of every chunk but the first. */
function meanBehindBorders(psnr: readonly number[], firstFrames: readonly number[]): number {
  const behind = firstFrames.slice(1).flatMap((frame) => psnr.slice(frame, frame + FPS));
  return behind.reduce((sum, value) => sum + value, 0) / behind.length;
}

export async function encodeRows({ dir, times, signal }: EncodeOptions, seconds: number): Promise<Row[]> {
  const work = join(dir, 'encode');
  await mkdir(work);
  const [source, whole, made] = ['source.mp4', 'whole.flv', 'made.flv'].map((name) => join(work, name)) as [
    string,
    string,
    string,
  ];
  await makeSource(source, seconds, signal);
  const ours: Cost[] = [];
  const peer: Cost[] = [];
  const sound: Cost[] = [];
  const look: Cost[] = [];
  for (let n = 0; n < times; n++) {
    const encode = ['-v', 'error', '-nostdin', '-y', '-i', source, ...SETTINGS, whole];
    peer.push(await during('ffmpeg encodes the whole', () => cost(() => run('ffmpeg', encode, signal))));
    const prepare = (profile = PROFILE) =>
      prepareOnce(work, source, { profile, hasLook: profile === LOOK_PROFILE, signal });
    look.push(await during('the Job makes the look', () => cost(() => prepare(LOOK_PROFILE))));
    sound.push(await during('the Job makes the sound', () => cost(() => prepare(SOUND_PROFILE))));
    ours.push(await during('the Job makes the rendition', () => cost(prepare)));
  }
  const firstFrames = await joinChunks(join(work, 'media'), made);
  const quality = await during('ffmpeg compares the pictures', async () => {
    const [ourDb, peerDb] = [
      await measurePsnr(work, made, source, signal),
      await measurePsnr(work, whole, source, signal),
    ];
    say(`  ${ourDb.length} pictures, ffmpeg ${peerDb.length}`);
    return [meanBehindBorders(ourDb, firstFrames), meanBehindBorders(peerDb, firstFrames)] as const;
  });
  await rm(work, { recursive: true });
  const beside = 'one ffmpeg with the same settings, taking turns';
  const row = (kind: 'wallSeconds' | 'cpuSeconds', title: string, bar: string): Row => {
    const [a, b] = [ours, peer].map((side) => side.map((one) => one[kind])) as [number[], number[]];
    const result = `${(median(a) / median(b)).toFixed(2)}×`;
    return {
      what: `${title} of encoding ${seconds} s of 1080p30, median of ${times}`,
      ours: formatRange(a),
      peer: formatRange(b),
      beside,
      result,
      bar,
    };
  };
  const [ourDb, peerDb] = quality;
  const lookRow = (kind: 'wallSeconds' | 'cpuSeconds', title: string, bar: string): Row => {
    const plain = ours.map((one) => one[kind]);
    const both = look.map((one, n) => one[kind] + (sound[n]?.[kind] ?? 0));
    return {
      what: `${title} of ${seconds} s of 1080p30 with logo, title and a sound of even loudness, median of ${times}`,
      ours: formatRange(both),
      peer: formatRange(plain),
      beside: 'the same rendition without',
      result: `${(median(both) / median(plain)).toFixed(2)}×`,
      bar,
    };
  };
  return [
    row('cpuSeconds', 'processor time', '≤ 1.10×'),
    row('wallSeconds', 'wall time', '–'),
    lookRow('cpuSeconds', 'processor time', '≤ 1.15×'),
    lookRow('wallSeconds', 'wall time', '–'),
    {
      what: 'PSNR (Y) of the first second of every chunk',
      ours: `${ourDb.toFixed(2)} dB`,
      peer: `${peerDb.toFixed(2)} dB`,
      beside: 'the same pictures of one encode',
      result: `${(ourDb - peerDb).toFixed(2)} dB`,
      bar: 'within 0.5 dB',
    },
  ];
}
