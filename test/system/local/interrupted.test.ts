/** Tests that a start which is interrupted at any moment leaves nothing: the moments are the processes that it has begun. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { ensureApp, LOCAL_MAIN } from '../../kit/system/app.ts';
import { tempDir } from '../../kit/temp-dir.ts';
import { until } from '../../kit/wait.ts';

beforeAll(() => ensureApp());

const PORTS = ['port', 'rtmp-port', 'media-port', 'kube-port', 'mail-port'].flatMap((name) => [`--${name}`, '0']);

/** Returns the names of the processes that the start has on record. */
async function listRecorded(stateDir: string): Promise<string[]> {
  const records = join(stateDir, 'pids');
  const files = await readdir(records).catch(() => []);
  const texts = await Promise.all(files.map((file) => readFile(join(records, file), 'utf8').catch(() => '')));
  return texts.flatMap((text) => /"name":"([^"]+)"/.exec(text)?.[1] ?? []);
}

test.each(['initdb', 'receiver', 'etcd', 'kube-apiserver', 'kube-scheduler'])(
  'an interruption while %s runs leaves nothing',
  async (name) => {
    const stateDir = tempDir();
    const child = spawn(process.execPath, [LOCAL_MAIN, '--state-dir', stateDir, ...PORTS], {
      stdio: 'ignore',
      detached: true,
    });
    onTestFinished(() => void child.kill('SIGKILL'));
    const exited = once(child, 'exit');
    await until(`${name} runs`, async () => (await listRecorded(stateDir)).includes(name), 60_000);
    // As a terminal does, which interrupts the whole process group.
    process.kill(-(child.pid ?? 0), 'SIGINT');
    expect(await exited).toEqual([0, null]);
    expect(await listRecorded(stateDir)).toEqual([]);
  },
);
