/** Tests that the local system builds ffmpeg-send in the background: at low priority, with a line, and without a trace once it is stopped. */
import { chmod, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { Lifecycle } from '../../../src/core/lib/lifecycle.ts';
import { environment } from '../../../src/core/settings/environment.ts';
import { buildBehind } from '../../../tools/local/build-behind.ts';
import { openState } from '../../../tools/local/state.ts';
import { findCompiled, SENDER, whyNotCompiled } from '../../../tools/process/compiled.ts';
import { localEnvironment } from '../../../tools/process/environment.ts';
import { tempDir } from '../../kit/temp-dir.ts';
import { until } from '../../kit/wait.ts';

/** Starts it over a new state directory and cache, with a script in the place of the one that compiles. */
async function startBuild(script: string, settings: Record<string, string> = {}) {
  const dir = tempDir();
  const file = join(dir, 'script');
  await writeFile(file, `#!/bin/bash\nset -eu\nhere=${dir}\n${script}\n`);
  await chmod(file, 0o755);
  const env = localEnvironment({
    ...environment(),
    LOOPSTREAM_SENDER: '',
    ...settings,
    XDG_CACHE_HOME: join(dir, 'cache'),
  });
  const lifecycle = new Lifecycle();
  onTestFinished(() => lifecycle.stop());
  const lines: string[] = [];
  const progress = {
    say: (line: string) => void lines.push(line),
    step: () => Promise.reject(),
    untilQuiet: async () => {},
  };
  const state = openState(join(dir, 'state'));
  const built = buildBehind(SENDER, { env, lifecycle, progress, state }, file);
  return { dir, env, lifecycle, lines, built, read: (name: string) => readFile(join(dir, name), 'utf8') };
}

const CHECK = '[ "$1" != --check ] || exit 0';
const LINE = expect.stringContaining('building ffmpeg-send in the background');

describe.skipIf(whyNotCompiled(SENDER) !== undefined)('the build of ffmpeg-send', () => {
  test('gives way to all else, says when it begins and ends, and the next stream finds the program', async () => {
    const { env, lines, built, read } = await startBuild(`${CHECK}
      until [ ! -e /proc/$$/autogroup ] || grep -q 'nice 19' /proc/$$/autogroup; do sleep 0.05; done
      echo "$(nice) $(ionice -p $$)" >"$here/priority"
      mkdir -p "$1"; echo program >"$1/ffmpeg-send"`);
    await built;
    expect(await read('priority')).toBe('19 idle\n');
    expect(lines).toEqual([
      LINE,
      expect.stringMatching(/✓ ffmpeg-send is built: each stream uses it from its next start {2}\d+ s/),
    ]);
    expect(await readFile(findCompiled(SENDER, env.cacheDir) ?? '', 'utf8')).toBe('program\n');
  });

  test('says why it failed, and nothing else fails', async () => {
    const { env, lines, built } = await startBuild(`${CHECK}
      echo 'E: deb.debian.org cannot be reached' >&2; exit 100`);
    await built;
    expect(lines).toEqual([LINE, expect.stringContaining('could not be built: E: deb.debian.org cannot be reached')]);
    expect(findCompiled(SENDER, env.cacheDir)).toBeUndefined();
  });

  test('is left out where packages are missing that only root could install', async () => {
    const { lines, built } = await startBuild('[ "$1" != --check ]');
    await built;
    expect(lines).toEqual([]);
  });

  test('is left out where a sender is chosen', async () => {
    const { lines, built } = await startBuild(CHECK, { LOOPSTREAM_SENDER: '/usr/bin/ffmpeg' });
    await built;
    expect(lines).toEqual([]);
  });

  test('ends with the run, with all that it started, and leaves no file', async () => {
    const { dir, lifecycle, lines, built, read } = await startBuild(`${CHECK}
      work=$(mktemp -d -p "$here" work.XXXX); trap 'rm -rf "$work"' EXIT
      sleep 1000 & echo $! >"$here/pid.new"; mv "$here/pid.new" "$here/pid"
      sleep 1001`);
    const pid = await until('the build runs', () => read('pid').catch(() => undefined));
    await lifecycle.stop();
    await built;
    await until('its processes have ended', () =>
      readFile(`/proc/${pid.trim()}/stat`, 'utf8').then(
        (stat) => / Z /.test(stat),
        () => true,
      ),
    );
    expect(lines).toEqual([LINE]);
    expect((await readdir(dir)).filter((name) => name.startsWith('work'))).toEqual([]);
    expect((await readdir(join(dir, 'cache', 'loopstream'))).filter((name) => name.endsWith('.lock'))).toEqual([]);
    expect(await readdir(join(dir, 'state', 'pids'))).toEqual([]);
  });
});
