/** Chooses ports for the local system: requested ones are checked, inner ones are any free ports. */
import { randomInt } from 'node:crypto';
import { createServer, type ListenOptions } from 'node:net';
import { ConfigError } from '../../src/core/settings/settings.ts';
import { suggestPort } from './bad-ports.ts';

/**
 * Free ports are taken from here. Linux gives outgoing connections, and servers that ask for any port, one from 32768 up
 * (`net.ipv4.ip_local_port_range`), so one of those that is free now may be taken before its server has started.
 */
const FREE_PORTS = { first: 20_000, end: 30_000 };
const ATTEMPTS = 1000;

async function canListen(options: ListenOptions): Promise<boolean> {
  return tryListen(options).then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE') return false;
      throw error;
    },
  );
}

function tryListen(options: ListenOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen({ ...options, exclusive: true }, () => server.close(() => resolve()));
  });
}

/** Resolves false when another process has reserved the port. The kernel frees the name when this process ends, however it ends. */
async function reserve(port: number): Promise<boolean> {
  const holder = createServer().unref();
  return new Promise((resolve, reject) => {
    holder.once('error', (error: NodeJS.ErrnoException) =>
      error.code === 'EADDRINUSE' ? resolve(false) : reject(error),
    );
    // A name in Linux' abstract namespace (unix(7)): no file is left behind.
    holder.listen({ path: `\0loopstream-port-${port}` }, () => resolve(true));
  });
}

/** A free port at `host` that no other caller gets, in any process, until this process ends. */
export async function reserveFreePort(host = '127.0.0.1'): Promise<number> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const port = randomInt(FREE_PORTS.first, FREE_PORTS.end);
    if ((await reserve(port)) && (await canListen({ host, port }))) return port;
  }
  throw new ConfigError(
    `No port from ${FREE_PORTS.first} to ${FREE_PORTS.end - 1} is free at ${host}. End what uses them.`,
  );
}

/** Checks that a browser finds nobody else at `localhost`, for which it tries `::1` first. Machines without IPv6 have no such address. */
const tryListenOnIPv6 = (port: number): Promise<void> =>
  tryListen({ host: '::1', port }).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'EADDRINUSE') throw error;
  });

/**
 * `port` if it is free at `host`, any free one when it is 0; otherwise one sentence that names the option. `isNamed`: browsers find the
 * port by the name `localhost`.
 */
export async function claimPort(
  option: string,
  port: number,
  host = '127.0.0.1',
  { isNamed = false } = {},
): Promise<number> {
  try {
    if (port === 0) return await reserveFreePort(host);
    await tryListen({ host, port });
    if (isNamed && host === '127.0.0.1') await tryListenOnIPv6(port);
    return port;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EADDRINUSE') {
      throw new ConfigError(
        `Port ${port} is in use. Free it, or choose another one: make run ARGS="--${option} ${suggestPort(port)}".`,
      );
    }
    if (code === 'EACCES') throw new ConfigError(`Port ${port} needs root. Choose one above 1023 with --${option}.`);
    if (code === 'EADDRNOTAVAIL')
      throw new ConfigError(`This machine has no address ${host}. Choose another one with --host.`);
    throw error;
  }
}
