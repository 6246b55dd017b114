/** Measures the time to make a rendition of a fitting source of an hour, beside `ffmpeg -c copy` of the same file. */
import { execFile } from 'node:child_process';
import { link, mkdir, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import type { ResolvedLayer } from '../../src/core/resources/upload/overlays.ts';
import { DRAW_TEXT, ensureCompiled } from '../../tools/process/compiled.ts';
import { makeImageLayer, makeTextLayer } from '../kit/make/looks.ts';
import { median, type Row } from './report.ts';

const run = promisify(execFile);
/** The image's program; the benchmark builds it first. */
const MAIN = resolve(import.meta.dirname, '../../dist/app/main.js');
const CLIP_SECONDS = 20;

export interface RemuxTimes {
  /** Median seconds of the Job's whole process: probed, copied, proven, hashed, indexed, on the disk. */
  ours: number;
  /** Median seconds of `ffmpeg -c copy` into an FLV file. */
  peer: number;
  ratio: number;
}

/** Makes an MP4 of so many minutes that needs no encoding in 720p30, at about 1.8 Mbit/s: one clip looped, under one tone. */
async function fittingSource(dir: string, minutes: number): Promise<string> {
  const clip = join(dir, 'clip.mp4');
  const source = join(dir, 'source.mp4');
  const loops = String((minutes * 60) / CLIP_SECONDS - 1);
  await run('ffmpeg', [
    ...['-v', 'error', '-y', '-f', 'lavfi', '-i', `testsrc2=s=1280x720:r=30:d=${CLIP_SECONDS}`],
    ...['-c:v', 'libx264', '-preset', 'ultrafast', '-profile:v', 'main', '-pix_fmt', 'yuv420p', '-bf', '0'],
    ...['-g', '60', '-keyint_min', '60', '-sc_threshold', '0', '-b:v', '1600k', '-maxrate', '1600k'],
    ...['-bufsize', '3200k', clip],
  ]);
  await run('ffmpeg', [
    ...['-v', 'error', '-y', '-stream_loop', loops, '-i', clip, '-f', 'lavfi', '-i', 'sine=440:r=48000'],
    ...['-map', '0:v', '-map', '1:a', '-c:v', 'copy', '-c:a', 'aac', '-b:a', '128k', '-ac', '2'],
    ...['-t', String(minutes * 60), source],
  ]);
  return source;
}

interface Prepared {
  profile: string;
  /** A logo and a title are in the pictures. */
  hasLook?: boolean;
  signal?: AbortSignal;
}

const LOGO_KEY = 'sources/logo';

/** Makes a logo, and resolves with the layers of a look that shows it and a title. */
async function makeLayers(media: string): Promise<ResolvedLayer[]> {
  const logo = [
    '-v',
    'error',
    '-y',
    '-f',
    'lavfi',
    '-i',
    'testsrc2=s=512x512',
    '-frames:v',
    '1',
    '-f',
    'image2',
    '-c',
    'png',
  ];
  await run('ffmpeg', [...logo, join(media, LOGO_KEY)]);
  return [
    makeImageLayer(LOGO_KEY, { anchor: 'TopRight', sizePercent: 10 }),
    makeTextLayer('A song of the night, and who sings it', { anchor: 'BottomLeft', outlineColor: '#000000' }),
  ];
}

/** Runs the Job as its pod does, and resolves to its log. */
export async function prepareOnce(
  dir: string,
  source: string,
  { profile, hasLook = false, signal }: Prepared,
): Promise<string> {
  const media = join(dir, 'media');
  await rm(media, { recursive: true, force: true });
  await mkdir(join(media, 'sources'), { recursive: true });
  await link(source, join(media, 'sources', 'x'));
  const renditionKey = `renditions/x/video-${profile}.flv`;
  const made = hasLook ? { look: { layers: await makeLayers(media) } } : {};
  const task = { action: 'rendition', type: 'video', sourceKey: 'sources/x', profile, renditionKey, ...made };
  const { stderr } = await run(process.execPath, [MAIN, 'prepare'], {
    env: {
      PATH: process.env.PATH,
      LOOPSTREAM_TASK: JSON.stringify(task),
      LOOPSTREAM_RESULT_FILE: join(dir, 'result'),
      LOOPSTREAM_STORAGE_URL: pathToFileURL(media).href,
      ...(hasLook && { LOOPSTREAM_DRAW_TEXT: await ensureCompiled(DRAW_TEXT) }),
    },
    ...(signal && { signal }),
  });
  return stderr;
}

async function copyOnce(dir: string, source: string): Promise<void> {
  const log = await prepareOnce(dir, source, { profile: '720p30' });
  if (!log.includes('"video":"copy"')) throw new Error(`the source was not copied:\n${log}`);
}

/** Makes the source below `dir`, an empty directory, then alternates between the two. Takes about three minutes. */
export async function measureRemux(dir: string, { times = 5, minutes = 60 } = {}): Promise<RemuxTimes> {
  const source = await fittingSource(dir, minutes);
  const timed = async (work: () => Promise<unknown>): Promise<number> => {
    const from = performance.now();
    await work();
    return (performance.now() - from) / 1000;
  };
  const ours: number[] = [];
  const peer: number[] = [];
  for (let i = 0; i < times; i++) {
    const copy = ['-v', 'error', '-nostdin', '-y', '-i', source, '-c', 'copy', join(dir, 'peer.flv')];
    peer.push(await timed(() => run('ffmpeg', copy)));
    ours.push(await timed(() => copyOnce(dir, source)));
  }
  return { ours: median(ours), peer: median(peer), ratio: median(ours) / median(peer) };
}

export const remuxRow = ({ ours, peer, ratio }: RemuxTimes): Row => ({
  what: 'rendition of a fitting source of one hour',
  ours: `${ours.toFixed(2)} s`,
  peer: `${peer.toFixed(2)} s`,
  beside: 'ffmpeg -c copy, taking turns',
  result: `${ratio.toFixed(2)}×`,
  bar: '≤ 1.5×',
});
