/** Makes media for tests with ffmpeg, and reads recordings with ffprobe. */

import { run } from '../run.ts';
import { makeMedia } from './made-media.ts';

interface ClipOptions {
  seconds: number;
  size?: string;
  fps?: number;
  /** The tone's frequency. */
  hertz?: number;
  /** The picture's one colour channel; a test picture in all channels by default. */
  colour?: Colour;
}
export type Colour = 'red' | 'green' | 'blue';

/** Makes a test picture with a tone, `seconds` long. */
export async function makeClip(path: string, options: ClipOptions): Promise<void> {
  const { seconds, size = '640x360', fps = 30, hertz = 440, colour } = options;
  const others = { red: 'g=0:b=0', green: 'r=0:b=0', blue: 'r=0:g=0' };
  const tint = colour ? `,lutrgb=${others[colour]}` : '';
  const picture = `testsrc2=size=${size}:rate=${fps}:duration=${seconds}${tint}`;
  const tone = `sine=frequency=${hertz}:sample_rate=48000:duration=${seconds}`;
  const how = ['-c:v', 'libx264', '-preset', 'ultrafast', '-pix_fmt', 'yuv420p', '-c:a', 'aac', '-shortest'];
  await makeMedia(path, '-f', 'lavfi', '-i', picture, '-f', 'lavfi', '-i', tone, ...how);
}

/** Makes a tone without pictures. */
export async function makeTone(path: string, { seconds, hertz }: { seconds: number; hertz: number }): Promise<void> {
  const tone = `sine=frequency=${hertz}:sample_rate=48000:duration=${seconds}`;
  await makeMedia(path, '-f', 'lavfi', '-i', tone, '-c:a', 'aac');
}

export interface TrackPackets {
  /** Decoding timestamps in seconds, in the order of arrival. */
  dts: number[];
  /** The largest distance from one packet to the next, in seconds. */
  maxStep: number;
  /** The number of timestamps that did not increase. */
  notIncreasing: number;
}

/** Reads every packet of one track of a recording. */
export async function readTrackPackets(file: string, track: 'v' | 'a'): Promise<TrackPackets> {
  const args = [
    '-v',
    'error',
    '-select_streams',
    `${track}:0`,
    '-show_entries',
    'packet=dts_time',
    '-of',
    'csv=p=0',
    file,
  ];
  const { stdout } = await run('ffprobe', args);
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

/** Decodes a whole recording and returns ffmpeg's complaints; empty when pictures and sound are fine. */
export async function decodeErrors(file: string): Promise<string> {
  // Frames keep the file's own times. Otherwise ffmpeg rounds them to frames of a guessed rate; where a player joined late and the guess is
  // low, two frames share one number.
  const times = ['-fps_mode', 'passthrough', '-enc_time_base', '-1'];
  const args = ['-v', 'error', '-i', file, ...times, '-f', 'null', '-'];
  const { stderr } = await run('ffmpeg', args);
  return stderr.trim();
}
