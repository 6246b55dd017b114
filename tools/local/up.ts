/**
 * Starts the local system, from nothing to a stream on air. The real parts start in order of their dependencies, each
 * with a line of progress, and are released in reverse when the process is asked to stop.
 */

import { Lifecycle } from '../../src/core/lib/lifecycle.ts';
import { createLogger } from '../../src/core/lib/log.ts';
import { ConfigError } from '../../src/core/settings/settings.ts';
import { localEnvironment } from '../process/environment.ts';
import { claimPort } from '../process/ports.ts';
import { ensurePrograms } from '../process/preflight.ts';
import { sweepLeftovers } from '../process/processes.ts';
import { createSupervisor } from '../process/supervise.ts';
import { buildAllBehind } from './build-behind.ts';
import { requireAnvil } from './chain.ts';
import type { Context, Ports } from './context.ts';
import { startInfrastructure } from './infrastructure.ts';
import { goOnAir, parseWish } from './on-air.ts';
import type { LocalOptions } from './options.ts';
import { createProgress } from './progress.ts';
import { startServers } from './servers.ts';
import type { LocalFacts, LocalState } from './state.ts';
import { summary } from './summary.ts';
import { claimSupervisor, releaseSupervisor } from './supervisor.ts';

const PROGRAMS = [
  { command: 'ffmpeg', aptPackage: 'ffmpeg' },
  { command: 'openssl', aptPackage: 'openssl' },
];

const START_TIMEOUT_MS = 15_000;

/** Starts everything and runs until a signal; resolves to an exit status only when the start failed. */
export async function up(options: LocalOptions, state: LocalState): Promise<number | undefined> {
  const env = localEnvironment();
  const progress = createProgress(process.stdout);
  const log = createLogger('local', env.logLevel === 'info' ? 'warn' : env.logLevel);
  const lifecycle = new Lifecycle(log);
  const wish = parseWish(options, env);
  // Replaces our command line in `ps`: --to may have held a key.
  process.title = 'loopstream local';
  claimSupervisor(state);
  lifecycle.defer('supervisor', () => releaseSupervisor(state));
  lifecycle.exitOnSignal();
  const since = performance.now();
  try {
    if (options.crypto) requireAnvil();
    await ensurePrograms(options.kind ? [] : PROGRAMS, {
      env: env.all,
      onProgress: progress.say,
      signal: lifecycle.signal,
    });
    await sweepLeftovers(state.dir);
    const supervisor = createSupervisor({
      log,
      say: progress.say,
      signal: lifecycle.signal,
      onGiveUp: (sentence, lastLogLines) => {
        progress.say(`\n${sentence} The end of its log:\n${lastLogLines.map((line) => `  ${line}`).join('\n')}`);
        progress.say(`The logs are in ${state.path('logs')}.`);
        void lifecycle.stop('failed').then(() => process.exit(1));
      },
    });
    const ports = await claimPorts(options);
    const context: Context = { options, env, state, lifecycle, progress, log, supervisor, ports };
    // A start that is interrupted has parts that nobody stops yet, and steps that go on to their end.
    lifecycle.defer('steps', () => progress.untilQuiet(), START_TIMEOUT_MS);
    lifecycle.defer('parts', () => supervisor.stop(), START_TIMEOUT_MS);
    const facts = await startSystem(context);
    const watch = await goOnAir(context, facts, wish);
    progress.say(summary(facts, { watch, stateDir: state.dir }));
    progress.say(`  Up in ${((performance.now() - since) / 1000).toFixed(1)} s.`);
    // Last: `--detach` stops reading what is said when the facts are there.
    state.writeFacts(facts);
    // On kind, they are those of the image.
    if (!options.kind) void buildAllBehind(context);
    return undefined;
  } catch (error) {
    if (lifecycle.signal.aborted) return undefined;
    const message = error instanceof Error ? error.message : String(error);
    progress.say(`\nloopstream could not start. ${message}`);
    if (!(error instanceof ConfigError)) progress.say(`The logs are in ${state.path('logs')}.`);
    await lifecycle.stop('failed');
    return 1;
  }
}

async function startSystem(context: Context): Promise<LocalFacts> {
  if (context.options.kind) return (await import('./kind/up.ts')).startOnKind(context);
  return startServers(context, await startInfrastructure(context));
}

async function claimPorts(options: LocalOptions): Promise<Ports> {
  return {
    api: await claimPort('port', options.port, options.host, { isNamed: true }),
    rtmp: await claimPort('rtmp-port', options.rtmpPort),
    media: await claimPort('media-port', options.mediaPort),
    // kind chooses its own.
    kube: options.kind ? 0 : await claimPort('kube-port', options.kubePort),
    mail: await claimPort('mail-port', options.mailPort),
    smtp: await claimPort('smtp', 0),
    chain: options.crypto ? await claimPort('chain-port', options.chainPort) : 0,
  };
}
