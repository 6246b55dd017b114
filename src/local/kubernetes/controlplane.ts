/**
 * The real Kubernetes control plane as child processes: etcd, kube-apiserver, kube-controller-manager, kube-scheduler.
 * Its state is in the state directory (kubernetes/) and survives a restart.
 */
import { mkdirSync } from 'node:fs';
import { request } from 'node:https';
import { join, resolve } from 'node:path';
import { sleep } from '../../clock.ts';
import type { Logger } from '../../log.ts';
import { claimPort } from '../ports.ts';
import { type Child, type ChildExit, spawnChild, sweepLeftovers } from '../processes.ts';
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
  /** Address of the API server; 127.0.0.1 unless told. etcd never leaves 127.0.0.1. */
  host?: string;
  /** For tests: etcd does not wait for the disk, and a power cut may lose everything. */
  unsafeNoFsync?: boolean;
  /** Flags of a part, by its name, besides those that it has here and before them in rank (e.g. `--audit-policy-file=…`). */
  extraArgs?: Record<string, readonly string[]>;
  onProgress?: ((step: string) => void) | undefined;
  /** A part ended that was not asked to. Nothing is started again; stop everything. */
  onExit?: (name: string, exit: ChildExit) => void;
  signal?: AbortSignal | undefined;
}

export interface ControlPlane {
  apiserverUrl: string;
  /** File, mode 0600: the administrator's. */
  kubeconfig: string;
  certificates: Certificates;
  pids: Record<string, number>;
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
  if (swept.length > 0) log.info({ swept }, 'ended what an earlier run had left behind');
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
      parts.start(
        'etcd',
        binaries.etcd,
        etcdArgs(join(dir, 'etcd'), ports, certificates, options.unsafeNoFsync ?? false),
      ),
      parts.start('kube-apiserver', binaries.kubeApiserver, apiserverArgs(host, ports, certificates)),
    ]);
    const ready = (path: string, what: string) => {
      onProgress?.(`waiting for ${what}`);
      return Promise.race([waitFor(apiserverUrl, path, certificates, what, signal), parts.failed]);
    };
    await ready('/readyz', 'kube-apiserver');
    await Promise.all([
      parts.start(
        'kube-controller-manager',
        binaries.kubeControllerManager,
        controllerManagerArgs(controllerManager, certificates),
      ),
      parts.start('kube-scheduler', binaries.kubeScheduler, schedulerArgs(scheduler)),
    ]);
    // Until the controllers have made it, the API server refuses every pod.
    await ready('/api/v1/namespaces/default/serviceaccounts/default', 'the controllers');
    parts.running();
    return { apiserverUrl, kubeconfig, certificates, pids: parts.pids(), kubeconfigFor, stop: parts.stop };
  } catch (error) {
    await parts.stop();
    throw error;
  }
}

/** The children, their order of stopping, and what happens when one ends by itself: before `running` it fails the start. */
function createParts(options: ControlPlaneOptions, stateDir: string) {
  const children = new Map<string, Child>();
  const early = Promise.withResolvers<never>();
  early.promise.catch(() => {});
  const { PATH = '', HOME = stateDir, GOGC } = options.env;
  const env = { PATH, HOME, ...(GOGC !== undefined && { GOGC }) };
  let running = false;
  let stopping: Promise<void> | undefined;
  const start = async (name: string, command: string, args: string[]): Promise<void> => {
    const logFile = join(stateDir, 'logs', `${name}.log`);
    const all = [...args, ...(options.extraArgs?.[name] ?? [])];
    const child = await spawnChild({ name, command, args: all, env, logFile, stateDir });
    children.set(name, child);
    void child.exited.then((exit) => {
      if (exit.expected) return;
      options.log.error(
        { name, code: exit.code, signal: exit.signal, lastLogLines: exit.lastLogLines },
        'a part of Kubernetes ended',
      );
      if (running) options.onExit?.(name, exit);
      else
        early.reject(
          new Error(`${name} ended at its start (${exit.lastLogLines.at(-1) ?? 'no message'}): see ${logFile}.`),
        );
    });
  };
  const stopOne = (name: string, graceMs: number) => children.get(name)?.stop(graceMs);
  const stopAll = async () => {
    await Promise.all([stopOne('kube-controller-manager', 2000), stopOne('kube-scheduler', 2000)]);
    // Its own graceful end waits for every open watch, for 30 s and more; what it has acknowledged is in etcd.
    await stopOne('kube-apiserver', 3000);
    await stopOne('etcd', 3000);
  };
  return {
    start,
    failed: early.promise,
    running: () => {
      running = true;
    },
    pids: () => Object.fromEntries([...children].map(([name, child]) => [name, child.pid])),
    stop: () => {
      stopping ??= stopAll();
      return stopping;
    },
  };
}

async function claimPorts(asked: Partial<ControlPlanePorts>, host: string): Promise<ControlPlanePorts> {
  const apiserver = await claimPort('kube-port', asked.apiserver ?? 0, host);
  const taken = new Set([apiserver]);
  const inner = async (port = 0): Promise<number> => {
    const claimed = await claimPort('kube-port', port);
    // A port that was given back a moment ago may be given out again.
    if (taken.has(claimed)) return inner(port);
    taken.add(claimed);
    return claimed;
  };
  return { apiserver, etcdClient: await inner(asked.etcdClient), etcdPeer: await inner(asked.etcdPeer) };
}

/** Asks as the administrator until the answer is 200. */
async function waitFor(
  url: string,
  path: string,
  certificates: Certificates,
  what: string,
  signal?: AbortSignal,
): Promise<void> {
  const until = performance.now() + READY_TIMEOUT_MS;
  for (;;) {
    const { status, body } = await get(new URL(path, url), certificates);
    if (status === 200) return;
    if (performance.now() > until)
      throw new Error(`${what} was not ready after ${READY_TIMEOUT_MS / 1000} s (${body}).`);
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
