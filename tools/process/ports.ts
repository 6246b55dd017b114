/** Chooses ports for the local system: requested ones are checked, inner ones are any free ports. */
import { createServer } from 'node:net';
import { ConfigError } from '../../src/settings/settings.ts';

function tryListen(host: string, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen({ host, port, exclusive: true }, () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address ? address.port : port));
    });
  });
}

/** `port` if it is free at `host`, any free one when it is 0; otherwise one sentence that names the option. */
export async function claimPort(option: string, port: number, host = '127.0.0.1'): Promise<number> {
  try {
    return await tryListen(host, port);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EADDRINUSE') {
      throw new ConfigError(
        `Port ${port} is in use. Free it, or choose another one: make run ARGS="--${option} ${port + 1}".`,
      );
    }
    if (code === 'EACCES') throw new ConfigError(`Port ${port} needs root. Choose one above 1023 with --${option}.`);
    if (code === 'EADDRNOTAVAIL')
      throw new ConfigError(`This machine has no address ${host}. Choose another one with --host.`);
    throw error;
  }
}
