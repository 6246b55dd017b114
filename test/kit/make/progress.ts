/** Stands in for the progress server of a working pod. */
import { randomInt } from 'node:crypto';
import { createServer, type ServerResponse } from 'node:http';
import type { PrepareProgress } from '../../../src/core/protocol/task.ts';
import { PREPARE_PORT } from '../../../src/core/resources/common/names.ts';

const chooseAddress = () => `127.${randomInt(20, 250)}.${randomInt(1, 250)}.${randomInt(1, 250)}`;

/** Starts a working pod's server, at an address of its own as every pod has one; it counts requests. */
export async function workingPod(ip = chooseAddress()) {
  const pod = { ip, asked: 0, say: (_: ServerResponse): unknown => undefined };
  const server = createServer((request, response) => {
    if (request.url === '/progress') pod.asked++;
    pod.say(response);
  });
  await new Promise<void>((done) => server.listen(PREPARE_PORT, ip, done));
  return Object.assign(pod, {
    at: (progress: unknown, more: Omit<PrepareProgress, 'progress'> = {}) => {
      pod.say = (response) => response.end(JSON.stringify({ progress, ...more }));
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  });
}
