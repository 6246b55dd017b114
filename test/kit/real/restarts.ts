/** Kills and starts parts of a control plane under the feet of its clients, and asks etcd what was truly written. */
import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:https';
import { join } from 'node:path';
import { expect, vi } from 'vitest';
import { createKube } from '../../../src/kube/client.ts';
import { spawnChild } from '../../../tools/process/processes.ts';
import type { TestKubernetes } from './kubernetes.ts';

type Part = 'etcd' | 'kube-apiserver';

/** What is killed is told by `pids`, and what was started in its place is recorded where the first one was: it ends as that would. */
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
    /** SIGKILL; resolves when it is gone. */
    async kill(part: Part): Promise<void> {
      const pid = pids[part];
      if (pid === undefined) throw new Error(`There is no ${part}.`);
      commands.set(part, readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').slice(0, -1));
      process.kill(pid, 'SIGKILL');
      // Both are children of this process. Until one is waited for its threads may be ending still, and hold its port.
      await vi.waitFor(() => expect(() => process.kill(pid, 0)).toThrow('ESRCH'), { timeout: 60_000, interval: 20 });
    },
    /** With the same command line, the same port and the same data. */
    start,
    /** Leaves all parts running and ready, wherever a test has ended: others may come to this control plane afterwards. */
    async end(): Promise<void> {
      for (const part of [...commands.keys()]) await start(part);
      const kube = createKube({ kubeconfig: kubernetes.kubeconfig });
      const status = async () => (await kube.raw('GET', '/readyz').catch(() => ({ status: 0 }))).status;
      await vi.waitFor(async () => expect(await status()).toBe(200), { timeout: 60_000, interval: 100 });
      await kube.close();
    },
  };
}

/** How often a key of etcd was written since it was created, the creation included; 0 when it is not there. */
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
