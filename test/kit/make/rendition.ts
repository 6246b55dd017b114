/** Makes renditions with prepare itself, and proves with ffprobe that they keep every promise. */
import { createHash } from 'node:crypto';
import { copyFile, mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { buffer, text } from 'node:stream/consumers';
import { Value } from 'typebox/value';
import { expect } from 'vitest';
import type { MediaType } from '../../../src/core/pods/prepare/inspect/source.ts';
import { makeRendition } from '../../../src/core/pods/prepare/job/make-rendition.ts';
import type { JobContext, RenditionTask } from '../../../src/core/pods/prepare/steps/context.ts';
import { RenditionOutput } from '../../../src/core/pods/prepare/transcode/rendition-output.ts';
import { TAG_HEADER_BYTES, TAG_VIDEO } from '../../../src/core/pods/rendition/flv.ts';
import { ChunkEntry, chunkKey, entryKey, indexKey, RenditionIndex } from '../../../src/core/pods/rendition/index.ts';
import { DEFAULT_LIMITS } from '../../../src/core/protocol/media-limits.ts';
import { DIMENSIONS, parseProfile } from '../../../src/core/resources/stream/profile.ts';
import { parseLookProfile } from '../../../src/core/resources/upload/look.ts';
import { parseSoundProfile } from '../../../src/core/resources/upload/loudness.ts';
import { PREVIEW_PROFILE, type TrackChoice } from '../../../src/core/resources/upload/spec.ts';
import { ffmpeg, inspect, quiet, type room } from './prepare.ts';

const AAC_FRAME_MS = 1024 / 48;
export const tools = { ffmpeg: 'ffmpeg', ffprobe: 'ffprobe', drawText: 'draw-text' };
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
  {
    tracks,
    look,
    ...more
  }: Partial<Pick<JobContext, 'limits' | 'ownRates' | 'tools'>> & { tracks?: TrackChoice } & Pick<
      RenditionTask,
      'look'
    > = {},
) {
  await mkdir(join(place.dir, 'media', 'sources'), { recursive: true });
  await copyFile(path, join(place.dir, 'media', 'sources', 'x'));
  const task = { ...taskFor(type, profile), ...(tracks && { tracks }), ...(look && { look }) };
  const { rendition: status, warnings } = await makeRendition(task, { ...createContext(place), ...more });
  const index: unknown = JSON.parse(await text(await place.storage.read(indexKey(task.renditionKey))));
  if (!Value.Check(RenditionIndex, index)) throw new Error('not an index');
  await proveChunks(place, task.renditionKey, index);
  const file = await joinChunks(place, task.renditionKey, index);
  const found = await inspect(file);
  expect(status).toEqual({
    profile,
    state: 'ready',
    key: task.renditionKey,
    durationSeconds: index.durationSeconds,
    bitrateKbps: index.bitrateKbps,
    ...(index.loudness && { loudness: index.loudness }),
  });
  expect(index.sizeBytes).toBe((await stat(file)).size);
  expect(index.audio.frames).toBe(found.audioTimes.length);
  // Sound lies at the time of the pictures that are shown with it: the first of them is shown when it was decoded, or later.
  const hasPictures = type === 'video' && !parseSoundProfile(profile);
  const delayMs = Math.min(...(hasPictures ? found.videoTimes : [0]));
  expect(found.audioTimes).toEqual(found.audioTimes.map((_, frame) => delayMs + Math.round(frame * AAC_FRAME_MS)));
  expect(found.audio).toMatchObject({ codec_name: 'aac', profile: 'LC', sample_rate: '48000', channels: 2 });
  if (hasPictures) proveVideo(found, index, profile);
  return { ...found, index, file, warnings };
}

