import { expect, test } from 'vitest';
import { ConnectionHealth } from '../../../../../../src/core/pods/streamer/output/connection-health.ts';

const health = () => new ConnectionHealth({ connectMs: 10_000, stallMs: 5000 }, 0);

/** Returns the health of a connection since 500 ms. */
function connected(): ConnectionHealth {
  const h = health();
  h.report(0, 0);
  h.report(100, 500);
  return h;
}

/** Returns the finding at `untilMs`, with a check each half second. */
function watched(h: ConnectionHealth, fromMs: number, untilMs: number) {
  for (let ms = fromMs; ms < untilMs; ms += 500) expect(h.findFault(ms)).toBeUndefined();
  return h.findFault(untilMs);
}

test('a connection is up when its reports grow, and not by the first report', () => {
  const h = health();
  h.report(4000, 300);
  expect(h.isConnected(300)).toBe(false);
  h.report(4000, 800);
  expect(h.isConnected(800)).toBe(false);
  h.report(4001, 1300);
  expect(h.isConnected(1300)).toBe(true);
  expect(h.connectedMs(2300)).toBe(1000);
});

test('a server has ten seconds to accept the stream', () => {
  const h = health();
  expect(watched(h, 0, 10_000)).toBeUndefined();
  expect(h.findFault(10_001)).toBe('connect_timeout');
});

test('no bytes taken for five seconds is a stall', () => {
  const h = connected();
  expect(watched(h, 500, 5500)).toBeUndefined();
  expect(h.isConnected(5500)).toBe(true);
  expect(h.findFault(5501)).toBe('stalled');
  expect(h.isConnected(5501)).toBe(false);
});

test('a slow link, whose reports come seconds apart, is no stall', () => {
  const h = connected();
  for (let ms = 4500, bytes = 200; ms < 60_000; ms += 4000, bytes++) {
    expect(watched(h, ms - 4000, ms)).toBeUndefined();
    expect(h.isConnected(ms)).toBe(true);
    h.report(bytes, ms);
  }
});

test('without media to send, no destination is at fault', () => {
  const h = connected();
  h.pause(20_000);
  expect(watched(h, 20_000, 25_000)).toBeUndefined();
  expect(h.findFault(25_001)).toBe('stalled');
});

test('a process that did not run for a minute blames no destination for it, and still drops one that takes nothing afterwards', () => {
  const waiting = health();
  expect(watched(waiting, 0, 2000)).toBeUndefined();
  // Two seconds of its ten had passed, and one of the gap counts.
  expect(watched(waiting, 62_000, 69_000)).toBeUndefined();
  expect(waiting.findFault(69_001)).toBe('connect_timeout');
  const h = connected();
  expect(watched(h, 500, 1500)).toBeUndefined();
  expect(watched(h, 61_500, 64_500)).toBeUndefined();
  expect(h.isConnected(64_500)).toBe(true);
  expect(h.findFault(64_501)).toBe('stalled');
  expect(h.isConnected(64_501)).toBe(false);
});

test('media taken before the first check after such a minute still counts', () => {
  const h = connected();
  expect(watched(h, 500, 1500)).toBeUndefined();
  h.report(200, 61_000);
  expect(watched(h, 61_500, 66_500)).toBeUndefined();
  expect(h.findFault(66_501)).toBe('stalled');
});

test('a very slow machine with late checks still drops a destination that takes nothing', () => {
  const h = connected();
  let ms = 500;
  while (h.findFault(ms) === undefined && ms < 60_000) ms += 2000;
  expect(h.findFault(ms)).toBe('stalled');
  expect(ms).toBeLessThan(15_000);
});
