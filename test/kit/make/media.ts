/** Media for tests, made by ffmpeg, and what a receiver got, read by ffprobe. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);

interface ClipOptions {
  seconds: number;
  size?: string;
  fps?: number;
  /** Of the tone. */
  hertz?: number;
  /** The one channel that the picture has; a test picture in all of them, if left out. */
  colour?: Colour;
}
export type Colour = 'red' | 'green' | 'blue';

/** Makes a test picture with a tone: `seconds` long. */
export async function makeClip(path: string, options: ClipOptions): Promise<void> {
  const { seconds, size = '640x360', fps = 30, hertz = 440, colour } = options;
  const others = { red: 'g=0:b=0', green: 'r=0:b=0', blue: 'r=0:g=0' };
  const tint = colour ? `,lutrgb=${others[colour]}` : '';
  const picture = `testsrc2=size=${size}:rate=${fps}:duration=${seconds}${tint}`;
  const tone = `sine=frequency=${hertz}:sample_rate=48000:duration=${seconds}`;
  await run('ffmpeg', [
    ...['-v', 'error', '-y', '-f', 'lavfi', '-i', picture, '-f', 'lavfi', '-i', tone],
    ...['-c:v', 'libx264', '-preset', 'ultrafast', '-pix_fmt', 'yuv420p', '-c:a', 'aac', '-shortest', path],
  ]);
}

/** Makes a tone alone. */
export async function makeTone(path: string, { seconds, hertz }: { seconds: number; hertz: number }): Promise<void> {
  const tone = `sine=frequency=${hertz}:sample_rate=48000:duration=${seconds}`;
  await run('ffmpeg', ['-v', 'error', '-y', '-f', 'lavfi', '-i', tone, '-c:a', 'aac', path]);
}

export interface TrackPackets {
  /** Decoding timestamps in seconds, in the order they arrived. */
  dts: number[];
  /** The largest distance from one packet to the next, in seconds. */
  maxStep: number;
  /** How often a timestamp did not increase. */
  notIncreasing: number;
}

/** Every packet of one track of a recording. */
export async function packetsOf(file: string, track: 'v' | 'a'): Promise<TrackPackets> {
  const { stdout } = await run(
    'ffprobe',
    ['-v', 'error', '-select_streams', `${track}:0`, '-show_entries', 'packet=dts_time', '-of', 'csv=p=0', file],
    { maxBuffer: 64 * 2 ** 20 },
  );
  const dts = stdout
    .split('\n')
    .map((line) => Number.parseFloat(line))
    .filter((value) => Number.isFinite(value));
  let maxStep = 0;
  let notIncreasing = 0;
  for (let i = 1; i < dts.length; i += 1) {
    const step = (dts[i] ?? 0) - (dts[i - 1] ?? 0);
    if (step <= 0) notIncreasing += 1;
    maxStep = Math.max(maxStep, step);
  }
  return { dts, maxStep, notIncreasing };
}

/** Decodes a recording whole and answers what ffmpeg complained about; empty when pictures and sound are fine. */
export async function decodeErrors(file: string): Promise<string> {
  // Frames keep the times they have in the file: ffmpeg counts them in frames of a rate that it guesses, and where a player
  // came late and the guess is low, two frames fall on one count, which is no fault of the file.
  const times = ['-fps_mode', 'passthrough', '-enc_time_base', '-1'];
  const args = ['-v', 'error', '-i', file, ...times, '-f', 'null', '-'];
  const { stderr } = await run('ffmpeg', args, { maxBuffer: 16 * 2 ** 20 });
  return stderr.trim();
}
