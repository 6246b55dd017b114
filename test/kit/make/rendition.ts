/** Makes renditions with prepare itself, and proves with ffprobe that they keep every promise. */
import { copyFile, mkdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { Value } from 'typebox/value';
import { expect } from 'vitest';
import { DEFAULT_LIMITS } from '../../../src/media/limits.ts';
import type { MediaType } from '../../../src/media/prepare/inspect/source.ts';
import { makeRendition } from '../../../src/media/prepare/job/make-rendition.ts';
import { indexKey, RenditionIndex } from '../../../src/media/rendition/index.ts';
import { DIMENSIONS, parseProfile } from '../../../src/resources/stream/profile.ts';
import { PREVIEW_PROFILE } from '../../../src/resources/upload/spec.ts';
import { ffmpeg, inspect, quiet, type room } from './prepare.ts';

const AAC_FRAME_MS = 1024 / 48;
export const tools = { ffmpeg: 'ffmpeg', ffprobe: 'ffprobe' };
type Room = Awaited<ReturnType<typeof room>>;

export const taskFor = (type: MediaType, profile: string) => ({
  action: 'rendition' as const,
  type,
  profile,
  sourceKey: 'sources/x',
  renditionKey: `renditions/x/${type}-${profile}.flv`,
});

export const createContext = ({ storage }: Room, signal = new AbortController().signal) => ({
  storage,
  tools,
  signal,
  log: quiet,
  limits: DEFAULT_LIMITS,
});

/** Makes the rendition of `path` and proves, with ffprobe and its index, all that any rendition promises. */
export async function rendition(
  place: Room,
  path: string,
  type: MediaType = 'video',
  profile = '720p30',
  limits = DEFAULT_LIMITS,
) {
  await mkdir(join(place.dir, 'media', 'sources'), { recursive: true });
  await copyFile(path, join(place.dir, 'media', 'sources', 'x'));
  const task = taskFor(type, profile);
  const { rendition: status, warnings } = await makeRendition(task, { ...createContext(place), limits });
  const file = join(place.dir, 'media', task.renditionKey);
  const found = await inspect(file);
  const index: unknown = JSON.parse(await text(await place.storage.read(indexKey(task.renditionKey))));
  if (!Value.Check(RenditionIndex, index)) throw new Error('not an index');
  expect(status).toEqual({
    profile,
    state: 'ready',
    key: task.renditionKey,
    durationSeconds: index.durationSeconds,
    bitrateKbps: index.bitrateKbps,
  });
  expect(index.sizeBytes).toBe((await stat(file)).size);
  expect(index.audio?.frames).toBe(found.audioTimes.length);
  expect(found.audioTimes).toEqual(found.audioTimes.map((_, frame) => Math.round(frame * AAC_FRAME_MS)));
  expect(found.audio).toMatchObject({ codec_name: 'aac', profile: 'LC', sample_rate: '48000', channels: 2 });
  if (type === 'video') proveVideo(found, index, profile);
  return { ...found, index, file, warnings };
}

function proveVideo(found: Awaited<ReturnType<typeof inspect>>, index: RenditionIndex, profile: string) {
  const { quality, framerate: fps } = parseProfile(profile) ?? { quality: '720p', framerate: 30 };
  const frames = found.videoTimes.length;
  expect(found.videoTimes).toEqual(found.videoTimes.map((_, frame) => Math.round((frame * 1000) / fps)));
  expect(found.reordered).toBe(0);
  expect(found.keyframes).toEqual(found.keyframes.map((_, gop) => gop * 2 * fps));
  expect(found.keyframes).toHaveLength(Math.ceil(frames / (2 * fps)));
  expect(index.video?.frames).toBe(frames);
  expect(index.video?.keyframes.map(({ frame }) => frame)).toEqual(found.keyframes);
  expect(Math.abs(found.audioTimes.length * AAC_FRAME_MS - (frames * 1000) / fps)).toBeLessThan(AAC_FRAME_MS);
  expect(found.video).toMatchObject({
    codec_name: 'h264',
    pix_fmt: 'yuv420p',
    has_b_frames: 0,
    ...(profile === PREVIEW_PROFILE ? { width: 640, height: 360 } : DIMENSIONS[quality]),
  });
  expect(['High', 'Main', 'Constrained Baseline']).toContain(found.video.profile);
  expect(index.durationSeconds).toBeCloseTo(frames / fps, 6);
  expect(['1:1', undefined]).toContain(found.video.sample_aspect_ratio);
}

/** Returns the bounding box of the picture without its black bars, in pixels: [width, height, x, y]. */
export async function pictureIn(file: string): Promise<number[]> {
  const filters = 'cropdetect=limit=40:round=2:reset=0,metadata=print:file=-';
  const { stdout } = await ffmpeg('-i', file, '-an', '-frames:v', '2', '-vf', filters, '-f', 'null', '-');
  const last = (name: string) =>
    Number(
      stdout
        .match(new RegExp(`cropdetect\\.${name}=(\\d+)`, 'g'))
        ?.at(-1)
        ?.split('=')[1],
    );
  return ['w', 'h', 'x', 'y'].map(last);
}

/**
 * Decodes a file as a player does. Returns means of luma and chroma of each picture, and the seconds at which the sound stops (for a tenth
 * of a second at least) and returns.
 */
export async function played(file: string) {
  // A small picture has the same means, and costs less to measure.
  const pictures = 'scale=64:36:flags=area,signalstats,metadata=print:file=-';
  const sound = 'silencedetect=n=-40dB:d=0.1,ametadata=print:file=pipe\\\\:2';
  const { stdout, stderr } = await ffmpeg('-i', file, '-vf', pictures, '-af', sound, '-f', 'null', '-');
  const all = (text: string, name: string) =>
    [...text.matchAll(new RegExp(`\\b${name}=(\\S+)`, 'g'))].map(([, value]) => Number(value));
  return {
    y: all(stdout, 'YAVG'),
    u: all(stdout, 'UAVG'),
    v: all(stdout, 'VAVG'),
    silent: all(stderr, 'silence_start'),
    heard: all(stderr, 'silence_end'),
  };
}

/** lavfi sources: a tone, and a test picture. */
export const TONE = 'sine=440:r=48000:d=1';
export const picture = (size: string, fps: number | string = 30, seconds = 1) =>
  `testsrc2=s=${size}:r=${fps}:d=${seconds}`;
