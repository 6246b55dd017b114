/// <reference lib="dom" />
/** Tests that filler reaches the receivers of each kind, and that they show the same pictures as without. */
import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { reserveFreePort } from '../../../tools/process/ports.ts';
import { connected } from '../../kit/make/destinations.ts';
import { decodeErrors } from '../../kit/make/media.ts';
import { openStudio, type Studio } from '../../kit/make/onair.ts';
import { buildProgram } from '../../kit/make/streamer.ts';
import { leaveBrowser, shareBrowser } from '../../kit/real/page.ts';
import { startRtmpServer } from '../../kit/real/rtmp.ts';
import { run } from '../../kit/run.ts';
import { until } from '../../kit/wait.ts';
import { expectPicturesOf } from './pictures.ts';
import { freeUdpPort, startListener } from './srt-listener.ts';

const OWN_KBPS = 3000;
const SECONDS = 10;
const LEAST_BYTES = (SECONDS * OWN_KBPS * 1000) / 8;

let studio: Studio;
beforeAll(async () => {
  studio = await openStudio();
});
afterEach(() => studio?.cleanUp());
afterAll(() => studio?.close());

const readSize = (file: string) =>
  stat(file).then(
    ({ size }) => size,
    () => 0,
  );

/** nginx's HLS of one publisher: its segments follow each other in one MPEG-TS. */
async function joinSegments(dir: string, key: string): Promise<Buffer> {
  const names = (await readdir(dir)).filter((name) => name.startsWith(`${key}-`) && name.endsWith('.ts'));
  const number = (name: string) => Number(/-(\d+)\.ts$/.exec(name)?.[1]);
  names.sort((a, b) => number(a) - number(b));
  return Buffer.concat(await Promise.all(names.map((name) => readFile(join(dir, name)))));
}

/** Takes the filler out, so that times and pictures stay. */
async function withoutFiller(path: string): Promise<string> {
  const bare = `${path}.bare.ts`;
  await run('ffmpeg', ['-v', 'error', '-y', '-i', path, '-c', 'copy', '-bsf:v', 'filter_units=remove_types=12', bare]);
  return bare;
}

const ORIGIN = 'http://player.test';
const PLAYER = createRequire(import.meta.url).resolve('mpegts.js/dist/mpegts.js');
/** Moments at which pictures are compared, in seconds. */
const MOMENTS = [1, 2, 3, 4, 5, 6, 7];

/** Plays MPEG-TS in Chromium as pages do; returns what is on the screen at each moment. */
async function showPictures(browser: Browser, path: string): Promise<string[]> {
  const context = await browser.newContext();
  try {
    const page = await context.newPage();
    await page.route(`${ORIGIN}/**`, async (route) => {
      if (!route.request().url().endsWith('.ts'))
        return route.fulfill({ contentType: 'text/html', body: '<video muted>' });
      return route.fulfill({ contentType: 'video/mp2t', body: await readFile(path) });
    });
    await page.goto(`${ORIGIN}/`);
    await page.addScriptTag({ path: PLAYER });
    return await page.evaluate(readScreen, MOMENTS);
  } finally {
    await context.close();
  }
}

