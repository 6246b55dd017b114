/** Tests that an engine of our own leaves nothing on the machine, whether it is ended or its parent is killed. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { environment } from '../../../src/core/settings/environment.ts';
import { run } from '../../../tools/process/run.ts';
import { isReachable } from '../../kit/real/engine/api.ts';
import { engineLayout } from '../../kit/real/engine/layout.ts';
import { whatIsMissing, whyNoEngine } from '../../kit/real/engine/programs.ts';
import { tempDir } from '../../kit/temp-dir.ts';
import { until } from '../../kit/wait.ts';

const whyNot = (await whyNoEngine()) ?? (await whatIsMissing());

let cacheDir: string;
beforeEach(() => {
  cacheDir = tempDir();
});

const MODULE = new URL('../../kit/real/engine/own.ts', import.meta.url).href;

/** Starts a process that has an engine until its standard input ends. */
async function keeper() {
  const program = `
    import { withOwnEngine } from '${MODULE}';
    await withOwnEngine(${JSON.stringify(cacheDir)}, async (socket) => {
      process.stdout.write(socket + '\\n');
      await new Promise((resolve) => process.stdin.resume().once('end', resolve));
    });
    process.stdin.destroy();`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program], {
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  let complaint = '';
  child.stderr.on('data', (chunk) => (complaint += chunk));
  const exited = once(child, 'exit');
  const line = await createInterface(child.stdout)[Symbol.asyncIterator]().next();
  return { child, exited, socket: String(line.value), complaint: () => complaint };
}

const read = (path: string): string => {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
};

/** Lists processes, mounts and interfaces of the machine that belong to this engine. */
function traces() {
  const { runDir } = engineLayout(cacheDir);
  const commands = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .map((pid) => read(`/proc/${pid}/cmdline`).replaceAll('\0', ' '))
    .filter((command) => command.includes(runDir));
  const mounts = read('/proc/self/mountinfo')
    .split('\n')
    .filter((line) => line.includes(runDir) || line.includes(cacheDir));
  return [...commands, ...mounts];
}

/** An engine's usual changes to a machine: a bridge, and packet rules. Other tests have bridges of other names. */
async function ofTheNetwork(): Promise<string[]> {
  const { stdout: rules } = await run('iptables-save', [], { env: environment() });
  const bridges = readdirSync('/sys/class/net').filter((name) => /^(docker|br-)/.test(name));
  return [...bridges, ...rules.split('\n').filter((rule) => rule.includes('DOCKER'))];
}

test('ended, it is gone with its sockets; while it was there it changed nothing of the network', async ({ skip }) => {
  if (whyNot !== undefined) skip(whyNot);
  const [network, hadSettings] = [await ofTheNetwork(), existsSync('/etc/docker')];
  const { child, exited, socket } = await keeper();
  expect(await isReachable(socket)).toBe(true);
  expect(traces().length).toBeGreaterThan(0);
  expect(await ofTheNetwork()).toEqual(network);
  child.stdin.end();
  expect(await exited).toEqual([0, null]);
  expect(traces()).toEqual([]);
  expect(existsSync(engineLayout(cacheDir).runDir)).toBe(false);
  expect(existsSync('/etc/docker')).toBe(hadSettings);
});

test('a second run learns which one has it; a kill ends all of it at once, and the next run begins anew', async ({
  skip,
}) => {
  if (whyNot !== undefined) skip(whyNot);
  const first = await keeper();
  expect(await isReachable(first.socket)).toBe(true);
  const second = await keeper();
  await second.exited;
  expect(second.complaint()).toContain(`the process ${first.child.pid} has the engine of this cache`);
  expect(await isReachable(first.socket)).toBe(true);
  first.child.kill('SIGKILL');
  await until('nothing of it runs or is mounted', () => traces().length === 0);
  const third = await keeper();
  expect(await isReachable(third.socket)).toBe(true);
  third.child.stdin.end();
  expect(await third.exited).toEqual([0, null]);
  expect(traces()).toEqual([]);
});
