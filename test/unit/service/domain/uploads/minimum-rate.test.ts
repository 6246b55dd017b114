import { Readable } from 'node:stream';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { readAtRate } from '../../../../../src/service/domain/uploads/minimum-rate.ts';

/** Reads the whole body; resolves to the number of bytes. */
async function readLength(body: Readable, signal = new AbortController().signal): Promise<number> {
  let bytes = 0;
  for await (const chunk of readAtRate(body, { minBytesPerSecond: 4096, signal })) bytes += chunk.length;
  return bytes;
}

const body = () => new Readable({ read: () => undefined });

describe('the bytes of a request', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }));
  afterEach(() => void vi.useRealTimers());

  test('end when they come too slowly on an average of half a minute, and not before', async () => {
    const slow = body();
    const end = readLength(slow);
    // The rate is fast enough for as long as these last.
    slow.push(Buffer.alloc(130_000));
    await vi.advanceTimersByTimeAsync(30_100);
    slow.push(Buffer.alloc(1));
    await vi.advanceTimersByTimeAsync(29_000);
    slow.push(Buffer.alloc(1));
    await vi.advanceTimersByTimeAsync(2_000);
    expect(await end).toBe(130_002);
  });

  test('end with the connection, with the body and when they are to', async () => {
    const broken = body();
    const ends = [readLength(broken)];
    broken.push(Buffer.alloc(3));
    await vi.advanceTimersByTimeAsync(1);
    broken.destroy(new Error('ECONNRESET'));
    const whole = body();
    ends.push(readLength(whole));
    whole.push(Buffer.alloc(4));
    whole.push(null);
    const given = body();
    const giveUp = new AbortController();
    ends.push(readLength(given, giveUp.signal));
    given.push(Buffer.alloc(5));
    await vi.advanceTimersByTimeAsync(1);
    giveUp.abort();
    expect(await Promise.all(ends)).toEqual([3, 4, 5]);
  });
});
