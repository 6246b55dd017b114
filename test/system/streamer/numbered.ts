/** Makes clips whose pictures say in blocks of black and white which item they are of and which of its frames, and reads recordings of them. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { ProgramItem } from '../../../src/core/resources/stream/playing.ts';
import { makeMedia } from '../../kit/make/made-media.ts';
import { storeRendition } from '../../kit/make/streamer.ts';

export const FPS = 30;
const BLOCKS = 16;
/** Of these, the upper bits tell the item. */
const FRAME_BITS = 10;

/** An item on air: its first frame and the one behind its last. */
export type Segment = [id: string, first: number, end: number];

/** Makes a clip of so many frames by each id, below the storage directory. */
export async function makeNumbered(
  storage: string,
  frames: Readonly<Record<string, number>>,
): Promise<Record<string, ProgramItem>> {
  const clips: Record<string, ProgramItem> = {};
  for (const [number, [id, length]] of Object.entries(frames).entries())
    clips[id] = await makeClip(storage, { id, number, frames: length });
  return clips;
}

const makeClip = (storage: string, { id, number, frames }: { id: string; number: number; frames: number }) =>
  storeRendition(storage, id, FPS, async (path) => {
    const blocks = `geq=lum='255*mod(floor((N+${number * 2 ** FRAME_BITS})/pow(2,floor(X/2))),2)':cb=128:cr=128`;
    const pictures = `color=black:s=${BLOCKS * 2}x8:r=${FPS}:d=${frames / FPS + 1},${blocks},scale=iw*8:ih*8:flags=neighbor`;
    await makeMedia(
      path,
      ...['-f', 'lavfi', '-i', pictures],
      ...['-f', 'lavfi', '-i', `sine=f=${300 + 50 * number}:r=48000:d=${frames / FPS}`, '-frames:v', String(frames)],
      ...['-c:v', 'libx264', '-preset', 'ultrafast', '-pix_fmt', 'yuv420p', '-bf', '0'],
      ...['-g', String(2 * FPS), '-keyint_min', String(2 * FPS), '-sc_threshold', '0', '-b:v', '400k'],
      ...['-c:a', 'aac', '-ac', '2', '-b:a', '128k', '-f', 'flv', '-flvflags', 'no_duration_filesize'],
    );
  });

/** Reads which frames of which items a recording shows, one behind the other. */
export async function decode(file: string, ids: readonly string[]): Promise<Segment[]> {
  const filter = `scale=${BLOCKS}:1:flags=area,format=gray`;
  const args = ['-v', 'error', '-i', file, '-vf', filter, '-fps_mode', 'passthrough', '-f', 'rawvideo', '-'];
  const { stdout } = await promisify(execFile)('ffmpeg', args, { encoding: 'buffer', maxBuffer: 100_000_000 });
  const segments: Segment[] = [];
  for (let at = 0; at < stdout.length; at += BLOCKS) {
    let read = 0;
    for (let bit = 0; bit < BLOCKS; bit++) if ((stdout[at + bit] ?? 0) > 128) read += 2 ** bit;
    const id = ids[read >> FRAME_BITS] ?? `unknown ${read >> FRAME_BITS}`;
    const frame = read % 2 ** FRAME_BITS;
    const last = segments.at(-1);
    if (last?.[0] === id && last[2] === frame) last[2]++;
    else segments.push([id, frame, frame + 1]);
  }
  return segments;
}
