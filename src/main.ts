#!/usr/bin/env node
/**
 * The role switch: one package, one role per process. Each role is loaded only when it is asked for, so that
 * the streamer, of which there is one per stream, carries nothing of the API server's weight.
 */
import { enableCompileCache } from 'node:module';
import { join } from 'node:path';
import { Lifecycle } from './lib/lifecycle.ts';
import { createLogger } from './lib/log.ts';
import { environment } from './settings/environment.ts';
import { ConfigError } from './settings/settings.ts';

// A checkout keeps what was compiled of it beside its dependencies, which takes a fifth off each start of a role. In the
// image, which cannot be written to, and where nothing has to be stripped of types, this does nothing.
enableCompileCache(join(import.meta.dirname, '../node_modules/.cache/loopstream'));

const HELP = `loopstream: the Kubernetes operator that keeps looping media on air

Usage: loopstream <role> [options]

Servers:
  api                serves REST, GraphQL, the agent tools and the dashboard
  billing            meters time on air, charges accounts and processes payments
  operator           reconciles LoopStream resources into pods

Roles of pods, started by the operator:
  streamer           sends the endless stream to its destinations
  prepare            imports or prepares one file, in a Job
  decoder            runs ffmpeg and ffprobe on that file, in a container without credentials
  probe              publishes for a moment to test a destination

Commands:
  migrate            updates the schema of the database
  keys               creates an API key for an account
  admin              runs tasks of the service's staff: credit, accounts, audits
  clients            lists OAuth clients and marks the verified ones
  support-bundle     writes an archive for support, without secrets
  remove-finalizers  removes the finalizers of objects whose operator is gone
  adopt              gives the media of another namespace or installation to the uploads here
  forget-sources     gives up the media that no upload has
  sweep-plan         prints unsigned transactions that collect the funds of crypto deposits

To see the options of a command, run: loopstream <command> --help
Settings are environment variables that begin with LOOPSTREAM_; docs/settings.md lists them.
Licences of the packages: THIRD_PARTY_NOTICES.txt in the image, and /third-party-notices.txt on the dashboard.
`;

type Role = (args: string[]) => Promise<number | undefined>;

/** Reads a server's settings. */
type Configure<C> = (env: ReturnType<typeof environment>) => C;

/** Exports traces where an endpoint for them is configured (docs/tracing.md); otherwise none of their packages is loaded. */
async function startTracing(role: string, lifecycle: Lifecycle, log: ReturnType<typeof createLogger>): Promise<void> {
  const { tracingSettings } = await import('./settings/tracing.ts');
  const settings = tracingSettings(environment());
  if (!settings) return;
  const [{ openTracing }, { readVersion }] = await Promise.all([
    import('./lib/tracing/opentelemetry.ts'),
    import('./server/version.ts'),
  ]);
  openTracing(settings, { name: `loopstream-${role}`, version: await readVersion() }, { lifecycle, log });
}

/** A server role: runs until a signal, then releases everything it holds. */
function server<C extends { logLevel: string }>(
  name: string,
  config: () => Promise<Configure<C>>,
  load: () => Promise<(config: C, lifecycle: Lifecycle, log: ReturnType<typeof createLogger>) => Promise<unknown>>,
  { isTraced = false } = {},
): Role {
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

const ROLES: Record<string, Role> = {
  api: server(
    'api',
    async () => (await import('./server/settings.ts')).apiConfig,
    async () => (await import('./server/main.ts')).runApi,
    { isTraced: true },
  ),
  billing: server(
    'billing',
    async () => (await import('./billing/settings.ts')).billingConfig,
    async () => (await import('./billing/main.ts')).runBilling,
  ),
  operator: server(
    'operator',
    async () => (await import('./operator/runtime/settings.ts')).operatorConfig,
    async () => (await import('./operator/main.ts')).runOperator,
    { isTraced: true },
  ),
  streamer: server(
    'streamer',
    async () => (await import('./protocol/environment.ts')).streamerConfig,
    async () => (await import('./media/streamer/main.ts')).runStreamer,
  ),
  prepare: server(
    'prepare',
    async () => (await import('./protocol/environment.ts')).prepareConfig,
    async () => (await import('./media/prepare/main.ts')).runPrepareJob,
  ),
  decoder: server(
    'decoder',
    async () => (await import('./protocol/environment.ts')).decoderConfig,
    async () => (await import('./media/prepare/tools/decoder.ts')).runDecoder,
  ),
  probe: server(
    'probe',
    async () => (await import('./protocol/environment.ts')).probeConfig,
    async () => (await import('./media/probe/run.ts')).runProbe,
  ),
  migrate: async () => (await import('./server/migrate.ts')).migrateCommand(),
  keys: async (args) => (await import('./auth/keys-command.ts')).keysCommand(args),
  admin: async (args) => (await import('./billing/audit/admin/command.ts')).adminCommand(args),
  clients: async (args) => (await import('./auth/clients-command.ts')).clientsCommand(args),
  'support-bundle': async (args) => (await import('./kubectl/run.ts')).runPlugin(['support-bundle', ...args]),
  'remove-finalizers': async (args) => (await import('./operator/finalizers/command.ts')).removeFinalizersCommand(args),
  adopt: async (args) => (await import('./operator/sources/command.ts')).adoptCommand(args),
  'forget-sources': async (args) => (await import('./operator/sources/command.ts')).forgetSourcesCommand(args),
  'sweep-plan': async (args) => (await import('./billing/crypto/sweep-command.ts')).sweepPlanCommand(args),
};

async function main([role, ...args]: string[]): Promise<number | undefined> {
  if (role === undefined || role === '--help' || role === '-h' || role === 'help') {
    process.stdout.write(HELP);
    return role === undefined ? 2 : 0;
  }
  // A property of every object (`constructor`) is no role.
  const run = Object.hasOwn(ROLES, role) ? ROLES[role] : undefined;
  if (run) return run(args);
  process.stderr.write(`loopstream: "${role}" is not a role.\n\n${HELP}`);
  return 2;
}

try {
  const code = await main(process.argv.slice(2));
  if (code !== undefined) process.exit(code);
} catch (error) {
  const known = error instanceof ConfigError;
  process.stderr.write(
    `loopstream: ${known || !(error instanceof Error) ? String((error as Error).message ?? error) : error.stack}\n`,
  );
  process.exit(known ? 2 : 1);
}
