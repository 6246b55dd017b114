/** Takes the cover of a song out of its file. */
import type { MediaTools } from '../inspect/ffprobe.ts';
import type { Source } from '../inspect/source.ts';
import { takePicture } from '../tools/take-picture.ts';
import { openInput } from '../tools/untrusted-input.ts';
import { turnArgs } from '../transcode/plan.ts';
import { readPngSize, type Size } from './place.ts';

/** Longer side, in pixels: more than any card shows of it. */
const LONGER_SIDE = 1280;
/** No PNG of this size in pixels is larger. */
const MAX_BYTES = 4 * LONGER_SIDE ** 2 + 65_536;

export interface Cover extends Size {
  /** A PNG. */
  bytes: Buffer;
}

interface CoverOptions {
  tools: MediaTools;
  signal: AbortSignal;
  /** Larger pictures are not decoded, whatever their header says. */
  maxPixels: number;
}

/**
 * Resolves with the first picture of the file; undefined where it has none that can be decoded. Rejects with the signal's reason, or with
 * ToolError where ffmpeg did not run.
 */
export async function takeCover(
  path: string,
  { video, patches, ...source }: Source,
  { tools, signal, maxPixels }: CoverOptions,
): Promise<Cover | undefined> {
  const scale = (own: string) => `max(1,round(${own}*min(1,${LONGER_SIDE}/max(iw*sar,ih))))`;
  const args = [
    ...['-v', 'error', '-hide_banner', '-nostdin', '-threads', '1', '-max_pixels', String(maxPixels)],
    ...[...turnArgs({ ...source, video }), ...openInput(path, patches)],
    ...['-map', video ? `0:${video.index}` : '0:v:0', '-frames:v', '1'],
    ...['-vf', `scale=w='${scale('iw*sar')}':h='${scale('ih')}':flags=area,setsar=1,format=rgb24`],
    // As it is, a packet is a file.
    ...['-c:v', 'png', '-threads', '1', '-f', 'rawvideo', 'pipe:1'],
  ];
  const taken = await takePicture(tools.ffmpeg, args, { signal, maxBytes: MAX_BYTES });
  const size = taken && readPngSize(taken.bytes);
  return size && { bytes: taken.bytes, ...size };
}
