import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  type FlvTag,
  isAacSequenceHeader,
  isAudioFrame,
  isAvcSequenceHeader,
  isKeyframe,
  isVideoFrame,
  parseFlv,
  TAG_VIDEO,
} from '../../../../../../src/core/pods/rendition/flv.ts';
import { OutputQueue } from '../../../../../../src/core/pods/streamer/output/output-queue.ts';
import { FillerMeter, readFillerLengthBytes } from '../../../../../../src/core/pods/streamer/timeline/filler.ts';
import { Segmenter } from '../../../../../../src/core/pods/streamer/timeline/segment.ts';
import { hasConstantBitrate } from '../../../../../../src/core/pods/streamer/timeline/sequence-parameters.ts';
import { makeMedia } from '../../../../../kit/make/made-media.ts';
import { run } from '../../../../../kit/run.ts';

const LEAST_KBPS = 1500;
/** Pictures of six seconds. */
const HALF = 180;
const STILL = ['-f', 'lavfi', '-i', 'smptebars=s=640x360:r=30:d=12', '-f', 'lavfi', '-i', 'sine=r=48000:d=12'];
const ENCODED = ['-c:v', 'libx264', '-preset', 'veryfast', '-g', '60', '-bf', '2', '-c:a', 'aac', '-f', 'flv'];

let dir: string;
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'filler-'));
});
afterAll(() => rm(dir, { recursive: true, force: true }));

async function makeFilm(name: string, ...options: string[]): Promise<FlvTag[]> {
  const path = join(dir, `${name}.flv`);
  await makeMedia(path, ...STILL, ...ENCODED, ...options);
  return parseFlv(await readFile(path));
}

/** Sends a film as the streamer does, in a segment for each 15 pictures; returns the bytes of a receiver. `later` holds from the middle on. */
function send(tags: readonly FlvTag[], leastKbps: number, later = leastKbps): Buffer {
  const chunks: Buffer[] = [];
  const sink = new Writable({
    highWaterMark: 2 ** 30,
    write: (chunk: Buffer, _, done) => {
      chunks.push(Buffer.from(chunk));
      done();
    },
  });
  const queue = new OutputQueue({ profile: '720p30', sink });
  queue.setLeastKbps(leastKbps);
  const segmenter = new Segmenter();
  const offer = (segment: ReturnType<Segmenter['flush']>) => {
    if (segment) queue.offer(segment);
    segment?.release();
  };
  let pictures = 0;
  for (const tag of tags) {
    const isHeader = isAvcSequenceHeader(tag) || isAacSequenceHeader(tag);
    if (!isHeader && !isVideoFrame(tag) && !isAudioFrame(tag)) continue;
    const { type, timestampMs, body } = tag;
    const out = { type, timestampMs, body, compositionMs: undefined, keyframe: isKeyframe(tag) };
    offer(segmenter.add({ ...out, kind: isHeader ? 'header' : 'frame' }));
    if (isVideoFrame(tag) && ++pictures % 15 === 0) offer(segmenter.flush());
    if (pictures === HALF) queue.setLeastKbps(later);
  }
  offer(segmenter.flush());
  const data = Buffer.concat(chunks);
  expect(queue.bytes).toBe(data.length);
  expect(queue.queuedBytes).toBe(0);
  return data;
}

/** The bitrate of the pictures in each second, in kbit/s. */
function listRates(data: Buffer): number[] {
  const seconds: number[] = [];
  for (const { body, timestampMs } of parseFlv(data).filter(isVideoFrame)) {
    const second = Math.floor(timestampMs / 1000);
    seconds[second] = (seconds[second] ?? 0) + body.length * 0.008;
  }
  return seconds;
}

async function decode(data: Buffer, name: string, ...remux: string[]): Promise<string> {
  const path = join(dir, `${name}.flv`);
  await writeFile(path, data);
  let read = path;
  if (remux.length > 0) {
    read = join(dir, name);
    await run('ffmpeg', ['-v', 'error', '-y', '-i', path, '-c', 'copy', ...remux, read]);
  }
  const args = ['-v', 'error', '-i', read, '-map', '0:v', '-f', 'framemd5', '-'];
  const lines = (await run('ffmpeg', args)).stdout.split('\n');
  // Stream, size and hash: the time base is another in each container.
  return lines.flatMap((line) => (line.startsWith('#') ? [] : (line.split(',').at(-1)?.trim() ?? []))).join('\n');
}

