/** Tests what a full disk leaves: the attempts are in full-disk.ts, which runs with small disks of its own. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { beforeAll, expect, test } from 'vitest';
import { room } from '../../../../../kit/make/prepare.ts';
import type { FullDiskReport } from './full-disk.ts';

let report: FullDiskReport;
beforeAll(async () => {
  await using place = await room();
  const [few, rare] = [place.path('few'), place.path('rare')];
  for (const directory of [few, rare]) await mkdir(directory);
  // These processes see file systems of their own; a user namespace replaces root.
  const rootless = process.getuid?.() === 0 ? [] : ['--map-root-user'];
  const program = fileURLToPath(new URL('full-disk.ts', import.meta.url));
  const script = `
    mount -t tmpfs -o size=2m tmpfs '${few}' && mount -t tmpfs -o nr_inodes=100 tmpfs '${rare}' &&
    "$0" '${program}' '${few}' '${rare}' > '${place.path('report')}' 2> '${place.path('errors')}'`;
  const shell = spawn('unshare', ['--mount', ...rootless, 'sh', '-c', script, process.execPath], { stdio: 'ignore' });
  await once(shell, 'exit');
  const errors = await readFile(place.path('errors'), 'utf8');
  const json = await readFile(place.path('report'), 'utf8');
  if (json === '') throw new Error(errors);
  report = JSON.parse(json);
}, 120_000);

test('a disk that is full at any step of a rendition is said as that, and nothing half is left', () => {
  expect(Object.keys(report.outcomes).sort()).toEqual(['done', 'full']);
  expect(report.outcomes.full).toBeGreaterThan(30);
  expect(report.halfWritten).toEqual([]);
});

test('the chunks that are there can be played, and with room the next attempt completes them', () => {
  expect([...new Set(report.prepared)].sort((a, b) => a - b)).toEqual([0, 720, 1440, 1680]);
  expect(report.different).toBe(0);
});

test('a scratch file that finds no room says so', () => {
  expect(report.scratch).toEqual(['full', 'full']);
});

test('a sweep makes room on a full disk once the grace time is over', () => {
  expect(report.sweptAfterHours).toBe(25);
});
