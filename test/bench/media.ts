/** Makes the clips of the benchmark: renditions for the streamer, and MP4 files with the same packets for its peers. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { DIMENSIONS, type Profile, parseProfile } from '../../src/core/resources/stream/profile.ts';
import { makeMedia as makeSource } from '../kit/make/made-media.ts';
import { type ClipOptions, makeRendition } from '../kit/make/streamer.ts';
import { run } from '../kit/run.ts';
import { prepareOnce } from './remux.ts';
import type { Media } from './senders.ts';

/** One clip of 30 s, as platforms recommend for 720p30. */
export const LONG_CLIP: ClipOptions[] = [{ frames: 900, size: '1280x720', bitrateKbps: 2500 }];
/** Lengths that are no multiple of an AAC frame: 7.3 s, 5.1 s and 4.2 s. */
export const SHORT_CLIPS: ClipOptions[] = [219, 153, 126].map((frames, i) => ({ frames, hertz: 330 + 110 * i }));
/** The same lengths with few bytes, so that a day of them is sent in a minute. */
export const SMALL_CLIPS: ClipOptions[] = SHORT_CLIPS.map((clip) => ({ ...clip, bitrateKbps: 100 }));

export async function makeMedia(root: string, name: string, clips: readonly ClipOptions[]): Promise<Media> {
  const storage = join(root, 'storage');
  const media: Media = { root, storage, profile: '720p30', items: [], files: [] };
  for (const [i, clip] of clips.entries()) {
    const item = await makeRendition(storage, `${name}${i}`, clip);
    const file = join(root, `${name}${i}.mp4`);
    const copy = ['-v', 'error', '-y', '-i', join(storage, item.rendition), '-c', 'copy', file];
    await run('ffmpeg', copy);
    media.items.push(item);
    media.files.push(file);
  }
  return media;
}

/** Two chunks of a rendition. */
const PREPARED_SECONDS = 60;
const AUDIO_KBPS = 128;

/**
 * Makes a clip of this many kbit/s, pictures and sound, and has the product prepare it. The source fits the profile, so its packets are
 * copied: both sides send the same ones.
 */
export async function prepareMedia(
  root: string,
  { profile, kbps }: { profile: Profile; kbps: number },
): Promise<Media> {
  const { quality = '720p', framerate = 30 } = parseProfile(profile) ?? {};
  const { width, height } = DIMENSIONS[quality];
  const dir = join(root, `${profile}-${kbps}`);
  const videoKbps = `${kbps - AUDIO_KBPS}k`;
  const gop = String(2 * framerate);
  await mkdir(dir);
  // Noise takes all the bits that an encoder is given.
  const picture = `testsrc2=s=${width}x${height}:r=${framerate}:d=${PREPARED_SECONDS},noise=alls=20:allf=t`;
  const source = await makeSource(
    join(dir, 'source.mp4'),
    ...['-f', 'lavfi', '-i', picture, '-f', 'lavfi', '-i', `sine=440:r=48000:d=${PREPARED_SECONDS}`],
    ...['-c:v', 'libx264', '-preset', 'ultrafast', '-profile:v', 'main', '-pix_fmt', 'yuv420p', '-bf', '0'],
    ...['-g', gop, '-keyint_min', gop, '-sc_threshold', '0', '-b:v', videoKbps, '-maxrate', videoKbps],
    ...['-bufsize', `${2 * kbps}k`, '-c:a', 'aac', '-ac', '2', '-b:a', `${AUDIO_KBPS}k`],
  );
  const log = await prepareOnce(dir, source, { profile });
  if (!log.includes('"video":"copy"')) throw new Error(`the source of ${kbps} kbit/s was not copied:\n${log}`);
  const rendition = `renditions/x/video-${profile}.flv`;
  const items = [{ id: 'x', name: profile, rendition }];
  return { root: dir, storage: join(dir, 'media'), profile, items, files: [source] };
}

/** Makes a sound of another pitch for the item of a clip that was prepared, and its pictures anew, with a logo and a title in them. */
export async function withLookAndSound({ items, files, profile, ...media }: Media): Promise<Media> {
  const root = `${media.root}-look`;
  await mkdir(root);
  const log = await prepareOnce(root, files[0] ?? '', { profile: `${profile}-l000000`, hasLook: true });
  if (!log.includes('"video":"encode"')) throw new Error(`the look was not encoded:\n${log}`);
  const storage = join(root, 'media');
  const options = { frames: PREPARED_SECONDS * 30, audioOnly: true, hertz: 1000 };
  const { rendition: sound } = await makeRendition(storage, 'sound', options);
  const rendition = `renditions/x/video-${profile}-l000000.flv`;
  return { root, storage, profile, files, items: items.map((item) => ({ ...item, rendition, sound })) };
}
