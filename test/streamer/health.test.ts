import { expect, test } from 'vitest';
import { Health } from '../../src/streamer/health.ts';

const health = () => new Health({ connectMs: 10_000, stallMs: 5000 }, 0);

/** One that has been connected since 500 ms. */
function connected(): Health {
  const h = health();
  h.reported(0, 0);
  h.reported(100, 500);
  return h;
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
  expect(h.verdict(10_000)).toBeUndefined();
  expect(h.verdict(10_001)).toBe('connect_timeout');
});

test('no bytes taken for five seconds is a stall', () => {
  const h = connected();
  expect(h.verdict(5500)).toBeUndefined();
  expect(h.connected(5500)).toBe(true);
  expect(h.verdict(5501)).toBe('stalled');
  expect(h.connected(5501)).toBe(false);
});

test('a slow link, whose reports come seconds apart, is no stall', () => {
  const h = connected();
  for (let ms = 4500, bytes = 200; ms < 60_000; ms += 4000, bytes++) {
    expect(h.verdict(ms)).toBeUndefined();
    expect(h.connected(ms)).toBe(true);
    h.reported(bytes, ms);
  }
});

test('while there is nothing to send, nobody is at fault', () => {
  const h = connected();
  h.silent(20_000);
  expect(h.verdict(25_000)).toBeUndefined();
  expect(h.verdict(25_001)).toBe('stalled');
});
