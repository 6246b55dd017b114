/** Tests the role switches: a wrong request is answered with the possible roles. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const SRC = join(import.meta.dirname, '../../../src');
const WHOLE = join(SRC, 'service/main.ts');
const CORE = join(SRC, 'core/main.ts');

const run = (main: string, ...args: string[]) =>
  new Promise<{ status: number; stdout: string; stderr: string }>((resolve) => {
    const child = execFile(process.execPath, [main, ...args], (_error, stdout, stderr) =>
      resolve({ status: child.exitCode ?? -1, stdout, stderr }),
    );
  });

test('--help lists all roles', async () => {
  const { status, stdout } = await run(WHOLE, '--help');
  expect(status).toBe(0);
  for (const role of ['api', 'operator', 'streamer', 'prepare', 'probe', 'billing', 'migrate'])
    expect(stdout).toMatch(new RegExp(`^  ${role} `, 'm'));
});

test.each(['streamers', 'constructor', 'toString', '__proto__'])(
  '"%s" is no role, and the error lists the roles',
  async (role) => {
    const { status, stdout, stderr } = await run(WHOLE, role);
    expect(status).toBe(2);
    expect(stdout).toBe('');
    expect(stderr).toContain(`"${role}" is not a role`);
    expect(stderr).toContain('operator');
  },
);

test('no role at all is a mistake too', async () => {
  expect((await run(WHOLE)).status).toBe(2);
});

test('the operator alone has its own roles and those of its pods, and none of the service', async () => {
  const { status, stdout } = await run(CORE, '--help');
  expect(status).toBe(0);
  for (const role of ['operator', 'streamer', 'prepare', 'decoder', 'probe', 'adopt'])
    expect(stdout).toMatch(new RegExp(`^  ${role} `, 'm'));
  expect((await run(CORE, 'api')).stderr).toContain('"api" is not a role');
});
