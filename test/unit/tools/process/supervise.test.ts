import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createLogger } from '../../../../src/core/lib/log.ts';
import { identify, isAlive } from '../../../../tools/process/identity.ts';
import {
  createRunOnce,
  createSupervisor,
  type Part,
  type PartSpec,
  type SupervisorOptions,
} from '../../../../tools/process/supervise.ts';
import { tempDir } from '../../../kit/temp-dir.ts';

const log = createLogger('test', 'silent');
let stateDir = '';
let said: string[] = [];
const parts: Part[] = [];

beforeEach(() => {
  stateDir = tempDir();
  said = [];
});
afterEach(async () => {
  await Promise.all(parts.splice(0).map((part) => part.stop(0)));
  expect(await readdir(join(stateDir, 'pids')).catch(() => [])).toEqual([]);
});

const shell = (script: string, more: Partial<PartSpec> = {}): PartSpec => ({
  name: 'part',
  command: 'sh',
  args: ['-c', script],
  env: { PATH: '/usr/bin:/bin' },
  stateDir,
  logFile: join(stateDir, 'logs', `${more.name ?? 'part'}.log`),
  ...more,
});
const soon = { restart: true, pauseMs: 10 } as const;
const supervise = (options: Partial<SupervisorOptions> = {}) => {
  const supervisor = createSupervisor({ log, say: (line) => said.push(line), decide: () => soon, ...options });
  return {
    ...supervisor,
    start: (spec: PartSpec) => {
      const part = supervisor.start(spec);
      parts.push(part);
      return part;
    },
  };
};

test('a part that is killed is started again, and both are said in plain lines', async () => {
  const part = supervise().start(shell('exec sleep 1000', { name: 'etcd' }));
  await part.started;
  const first = part.pid;
  process.kill(first, 'SIGKILL');
  await vi.waitFor(() => expect(said).toEqual(['etcd ended (signal SIGKILL); starting it again', 'etcd is back']));
  expect(part.pid).not.toBe(first);
  expect(identify(part.pid)).toBeDefined();
});

test('five ends in a minute are the end, with the last words of the part', async () => {
  const gaveUp = Promise.withResolvers<{ sentence: string; lines: readonly string[] }>();
  const supervisor = createSupervisor({
    log,
    say: (line) => said.push(line),
    onGiveUp: (sentence, lines) => gaveUp.resolve({ sentence, lines }),
  });
  const part = supervisor.start(shell('echo "no disk"; exit 3', { untilReady: () => new Promise(() => undefined) }));
  expect(await gaveUp.promise).toEqual({
    sentence: 'part ended (exit code 3), 5 times in a minute, so everything stops.',
    lines: ['no disk'],
  });
  expect(said).toEqual(Array(4).fill('part ended (exit code 3); starting it again'));
  await expect(supervisor.failed).rejects.toThrow(/no disk/);
  await expect(part.started).rejects.toThrow(/5 times in a minute.*no disk/);
});

test('a program that is not there is a part that ends', async () => {
  const part = createRunOnce(log).start(shell('', { command: '/nowhere/etcd' }));
  await expect(part.started).rejects.toThrow(/it could not be started.*the program or directory does not exist/);
});

test('stop while it is being started again, at any moment, leaves nothing running', async () => {
  for (let delayMs = 0; delayMs < 40; delayMs += 4) {
    const part = supervise().start(shell('exec sleep 1000'));
    await part.started;
    const first = identify(part.pid);
    process.kill(part.pid, 'SIGKILL');
    await vi.waitFor(() => expect(first && isAlive(first)).toBe(false), { interval: 1 });
    await new Promise((resolve) => setTimeout(resolve, delayMs));
    await part.stop();
    expect(identify(part.pid)).toBeUndefined();
    expect(await readdir(join(stateDir, 'pids'))).toEqual([]);
  }
});

test('a part waits at each start until those that it needs serve', async () => {
  const supervisor = supervise();
  const gate = join(stateDir, 'gate');
  const untilReady = (signal: AbortSignal) =>
    vi.waitFor(() => readFile(gate).then(() => signal.throwIfAborted()), { timeout: 60_000, interval: 5 });
  const needed = supervisor.start(shell('exec sleep 1000', { name: 'needed', untilReady }));
  const user = supervisor.start(shell('exec sleep 1000', { name: 'user', needs: [needed] }));
  await vi.waitFor(() => expect(needed.pid).not.toBe(0));
  expect(user.pid).toBe(0);
  await writeFile(gate, '');
  await user.started;
  await rm(gate);
  process.kill(needed.pid, 'SIGKILL');
  await vi.waitFor(() => expect(said).toContain('needed ended (signal SIGKILL); starting it again'));
  process.kill(user.pid, 'SIGKILL');
  await vi.waitFor(() => expect(said).toContain('user ended (signal SIGKILL); starting it again'));
  await vi.waitFor(() => expect(identify(needed.pid)).toBeDefined());
  expect(said).not.toContain('user is back');
  await writeFile(gate, '');
  await vi.waitFor(() => expect(said).toContain('user is back'), { timeout: 5_000 });
});

test('an end that only says that the last run still holds something does not count', async () => {
  const flag = join(stateDir, 'held');
  await writeFile(flag, '');
  const script = `[ -e ${flag} ] && { echo still held; exit 1; }; exec sleep 1000`;
  const decide = () => {
    throw new Error('it was counted');
  };
  const untilReady = () => vi.waitFor(() => expect(said).toEqual(['let go']), { timeout: 60_000, interval: 5 });
  const part = supervise({ decide }).start(shell(script, { held: /still held/, untilReady }));
  await vi.waitFor(async () =>
    expect((await readFile(join(stateDir, 'logs/part.log'), 'utf8')).length).toBeGreaterThan(20),
  );
  await rm(flag);
  said.push('let go');
  await part.started;
});
