/**
 * Runs the real Kubernetes control plane as child processes: etcd, kube-apiserver, kube-controller-manager,
 * kube-scheduler. Its state is in the state directory (kubernetes/) and survives a restart.
 */
import { mkdirSync } from 'node:fs';
import { request } from 'node:https';
import { join, resolve } from 'node:path';
import { sleep } from '../../src/core/lib/clock.ts';
import type { Logger } from '../../src/core/lib/log.ts';
import { claimPort } from '../process/ports.ts';
import { sweepLeftovers } from '../process/processes.ts';
import { untilListening } from '../process/ready.ts';
import { createRunOnce, type Part, type PartSpec, type Supervisor } from '../process/supervise.ts';
import {
  ADMIN,
  type Certificates,
  type ClientIdentity,
  ensureCertificates,
  kubeconfigYaml,
  writePrivateFile,
} from './certificates.ts';
import { apiserverArgs, type ControlPlanePorts, controllerManagerArgs, etcdArgs, schedulerArgs } from './flags.ts';
import type { Binaries } from './programs.ts';

const READY_TIMEOUT_MS = 60_000;

export interface ControlPlaneOptions {
  /** Holds kubernetes/ (etcd's data, certificates, kubeconfigs), logs/ and pids/. */
  stateDir: string;
  binaries: Binaries;
  /** The process's environment; the children get PATH and HOME of it, and GOGC, Go's exchange of memory for processor time. */
  env: Record<string, string | undefined>;
  log: Logger;
  /** 0 or undefined takes a free one; one that is taken is a ConfigError. */
  ports?: Partial<ControlPlanePorts>;
  /** Address of the API server; 127.0.0.1 by default. etcd never leaves 127.0.0.1. */
  host?: string;
  /** For tests: etcd does not wait for the disk, and a power cut may lose everything. */
  unsafeNoFsync?: boolean;
  /** Flags of a part, by its name, besides those that it has here and before them in rank (e.g. `--audit-policy-file=…`). */
  extraArgs?: Record<string, readonly string[]>;
  onProgress?: ((step: string) => void) | undefined;
  /** Keeps the parts running; without it each runs once. */
  supervisor?: Supervisor;
  signal?: AbortSignal | undefined;
}

export interface ControlPlane {
  apiserverUrl: string;
  /** Trusts `certificates.etcdClient` alone. */
  etcdUrl: string;
  /** File, mode 0600: the administrator's. */
  kubeconfig: string;
  certificates: Certificates;
  /** The processes at the first start. */
  pids: Record<string, number>;
  /** The API server, for parts that need it. */
  apiserver: Part;
  /** Writes a kubeconfig for another user and answers with its file; RBAC decides what that user may do. */
  kubeconfigFor(name: string, identity: ClientIdentity): Promise<string>;
  /** Controllers, then the API server, then etcd: all gone within 10 s. Stop the API server's other clients before. */
  stop(): Promise<void>;
}

/** Starts it and resolves when it is ready and the default service account exists, i.e. pods can be made. */
export async function startControlPlane(options: ControlPlaneOptions): Promise<ControlPlane> {
  const { binaries, onProgress, signal, log } = options;
  const stateDir = resolve(options.stateDir);
  const swept = await sweepLeftovers(stateDir);
  if (swept.length > 0) log.info({ swept }, 'stopped the processes of an earlier run');
  const dir = join(stateDir, 'kubernetes');
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  const host = options.host ?? '127.0.0.1';
  const hosts = ['127.0.0.1', '0.0.0.0', '::'].includes(host) ? [] : [host];
  const certificates = await ensureCertificates({ dir: join(dir, 'pki'), env: options.env, now: new Date(), hosts });
  const ports = await claimPorts(options.ports ?? {}, host);
  const apiserverUrl = `https://${hosts[0] ?? '127.0.0.1'}:${ports.apiserver}`;
  const kubeconfigFor = async (name: string, identity: ClientIdentity, pair = certificates.issueClient(identity)) => {
    const file = join(dir, `${name}.kubeconfig`);
    writePrivateFile(file, kubeconfigYaml(apiserverUrl, certificates.ca, identity.user, await pair));
    return file;
  };
  const parts = createParts(options, stateDir);
  try {
    const [kubeconfig, controllerManager, scheduler] = await Promise.all([
      kubeconfigFor('admin', ADMIN, Promise.resolve(certificates.admin)),
      kubeconfigFor('controller-manager', { user: 'system:kube-controller-manager' }),
      kubeconfigFor('scheduler', { user: 'system:kube-scheduler' }),
    ]);
    const etcd = parts.start({
      name: 'etcd',
      command: binaries.etcd,
      args: etcdArgs(join(dir, 'etcd'), ports, certificates, options.unsafeNoFsync ?? false),
      untilReady: (ended) => untilListening(ports.etcdClient, ended),
    });
    onProgress?.('waiting for kube-apiserver');
    const untilAnswered = (path: string, what: string, timeoutMs: number, ended?: AbortSignal) =>
      waitFor(new URL(path, apiserverUrl), certificates, { what, timeoutMs, signal: ended });
    const apiserver = parts.start({
      name: 'kube-apiserver',
      command: binaries.kubeApiserver,
      args: apiserverArgs(host, ports, certificates),
      needs: [etcd],
      untilReady: (ended) => untilAnswered('/readyz', 'kube-apiserver', Number.POSITIVE_INFINITY, ended),
    });
    await Promise.race([apiserver.started, parts.failed]);
    const needs = [apiserver];
    const [managerArgs, schedulingArgs] = [
      controllerManagerArgs(controllerManager, certificates),
      schedulerArgs(scheduler),
    ];
    parts.start({ name: 'kube-controller-manager', command: binaries.kubeControllerManager, args: managerArgs, needs });
    parts.start({ name: 'kube-scheduler', command: binaries.kubeScheduler, args: schedulingArgs, needs });
    // Until the controllers have made it, the API server refuses every pod.
    onProgress?.('waiting for the controllers');
    const account = '/api/v1/namespaces/default/serviceaccounts/default';
    await Promise.race([untilAnswered(account, 'the controllers', READY_TIMEOUT_MS, signal), parts.failed]);
    await parts.started();
    const etcdUrl = `https://127.0.0.1:${ports.etcdClient}`;
    return {
      apiserverUrl,
      etcdUrl,
      kubeconfig,
      certificates,
      pids: parts.pids(),
      apiserver,
      kubeconfigFor,
      stop: parts.stop,
    };
  } catch (error) {
    await parts.stop();
    throw error;
  }
}

