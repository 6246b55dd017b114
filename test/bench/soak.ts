/** Measures whether memory grows over a day of media that is sent as fast as ffmpeg reads it. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { IMAGE_ENV, NODE_FLAGS } from '../../src/core/operator/stream/command-line.ts';
import { median, type Row } from './report.ts';
import type { Media } from './senders.ts';

/** The first hours fill one-time memory: the heap's own room, the compiled code. */
const SETTLED_HOURS = 4;
/** A process's resident memory varies by this much without any cause of ours. */
const NOISE_MIB = 2;

interface Sample {
  hours: number;
  residentMib: number;
  heldMib: number;
}

/** Computes the slope by the median of all pairs (Theil–Sen), which single outliers do not move, in units of y per unit of x. */
export function computeSlope(points: readonly (readonly [x: number, y: number])[]): number {
  const slopes = points.flatMap(([x, y], i) => points.slice(i + 1).map(([x2, y2]) => (y2 - y) / (x2 - x)));
  return median(slopes);
}

export async function measureSoak(media: Media, hours: number): Promise<Row[]> {
  const script = join(import.meta.dirname, 'soak-process.ts');
  const flags = ['--expose-gc', ...NODE_FLAGS, script];
  const from = performance.now();
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [...flags, media.storage, JSON.stringify(media.items), String(hours)],
    { env: { PATH: process.env.PATH, ...IMAGE_ENV } },
  );
  const took = (performance.now() - from) / 1000;
  const samples: Sample[] = stdout
    .trim()
    .split('\n')
    .map((line) => line.split(' ').map(Number))
    .map(([at = 0, residentMib = 0, heldMib = 0]) => ({ hours: at, residentMib, heldMib }));
  const settled = samples.filter((sample) => sample.hours > SETTLED_HOURS);
  const row = (what: string, key: 'residentMib' | 'heldMib'): Row => {
    const values = settled.map((sample) => sample[key]);
    const growth = computeSlope(settled.map((sample) => [sample.hours, sample[key]] as const)) * 24;
    return {
      what: `${what}, ${hours} h of media in ${took.toFixed(0)} s`,
      ours: `${growth.toFixed(2)} MiB a day (${Math.min(...values).toFixed(1)}–${Math.max(...values).toFixed(1)} MiB)`,
      peer: '–',
      beside: '–',
      result: Math.abs(growth) <= NOISE_MIB ? 'holds' : 'misses',
      bar: `0 ± ${NOISE_MIB} MiB`,
    };
  };
  return [row('resident memory', 'residentMib'), row('heap and buffers after a collection', 'heldMib')];
}
