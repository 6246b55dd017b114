/**
 * Runs a real Redis for tests on a free port, with a password and without files; in a container or as a process (engine/find.ts).
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { reserveFreePort } from '../../../tools/process/ports.ts';
import { until } from '../wait.ts';
import { chosenWay, type Way } from './engine/find.ts';

/** A redis-server with given settings, in either way. */
export interface RedisServer {
  start(): Promise<void>;
  /** Resolves when it has ended, also when it had before. */
  kill(): Promise<void>;
  pause(): void;
  resume(): void;
  /** Throws when it has ended by itself. */
  check(): Promise<void>;
}

export interface TestRedis {
  url: string;
  password: string;
  /** Kills it with all connections; `start` brings it back on the same port, empty. */
  kill(): Promise<void>;
  start(): Promise<void>;
  /** Stops answering, but accepts data, until `resume`. */
  pause(): void;
  resume(): void;
}

/** Call `kill` in afterAll. `way` chooses where it runs. */
export async function startTestRedis(way?: Way): Promise<TestRedis> {
  const port = await reserveFreePort();
  const password = 'a-password-that-no-log-may-show';
  const settings = `bind 127.0.0.1\nport ${port}\nsave ""\nappendonly no\nrequirepass ${password}\n`;
  const inProcess = (way ?? (await chosenWay())) === 'processes';
  const server = inProcess ? redisProcess(settings) : (await import('./engine/redis.ts')).redisInContainer(settings);

  const start = async () => {
    await server.start();
    await until('Redis answers', async () => (await answers(port)) || server.check().then(() => false));
  };
  await start();
  return {
    url: `redis://:${password}@127.0.0.1:${port}`,
    password,
    start,
    kill: server.kill,
    pause: server.pause,
    resume: server.resume,
  };
}

function redisProcess(settings: string): RedisServer {
  let child: ChildProcess | undefined;
  return {
    async start() {
      const started = spawn('redis-server', ['-'], { stdio: ['pipe', 'ignore', 'ignore'], cwd: '/' });
      child = started;
      started.stdin.end(settings);
    },
    pause: () => void child?.kill('SIGSTOP'),
    resume: () => void child?.kill('SIGCONT'),
    async kill() {
      if (child && child.exitCode === null && child.signalCode === null) {
        child.kill('SIGKILL');
        await once(child, 'exit');
      }
    },
    async check() {
      if (child && child.exitCode !== null) throw new Error(`redis-server ended with status ${child.exitCode}`);
    },
  };
}

const answers = async (port: number): Promise<boolean> => {
  const socket = connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
    socket.write('PING\r\n');
    return /^-NOAUTH/.test(String(await once(socket, 'data')));
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
};
