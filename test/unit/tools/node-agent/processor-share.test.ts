/** Tests the share of the processors that a container of the node agent has. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { getPriority } from 'node:os';
import { expect, it } from 'vitest';
import { chooseNice, setNice } from '../../../../tools/node-agent/processor-share.ts';

it('is full from the request of a stream on, and where nothing is requested', () => {
  expect([undefined, '200m', '1', '0.5', 'much'].map(chooseNice)).toEqual([0, 0, 0, 0, 0]);
});

it('is in proportion below that: each step is a quarter more', () => {
  expect(['160m', '0.1', '50m', '20m', '10m', '1m', '0'].map(chooseNice)).toEqual([1, 3, 6, 10, 13, 19, 19]);
});

it('is that of a process and its session, and of what it starts', async () => {
  const script = `process.stdin.once('data', () => console.log(require('node:child_process').execFileSync('nice').toString().trim()))`;
  const child = spawn(process.execPath, ['-e', script], { detached: true, stdio: ['pipe', 'pipe', 'inherit'] });
  const { pid } = child;
  if (pid === undefined) throw new Error('no process');
  await setNice(pid, 7);
  expect(getPriority(pid)).toBe(7);
  if (readFileSync('/proc/sys/kernel/sched_autogroup_enabled', 'utf8').trim() === '1')
    expect(readFileSync(`/proc/${pid}/autogroup`, 'utf8')).toMatch(/nice 7\n$/);
  const answer = once(child.stdout, 'data');
  child.stdin.end('go');
  expect(String(await answer)).toBe('7\n');
});

it('changes nothing of a process that is gone', async () => {
  const child = spawn('true');
  await once(child, 'exit');
  await expect(setNice(child.pid ?? 0, 7)).resolves.toBeUndefined();
});
