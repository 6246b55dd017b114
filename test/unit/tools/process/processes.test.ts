import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { identify } from '../../../../tools/process/identity.ts';
import { type Child, type ChildSpec, spawnChild, sweepLeftovers } from '../../../../tools/process/processes.ts';
import { tempDir } from '../../../kit/temp-dir.ts';

let stateDir = '';
const children: Child[] = [];

beforeEach(() => {
  stateDir = tempDir();
});
afterEach(() => Promise.all(children.splice(0).map((child) => child.stop(0))));

const shell = (script: string, more: Partial<ChildSpec> = {}): ChildSpec => ({
  name: 'sh',
  command: 'sh',
  args: ['-c', script],
  env: { PATH: '/usr/bin:/bin' },
  logFile: join(stateDir, 'logs', 'sh.log'),
  stateDir,
  ...more,
});
const start = async (script: string, more?: Partial<ChildSpec>): Promise<Child> => {
  const child = await spawnChild(shell(script, more));
  children.push(child);
  return child;
};
const records = () => readdir(join(stateDir, 'pids')).catch(() => []);
const waitForLog = (text: string, name = 'sh.log') =>
  vi.waitFor(async () => expect(await readFile(join(stateDir, 'logs', name), 'utf8')).toContain(text), {
    timeout: 5000,
  });

describe('spawnChild', () => {
  test('reports a child’s end and its last output', async () => {
    const child = await start('echo one; echo two >&2; exit 3');
    expect(await child.exited).toEqual({ code: 3, signal: null, expected: false, lastLogLines: ['one', 'two'] });
    expect(await records()).toEqual([]);
  });

  test('gives the child no more environment than was asked for, and its own process group', async () => {
    const child = await start('env; read -r line < /proc/self/stat; echo "stat $line"', {
      env: { PATH: '/usr/bin:/bin', ONLY: 'this' },
    });
    const { lastLogLines } = await child.exited;
    expect(lastLogLines).toContain('ONLY=this');
    expect(lastLogLines.filter((line) => /^(HOME|USER|SHELL)=/.test(line))).toEqual([]);
    const group = lastLogLines
      .find((line) => line.startsWith('stat '))
      ?.split(') ')[1]
      ?.split(' ')[2];
    expect(group).toBe(String(child.pid));
  });

  test('says in one sentence that a program is not there', async () => {
    await expect(start('', { command: '/nowhere/etcd', name: 'etcd' })).rejects.toThrow(
      'etcd could not be started from /nowhere/etcd: the program or directory does not exist.',
    );
  });

  test('stop sends a signal, and every caller gets the same promise', async () => {
    const child = await start('trap "echo bye; exit 0" TERM; echo ready; while :; do sleep 0.05; done');
    await waitForLog('ready');
    await Promise.all([child.stop(), child.stop()]);
    expect(await child.exited).toMatchObject({ code: 0, expected: true, lastLogLines: ['ready', 'bye'] });
  });

  test('stop kills a child that ignores the signal, with all its descendants', async () => {
    const child = await start('trap "" TERM; sleep 1000 & echo "grandchild $!"; while :; do sleep 0.05; done');
    await waitForLog('grandchild');
    const grandchild = Number(
      (await readFile(join(stateDir, 'logs', 'sh.log'), 'utf8')).match(/grandchild (\d+)/)?.[1],
    );
    expect(identify(grandchild)).toBeDefined();
    await child.stop(100);
    expect(await child.exited).toMatchObject({ code: null, signal: 'SIGKILL', expected: true });
    await vi.waitFor(() => expect(identify(grandchild)).toBeUndefined(), 60_000);
  });

  test('a child that ends takes its descendants along', async () => {
    const child = await start('sleep 1000 & echo "grandchild $!"; exit 1');
    const grandchild = Number((await child.exited).lastLogLines[0]?.split(' ')[1]);
    await vi.waitFor(() => expect(identify(grandchild)).toBeUndefined(), 60_000);
  });

  test('puts a large log aside when the program starts', async () => {
    const logFile = join(stateDir, 'large.log');
    await writeFile(logFile, Buffer.alloc(17 * 2 ** 20, 'x'));
    await (await start('echo new', { logFile })).exited;
    expect(await readFile(logFile, 'utf8')).toBe('new\n');
    expect(existsSync(`${logFile}.1`)).toBe(true);
  });
});

describe('sweepLeftovers', () => {
  /** Starts a parent process that runs `script` as a child and stays until a kill. */
  const startParent = async (script: string) => {
    const module = JSON.stringify(new URL('../../../../tools/process/processes.ts', import.meta.url).href);
    const code = `const { spawnChild } = await import(${module});
      const child = await spawnChild(${JSON.stringify(shell(script))});
      process.stdout.write(String(child.pid)); setInterval(() => {}, 1000);`;
    const parent = spawn(process.execPath, ['--input-type=module', '-e', code], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [pid] = await once(parent.stdout, 'data');
    const kill = async () => {
      parent.kill('SIGKILL');
      await once(parent, 'exit');
    };
    return { parent, pid: Number(pid), kill };
  };

  test('ends the leftovers of a killed parent, also those that ignore the signal', async () => {
    const { pid, kill } = await startParent('trap "" TERM; echo ready; while :; do sleep 0.05; done');
    await waitForLog('ready');
    await kill();
    expect(identify(pid)).toBeDefined();
    expect(await sweepLeftovers(stateDir, { graceMs: 100 })).toEqual(['sh']);
    expect(identify(pid)).toBeUndefined();
    expect(await records()).toEqual([]);
    expect(await sweepLeftovers(stateDir)).toEqual([]);
  });

  test('refuses while the parent still runs', async () => {
    const { parent, pid, kill } = await startParent('sleep 1000');
    await expect(sweepLeftovers(stateDir)).rejects.toThrow(`is in use by the running process ${parent.pid}.`);
    expect(identify(pid)).toBeDefined();
    await kill();
    expect(await sweepLeftovers(stateDir)).toEqual(['sh']);
  });

  test('never touches a process that merely has the recorded number', async () => {
    const child = await start('sleep 1000');
    const file = join(stateDir, 'pids', `${child.pid}.json`);
    const record = JSON.parse(await readFile(file, 'utf8'));
    await writeFile(
      file,
      JSON.stringify({ ...record, startTicks: '1', parent: { ...record.parent, startTicks: '1' } }),
    );
    expect(await sweepLeftovers(stateDir)).toEqual([]);
    expect(identify(child.pid)).toBeDefined();
    expect(await records()).toEqual([]);
  });

  test('leaves the children of the process that asks alone, and survives a broken record', async () => {
    const child = await start('sleep 1000');
    await writeFile(join(stateDir, 'pids', '1.json'), '{"pid": 1');
    expect(await sweepLeftovers(stateDir)).toEqual([]);
    expect(identify(child.pid)).toBeDefined();
    expect(await records()).toEqual([`${child.pid}.json`]);
  });
});
