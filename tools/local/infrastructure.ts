/** Starts the infrastructure of the servers: Kubernetes, Postgres and the RTMP receiver, all real, side by side. */
import { mkdirSync, rmSync, symlinkSync } from 'node:fs';
import { createKube } from '../../src/core/kube/client.ts';
import type { Kube } from '../../src/core/kube/types.ts';
import { ensureBinaries } from '../control-plane/binaries.ts';
import { type ControlPlane, startControlPlane } from '../control-plane/controlplane.ts';
import { untilListening } from '../process/ready.ts';
import type { Part } from '../process/supervise.ts';
import { startChain } from './chain.ts';
import { type Context, LOCAL_MAIN, mediaDir } from './context.ts';
import { installDefinitions } from './definitions.ts';
import { startPostgres } from './postgres.ts';
import { applyRights } from './rights.ts';
import type { LocalState } from './state.ts';

export interface Infrastructure {
  controlPlane: ControlPlane;
  /** With the rights of the cluster's administrator. */
  kube: Kube;
  /** undefined with --operator-only. */
  database: Database | undefined;
}

export interface Database {
  url: string;
  part: Part;
}

export async function startInfrastructure(context: Context): Promise<Infrastructure> {
  const [{ controlPlane, kube }, database] = await Promise.all([startKubernetes(context), startServices(context)]);
  return { controlPlane, kube, database };
}

/** Starts all of it but Kubernetes. */
export async function startServices(context: Context): Promise<Database | undefined> {
  const [database] = await Promise.all([
    context.options.operatorOnly ? undefined : startDatabase(context),
    startReceiver(context),
    context.options.operatorOnly ? undefined : openMailbox(context),
    context.options.crypto ? startChain(context) : undefined,
  ]);
  return database;
}

async function startKubernetes({ env, state, ports, lifecycle, progress, log, supervisor }: Context) {
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
      supervisor,
    });
    lifecycle.defer('control plane', () => controlPlane.stop());
    const kube = createKube({ kubeconfig: controlPlane.kubeconfig });
    lifecycle.defer('kube client', () => kube.close());
    onProgress('installing the resources');
    await Promise.all([installDefinitions(kube, state.dir), applyRights(kube)]);
    return { controlPlane, kube };
  });
}

/** `.loopstream/bin/kubectl`, for people and scripts that have none. */
function linkKubectl(state: LocalState, kubectl: string): void {
  mkdirSync(state.path('bin'), { recursive: true });
  rmSync(state.path('bin', 'kubectl'), { force: true });
  symlinkSync(kubectl, state.path('bin', 'kubectl'));
}

function startDatabase({ state, lifecycle, progress, log, supervisor }: Context): Promise<Database> {
  return progress.step('PostgreSQL', async () => {
    const logFile = state.path('logs', 'postgres.log');
    const options = { dataDir: state.path('postgres'), stateDir: state.dir, logFile, log, supervisor };
    const postgres = await startPostgres(options);
    lifecycle.defer('postgres', () => postgres.stop());
    return { url: postgres.url, part: postgres.part };
  });
}

function openMailbox({ state, ports, lifecycle, progress }: Context): Promise<void> {
  return progress.step('mailbox', async () => {
    const { startMailbox } = await import('./mailbox.ts');
    const mailbox = await startMailbox({ dir: state.path('mail'), smtpPort: ports.smtp, httpPort: ports.mail });
    lifecycle.defer('mailbox', () => mailbox.close());
  });
}

function startReceiver({ env, options, state, ports, lifecycle, progress, supervisor }: Context): Promise<void> {
  return progress.step('RTMP receiver', async () => {
    const receiver = {
      host: '127.0.0.1',
      rtmpPort: ports.rtmp,
      httpPort: ports.media,
      mediaDir: mediaDir(state),
      dataDir: state.path('receiver'),
      recordDir: options.record ? state.path('recordings') : undefined,
    };
    const part = supervisor.start({
      name: 'receiver',
      command: process.execPath,
      args: [LOCAL_MAIN, 'receiver'],
      env: { PATH: env.path, HOME: env.home, LOOPSTREAM_RECEIVER: JSON.stringify(receiver) },
      logFile: state.path('logs', 'receiver.log'),
      stateDir: state.dir,
      untilReady: (signal) => untilListening(ports.rtmp, signal),
    });
    lifecycle.defer('receiver', () => part.stop(2_000));
    await part.started;
  });
}
