/** Tests the role switch: a wrong request is answered with the possible roles. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const MAIN = join(import.meta.dirname, '../../src/main.ts');

const loopstream = (...args: string[]) =>
  new Promise<{ status: number; stdout: string; stderr: string }>((resolve) => {
    const child = execFile(process.execPath, [MAIN, ...args], (_error, stdout, stderr) =>
      resolve({ status: child.exitCode ?? -1, stdout, stderr }),
    );
  });

test('--help lists all roles', async () => {
  const { status, stdout } = await loopstream('--help');
  expect(status).toBe(0);
  for (const role of ['api', 'operator', 'streamer', 'prepare', 'probe', 'billing', 'migrate'])
    expect(stdout).toMatch(new RegExp(`^  ${role} `, 'm'));
});

test.each(['streamers', 'constructor', 'toString', '__proto__'])(
  '"%s" is no role, and the error lists the roles',
  async (role) => {
    const { status, stdout, stderr } = await loopstream(role);
    expect(status).toBe(2);
    expect(stdout).toBe('');
    expect(stderr).toContain(`"${role}" is not a role`);
    expect(stderr).toContain('operator');
  },
);

test('no role at all is a mistake too', async () => {
  expect((await loopstream()).status).toBe(2);
});
