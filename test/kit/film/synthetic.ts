/**
 * Films as the judge of `watch` sees them: pictures of 32 × 18, as a function of seed and time. Shots of 2 to 9 s have the statistics of
 * natural pictures (amplitude falls with frequency, light comes from above), and a camera that pans.
 */
import { PICTURE_HEIGHT, PICTURE_PIXELS, PICTURE_WIDTH } from '../../../src/core/platform/watch/pictures.ts';

/** A small generator of numbers in [0, 1), the same for the same seed (mulberry32). */
export function makeRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

interface Wave {
  x: number;
  y: number;
  phase: number;
  amplitude: number;
  speed: number;
}

export interface Film {
  lengthMs: number;
  at(timeMs: number): Uint8Array;
}

/** A film that repeats after `lengthMs`. `motion` is the speed of the camera: 0 stands still within a shot. */
export function makeFilm(seed: number, lengthMs = 600_000, motion = 1): Film {
  const random = makeRandom(seed);
  const shots: { endMs: number; waves: Wave[]; brightness: number; contrast: number; light: number }[] = [];
  for (let endMs = 0; endMs < lengthMs; ) {
    endMs = Math.min(lengthMs, endMs + 2_000 + random() * 7_000);
    const waves = Array.from({ length: 14 }, () => {
      const frequency = 0.4 + 4 * random() ** 2;
      const angle = random() * 2 * Math.PI;
      return {
        x: (frequency * Math.cos(angle) * 2 * Math.PI) / PICTURE_WIDTH,
        y: (frequency * Math.sin(angle) * 2 * Math.PI) / PICTURE_WIDTH,
        phase: random() * 2 * Math.PI,
        amplitude: 1 / frequency,
        speed: (random() - 0.5) * motion * 0.5,
      };
    });
    shots.push({
      endMs,
      waves,
      brightness: 50 + 120 * random(),
      contrast: 15 + 35 * random(),
      light: random() * 30,
    });
  }
  const draw = (timeMs: number): Uint8Array => {
    const shot = shots.find(({ endMs }) => timeMs < endMs) ?? shots[0];
    const luma = new Uint8Array(PICTURE_PIXELS);
    if (!shot) return luma;
    for (let row = 0; row < PICTURE_HEIGHT; row += 1)
      for (let column = 0; column < PICTURE_WIDTH; column += 1) {
        let sum = 0;
        for (const { x, y, phase, amplitude, speed } of shot.waves)
          sum += amplitude * Math.cos(x * column + y * row + phase + (speed * timeMs) / 1000);
        const value = shot.brightness + shot.contrast * sum * 0.6 + shot.light * (1 - (2 * row) / PICTURE_HEIGHT);
        luma[row * PICTURE_WIDTH + column] = Math.min(255, Math.max(0, Math.round(value)));
      }
    return luma;
  };
  const drawn = new Map<number, Uint8Array>();
  return {
    lengthMs,
    at(timeMs) {
      const time = Math.round(((timeMs % lengthMs) + lengthMs) % lengthMs);
      const known = drawn.get(time) ?? draw(time);
      drawn.set(time, known);
      return known;
    },
  };
}

/** Changes that servers and platforms make to a picture. Each takes a picture and gives a new one. */
export const CHANGES = {
  none: (luma: Uint8Array) => luma,
  encodedAgain: (luma: Uint8Array) => luma.map((value, index) => clamp(value + ((index * 7919) % 7) - 3)),
  gamma: (luma: Uint8Array) => luma.map((value) => clamp(255 * (value / 255) ** 1.7)),
  fullRange: (luma: Uint8Array) => luma.map((value) => clamp((value - 16) * 1.16)),
  logo: (luma: Uint8Array) => paint(luma, (row, column) => (row < 6 && column > 23 ? 235 : null)),
  ticker: (luma: Uint8Array) => paint(luma, (row, column) => (row > 14 ? 60 + ((column * 53) % 150) : null)),
  letterbox: (luma: Uint8Array) => fitInto(luma, 0, 2, 32, 14),
  pillarbox: (luma: Uint8Array) => fitInto(luma, 4, 0, 24, 18),
  cutSquare: (luma: Uint8Array) => stretch(luma, 7, 18),
} as const;

const clamp = (value: number): number => Math.min(255, Math.max(0, Math.round(value)));

const paint = (luma: Uint8Array, color: (row: number, column: number) => number | null): Uint8Array =>
  luma.map((value, index) => color(Math.floor(index / PICTURE_WIDTH), index % PICTURE_WIDTH) ?? value);

function fitInto(luma: Uint8Array, left: number, top: number, width: number, height: number): Uint8Array {
  return luma.map((_, index) => {
    const [row, column] = [Math.floor(index / PICTURE_WIDTH) - top, (index % PICTURE_WIDTH) - left];
    if (row < 0 || row >= height || column < 0 || column >= width) return 16;
    const [y, x] = [Math.floor((row * PICTURE_HEIGHT) / height), Math.floor((column * PICTURE_WIDTH) / width)];
    return luma[y * PICTURE_WIDTH + x] ?? 0;
  });
}

const stretch = (luma: Uint8Array, left: number, width: number): Uint8Array =>
  luma.map((_, index) => {
    const column = left + Math.floor(((index % PICTURE_WIDTH) * width) / PICTURE_WIDTH);
    return luma[Math.floor(index / PICTURE_WIDTH) * PICTURE_WIDTH + column] ?? 0;
  });
