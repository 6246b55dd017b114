/** A real Redis for tests, on a free port, with a password and nothing on disk. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { freePort, until } from './rtmp.ts';

export interface TestRedis {
  url: string;
  password: string;
  /** Ends it without a word, and every connection with it; `start` brings it back on the same port, empty. */
  kill(): Promise<void>;
  start(): Promise<void>;
  /** It takes what is sent and says nothing, until `resume`. */
  pause(): void;
  resume(): void;
}

/** Call `kill` in afterAll. */
export async function startTestRedis(): Promise<TestRedis> {
  const port = await freePort();
  const password = 'a-password-that-no-log-may-show';
  let child: ChildProcess | undefined;

  const start = async () => {
    const started = spawn('redis-server', ['-'], { stdio: ['pipe', 'ignore', 'ignore'], cwd: '/' });
    child = started;
    started.stdin.end(`bind 127.0.0.1\nport ${port}\nsave ""\nappendonly no\nrequirepass ${password}\n`);
    await until('Redis answers', async () => {
      if (started.exitCode !== null) throw new Error(`redis-server ended with status ${started.exitCode}`);
      return answers(port);
    });
  };
  await start();
  return {
    url: `redis://:${password}@127.0.0.1:${port}`,
    password,
    start,
    pause: () => void child?.kill('SIGSTOP'),
    resume: () => void child?.kill('SIGCONT'),
    async kill() {
      if (child && child.exitCode === null && child.signalCode === null) {
        child.kill('SIGKILL');
        await once(child, 'exit');
      }
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
