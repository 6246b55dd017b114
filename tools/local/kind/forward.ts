/** Forwards TCP connections from one address to another. */
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { pipeline } from 'node:stream';

interface Address {
  host: string;
  port: number;
}

/** Resolves when it listens at `from`, to a function that ends it with all of its connections. */
export async function forward(from: Address, to: Address): Promise<() => Promise<void>> {
  const open = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = connect(to);
    for (const socket of [client, upstream]) open.add(socket.setNoDelay(true).once('close', () => open.delete(socket)));
    // An end that breaks ends the other one; nobody else needs the error.
    pipeline(client, upstream, () => undefined);
    pipeline(upstream, client, () => undefined);
  });
  server.listen(from);
  await once(server, 'listening');
  return async () => {
    server.close();
    for (const socket of open) socket.destroy();
    await once(server, 'close');
  };
}
