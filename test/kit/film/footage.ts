/** Makes renditions of the films of synthetic.ts, which streamers play: shots, cuts and a moving camera, as the judge of `watch` knows them. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { PICTURE_HEIGHT, PICTURE_WIDTH } from '../../../src/core/platform/watch/pictures.ts';
import type { ProgramItem } from '../../../src/core/resources/stream/playing.ts';
import { storeRendition } from '../make/streamer.ts';

/** Pictures of the film a second; between them the picture stands. */
const DRAWN_FPS = 5;
const FPS = 30;

export interface FootageOptions {
  seconds: number;
  size?: string;
  /** With noise, as cameras have it, at this bitrate. Without it, as little as the pictures need. */
  bitrateKbps?: number;
  draw: (timeMs: number) => Uint8Array;
}

/** Writes FLV with a keyframe every two seconds. */
export async function makeFootage(path: string, options: FootageOptions): Promise<void> {
  const { seconds, size = '640x360', bitrateKbps, draw } = options;
  const input = [
    '-f',
    'rawvideo',
    '-pix_fmt',
    'gray',
    '-s',
    `${PICTURE_WIDTH}x${PICTURE_HEIGHT}`,
    '-r',
    String(DRAWN_FPS),
  ];
  const sound = ['-f', 'lavfi', '-i', `sine=f=330:r=48000:d=${seconds}`];
  const noise = bitrateKbps ? ',noise=alls=12:allf=t' : '';
  const filters = `scale=${size.replace('x', ':')}:flags=bilinear,fps=${FPS}${noise},format=yuv420p`;
  const rate = bitrateKbps
    ? ['-b:v', `${bitrateKbps}k`, '-maxrate', `${bitrateKbps}k`, '-bufsize', `${bitrateKbps}k`]
    : [];
  const gop = ['-bf', '0', '-g', String(2 * FPS), '-keyint_min', String(2 * FPS), '-sc_threshold', '0'];
  const video = ['-vf', filters, '-c:v', 'libx264', '-preset', 'ultrafast', ...rate, ...gop];
  const output = ['-c:a', 'aac', '-ac', '2', '-shortest', '-f', 'flv', '-flvflags', 'no_duration_filesize', path];
  const args = ['-v', 'error', '-y', ...input, '-i', 'pipe:0', ...sound, ...video, ...output];
  const ffmpeg = spawn('ffmpeg', args, { stdio: ['pipe', 'inherit', 'inherit'] });
  const ended = once(ffmpeg, 'close');
  for (let frame = 0; frame < seconds * DRAWN_FPS; frame += 1)
    if (!ffmpeg.stdin.write(draw((frame * 1000) / DRAWN_FPS))) await once(ffmpeg.stdin, 'drain');
  ffmpeg.stdin.end();
  const [code] = await ended;
  if (code !== 0) throw new Error(`ffmpeg ended with ${code}`);
}

/** Makes a rendition below `storageDir`; returns the program's item for it. */
export const makeFilmRendition = (storageDir: string, id: string, options: FootageOptions): Promise<ProgramItem> =>
  storeRendition(storageDir, id, FPS, (path) => makeFootage(path, options));
