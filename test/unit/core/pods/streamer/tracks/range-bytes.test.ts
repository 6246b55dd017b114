import { expect, test } from 'vitest';
import { chooseRangeBytes } from '../../../../../../src/core/pods/streamer/tracks/range-bytes.ts';
import type { KeyedChunk } from '../../../../../../src/core/pods/streamer/tracks/rendition.ts';

const FRAME_TICKS = 4000;
const CHUNK_FRAMES = 900;

/** Renditions of 30 pictures a second in chunks of half a minute. */
const rendition = (...kbps: number[]) => ({
  frameTicks: FRAME_TICKS,
  chunks: kbps.map((rate, n) => ({
    key: `chunk-${n}`,
    firstFrame: n * CHUNK_FRAMES,
    frames: CHUNK_FRAMES,
    sizeBytes: rate * 125 * 30,
    sha256: '',
  })) as KeyedChunk[],
});

test('a read is between 0.8 and 1.6 seconds of media, where that is between 256 KiB and 2 MiB', () => {
  for (let kbps = 2600; kbps < 16_000; kbps += 100) {
    const seconds = (chooseRangeBytes(rendition(kbps)) * 8) / (kbps * 1000);
    expect(seconds, `${kbps} kbit/s`).toBeGreaterThanOrEqual(0.8);
    expect(seconds, `${kbps} kbit/s`).toBeLessThanOrEqual(1.6);
  }
  expect(chooseRangeBytes(rendition(300))).toBe(256 * 1024);
  expect(chooseRangeBytes(rendition(60_000))).toBe(2 * 2 ** 20);
});

test('the mean of all chunks counts, and sound alone is counted by its own frames', () => {
  expect(chooseRangeBytes(rendition(1000, 9000))).toBe(chooseRangeBytes(rendition(5000)));
  expect(chooseRangeBytes({ ...rendition(192), frameTicks: undefined })).toBe(64 * 1024);
});
