/** Helps tests of src/core/kube: a silent logger, objects with versions, a server with scripted answers. */

import { writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { KubeObject, Resource, Stored } from '../../../src/core/kube/types.ts';
import { createLogger } from '../../../src/core/lib/log.ts';

export const silent = createLogger('test', 'silent');

export type Thing = KubeObject<{ owner?: string; text?: string }>;
export const THINGS: Resource<Thing> = {
  group: 'loopstream.dev',
  version: 'v1beta1',
  kind: 'Thing',
  plural: 'things',
  namespaced: true,
};

/** Builds a stored object; `version` is its resourceVersion. */
export const thing = (name: string, version: number | bigint, uid = `uid-${name}`, spec: Thing['spec'] = {}) =>
  ({
    metadata: {
      name,
      namespace: 'ns',
      uid,
      resourceVersion: String(version),
      creationTimestamp: '2026-01-01T00:00:00Z',
    },
    spec,
  }) as Stored<Thing>;

/** Starts an HTTP server on a free port that passes every request to `handle`. */
export async function startServer(handle: (request: IncomingMessage, response: ServerResponse) => void) {
  const server = createServer(handle);
  server.keepAliveTimeout = 60_000;
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** Writes a kubeconfig for a server that needs only a token. */
export async function writeKubeconfig(
  file: string,
  server: string,
  user: Record<string, unknown> = { token: 'open-sesame' },
) {
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'test',
    clusters: [{ name: 'test', cluster: { server } }],
    users: [{ name: 'test', user }],
    contexts: [{ name: 'test', context: { cluster: 'test', user: 'test' } }],
  };
  await writeFile(file, JSON.stringify(config), { mode: 0o600 });
  return file;
}
