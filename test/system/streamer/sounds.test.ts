/** Tests what a receiver hears of items with a sound of their own: their pictures flash when the sound clicks. */
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import type { ProgramItem } from '../../../src/core/resources/stream/playing.ts';
import { makeMedia } from '../../kit/make/made-media.ts';
import { expectNoSeam, live, openStudio, type Running, type Studio } from '../../kit/make/onair.ts';
import { buildProgram, readPackets, storeRendition } from '../../kit/make/streamer.ts';
import { run } from '../../kit/run.ts';
import { until } from '../../kit/wait.ts';

const FPS = 30;
/** No whole number of AAC frames. */
const SECONDS = 161 / FPS;
/** ffmpeg's encoder begins with 1024 samples of its own, and FLV does not say so. */
const CLICK = `0.8*sin(2*PI*440*t)*lt(mod(t+0.5+1024/48000\\,1)\\,0.02)`;
const TONE = '0.8*sin(2*PI*1000*t)';
/** Half an AAC frame, and what rounding to milliseconds and the slope of a click add. */
const LARGEST_SKEW_SECONDS = 512 / 48_000 + 0.003;

let studio: Studio;
let item: ProgramItem;
let sound: string;
beforeAll(async () => {
  studio = await openStudio();
  const storage = join(studio.root, 'storage');
  const hear = (what: string) => ['-f', 'lavfi', '-i', `aevalsrc=${what}|${what}:s=48000:d=${SECONDS}`];
  const flash = `color=black:s=320x180:r=${FPS}:d=${SECONDS},drawbox=c=white:t=fill:enable='eq(mod(n\\,30)\\,15)'`;
  const pictures = ['-f', 'lavfi', '-i', flash, '-c:v', 'libx264', '-pix_fmt', 'yuv420p'];
  const gop = ['-bf', '2', '-g', '60', '-keyint_min', '60', '-sc_threshold', '0', '-x264-params', 'open-gop=0'];
  const aac = ['-c:a', 'aac', '-b:a', '128k', '-f', 'flv', '-flvflags', 'no_duration_filesize'];
  item = await storeRendition(storage, 'flashes', FPS, async (path) => {
    await makeMedia(path, ...hear(TONE), ...pictures, ...gop, ...aac);
  });
  const made = await storeRendition(storage, 'clicks', FPS, async (path) => {
    await makeMedia(path, ...hear(CLICK), ...aac);
  });
  sound = made.rendition;
});
afterEach(() => studio.cleanUp());
afterAll(() => studio?.close());

/** Returns the times of the flashes and of the ends of silence in a recording, in seconds. */
async function perceive(path: string): Promise<{ flashes: number[]; clicks: number[]; endsAt: number }> {
  const show = 'signalstats,metadata=print:key=lavfi.signalstats.YAVG:file=-';
  const filters = ['-vf', show, '-af', 'silencedetect=noise=-12dB:d=0.3'];
  const { stdout, stderr } = await run('ffmpeg', ['-hide_banner', '-i', path, ...filters, '-f', 'null', '-']);
  const shown = [...stdout.matchAll(/pts_time:([\d.]+)\s+lavfi\.signalstats\.YAVG=([\d.]+)/g)];
  const flashes = shown.filter(([, , light]) => Number(light) > 128).map(([, at]) => Number(at));
  const clicks = [...stderr.matchAll(/silence_end: ([\d.]+)/g)].map(([, at]) => Number(at));
  return { flashes, clicks, endsAt: Number(shown.at(-1)?.[1]) };
}

const distance = (times: readonly number[], to: number): number => Math.min(...times.map((at) => Math.abs(at - to)));

async function waitForSeams(stream: Running, more: number): Promise<void> {
  const { seam } = await stream.stats();
  await until(`${more} seams`, async () => (await stream.stats()).seam.count >= seam.count + more, 60_000);
}

async function readRecording(key: string): Promise<string> {
  const recordings = await studio.rtmp.recordings(key);
  expect(recordings).toHaveLength(1);
  expectNoSeam(await readPackets(recordings[0] as string));
  return recordings[0] as string;
}

test('each click is heard with its flash, joined in the middle of an item with B-frames and at every seam', async () => {
  const epoch = new Date(Date.now() - 3700).toISOString();
  const stream = await studio.onAir(buildProgram([{ ...item, sound }], { epoch }), {
    main: [studio.rtmp.url, 'joined'],
  });
  await live(stream);
  await waitForSeams(stream, 3);
  const { skippedItems, brokenItems } = await stream.stats();
  expect({ skippedItems, brokenItems }).toEqual({ skippedItems: 0, brokenItems: [] });
  await stream.stop();
  const { flashes, clicks, endsAt } = await perceive(await readRecording('joined'));
  // The receiver may have joined between a flash and its end.
  const inside = (at: number) => at > 0.5 && at < endsAt - 0.5;
  expect(flashes.filter(inside).length).toBeGreaterThan(10);
  for (const [seen, heard] of [
    [flashes, clicks],
    [clicks, flashes],
  ] as const)
    expect(Math.max(...seen.filter(inside).map((at) => distance(heard, at)))).toBeLessThanOrEqual(LARGEST_SKEW_SECONDS);
});

test('a sound comes, fails and goes at the next turn of its item, in one publish; the playhead stays', async () => {
  const program = buildProgram([item]);
  const stream = await studio.onAir(program, { main: [studio.rtmp.url, 'changed'] });
  await live(stream);
  const play = async (version: number, items: ProgramItem[]) => {
    await stream.program({ ...program, version, video: { ...program.video, items } });
    await until('its turn', async () => (await stream.stats()).clock.video?.version === version, 60_000);
    await waitForSeams(stream, 1);
  };
  await waitForSeams(stream, 1);
  const before = await stream.stats();
  await play(2, [{ ...item, sound }]);
  await play(3, [{ ...item, sound: 'renditions/nobody.flv' }]);
  await play(4, [item]);
  const after = await stream.stats();
  expect(after.loopCount).toBeGreaterThanOrEqual(before.loopCount + 4);
  const epochs = [before, after].map(({ clock }) => Date.parse(clock.video?.epoch ?? ''));
  // An epoch that began anew would be four turns later.
  expect(Math.abs((epochs[1] ?? 0) - (epochs[0] ?? 0))).toBeLessThan(SECONDS * 1000);
  expect(after).toMatchObject({ reconnects: 0, skippedItems: 0, brokenItems: [] });
  expect(stream.log().match(/"storageKey":"renditions\/nobody\.flv"/g)).toHaveLength(1);
  await stream.stop();

  const { flashes, clicks, endsAt } = await perceive(await readRecording('changed'));
  expect(clicks.length).toBeGreaterThanOrEqual(5);
  // Without a sound there is a tone, which is never silent.
  expect(clicks[0]).toBeGreaterThan(SECONDS - 1);
  expect(clicks.at(-1)).toBeLessThan(endsAt - SECONDS);
  // The last silence may end with the tone.
  expect(Math.max(...clicks.slice(0, -1).map((at) => distance(flashes, at)))).toBeLessThanOrEqual(LARGEST_SKEW_SECONDS);
});
