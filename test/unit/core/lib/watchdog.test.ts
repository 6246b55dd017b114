/** Tests what ends a process whose event loop stands: its own processor time alone. */
import { spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createStepMeter, parseCPUSeconds } from '../../../../src/core/lib/watchdog-look.ts';
import { tempDir } from '../../../kit/temp-dir.ts';

const WATCHDOG = join(import.meta.dirname, '../../../../src/core/lib/watchdog.ts');
const ENDLESS = 70;

const directory = tempDir();

/** Runs a program that is watched, whose `stop` ends that. */
async function run(name: string, program: string) {
  const file = join(directory, name);
  const options = { seconds: 1, exitCode: ENDLESS, lastWords: { file, text: 'It never ended.' } };
  const code = `
    import { startWatchdog } from ${JSON.stringify(WATCHDOG)};
    import { Worker } from 'node:worker_threads';
    const stop = startWatchdog(${JSON.stringify(options)}, { warn: ({ err }) => { throw err; } });
    await new Promise((done) => setTimeout(done, 100));
    ${program}`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', code], { stdio: ['ignore', 'pipe', 'pipe'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  const status = new Promise<number | null>((done) => child.once('close', done));
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
  return { status: await status, stdout, stderr, words: await readFile(file, 'utf8').catch(() => undefined) };
}

describe('a process', () => {
  test.each([
    ['a loop', 'function turnForever() { for (;;); } turnForever();', 'turnForever'],
    // The lint keeps such an expression out of the program itself.
    ['an expression', "new RegExp('^(?:a+)+$').test('a'.repeat(60) + 'b');", ''],
  ])('that %s never lets go is ended, and says where it was', async (name, program, place) => {
    const { status, stderr, words } = await run(name, program);
    expect({ status, words }).toEqual({ status: ENDLESS, words: 'It never ended.' });
    const lines = stderr.split('\n').filter((line) => line.startsWith('{'));
    const [why, where] = lines.map((line) => JSON.parse(line));
    expect(why).toMatchObject({ level: 60, cpuSeconds: expect.any(Number) });
    expect(where.frames[0]).toContain(place);
  });

  test('that waits while its other threads compute goes on', async () => {
    const program = `
      const spinning = new Worker('for (;;);', { eval: true });
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 4000);
      await spinning.terminate();
      console.log('went on');
      await stop();`;
    expect(await run('waits', program)).toMatchObject({ status: 0, stdout: 'went on\n', words: undefined });
  });

  test('that computes for long in short steps goes on, and ends by itself', async () => {
    const program = `
      const used = () => process.threadCpuUsage().user / 1e6;
      while (used() < 3) {
        for (const until = used() + 0.1; used() < until; );
        await new Promise((done) => setTimeout(done, 1));
      }
      console.log('went on');`;
    expect(await run('steps', program)).toMatchObject({ status: 0, stdout: 'went on\n', words: undefined });
  });
});

test('a step counts from the last turn of the loop', () => {
  const measure = createStepMeter();
  expect(measure({ beats: 0, cpuSeconds: 5 })).toBe(0);
  expect(measure({ beats: 0, cpuSeconds: 9 })).toBe(4);
  expect(measure({ beats: 1, cpuSeconds: 10 })).toBe(0);
  expect(measure({ beats: 1, cpuSeconds: 10 })).toBe(0);
  expect(measure({ beats: 1, cpuSeconds: 70 })).toBe(60);
});

test('the processor time of a thread is read whatever its name', () => {
  const stat = '7 (no) de (x) R 1 7 7 0 -1 4194304 100 0 0 0 1234 56 0 0 20 0 11 0 100 200 300';
  expect(parseCPUSeconds(stat)).toBe(12.9);
});
