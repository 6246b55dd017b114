/** Helps the streamer's tests: makes renditions with ffmpeg, writes a pod's files, and probes the output. */
import { createHash } from 'node:crypto';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import {
  isAacSequenceHeader,
  isAudioFrame,
  isAvcSequenceHeader,
  isKeyframe,
  isVideoFrame,
  parseFlv,
} from '../../../src/core/pods/rendition/flv.ts';
import { indexKey, type RenditionIndexV1 } from '../../../src/core/pods/rendition/index.ts';
import type { Program } from '../../../src/core/protocol/program.ts';
import type { ProgramItem } from '../../../src/core/resources/stream/playing.ts';
import { run } from '../run.ts';
import { makeMedia } from './made-media.ts';

export interface ClipOptions {
  frames: number;
  fps?: number;
  size?: string;
  /** The number of B-frames. */
  bframes?: number;
  /** Pitch of the sound. */
  hertz?: number;
  /** Without pictures: an audio rendition. */
  audioOnly?: boolean;
  bitrateKbps?: number;
  /** A constant bitrate, padded where the pictures need less. */
  constant?: boolean;
}

/** Builds the index of an FLV file, as earlier releases wrote it. */
export function buildIndex(data: Buffer, fps: number, profile = `720p${fps}`): RenditionIndexV1 {
  const tags = parseFlv(data);
  const pictures = tags.filter(isVideoFrame);
  const sounds = tags.filter(isAudioFrame).length;
  const header = (is: typeof isKeyframe) => tags.find(is)?.body.toString('base64') ?? '';
  const durationSeconds = pictures.length > 0 ? pictures.length / fps : (sounds * 1024) / 48_000;
  return {
    version: 1,
    profile,
    sizeBytes: data.length,
    sha256: createHash('sha256').update(data).digest('hex'),
    durationSeconds,
    bitrateKbps: (data.length * 0.008) / durationSeconds,
    ...(pictures.length > 0 && {
      video: {
        frameRateNum: fps,
        frameRateDen: 1,
        frames: pictures.length,
        header: header(isAvcSequenceHeader),
        keyframes: pictures.flatMap((tag, frame) => (isKeyframe(tag) ? [{ frame, offset: tag.offset }] : [])),
      },
    }),
    ...(sounds > 0 && { audio: { frames: sounds, header: header(isAacSequenceHeader) } }),
  };
}

/** Makes a rendition and its index below `storageDir`; returns the program's item for it. */
export async function makeRendition(storageDir: string, id: string, options: ClipOptions): Promise<ProgramItem> {
  const {
    frames,
    fps = 30,
    size = '320x180',
    bframes = 0,
    hertz = 440,
    audioOnly = false,
    bitrateKbps = 400,
    constant = false,
  } = options;
  const seconds = frames / fps;
  const sound = ['-f', 'lavfi', '-i', `sine=f=${hertz}:r=48000:d=${seconds}`];
  const picture = ['-f', 'lavfi', '-i', `testsrc=s=${size}:r=${fps}:d=${seconds + 1}`];
  const args = [
    ...[...(audioOnly ? [] : picture), ...sound],
    ...(audioOnly
      ? []
      : ['-frames:v', String(frames), '-c:v', 'libx264', '-preset', 'ultrafast', '-pix_fmt', 'yuv420p']),
    ...(audioOnly
      ? []
      : ['-bf', String(bframes), '-g', String(fps * 2), '-keyint_min', String(fps * 2), '-sc_threshold', '0']),
    ...(audioOnly ? [] : ['-b:v', `${bitrateKbps}k`, '-maxrate', `${bitrateKbps}k`, '-bufsize', `${bitrateKbps}k`]),
    ...(constant ? ['-x264-params', 'nal-hrd=cbr:filler=1'] : []),
    ...['-c:a', 'aac', '-ac', '2', '-b:a', '128k', '-f', 'flv', '-flvflags', 'no_duration_filesize'],
  ];
  return storeRendition(storageDir, id, fps, async (path) => void (await makeMedia(path, ...args)));
}

/** Has a rendition made at a path below `storageDir`, and writes its index beside it; returns the program's item for it. */
export async function storeRendition(
  storageDir: string,
  id: string,
  fps: number,
  make: (path: string) => Promise<void>,
): Promise<ProgramItem> {
  const rendition = `renditions/${id}.flv`;
  const path = join(storageDir, rendition);
  await mkdir(dirname(path), { recursive: true });
  await make(path);
  await writeFile(join(storageDir, indexKey(rendition)), JSON.stringify(buildIndex(await readFile(path), fps)));
  return { id, name: `Clip ${id}`, rendition };
}

export function buildProgram(items: ProgramItem[], changes: Partial<Program> = {}): Program {
  return {
    version: 1,
    epoch: new Date().toISOString(),
    seed: 7,
    profile: '720p30',
    video: { mode: 'sequential', items },
    destinations: ['main'],
    ...changes,
  };
}

/** Writes the file as Kubernetes does: readers see the old or the new one. */
export async function writeAtomically(path: string, content: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(`${path}.new`, content);
  await rename(`${path}.new`, path);
}

/** Adds a destination to the file, or replaces the one with this name. */
export async function writeDestination(
  file: string,
  name: string,
  [rtmpUrl, rtmpKey, login, leastBitrateKbps]: DestinationSecrets,
): Promise<void> {
  const others = JSON.parse(await readFile(file, 'utf8').catch(() => '{}')) as object;
  const [rtmpUser, rtmpPassword] = login ?? [];
  const secrets = { rtmpUrl, rtmpKey, ...(login && { rtmpUser, rtmpPassword }), leastBitrateKbps };
  await writeAtomically(file, JSON.stringify({ ...others, [name]: secrets }));
}

export type DestinationSecrets = [
  url: string,
  key: string,
  login?: [user: string, password: string] | undefined,
  leastBitrateKbps?: number | undefined,
];

export interface Packet {
  codec_type: 'video' | 'audio';
  dtsMs: number;
  ptsMs: number;
  keyframe: boolean;
}

/** Reads every packet of a file in its order, with ffprobe. */
export async function readPackets(path: string): Promise<Packet[]> {
  const args = ['-v', 'error', '-show_entries', 'packet=codec_type,dts,pts,flags', '-of', 'json', path];
  const { stdout } = await run('ffprobe', args);
  const { packets } = JSON.parse(stdout) as {
    packets: { codec_type: 'video' | 'audio'; dts: number; pts: number; flags: string }[];
  };
  return packets.map((p) => ({
    codec_type: p.codec_type,
    dtsMs: p.dts,
    ptsMs: p.pts,
    keyframe: p.flags.startsWith('K'),
  }));
}

export interface Steps {
  packets: number;
  notIncreasing: number;
  longestMs: number;
}

/** Returns the steps between one track's timestamps. */
export function computeSteps(packets: Packet[], type: 'video' | 'audio'): Steps {
  const times = packets.filter((p) => p.codec_type === type).map((p) => p.dtsMs);
  const steps = times.slice(1).map((t, i) => t - (times[i] ?? t));
  return {
    packets: times.length,
    notIncreasing: steps.filter((step) => step <= 0).length,
    longestMs: Math.max(0, ...steps),
  };
}
