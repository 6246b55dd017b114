/** Makes a role that runs until a signal out of its settings and its start. */
import { Lifecycle } from './lib/lifecycle.ts';
import { createLogger } from './lib/log.ts';
import { environment } from './settings/environment.ts';
import type { ProcessRun } from './start.ts';

type Log = ReturnType<typeof createLogger>;

/** Reads a server's settings. */
type Configure<C> = (env: ReturnType<typeof environment>) => C;

/** Exports traces where an endpoint for them is configured (docs/tracing.md); otherwise none of their packages is loaded. */
async function startTracing(role: string, lifecycle: Lifecycle, log: Log): Promise<void> {
  const { tracingSettings } = await import('./settings/tracing.ts');
  const settings = tracingSettings(environment());
  if (!settings) return;
  const [{ openTracing }, { readVersion }] = await Promise.all([
    import('./lib/tracing/opentelemetry.ts'),
    import('./lib/version.ts'),
  ]);
  openTracing(settings, { name: `loopstream-${role}`, version: await readVersion() }, { lifecycle, log });
}

/** The role loads its code only when it runs, and releases everything that it holds when it ends. */
export function server<C extends { logLevel: string }>(
  name: string,
  config: () => Promise<Configure<C>>,
  load: () => Promise<(config: C, lifecycle: Lifecycle, log: Log) => Promise<unknown>>,
  { isTraced = false } = {},
): ProcessRun {
  return async () => {
    const settings = (await config())(environment());
    const log = createLogger(name, settings.logLevel);
    const lifecycle = new Lifecycle(log);
    lifecycle.exitOnSignal();
    if (isTraced) await startTracing(name, lifecycle, log);
    const run = await load();
    try {
      const code = await run(settings, lifecycle, log);
      if (typeof code !== 'number') return undefined;
      await lifecycle.stop('done');
      return code;
    } catch (error) {
      if (lifecycle.signal.aborted) return undefined;
      log.fatal({ err: error }, `the ${name} could not start`);
      await lifecycle.stop('failed');
      return 1;
    }
  };
}
