import { readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { ensurePrograms } from '../../../../tools/process/preflight.ts';
import { tempDir } from '../../../kit/temp-dir.ts';

let dir = '';
const ffmpeg = { command: 'ffmpeg', aptPackage: 'ffmpeg' };

beforeEach(() => {
  dir = tempDir();
});

const program = (name: string, script = '') => writeFile(join(dir, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
const ask = (isRoot: boolean, needed = [ffmpeg], onProgress?: (step: string) => void) =>
  ensurePrograms(needed, { env: { PATH: dir }, isRoot, onProgress });
/** An apt-get that records its arguments and then does what `script` says. */
const aptGet = (script: string) => program('apt-get', `echo "$DEBIAN_FRONTEND $*" >> ${dir}/calls\n${script}`);
const calls = async () => (await readFile(join(dir, 'calls'), 'utf8')).trim().split('\n');

describe('ensurePrograms', () => {
  test('does nothing when all is there', async () => {
    await program('ffmpeg');
    await expect(ask(false)).resolves.toBeUndefined();
  });

  test('without root names the exact command', async () => {
    await aptGet('exit 1');
    const needed = [
      ffmpeg,
      { command: 'ffprobe', aptPackage: 'ffmpeg' },
      { command: 'openssl', aptPackage: 'openssl' },
    ];
    await expect(ask(false, needed)).rejects.toThrow(
      'ffmpeg, ffprobe, openssl cannot be found. Run `sudo apt-get install -y ffmpeg openssl`.',
    );
  });

  test('without apt-get names the package', async () => {
    await expect(ask(true)).rejects.toThrow(
      'ffmpeg cannot be found. Install the packages that your system calls ffmpeg.',
    );
  });

  test('as root installs exactly the missing ones, without questions, and reports it', async () => {
    await program('openssl');
    await symlink('/bin/cp', join(dir, 'cp'));
    await aptGet(`[ "$4" = install ] && cp "$0" ${dir}/ffmpeg; exit 0`);
    const steps: string[] = [];
    await ask(true, [ffmpeg, { command: 'openssl', aptPackage: 'openssl' }], (step) => steps.push(step));
    expect(steps).toEqual(['installing ffmpeg']);
    expect(await calls()).toEqual([
      'noninteractive -o DPkg::Lock::Timeout=120 -q update',
      'noninteractive -o DPkg::Lock::Timeout=120 -q install -y --no-install-recommends ffmpeg',
    ]);
  });

  test('apt-get is called by one at a time', async () => {
    const tools = ['cp', 'mkdir', 'rmdir'];
    for (const tool of tools) await symlink(`/bin/${tool}`, join(dir, tool));
    // A second apt-get at work fails, as the real one does over the package lists.
    const install = `[ "$4" = install ] && for package; do :; done && cp "$0" ${dir}/$package`;
    await aptGet(`mkdir ${dir}/lock || exit 100\n${install}\nrmdir ${dir}/lock`);
    const each = [ffmpeg, { command: 'openssl', aptPackage: 'openssl' }, { command: 'jq', aptPackage: 'jq' }];
    await Promise.all(each.map((program) => ask(true, [program])));
    expect((await calls()).filter((call) => call.includes('install'))).toHaveLength(3);
  });

  test('passes on why apt-get refused', async () => {
    await aptGet('echo "E: Unable to locate package ffmpeg" >&2; exit 100');
    await expect(ask(true)).rejects.toThrow(
      'ffmpeg could not be installed (Unable to locate package ffmpeg). Run `apt-get install -y ffmpeg` to see the whole output.',
    );
  });

  test('a probe asks whether the program does its work, a file whether it is there', async () => {
    await program('python3', '[ "$1" = works ]');
    await aptGet('exit 1');
    const python = (probe: string[]) => [{ command: 'python3', aptPackage: 'python3-venv', probe }];
    await expect(ask(false, python(['works']))).resolves.toBeUndefined();
    await expect(ask(false, python(['fails']))).rejects.toThrow('install -y python3-venv');
    const file = { file: join(dir, 'module.so'), aptPackage: 'libmodule' };
    await expect(ensurePrograms([file], { env: { PATH: dir }, isRoot: false })).rejects.toThrow('install -y libmodule');
    await writeFile(file.file, '');
    await expect(ensurePrograms([file], { env: { PATH: dir }, isRoot: false })).resolves.toBeUndefined();
  });
});
