/** Proves that a receiver sees no seam between copied sources that reorder their pictures differently. */
import { copyFile, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeRendition } from '../../../src/core/pods/prepare/job/make-rendition.ts';
import { openStorage } from '../../../src/core/pods/storage/open.ts';
import { DEFAULT_LIMITS } from '../../../src/core/protocol/media-limits.ts';
import type { ProgramItem } from '../../../src/core/resources/stream/playing.ts';
import { findChunkKeys } from '../../kit/make/chunks.ts';
import { makeMedia } from '../../kit/make/made-media.ts';
import { decodeErrors } from '../../kit/make/media.ts';
import { expectNoSeam, live, openStudio, type Studio, VIDEO_STEP_MS } from '../../kit/make/onair.ts';
import { quiet } from '../../kit/make/prepare.ts';
import { buildProgram, makeRendition as makeSong, type Packet, readPackets } from '../../kit/make/streamer.ts';
import { run } from '../../kit/run.ts';
import { until } from '../../kit/wait.ts';

/** A flash and a beep, each a tenth of a second long, at every second. */
const FLASHES = "color=black:s=1280x720:r=30,drawbox=c=white:t=fill:enable='lt(mod(n,30),3)'";
const BEEPS = "aevalsrc='if(lt(mod(t,1),0.1),sin(1760*PI*t),0)':s=48000";
/** Sources by the number of frames between decoding and showing: 0, 1, 2 and more. */
const SOURCES: Record<string, { file: string; seconds: number; x264: string[]; times?: string }> = {
  none: { file: 'none.mp4', seconds: 2, x264: ['-bf', '0'] },
  one: { file: 'one.mkv', seconds: 3, x264: ['-bf', '3', '-b_strategy', '0', '-x264-params', 'b-pyramid=none'] },
  two: { file: 'two.mp4', seconds: 2, x264: [] },
  many: { file: 'many.ts', seconds: 3, x264: ['-bf', '8', '-b_strategy', '0', '-refs', '5'] },
  /** A phone's clock: 29.95 frames a second on average, with jitter. */
  unsteady: {
    file: 'unsteady.mkv',
    seconds: 3,
    x264: ['-bf', '3', '-b_strategy', '0'],
    times: "setts=pts='PTS*30/29.95+0.004/TB*(1+sin(PTS*TB*50))':dts='DTS*30/29.95'",
  },
};

let studio: Studio;
let items: ProgramItem[];
let songs: ProgramItem[];

async function prepare(id: string, { file, seconds, x264, times }: (typeof SOURCES)[string]): Promise<ProgramItem> {
  const dir = join(studio.root, 'storage');
  const path = join(studio.root, file);
  await makeMedia(
    path,
    ...['-f', 'lavfi', '-i', FLASHES, '-f', 'lavfi', '-i', BEEPS, '-t', String(seconds)],
    ...['-c:v', 'libx264', '-pix_fmt', 'yuv420p', '-profile:v', 'main', '-g', '60', ...x264],
    ...['-c:a', 'aac', '-ac', '2'],
  );
  await mkdir(join(dir, 'sources'), { recursive: true });
  const source = join(dir, 'sources', id);
  if (times === undefined) await copyFile(path, source);
  else await run('ffmpeg', ['-v', 'error', '-i', path, '-c', 'copy', '-bsf:v', times, '-f', 'matroska', source]);
  const storage = await openStorage(pathToFileURL(dir).href);
  const rendition = `renditions/${id}.flv`;
  await makeRendition(
    { action: 'rendition', type: 'video', profile: '720p30', sourceKey: `sources/${id}`, renditionKey: rendition },
    {
      storage,
      tools: { ffmpeg: 'ffmpeg', ffprobe: 'ffprobe', drawText: 'draw-text' },
      signal: new AbortController().signal,
      log: quiet,
      limits: DEFAULT_LIMITS,
      ownRates: true,
    },
  );
  const [first = ''] = await findChunkKeys(storage, rendition, 0);
  const { stdout } = await run('ffprobe', ['-v', 'error', '-show_entries', 'stream=profile', join(dir, first)]);
  // An encoded rendition is of High.
  expect(stdout).not.toContain('profile=High');
  return { id, name: id, rendition };
}

beforeAll(async () => {
  studio = await openStudio();
  items = [];
  for (const [id, source] of Object.entries(SOURCES)) items.push(await prepare(`delay-${id}`, source));
  songs = [await makeSong(join(studio.root, 'storage'), 'song', { frames: 50, audioOnly: true })];
}, 120_000);
afterAll(async () => {
  await studio?.cleanUp();
  await studio?.close();
});

