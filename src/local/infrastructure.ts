/** What the servers stand on: Kubernetes, Postgres and the RTMP receiver, all real, started side by side. */
import { mkdirSync, rmSync, symlinkSync } from 'node:fs';
import { connect } from 'node:net';
import { sleep } from '../clock.ts';
import { createKube } from '../kube/client.ts';
import { applyCrds } from '../kube/install.ts';
import type { Kube } from '../kube/types.ts';
import { startChain } from './chain.ts';
import { type Context, MAIN, mediaDir } from './context.ts';
import { ensureBinaries } from './kubernetes/binaries.ts';
import { type ControlPlane, startControlPlane } from './kubernetes/controlplane.ts';
import { startPostgres } from './postgres.ts';
import { applyRights } from './rights.ts';
import type { LocalState } from './state.ts';
import { supervise } from './supervise.ts';

export interface Infrastructure {
  controlPlane: ControlPlane;
  /** As the cluster's administrator. */
  kube: Kube;
  /** undefined with --operator-only. */
  databaseUrl: string | undefined;
}

export async function startInfrastructure(context: Context): Promise<Infrastructure> {
  const [{ controlPlane, kube }, databaseUrl] = await Promise.all([
    startKubernetes(context),
    context.options.operatorOnly ? undefined : startDatabase(context),
    startReceiver(context),
    context.options.operatorOnly ? undefined : openMailbox(context),
    context.options.crypto ? startChain(context) : undefined,
  ]);
  return { controlPlane, kube, databaseUrl };
}

async function startKubernetes({ env, state, ports, lifecycle, progress, log }: Context) {
  const { signal } = lifecycle;
  const binaries = await progress.step('Kubernetes binaries', (onProgress) =>
    ensureBinaries({ cacheDir: env.cacheDir, assetsDir: env.kubebuilderAssets, env: env.all, onProgress, signal }),
  );
  linkKubectl(state, binaries.kubectl);
  return progress.step('Kubernetes control plane', async (onProgress) => {
    const controlPlane = await startControlPlane({
      stateDir: state.dir,
      binaries,
      env: env.all,
      ports: { apiserver: ports.kube },
      log,
      onProgress,
      signal,
      onExit: (name, { lastLogLines }) => {
        progress.say(`\n${name} ended unexpectedly; stopping. Its last lines:\n${lastLogLines.join('\n')}`);
        void lifecycle.stop('failed').then(() => process.exit(1));
      },
    });
    lifecycle.defer('control plane', () => controlPlane.stop());
    const kube = createKube({ kubeconfig: controlPlane.kubeconfig });
    lifecycle.defer('kube client', () => kube.close());
    onProgress('installing the resources');
    await Promise.all([applyCrds(kube), applyRights(kube)]);
    return { controlPlane, kube };
  });
}

/** `.loopstream/bin/kubectl`, for people and scripts that have none. */
function linkKubectl(state: LocalState, kubectl: string): void {
  mkdirSync(state.path('bin'), { recursive: true });
  rmSync(state.path('bin', 'kubectl'), { force: true });
  symlinkSync(kubectl, state.path('bin', 'kubectl'));
}

function startDatabase({ state, lifecycle, progress, log }: Context): Promise<string> {
  return progress.step('PostgreSQL', async () => {
    const postgres = await startPostgres({ dataDir: state.path('postgres'), log });
    lifecycle.defer('postgres', () => postgres.stop());
    return postgres.url;
  });
}

function openMailbox({ state, ports, lifecycle, progress }: Context): Promise<void> {
  return progress.step('mailbox', async () => {
    const { startMailbox } = await import('./mailbox.ts');
    const mailbox = await startMailbox({ dir: state.path('mail'), smtpPort: ports.smtp, httpPort: ports.mail });
    lifecycle.defer('mailbox', () => mailbox.close());
  });
}

function startReceiver({ env, options, state, ports, lifecycle, progress, log }: Context): Promise<void> {
  return progress.step('RTMP receiver', async () => {
    const receiver = {
      host: '127.0.0.1',
      rtmpPort: ports.rtmp,
      httpPort: ports.media,
      mediaDir: mediaDir(state),
      dataDir: state.path('receiver'),
      recordDir: options.record ? state.path('recordings') : undefined,
    };
    const child = await supervise(
      {
        name: 'receiver',
        command: process.execPath,
        args: [MAIN, 'local', 'receiver'],
        env: { PATH: env.path, HOME: env.home, LOOPSTREAM_RECEIVER: JSON.stringify(receiver) },
        logFile: state.path('logs', 'receiver.log'),
        stateDir: state.dir,
      },
      log,
    );
    lifecycle.defer('receiver', () => child.stop(2_000));
    await untilListening(ports.rtmp, lifecycle.signal);
  });
}

/** Resolves when something accepts connections at 127.0.0.1:port. */
async function untilListening(port: number, signal: AbortSignal): Promise<void> {
  for (;;) {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const socket = connect(port, '127.0.0.1')
      .once('connect', () => resolve(true))
      .once('error', () => resolve(false));
    const open = await promise;
    socket.destroy();
    if (open) return;
    await sleep(50, signal);
  }
}
