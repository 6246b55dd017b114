/** Makes renditions of the films of synthetic.ts, which streamers play: shots, cuts and a moving camera, as the judge of `watch` knows them. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { PICTURE_HEIGHT, PICTURE_WIDTH } from '../../../src/core/platform/watch/pictures.ts';
import { indexKey } from '../../../src/core/pods/rendition/index.ts';
import type { ProgramItem } from '../../../src/core/resources/stream/playing.ts';
import { buildIndex } from '../make/streamer.ts';

/** Pictures of the film a second; between them the picture stands. */
const DRAWN_FPS = 5;
const FPS = 30;

export interface FootageOptions {
  seconds: number;
  size?: string;
  draw: (timeMs: number) => Uint8Array;
}

/** Writes FLV with a keyframe every two seconds. */
export async function makeFootage(path: string, { seconds, size = '640x360', draw }: FootageOptions): Promise<string> {
  await mkdir(dirname(path), { recursive: true });
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
  const video = [
    '-vf',
    `scale=${size.replace('x', ':')}:flags=bilinear,format=yuv420p`,
    '-r',
    String(FPS),
    '-c:v',
    'libx264',
  ];
  const gop = [
    '-preset',
    'ultrafast',
    '-bf',
    '0',
    '-g',
    String(2 * FPS),
    '-keyint_min',
    String(2 * FPS),
    '-sc_threshold',
    '0',
  ];
  const output = ['-c:a', 'aac', '-ac', '2', '-shortest', '-f', 'flv', '-flvflags', 'no_duration_filesize', path];
  const ffmpeg = spawn(
    'ffmpeg',
    ['-v', 'error', '-y', ...input, '-i', 'pipe:0', ...sound, ...video, ...gop, ...output],
    {
      stdio: ['pipe', 'inherit', 'inherit'],
    },
  );
  for (let frame = 0; frame < seconds * DRAWN_FPS; frame += 1)
    if (!ffmpeg.stdin.write(draw((frame * 1000) / DRAWN_FPS))) await once(ffmpeg.stdin, 'drain');
  ffmpeg.stdin.end();
  const [code] = await once(ffmpeg, 'close');
  if (code !== 0) throw new Error(`ffmpeg ended with ${code}`);
  return path;
}

/** Makes a rendition below `storageDir`; returns the program's item for it. */
export async function makeFilmRendition(storageDir: string, id: string, options: FootageOptions): Promise<ProgramItem> {
  const rendition = `renditions/${id}.flv`;
  const path = await makeFootage(join(storageDir, rendition), options);
  await writeFile(join(storageDir, indexKey(rendition)), JSON.stringify(buildIndex(await readFile(path), FPS)));
  return { id, name: `Film ${id}`, rendition };
}