/** Expects each picture to be shown once, a frame after the one before it. */
function expectEvenPresentation(packets: Packet[]): void {
  const shown = packets.filter((p) => p.codec_type === 'video').map((p) => p.ptsMs);
  // The recording ends in the middle of a GOP, and may lack a picture that is shown before its last ones.
  const whole = shown.toSorted((a, b) => a - b).slice(0, -16);
  const steps = whole.slice(1).map((time, at) => time - (whole[at] ?? 0));
  expect(Math.min(...steps)).toBeGreaterThan(0);
  expect(Math.max(...steps)).toBeLessThanOrEqual(VIDEO_STEP_MS);
}

/** Seconds between each flash and the beep that belongs to it, in a recording as a player plays it. */
async function findLipSync(file: string): Promise<number[]> {
  const pictures =
    'signalstats,metadata=select:key=lavfi.signalstats.YAVG:value=128:function=greater,metadata=print:file=-';
  const args = ['-i', file, '-vf', pictures, '-af', 'silencedetect=n=-30dB:d=0.3', '-f', 'null', '-'];
  const { stdout, stderr } = await run('ffmpeg', args);
  const white = [...stdout.matchAll(/pts_time:(\S+)/g)].map(([, time]) => Number(time));
  const flashes = white.filter((time, at) => at > 0 && time - (white[at - 1] ?? 0) > 0.5);
  const beeps = [...stderr.matchAll(/silence_end: (\S+)/g)].map(([, time]) => Number(time));
  return flashes.flatMap((flash) => {
    const nearest = beeps.toSorted((a, b) => Math.abs(a - flash) - Math.abs(b - flash))[0];
    return nearest === undefined ? [] : [nearest - flash];
  });
}

/** Puts the items on air in shuffled order, and returns a wait for more seams. */
async function shuffle(key: string) {
  const program = buildProgram(items, { video: { mode: 'shuffle', items } });
  const stream = await studio.onAir(program, { main: [studio.rtmp.url, key] });
  await live(stream);
  const seams = async (more: number) => {
    const { count } = (await stream.stats()).seam;
    await until(`${more} more seams`, async () => (await stream.stats()).seam.count >= count + more, 60_000);
  };
  return { program, stream, seams };
}

/** Reads the one recording of a stream that was never interrupted, and expects no seam in it. */
async function readSeamless(key: string): Promise<string> {
  const [recording, ...more] = await studio.rtmp.recordings(key);
  if (!recording) throw new Error(`there is no recording of ${key}`);
  expect(more).toEqual([]);
  const packets = await readPackets(recording);
  expectNoSeam(packets);
  expectEvenPresentation(packets);
  expect(await decodeErrors(recording)).toBe('');
  return recording;
}

test('sources of every delay loop, in any order and over a new version, without a seam and in sync', async () => {
  const { program, stream, seams } = await shuffle('reordered');
  await seams(6);
  await stream.program({ ...program, version: 2, video: { mode: 'sequential', items: items.toReversed() } });
  await until('version 2', async () => (await stream.stats()).programVersion === 2, 30_000);
  await seams(6);
  expect(await stream.stats()).toMatchObject({ reconnects: 0, skippedItems: 0 });
  await stream.stop();
  const apart = await findLipSync(await readSeamless('reordered'));
  expect(apart.length).toBeGreaterThan(20);
  // An AAC frame at the seams, and the attack of the beep.
  expect(Math.max(...apart.map(Math.abs))).toBeLessThanOrEqual(0.03);
}, 180_000);

test('a skip ends a source of any delay without a seam', async () => {
  const { stream, seams } = await shuffle('skipped');
  for (const id of ['a', 'b', 'c', 'd']) {
    expect((await stream.skip({ id })).status).toBe(200);
    await seams(1);
  }
  expect(await stream.stats()).toMatchObject({ reconnects: 0 });
  await stream.stop();
  await readSeamless('skipped');
}, 180_000);

test('songs over reordered pictures, while the clock passes 31 bits, leave no seam', async () => {
  const program = buildProgram(items, { audio: { mode: 'sequential', items: songs } });
  const stream = await studio.onAir(
    program,
    { main: [studio.rtmp.url, 'wrapping'] },
    { timelineStartMs: 2 ** 31 - 4000 },
  );
  await live(stream);
  await until('six seams', async () => (await stream.stats()).seam.count >= 6, 60_000);
  await stream.program({ ...buildProgram(items), version: 2 });
  await until('sound of the pictures', async () => (await stream.stats()).currentAudioItem === null, 60_000);
  await until('two seams more', async () => (await stream.stats()).seam.count >= 9, 60_000);
  const { avSkewMs, reconnects } = await stream.stats();
  expect(Math.abs(avSkewMs)).toBeLessThanOrEqual(1024 / 48);
  expect(reconnects).toBe(0);
  await stream.stop();
  const [recording] = await studio.rtmp.recordings('wrapping');
  const packets = await readPackets(recording as string);
  expectNoSeam(packets);
  expectEvenPresentation(packets);
}, 180_000);
