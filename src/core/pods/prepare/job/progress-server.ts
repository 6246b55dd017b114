/** Serves the progress of the task to the operator: the Job's pod has no token to write it to the Upload. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { PROFILE_PARAMETER, PROGRESS_PATH, type PrepareProgress } from '../../../protocol/task.ts';

export interface ProgressServer {
  port: number;
  close(): Promise<void>;
}

/**
 * Serves GET /progress as PrepareProgress and nothing else. `onAsk` is called with the profile that a stream waits for. Rejects when it
 * cannot listen there.
 */
export async function serveProgress(
  host: string,
  port: number,
  progress: () => PrepareProgress,
  onAsk?: (profile: string) => void,
): Promise<ProgressServer> {
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(`http://pod${request.url}`);
    if (request.method !== 'GET' || pathname !== PROGRESS_PATH) return response.writeHead(404).end();
    const profile = searchParams.get(PROFILE_PARAMETER);
    if (profile !== null) onAsk?.(profile);
    return response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(progress()));
  });
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once('error', reject);
  server.listen(port, host, resolve);
  await promise;
  return {
    port: (server.address() as AddressInfo).port,
    async close() {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
}
