import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { withFileLock } from '../../../../tools/process/filelock.ts';
import { tempDir } from '../../../kit/temp-dir.ts';

let dir = '';
let lock = '';

beforeEach(() => {
  dir = tempDir();
  lock = join(dir, 'the.lock');
});

/** Starts another process that takes the lock and holds it until a kill. */
async function holder() {
  const module = JSON.stringify(new URL('../../../../tools/process/filelock.ts', import.meta.url).href);
  const code = `const { withFileLock } = await import(${module});
    await withFileLock(${JSON.stringify(lock)}, () => new Promise(() => { process.stdout.write('held'); setInterval(() => {}, 1000); }));`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', code], { stdio: ['ignore', 'pipe', 'inherit'] });
  await once(child.stdout, 'data');
  return child;
}

describe('withFileLock', () => {
  test('returns the work’s result, and leaves nothing behind, even when the work throws', async () => {
    expect(await withFileLock(lock, async () => 42)).toBe(42);
    await expect(withFileLock(lock, () => Promise.reject(new Error('no')))).rejects.toThrow('no');
    expect(await readdir(dir)).toEqual([]);
  });

  test('waits for the holder, says for whom, and takes over when the holder was killed', async () => {
    const child = await holder();
    const waitedFor: number[] = [];
    const onWait = (pid: number) => {
      waitedFor.push(pid);
      child.kill('SIGKILL');
    };
    expect(await withFileLock(lock, async () => 'mine', { onWait })).toBe('mine');
    expect(waitedFor).toEqual([child.pid]);
    expect(await readdir(dir)).toEqual([]);
  });

  test('takes over the lock of a reused process id, and an unreadable one', async () => {
    await writeFile(lock, JSON.stringify({ pid: process.pid, startTicks: '1', bootId: 'another' }));
    expect(await withFileLock(lock, async () => 1)).toBe(1);
    await writeFile(lock, '{"pid": 12');
    expect(await withFileLock(lock, async () => 2)).toBe(2);
  });

  test('stops waiting on request, and leaves the lock with its holder', async () => {
    const child = await holder();
    const abort = new AbortController();
    const onWait = () => abort.abort(new Error('enough'));
    await expect(withFileLock(lock, async () => 0, { onWait, signal: abort.signal })).rejects.toThrow('enough');
    expect(existsSync(lock)).toBe(true);
    child.kill('SIGKILL');
    await once(child, 'exit');
  });
});
