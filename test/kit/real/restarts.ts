/** Kills and starts parts of a control plane while clients use it, and reads the true writes from etcd. */
import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:https';
import { join } from 'node:path';
import { expect, vi } from 'vitest';
import { createKube } from '../../../src/core/kube/client.ts';
import { spawnChild } from '../../../tools/process/processes.ts';
import type { TestKubernetes } from './kubernetes.ts';

type Part = 'etcd' | 'kube-apiserver';

/** `pids` names the parts to kill. A restarted part is recorded in the original's place, and so ends as that would. */
export function createRestarts(kubernetes: TestKubernetes) {
  const { pids, stateDir } = kubernetes;
  const commands = new Map<Part, string[]>();
  const start = async (part: Part): Promise<void> => {
    const [command = '', ...args] = commands.get(part) ?? [];
    commands.delete(part);
    const { PATH = '', GOGC } = process.env;
    const env = { PATH, HOME: stateDir, ...(GOGC !== undefined && { GOGC }) };
    const logFile = join(stateDir, 'logs', `${part}.log`);
    pids[part] = (await spawnChild({ name: part, command, args, env, logFile, stateDir })).pid;
  };
  return {
    /** Kills a part with SIGKILL; resolves when it has ended. */
    async kill(part: Part): Promise<void> {
      const pid = pids[part];
      if (pid === undefined) throw new Error(`There is no ${part}.`);
      commands.set(part, readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').slice(0, -1));
      process.kill(pid, 'SIGKILL');
      // Both are children of this process. Threads of a child that is not yet reaped may still hold its port.
      await vi.waitFor(() => expect(() => process.kill(pid, 0)).toThrow('ESRCH'), { timeout: 60_000, interval: 20 });
    },
    /** Starts a part with the same command line, port and data. */
    start,
    /** Starts all parts that a test has left dead: other files may use this control plane next. */
    async end(): Promise<void> {
      for (const part of [...commands.keys()]) await start(part);
      const kube = createKube({ kubeconfig: kubernetes.kubeconfig });
      const status = async () => (await kube.raw('GET', '/readyz').catch(() => ({ status: 0 }))).status;
      await vi.waitFor(async () => expect(await status()).toBe(200), { timeout: 60_000, interval: 100 });
      await kube.close();
    },
  };
}

/** Returns how often a key of etcd was written since its creation, which counts too; 0 for a missing key. */
export function createEtcdReader(kubernetes: TestKubernetes) {
  const { certificates, pids } = kubernetes;
  const args = readFileSync(`/proc/${pids.etcd}/cmdline`, 'utf8').split('\0');
  const url = args.find((arg) => arg.startsWith('--listen-client-urls='))?.split('=')[1] ?? '';
  const read = (file: string) => readFileSync(file, 'utf8');
  const agent = new Agent({
    ca: read(certificates.etcdCaFile),
    cert: read(certificates.etcdClient.certFile),
    key: read(certificates.etcdClient.keyFile),
  });
  return (key: string): Promise<number> =>
    new Promise((resolve, reject) => {
      const call = request(`${url}/v3/kv/range`, { agent, method: 'POST' }, (response) => {
        let body = '';
        response.setEncoding('utf8').on('data', (text: string) => {
          body += text;
        });
        response.on('end', () => {
          if (response.statusCode !== 200) return reject(new Error(`etcd answered ${response.statusCode}: ${body}`));
          const { kvs = [] } = JSON.parse(body) as { kvs?: { version: string }[] };
          resolve(Number(kvs[0]?.version ?? 0));
        });
      });
      call.on('error', reject);
      call.end(JSON.stringify({ key: Buffer.from(key).toString('base64') }));
    });
}