/** Joins the chunks to the FLV file that they are together; returns its path. */
export async function joinChunks({ dir }: Room, renditionKey: string, { chunks }: RenditionIndex): Promise<string> {
  const media = join(dir, 'media');
  const parts = chunks.map((chunk) => readFile(join(media, chunkKey(renditionKey, chunk))));
  const file = join(dir, `${basename(renditionKey)}.joined.flv`);
  await writeFile(file, Buffer.concat(await Promise.all(parts)));
  return file;
}

/** Proves that each chunk is what its entry and the index say, and that the chunks follow each other from the first frame on. */
async function proveChunks({ storage }: Room, renditionKey: string, index: RenditionIndex): Promise<void> {
  let frame = 0;
  for (const chunk of index.chunks) {
    expect(chunk.firstFrame).toBe(frame);
    const bytes = await buffer(await storage.read(chunkKey(renditionKey, chunk)));
    expect(bytes.length).toBe(chunk.sizeBytes);
    expect(createHash('sha256').update(bytes).digest('hex')).toBe(chunk.sha256);
    const entry: unknown = JSON.parse(await text(await storage.read(entryKey(renditionKey, frame))));
    if (!Value.Check(ChunkEntry, entry)) throw new Error('not an entry');
    expect(entry).toMatchObject({ profile: index.profile, chunk });
    const { header, keyframes = [] } = chunk.video ?? {};
    expect(header === undefined).toBe(index.video === undefined);
    if (header !== undefined) expect(keyframes[0]?.frame).toBe(frame);
    for (const keyframe of keyframes) {
      const tag = bytes.subarray(keyframe.offset, keyframe.offset + TAG_HEADER_BYTES + 2);
      expect([tag[0], tag[TAG_HEADER_BYTES]]).toEqual([TAG_VIDEO, 0x17]);
    }
    frame += chunk.frames;
  }
  expect(frame).toBe(index.video?.frames ?? index.audio.frames);
}

function proveVideo(found: Awaited<ReturnType<typeof inspect>>, index: RenditionIndex, profile: string) {
  const { quality } = parseProfile(parseLookProfile(profile)?.profile ?? profile) ?? { quality: '720p' };
  const { frameRateNum = 0, frameRateDen = 1 } = index.video ?? {};
  const fps = frameRateNum / frameRateDen;
  const frames = found.videoTimes.length;
  const slotMs = (frame: number) => Math.floor((frame * 1000 * frameRateDen) / frameRateNum + 0.5);
  expect(found.decodeTimes).toEqual(found.decodeTimes.map((_, frame) => slotMs(frame)));
  const shown = found.videoTimes.toSorted((a, b) => a - b);
  const delayFrames = Math.round(((shown[0] ?? 0) * fps) / 1000);
  expect(shown).toEqual(shown.map((_, frame) => slotMs(frame + delayFrames)));
  expect(found.videoTimes.filter((time, frame) => time < slotMs(frame))).toEqual([]);
  const gops = [...found.keyframes, frames].map((frame, gop, starts) => frame - (starts[gop - 1] ?? 0));
  expect(Math.max(...gops)).toBeLessThanOrEqual(4 * fps);
  expect(index.video?.frames).toBe(frames);
  const listed = index.chunks.flatMap(({ video }) => video?.keyframes.map(({ frame }) => frame) ?? []);
  expect(found.keyframes).toEqual(expect.arrayContaining(listed));
  expect(listed[0]).toBe(0);
  expect(Math.abs(found.audioTimes.length * AAC_FRAME_MS - (frames * 1000) / fps)).toBeLessThan(AAC_FRAME_MS);
  expect(found.video).toMatchObject({
    codec_name: 'h264',
    pix_fmt: 'yuv420p',
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

/** Opens the place in storage that a test's ffmpeg writes to by transcode(). */
export const openOutput = ({ storage }: Room, framerate: number | undefined) =>
  new RenditionOutput({
    storage,
    renditionKey: 'renditions/out',
    profile: '720p30',
    framerate,
    expectedFrames: 300,
    provisional: false,
  });
