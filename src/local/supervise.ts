/** Keeps one of our own servers running: started again when it ends unasked, with a pause that grows to ten seconds. */
import { sleep } from '../clock.ts';
import type { Logger } from '../log.ts';
import { type Child, type ChildSpec, spawnChild } from './processes.ts';

const MAX_PAUSE_MS = 10_000;
/** A child that ran this long has recovered: its next end is a new trouble, not the same one again. */
const STEADY_MS = 60_000;

export interface Supervised {
  stop(graceMs?: number): Promise<void>;
}

/** Starts the child and resolves once it runs; later ends are logged with the child's last lines. */
export async function supervise(spec: ChildSpec, log: Logger): Promise<Supervised> {
  const stopping = new AbortController();
  let child: Child = await spawnChild(spec);
  const watch = async () => {
    for (let pauseMs = 500; ; pauseMs = Math.min(pauseMs * 2, MAX_PAUSE_MS)) {
      const since = performance.now();
      const exit = await child.exited;
      if (stopping.signal.aborted) return;
      if (performance.now() - since > STEADY_MS) pauseMs = 500;
      log.error(
        { code: exit.code, signal: exit.signal, lastLogLines: exit.lastLogLines },
        `${spec.name} ended; starting it again`,
      );
      await sleep(pauseMs, stopping.signal).catch(() => undefined);
      if (stopping.signal.aborted) return;
      child = await spawnChild(spec);
    }
  };
  const watching = watch().catch((error) => log.error({ err: error }, `${spec.name} could not be started again`));
  return {
    async stop(graceMs) {
      stopping.abort();
      await child.stop(graceMs);
      await watching;
    },
  };
}
