/** Ports for servers that start later: two processes that look at the same time get different ones. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { afterAll, expect, test } from 'vitest';
import { claimPort, reserveFreePort } from '../../../../tools/process/ports.ts';

const PORTS = new URL('../../../../tools/process/ports.ts', import.meta.url).href;
const EACH = 300;
const RESERVER = `
const { reserveFreePort } = await import(${JSON.stringify(PORTS)});
process.send(await Promise.all(Array.from({ length: ${EACH} }, () => reserveFreePort())));
process.on('message', () => process.exit());
`;

const children: ReturnType<typeof fork>[] = [];
afterAll(() => {
  for (const child of children) child.kill('SIGKILL');
});

/** Reserves ports in a process that stays. */
async function reserveElsewhere(): Promise<number[]> {
  const child = fork('-', { execArgv: ['--input-type=module', '--eval', RESERVER], stdio: 'inherit' });
  children.push(child);
  const [ports] = await once(child, 'message');
  return ports;
}

test('no two processes get the same port', async () => {
  const lists = await Promise.all(Array.from({ length: 4 }, reserveElsewhere));
  const ports = [...lists.flat(), await reserveFreePort()];
  expect(new Set(ports).size).toBe(4 * EACH + 1);
});

test('a free port is none that Linux gives to connections or to servers that ask for any', async () => {
  const [low] = (await readFile('/proc/sys/net/ipv4/ip_local_port_range', 'utf8')).split(/\s+/).map(Number);
  const ports = await Promise.all(Array.from({ length: 50 }, () => reserveFreePort()));
  expect(Math.max(...ports)).toBeLessThan(low as number);
});

test('a port that was asked for is refused while something listens there', async () => {
  const port = await reserveFreePort();
  expect(await claimPort('port', port)).toBe(port);
  const server = createServer().listen(port, '127.0.0.1');
  await once(server, 'listening');
  await expect(claimPort('port', port)).rejects.toThrow(`Port ${port} is in use`);
  server.close();
});
