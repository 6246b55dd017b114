/** Runs the operator as an image does: a process of its own, from the bundle, with the operator's rights. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { environment } from '../../../src/core/settings/environment.ts';
import { NAMESPACE } from '../../../tools/local/rights.ts';
import { reserveFreePort } from '../../../tools/process/ports.ts';
import { spawnChild } from '../../../tools/process/processes.ts';
import { until } from '../../kit/wait.ts';
import type { BenchCluster } from './cluster.ts';

const BUNDLE = join(import.meta.dirname, '../../../dist/app/main.js');
let serial = 0;

export interface OperatorProcess {
  pid: number;
  /** The time from the start of the process until its caches are filled. */
  readyMs: number;
  /** Where pods push their reports. */
  reportsUrl: string;
  leads(): Promise<boolean>;
  /** Sums the series of a metric by one of its labels. */
  sumMetric(name: string, label: string): Promise<Map<string, number>>;
  stop(): Promise<void>;
  kill(): Promise<void>;
}

export async function startOperator(
  { operatorKubeconfig, dir, clients }: BenchCluster,
  { leaderElection = false, env = {} }: { leaderElection?: boolean; env?: Record<string, string> } = {},
): Promise<OperatorProcess> {
  const [port, reportsPort] = [await reserveFreePort(), await reserveFreePort()];
  const reportsUrl = `http://127.0.0.1:${reportsPort}`;
  const name = `operator-${++serial}`;
  const started = performance.now();
  const child = await spawnChild({
    name,
    command: process.execPath,
    // Node chooses this heap in a container of 768 MiB, the chart's limit; on this machine it would collect later. The chart sets the other.
    args: ['--max-old-space-size=384', '--max-semi-space-size=8', BUNDLE, 'operator'],
    env: {
      PATH: environment().PATH ?? '',
      HOME: dir,
      KUBECONFIG: operatorKubeconfig,
      LOOPSTREAM_NAMESPACE: NAMESPACE,
      LOOPSTREAM_IMAGE: 'example.com/loopstream:1',
      LOOPSTREAM_STORAGE_VOLUME: JSON.stringify({ emptyDir: {} }),
      LOOPSTREAM_LOG_LEVEL: 'warn',
      LOOPSTREAM_LEADER_ELECTION: String(leaderElection),
      // The storage is empty: a sweep would only start a Job.
      LOOPSTREAM_SWEEP: 'false',
      LOOPSTREAM_ALLOW_PRIVATE_DESTINATIONS: 'true',
      LOOPSTREAM_OPS_HOST: '127.0.0.1',
      LOOPSTREAM_OPS_PORT: String(port),
      // As the chart sets it: pods push.
      LOOPSTREAM_REPORTS_URL: reportsUrl,
      LOOPSTREAM_REPORTS_HOST: '127.0.0.1',
      LOOPSTREAM_REPORTS_PORT: String(reportsPort),
      ...env,
    },
    logFile: join(dir, `${name}.log`),
    stateDir: dir,
  });
  clients.push(child);
  const ops = (path: string) => fetch(`http://127.0.0.1:${port}${path}`);
  await until(
    'the operator is ready',
    () =>
      ops('/readyz').then(
        ({ ok }) => ok,
        () => false,
      ),
    120_000,
  );
  const readyMs = performance.now() - started;
  return {
    pid: child.pid,
    readyMs,
    reportsUrl,
    async sumMetric(name, label) {
      const sums = new Map<string, number>();
      const series = new RegExp(`^${name}\\{.*\\b${label}="([^"]*)".*\\} (\\S+)$`, 'gm');
      for (const [, value = '', count] of (await (await ops('/metrics')).text()).matchAll(series))
        sums.set(value, (sums.get(value) ?? 0) + Number(count));
      return sums;
    },
    leads: async () => /^leader_election_master_status\{.*\} 1$/m.test(await (await ops('/metrics')).text()),
    stop: () => child.stop(),
    kill: async () => {
      process.kill(child.pid, 'SIGKILL');
      await child.exited;
    },
  };
}

/** Returns resident memory now and at its highest, in MiB. */
export function readMemory(pid: number): { nowMib: number; peakMib: number } {
  const text = readFileSync(`/proc/${pid}/status`, 'latin1');
  const kib = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(text)?.[1] ?? 0);
  return { nowMib: kib('VmRSS') / 1024, peakMib: kib('VmHWM') / 1024 };
}
