import { expect, test } from 'vitest';
import { Health } from '../../src/media/streamer/output/connection-health.ts';

const health = () => new Health({ connectMs: 10_000, stallMs: 5000 }, 0);

/** One that has been connected since 500 ms. */
function connected(): Health {
  const h = health();
  h.reported(0, 0);
  h.reported(100, 500);
  return h;
}

/** What is found at `untilMs`, after a look each half second. */
function watched(h: Health, fromMs: number, untilMs: number) {
  for (let ms = fromMs; ms < untilMs; ms += 500) expect(h.verdict(ms)).toBeUndefined();
  return h.verdict(untilMs);
}

test('it is connected when what was reported grows, and not by the first report', () => {
  const h = health();
  h.reported(4000, 300);
  expect(h.connected(300)).toBe(false);
  h.reported(4000, 800);
  expect(h.connected(800)).toBe(false);
  h.reported(4001, 1300);
  expect(h.connected(1300)).toBe(true);
  expect(h.connectedMs(2300)).toBe(1000);
});

test('who never accepts the stream has ten seconds', () => {
  const h = health();
  expect(watched(h, 0, 10_000)).toBeUndefined();
  expect(h.verdict(10_001)).toBe('connect_timeout');
});

test('no bytes taken for five seconds is a stall', () => {
  const h = connected();
  expect(watched(h, 500, 5500)).toBeUndefined();
  expect(h.connected(5500)).toBe(true);
  expect(h.verdict(5501)).toBe('stalled');
  expect(h.connected(5501)).toBe(false);
});

test('a slow link, whose reports come seconds apart, is no stall', () => {
  const h = connected();
  for (let ms = 4500, bytes = 200; ms < 60_000; ms += 4000, bytes++) {
    expect(watched(h, ms - 4000, ms)).toBeUndefined();
    expect(h.connected(ms)).toBe(true);
    h.reported(bytes, ms);
  }
});

test('while there is nothing to send, nobody is at fault', () => {
  const h = connected();
  h.silent(20_000);
  expect(watched(h, 20_000, 25_000)).toBeUndefined();
  expect(h.verdict(25_001)).toBe('stalled');
});

test('a process that did not run for a minute blames nobody for it, and gives up who takes nothing afterwards', () => {
  const waiting = health();
  expect(watched(waiting, 0, 2000)).toBeUndefined();
  // Two seconds of its ten had passed, and one of the gap counts.
  expect(watched(waiting, 62_000, 69_000)).toBeUndefined();
  expect(waiting.verdict(69_001)).toBe('connect_timeout');
  const h = connected();
  expect(watched(h, 500, 1500)).toBeUndefined();
  expect(watched(h, 61_500, 64_500)).toBeUndefined();
  expect(h.connected(64_500)).toBe(true);
  expect(h.verdict(64_501)).toBe('stalled');
  expect(h.connected(64_501)).toBe(false);
});

test('what was taken before the first look after such a minute is not forgotten', () => {
  const h = connected();
  expect(watched(h, 500, 1500)).toBeUndefined();
  h.reported(200, 61_000);
  expect(watched(h, 61_500, 66_500)).toBeUndefined();
  expect(h.verdict(66_501)).toBe('stalled');
});

test('a machine so slow that each look comes late gives up who takes nothing all the same', () => {
  const h = connected();
  let ms = 500;
  while (h.verdict(ms) === undefined && ms < 60_000) ms += 2000;
  expect(h.verdict(ms)).toBe('stalled');
  expect(ms).toBeLessThan(15_000);
});
