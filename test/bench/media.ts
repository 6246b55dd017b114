/** Makes the clips of the benchmark: renditions for the streamer, and MP4 files with the same packets for its peers. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type ClipOptions, makeRendition } from '../kit/make/streamer.ts';
import type { Media } from './senders.ts';

/** One clip of 30 s, as platforms recommend for 720p30. */
export const LONG_CLIP: ClipOptions[] = [{ frames: 900, size: '1280x720', bitrateKbps: 2500 }];
/** Lengths that are no multiple of an AAC frame: 7.3 s, 5.1 s and 4.2 s. */
export const SHORT_CLIPS: ClipOptions[] = [219, 153, 126].map((frames, i) => ({ frames, hertz: 330 + 110 * i }));
/** The same lengths with few bytes, so that a day of them is sent in a minute. */
export const SMALL_CLIPS: ClipOptions[] = SHORT_CLIPS.map((clip) => ({ ...clip, bitrateKbps: 100 }));

export async function makeMedia(root: string, name: string, clips: readonly ClipOptions[]): Promise<Media> {
  const storage = join(root, 'storage');
  const media: Media = { root, storage, items: [], files: [] };
  for (const [i, clip] of clips.entries()) {
    const item = await makeRendition(storage, `${name}${i}`, clip);
    const file = join(root, `${name}${i}.mp4`);
    const copy = ['-v', 'error', '-y', '-i', join(storage, item.rendition), '-c', 'copy', file];
    await promisify(execFile)('ffmpeg', copy);
    media.items.push(item);
    media.files.push(file);
  }
  return media;
}