test('a still reaches the least bitrate in each second, and its pictures are the same in each container', async () => {
  const film = await makeFilm('still');
  const [plain, filled] = [send(film, 0), send(film, LEAST_KBPS)];
  expect(Math.max(...listRates(plain))).toBeLessThan(LEAST_KBPS / 2);
  const rates = listRates(filled).slice(1, -1);
  expect(Math.min(...rates)).toBeGreaterThan(LEAST_KBPS * 0.95);
  const pictures = await decode(plain, 'plain');
  expect(pictures.split('\n').length).toBeGreaterThan(300);
  expect(await decode(filled, 'filled')).toBe(pictures);
  expect(await decode(filled, 'filled.ts', '-f', 'mpegts')).toBe(pictures);
  expect(await decode(filled, 'filled.mp4', '-f', 'mp4')).toBe(pictures);
});

test('another least bitrate holds from the next segment on, and none as well', async () => {
  const film = await makeFilm('later');
  const [raised, ended] = [listRates(send(film, 0, LEAST_KBPS)), listRates(send(film, LEAST_KBPS, 0))];
  for (const plain of [raised.slice(1, 5), ended.slice(7, -1)]) expect(Math.max(...plain)).toBeLessThan(LEAST_KBPS / 2);
  for (const filled of [raised.slice(7, -1), ended.slice(1, 5)])
    expect(Math.min(...filled)).toBeGreaterThan(LEAST_KBPS * 0.95);
});

test('sound and times stay as they are, and so does each picture in front of its filler', async () => {
  const film = await makeFilm('same');
  const [plain, filled] = [parseFlv(send(film, 0)), parseFlv(send(film, LEAST_KBPS))];
  expect(filled.map(({ type, timestampMs }) => [type, timestampMs])).toEqual(
    plain.map(({ type, timestampMs }) => [type, timestampMs]),
  );
  for (const [index, { type, body }] of plain.entries()) {
    const other = filled[index]?.body ?? Buffer.alloc(0);
    expect(other.subarray(0, body.length).equals(body)).toBe(true);
    if (type !== TAG_VIDEO) expect(other).toHaveLength(body.length);
    else if (other.length > body.length) expect((other[body.length + 4] ?? 0) & 0x1f).toBe(12);
  }
});

test('a film above the least bitrate gets none', async () => {
  const film = await makeFilm(
    'rich',
    '-vf',
    'noise=alls=60:allf=t',
    '-b:v',
    '3000k',
    '-maxrate',
    '3000k',
    '-bufsize',
    '3000k',
  );
  const added = send(film, LEAST_KBPS).length / send(film, 0).length;
  expect(added).toBeLessThan(1.01);
});

test('a stream of constant bitrate is left alone, and so is a header that cannot be read', async () => {
  const constant = await makeFilm(
    'constant',
    '-b:v',
    '800k',
    '-maxrate',
    '800k',
    '-bufsize',
    '800k',
    '-x264-params',
    'nal-hrd=cbr',
  );
  const variable = await makeFilm(
    'variable',
    '-b:v',
    '800k',
    '-maxrate',
    '800k',
    '-bufsize',
    '800k',
    '-x264-params',
    'nal-hrd=vbr',
  );
  const header = (film: readonly FlvTag[]) => film.find(isAvcSequenceHeader)?.body ?? Buffer.alloc(0);
  expect(hasConstantBitrate(header(constant))).toBe(true);
  expect(hasConstantBitrate(header(variable))).toBe(false);
  expect(send(constant, LEAST_KBPS).equals(send(constant, 0))).toBe(true);
  expect(send(variable, LEAST_KBPS).length).toBeGreaterThan(send(variable, 0).length);
  const whole = header(variable);
  for (let bytes = 0; bytes < whole.length - 12; bytes += 1)
    expect(readFillerLengthBytes(whole.subarray(0, bytes))).toBeUndefined();
});

test('a meter owes nothing across a break, and a large picture pays for half a second', () => {
  const meter = new FillerMeter(800);
  expect(meter.add(0, 1000)).toBe(0);
  expect(meter.add(90_000, 1000)).toBe(0);
  // 100 bytes a millisecond, of which the last picture has paid for 10.
  expect(meter.add(90_100, 0)).toBe(8_000);
  expect(meter.add(90_200, 1_000_000)).toBe(0);
  expect(meter.add(90_700, 0)).toBe(0);
});
