/** Calls functions in another process over its IPC channel, so that their processor time is separate. */
import { fork } from 'node:child_process';
import { once } from 'node:events';

// biome-ignore lint/suspicious/noExplicitAny: IPC can send any value.
type Jobs = Record<string, (...args: any[]) => unknown>;

interface Ask {
  id: number;
  name: string;
  args: unknown[];
}
type Reply = { id: number; value: unknown } | { id: number; error: string };

/** Answers calls in the other process until its parent is gone. */
export function serve(jobs: Jobs): void {
  process.on('message', async ({ id, name, args }: Ask) => {
    const run = async () => jobs[name]?.(...args);
    process.send?.(
      await run().then(
        (value): Reply => ({ id, value }),
        (error: unknown): Reply => ({ id, error: String(error) }),
      ),
    );
  });
  process.on('disconnect', () => process.exit());
}

export type Remote<T extends Jobs> = {
  [Name in keyof T]: (...args: Parameters<T[Name]>) => Promise<Awaited<ReturnType<T[Name]>>>;
} & AsyncDisposable;

/** Starts `file`, which serves `T`. */
export function startWorker<T extends Jobs>(file: string): Remote<T> {
  const child = fork(file, {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    env: { ...process.env, NODE_ENV: 'production' },
  });
  const waiting = new Map<number, { resolve(value: unknown): void; reject(error: Error): void }>();
  let last = 0;
  child.on('message', (reply: Reply) => {
    const call = waiting.get(reply.id);
    waiting.delete(reply.id);
    if ('error' in reply) call?.reject(new Error(reply.error));
    else call?.resolve(reply.value);
  });
  child.once('exit', (code) => {
    for (const { reject } of waiting.values()) reject(new Error(`${file} ended with ${code}`));
  });
  const stop = async () => {
    child.disconnect();
    if (child.exitCode === null) await once(child, 'exit');
  };
  const ask = (name: string, args: unknown[]) =>
    new Promise((resolve, reject) => {
      last += 1;
      waiting.set(last, { resolve, reject });
      child.send({ id: last, name, args } satisfies Ask);
    });
  return new Proxy({} as Remote<T>, {
    // A promise that resolves to this object must not take it for another promise.
    get: (_target, name) =>
      name === Symbol.asyncDispose
        ? stop
        : typeof name === 'string' && name !== 'then'
          ? (...args: unknown[]) => ask(name, args)
          : undefined,
  });
}
