/** Tests at a receiver that an item which is put in quarantine leaves the air, at its border or at once, and comes back. */
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import type { ProgramItem } from '../../../src/core/resources/stream/playing.ts';
import { makeMedia } from '../../kit/make/made-media.ts';
import { decodeErrors } from '../../kit/make/media.ts';
import { expectNoSeam, live, openStudio, type Running, type Studio } from '../../kit/make/onair.ts';
import { readColours } from '../../kit/make/probe.ts';
import { buildProgram, readPackets, storeRendition } from '../../kit/make/streamer.ts';
import { until } from '../../kit/wait.ts';

const SECONDS = 12;
let studio: Studio;
let red: ProgramItem;
let blue: ProgramItem;

/** Stores an item of one colour, with a keyframe every two seconds as renditions have. */
async function store(colour: string): Promise<ProgramItem> {
  const picture = ['-f', 'lavfi', '-i', `color=${colour}:s=320x180:r=30:d=${SECONDS}`];
  const silence = ['-f', 'lavfi', '-i', `anullsrc=r=48000:cl=stereo,atrim=end=${SECONDS}`];
  const encoder = ['-c:v', 'libx264', '-pix_fmt', 'yuv420p', '-bf', '2', '-g', '60', '-keyint_min', '60'];
  const flv = ['-c:a', 'aac', '-b:a', '32k', '-f', 'flv', '-flvflags', 'no_duration_filesize'];
  const make = async (path: string) => void (await makeMedia(path, ...picture, ...silence, ...encoder, ...flv));
  return storeRendition(join(studio.root, 'storage'), colour, 30, make);
}

beforeAll(async () => {
  studio = await openStudio();
  [red, blue] = [await store('red'), await store('blue')];
});
afterEach(() => studio?.cleanUp());
afterAll(() => studio?.close());

const leftOut = ({ id, name }: ProgramItem, cut = false): ProgramItem => ({
  id,
  name,
  rendition: '',
  ...(cut && { cut }),
});
const playing = async (stream: Running) => (await stream.stats()).currentItem?.id;
const plays = (stream: Running, id: string | undefined) =>
  until(`${id} plays`, async () => (await playing(stream)) === id, 60_000);
const framesSent = async (stream: Running): Promise<number> => (await stream.stats()).framesSent;

/** Ends the stream, and returns its one recording, which a decoder plays without a fault. */
async function finish(stream: Running, key: string): Promise<string> {
  expect(await stream.stats()).toMatchObject({ live: true, reconnects: 0 });
  await stream.stop();
  const [recording = '', ...more] = await studio.rtmp.recordings(key);
  expect(more).toEqual([]);
  expectNoSeam(await readPackets(recording));
  expect(await decodeErrors(recording)).toBe('');
  return recording;
}

test('an item in quarantine plays to its end and no more, in one publish, and comes back when that ends', async () => {
  const program = buildProgram([red, blue]);
  const stream = await studio.onAir(program, { main: [studio.rtmp.url, 'border'] });
  await live(stream);
  await stream.program({ ...program, version: 2, video: { ...program.video, items: [leftOut(red), blue] } });
  await until('it knows', async () => (await stream.stats()).programVersion === 2);
  expect(await playing(stream)).toBe('red');
  await plays(stream, 'blue');
  // A round of blue alone.
  const before = await framesSent(stream);
  await until('blue again', async () => (await framesSent(stream)) > before + SECONDS * 30, 60_000);
  expect(await playing(stream)).toBe('blue');
  await stream.program({ ...program, version: 3 });
  await plays(stream, 'red');
  const sent = await framesSent(stream);
  await until('it is seen', async () => (await framesSent(stream)) > sent + 90);
  expect(await readColours(await finish(stream, 'border'))).toEqual(['red', 'blue', 'red']);
}, 120_000);

test('with cut the next item begins within a second, and where there is none the slate does', async () => {
  const program = buildProgram([red, blue]);
  const stream = await studio.onAir(program, { main: [studio.rtmp.url, 'cut'] });
  await live(stream);
  await until('red is seen', async () => (await framesSent(stream)) > 60);
  await stream.program({ ...program, version: 2, video: { ...program.video, items: [leftOut(red, true), blue] } });
  await plays(stream, 'blue');
  const { clock } = await stream.stats();
  expect(clock.video).toMatchObject({ version: 2, anchor: { turn: 1 } });
  // The item had not played to its end.
  expect(await framesSent(stream)).toBeLessThan(SECONDS * 30);
  const items = [leftOut(red, true), leftOut(blue, true)];
  await stream.program({ ...program, version: 3, video: { ...program.video, items } });
  await until('the slate is on air', async () => (await stream.stats()).currentItem === null);
  expect(await framesSent(stream)).toBeLessThan(2 * SECONDS * 30);
  expect(await stream.stats()).toMatchObject({ live: true, playable: false });
  await stream.program({ ...program, version: 4 });
  await until('an item is back', async () => (await stream.stats()).currentItem !== null, 60_000);
  const sent = await framesSent(stream);
  await until('it is seen', async () => (await framesSent(stream)) > sent + 60);
  expect((await readColours(await finish(stream, 'cut'))).slice(0, 2)).toEqual(['red', 'blue']);
}, 120_000);
