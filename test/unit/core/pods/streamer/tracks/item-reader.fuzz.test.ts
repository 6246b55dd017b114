import { expect, test } from 'vitest';
import { run } from '../../../../../kit/run.ts';
import { type FuzzReport, NOISE_BYTES } from './fuzz.ts';

const INPUTS = 100_000;
/** An unanswered read is given up after this: an input that takes as long hangs. */
const HANG_MS = 10_000;
/** The inputs take half a minute of a processor that other tests use too. */
const TEST_MS = 600_000;

test(
  '100,000 damaged renditions and indexes end in an error with a code: no crash, no hang, no growth',
  async () => {
    const program = new URL('./fuzz.ts', import.meta.url).pathname;
    const { stdout } = await run(process.execPath, ['--expose-gc', program, '20260101', String(INPUTS)]);
    const { outcomes, slowestMs, grownBytes, inputs } = JSON.parse(stdout) as FuzzReport;
    const { sound = 0, ...errors } = outcomes;
    expect(inputs).toBe(INPUTS);
    expect(Object.keys(errors).sort()).toEqual([
      'FlvError bad_tag',
      'FlvError not_flv',
      'FlvError truncated',
      'ItemError item_invalid',
    ]);
    // A change of a name or of a picture's content leaves a rendition sound; most do not.
    expect(sound).toBeGreaterThan(0);
    expect(sound).toBeLessThan(INPUTS / 2);
    expect(slowestMs).toBeLessThan(HANG_MS);
    expect(grownBytes).toBeLessThan(NOISE_BYTES);
  },
  TEST_MS,
);