/** The children and their order of stopping. */
function createParts(options: ControlPlaneOptions, stateDir: string) {
  const { supervisor = createRunOnce(options.log), extraArgs = {} } = options;
  const parts = new Map<string, Part>();
  const { PATH = '', HOME = stateDir, GOGC } = options.env;
  const env = { PATH, HOME, ...(GOGC !== undefined && { GOGC }) };
  let stopping: Promise<void> | undefined;
  const start = (spec: Omit<PartSpec, 'env' | 'logFile' | 'stateDir'>): Part => {
    const logFile = join(stateDir, 'logs', `${spec.name}.log`);
    const args = [...spec.args, ...(extraArgs[spec.name] ?? [])];
    const part = supervisor.start({ ...spec, args, env, logFile, stateDir });
    parts.set(spec.name, part);
    return part;
  };
  const stopOne = (name: string, graceMs: number) => parts.get(name)?.stop(graceMs);
  const stopAll = async () => {
    await Promise.all([stopOne('kube-controller-manager', 2000), stopOne('kube-scheduler', 2000)]);
    // Its own graceful end waits for every open watch, for 30 s and more; what it has acknowledged is in etcd.
    await stopOne('kube-apiserver', 3000);
    await stopOne('etcd', 3000);
  };
  return {
    start,
    failed: supervisor.failed,
    started: () => Promise.all([...parts.values()].map((part) => part.started)),
    pids: () => Object.fromEntries([...parts].map(([name, part]) => [name, part.pid])),
    stop: () => {
      stopping ??= stopAll();
      return stopping;
    },
  };
}

async function claimPorts(asked: Partial<ControlPlanePorts>, host: string): Promise<ControlPlanePorts> {
  return {
    apiserver: await claimPort('kube-port', asked.apiserver ?? 0, host),
    etcdClient: await claimPort('kube-port', asked.etcdClient ?? 0),
    etcdPeer: await claimPort('kube-port', asked.etcdPeer ?? 0),
  };
}

/** Asks as the administrator until the answer is 200. */
async function waitFor(
  url: URL,
  certificates: Certificates,
  { what, timeoutMs, signal }: { what: string; timeoutMs: number; signal: AbortSignal | undefined },
): Promise<void> {
  const until = performance.now() + timeoutMs;
  for (;;) {
    const { status, body } = await get(url, certificates);
    if (status === 200) return;
    if (performance.now() > until) throw new Error(`${what} was not ready after ${timeoutMs / 1000} s (${body}).`);
    await sleep(50, signal);
  }
}

function get(url: URL, { ca, admin }: Certificates): Promise<{ status: number; body: string }> {
  return new Promise((resolve) => {
    const unreachable = (error: Error) => resolve({ status: 0, body: error.message });
    const call = request(url, { ca, cert: admin.cert, key: admin.key, agent: false, timeout: 5000 }, (response) => {
      let body = '';
      response.setEncoding('utf8');
      response.on('data', (text: string) => {
        body += text;
      });
      response.on('end', () => resolve({ status: response.statusCode ?? 0, body: body.slice(0, 300) }));
      response.on('error', unreachable);
    });
    call.on('timeout', () => call.destroy(new Error('no answer')));
    call.on('error', unreachable);
    call.end();
  });
}