/** Runs in the page. */
async function readScreen(moments: readonly number[]): Promise<string[]> {
  const { mpegts } = window as unknown as { mpegts: typeof import('mpegts.js').default };
  const video = document.querySelector('video') as HTMLVideoElement;
  const source = { type: 'mpegts', isLive: false, url: `${location.origin}/film.ts` };
  const player = mpegts.createPlayer(source, { enableWorker: false, lazyLoad: false });
  const failed = new Promise<never>((_, reject) => {
    player.on(mpegts.Events.ERROR, (...why: unknown[]) => reject(new Error(why.join(' '))));
    video.addEventListener('error', () => reject(new Error(video.error?.message)));
  });
  const all = Promise.all([
    new Promise((resolve) => player.on(mpegts.Events.LOADING_COMPLETE, resolve)),
    new Promise((resolve) => video.addEventListener('loadeddata', resolve)),
  ]);
  player.attachMediaElement(video);
  player.load();
  await Promise.race([all, failed]);
  const canvas = document.createElement('canvas');
  Object.assign(canvas, { width: 160, height: 90 });
  const context = canvas.getContext('2d', { willReadFrequently: true }) as CanvasRenderingContext2D;
  const begin = video.buffered.start(0);
  const screens: string[] = [];
  for (const moment of moments) {
    // `seeked` may come before the picture is on the screen, and an earlier picture may still come after the seek.
    const isThere = new Promise<void>((resolve) => {
      const see = (_: number, { mediaTime }: VideoFrameCallbackMetadata) =>
        Math.abs(mediaTime - begin - moment) < 1 / 60 ? resolve() : video.requestVideoFrameCallback(see);
      video.requestVideoFrameCallback(see);
    });
    video.currentTime = begin + moment + 0.01;
    await Promise.race([isThere, failed]);
    context.drawImage(video, 0, 0, canvas.width, canvas.height);
    screens.push(canvas.toDataURL());
  }
  player.destroy();
  return screens;
}

/** Expects that a player in Chromium shows the same pictures for both. */
async function expectSameInBrowser(filled: string, bare: string): Promise<void> {
  expect(await readSize(bare)).toBeLessThan((await readSize(filled)) * 0.75);
  const browser = await shareBrowser();
  try {
    const [wanted, got] = [await showPictures(browser, bare), await showPictures(browser, filled)];
    expect(new Set(wanted).size).toBe(wanted.length);
    expect(got).toEqual(wanted);
  } finally {
    await leaveBrowser(browser);
  }
}

test('HLS of nginx, a listener of SRT and a copy by ffmpeg have the filler, and each decodes to the pictures of a receiver without', async () => {
  const hls = { port: await reserveFreePort(), playlistSeconds: 90 };
  const viewers = await startRtmpServer({ record: join(studio.root, 'viewers'), hls });
  studio.cleanups.push(viewers.close);
  const srtPort = await freeUdpPort();
  const received = join(studio.root, 'received.ts');
  const listener = await startListener(srtPort, received);
  studio.cleanups.push(async () => void listener.kill('SIGKILL'));
  const destinations = ['plain', 'hls', 'srt', 'rtmp'];
  const stream = await studio.onAir(buildProgram(studio.items, { destinations }), {
    plain: [studio.rtmp.url, 'plain'],
    hls: [viewers.hlsUrl, 'filled', undefined, OWN_KBPS],
    srt: [`srt://127.0.0.1:${srtPort}`, '', undefined, OWN_KBPS],
    rtmp: [studio.rtmp.url, 'filled', undefined, OWN_KBPS],
  });
  await Promise.all(destinations.map((name) => connected(stream, name)));
  const [plain = ''] = await studio.rtmp.recordings('plain');
  const [filled = ''] = await studio.rtmp.recordings('filled');
  const readLengths = async () => [
    (await joinSegments(viewers.hlsDir, 'filled').catch(() => '')).length,
    await readSize(received),
    await readSize(filled),
  ];
  await until('all have it', async () => (await readLengths()).every((bytes) => bytes >= LEAST_BYTES), 120_000);
  const shown = join(studio.root, 'shown.ts');
  await writeFile(shown, await joinSegments(viewers.hlsDir, 'filled'));
  await stream.stop();
  const copied = join(studio.root, 'copied.mp4');
  await run('ffmpeg', ['-v', 'error', '-y', '-i', filled, '-c', 'copy', copied]);
  expect(await readSize(plain)).toBeLessThan((await readSize(filled)) * 0.75);
  for (const file of [shown, received, copied]) {
    expect(await readSize(file)).toBeGreaterThanOrEqual(LEAST_BYTES);
    expect(await decodeErrors(file)).toBe('');
    expect(await expectPicturesOf(plain, file)).toBeGreaterThan((SECONDS - 3) * 30);
  }
  await expectSameInBrowser(shown, await withoutFiller(shown));
});
