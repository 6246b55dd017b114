/** Runs redis-server in a container. */
import type { RedisServer } from '../redis.ts';
import { type Container, runContainer } from './container.ts';

const CONFIG = '/etc/loopstream-redis.conf';

export function redisInContainer(settings: string): RedisServer {
  let container: Container | undefined;
  return {
    async start() {
      if (container) return container.start();
      container = await runContainer({
        command: ['redis-server', CONFIG],
        user: 'redis',
        files: { [CONFIG]: settings },
      });
    },
    kill: async () => container?.kill(),
    pause: () => container?.pause(),
    resume: () => container?.unpause(),
    check: async () => container?.check(),
  };
}
