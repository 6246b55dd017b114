import { execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { createServer as createTlsServer, get } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { TLSSocket } from 'node:tls';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { createLogger } from '../../../src/core/lib/log.ts';
import { ensureBinaries } from '../../../tools/control-plane/binaries.ts';
import {
  type ControlPlane,
  type ControlPlaneOptions,
  startControlPlane,
} from '../../../tools/control-plane/controlplane.ts';
import type { Binaries } from '../../../tools/control-plane/programs.ts';
import { identify, isAlive } from '../../../tools/process/identity.ts';
import { createSupervisor } from '../../../tools/process/supervise.ts';
import { binariesOptions } from '../../kit/real/kubernetes.ts';
import { tempDir } from '../../kit/temp-dir.ts';

const stateDir = tempDir();
let binaries: Binaries;
let plane: ControlPlane;
const said: string[] = [];
const log = createLogger('test', 'silent');

const start = (more: Partial<ControlPlaneOptions> = {}) =>
  startControlPlane({ stateDir, binaries, env: process.env, log, unsafeNoFsync: true, ...more });

const kubectlAs = async (kubeconfig: string, args: string, input = ''): Promise<string> => {
  const running = promisify(execFile)(binaries.kubectl, ['--kubeconfig', kubeconfig, ...args.split(' ')], {
    env: { HOME: stateDir },
  });
  running.child.stdin?.end(input);
  return (await running).stdout;
};
const kubectl = (args: string, input?: string) => kubectlAs(plane.kubeconfig, args, input);

beforeAll(async () => {
  binaries = await ensureBinaries(binariesOptions());
  plane = await start({ supervisor: createSupervisor({ log, say: (line) => said.push(line) }) });
}, 900_000);

afterAll(() => plane?.stop());

const JOB = JSON.stringify({
  apiVersion: 'batch/v1',
  kind: 'Job',
  metadata: { name: 'hello', namespace: 'kept' },
  spec: { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'none' }] } } },
});

describe('the control plane', () => {
  test('is the release it says it is, and ready with all its checks', async () => {
    expect(await kubectl('get --raw /readyz?verbose')).toContain('readyz check passed');
    expect(JSON.parse(await kubectl('version -o json'))).toMatchObject({
      clientVersion: { gitVersion: 'v1.36.3' },
      serverVersion: { gitVersion: 'v1.36.3' },
    });
  });

  test("runs Kubernetes' own controllers: a namespace gets its service account, a Job its pod, both go with the namespace", async () => {
    await kubectl('create namespace kept');
    await vi.waitFor(() => kubectl('-n kept get serviceaccount default'), { timeout: 60_000, interval: 100 });
    await kubectl('apply -f -', JOB);
    await vi.waitFor(async () => expect(await kubectl('-n kept get pods -o name')).toMatch(/^pod\/hello-/), {
      timeout: 60_000,
      interval: 100,
    });
    const pod = (await kubectl('-n kept get pods -o name')).trim();
    // The cluster has no node, so the scheduler reports the pod as unschedulable.
    await vi.waitFor(
      async () =>
        expect(await kubectl(`-n kept get ${pod} -o jsonpath={.status.conditions[0].reason}`)).toBe('Unschedulable'),
      { timeout: 60_000, interval: 100 },
    );
    await kubectl('-n kept delete job hello --cascade=foreground --timeout=20s');
    expect(await kubectl('-n kept get pods -o name')).toBe('');
  });

  test('holds users to their rights', async () => {
    const identity = { user: 'system:serviceaccount:kept:robot' };
    const kubeconfig = await plane.kubeconfigFor('robot', identity);
    await expect(kubectlAs(kubeconfig, 'get secrets -A')).rejects.toThrow(
      /User "system:serviceaccount:kept:robot" cannot list/,
    );
    await kubectl('create clusterrolebinding robot --clusterrole=view --serviceaccount=kept:robot');
    expect(await kubectlAs(kubeconfig, 'get namespaces -o name')).toContain('namespace/kept');
  });

  test('enforces Pod Security where a namespace asks for it', async () => {
    await kubectl('create namespace strict');
    await kubectl('label namespace strict pod-security.kubernetes.io/enforce=restricted');
    await vi.waitFor(() => kubectl('-n strict get serviceaccount default'), { timeout: 60_000, interval: 100 });
    await expect(kubectl('-n strict run naked --image=none')).rejects.toThrow(
      /violates PodSecurity "restricted:latest"/,
    );
  });

  test("fetches a pod's log from its node by the node's InternalIP, with certificates on both sides", async () => {
    const { cert, key } = await plane.certificates.issueServing('system:node:test-node', ['127.77.0.1']);
    const { server, caller } = await serveLog(cert, key, plane.certificates.ca);
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo;
    await kubectl('create namespace logs');
    await vi.waitFor(() => kubectl('-n logs get serviceaccount default'), { timeout: 60_000, interval: 100 });
    await kubectl('create -f -', JSON.stringify({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'test-node' } }));
    const status = {
      addresses: [
        { type: 'Hostname', address: 'test-node' },
        { type: 'InternalIP', address: '127.77.0.1' },
      ],
      daemonEndpoints: { kubeletEndpoint: { Port: port } },
    };
    await kubectl(`patch node test-node --subresource=status --type=merge -p ${JSON.stringify({ status })}`);
    const pod = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'talker', namespace: 'logs' },
      spec: { nodeName: 'test-node', containers: [{ name: 'main', image: 'none' }] },
    };
    await kubectl('create -f -', JSON.stringify(pod));
    expect(await kubectl('-n logs logs talker')).toBe('/containerLogs/logs/talker/main\n');
    expect(caller()).toBe('kube-apiserver-kubelet-client');
  });

  test('listens on 127.0.0.1 only and turns away those without a certificate', async () => {
    const anonymous = await plainFetchStatus(`${plane.apiserverUrl}/api`);
    expect(anonymous).toBe(401);
    const listening = await readFile('/proc/net/tcp', 'utf8');
    const port = Number(new URL(plane.apiserverUrl).port).toString(16).toUpperCase().padStart(4, '0');
    const sockets = listening.split('\n').filter((line) => line.includes(`:${port} 00000000:0000 0A`));
    expect(sockets.map((line) => line.trim().split(/\s+/)[1])).toEqual([`0100007F:${port}`]);
  });

  test('names a taken port and the option that chooses another', async () => {
    const server: Server = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo;
    const other = tempDir();
    await expect(start({ stateDir: other, ports: { apiserver: port } })).rejects.toThrow(
      new RegExp(`Port ${port} is in use.*--kube-port`),
    );
  });

  const ready = async () => JSON.parse(await kubectl('get --raw /api/v1/namespaces/default')).status.phase;

  test.each(['etcd', 'kube-apiserver', 'kube-controller-manager', 'kube-scheduler'])(
    'restarts %s when it is killed, with its place and its data',
    async (name) => {
      process.kill(plane.pids[name] ?? 0, 'SIGKILL');
      await vi.waitFor(() => expect(said).toContain(`${name} is back`), { timeout: 60_000, interval: 50 });
      expect(said).toContain(`${name} ended (signal SIGKILL); starting it again`);
      await vi.waitFor(async () => expect(await ready()).toBe('Active'), { timeout: 60_000, interval: 100 });
      expect(await kubectl('get namespace kept -o name')).toBe('namespace/kept\n');
    },
  );

  test('stops its leftovers, and keeps its state and certificates for the next start', async () => {
    const before = await readFile(join(stateDir, 'kubernetes/pki/ca.crt'), 'utf8');
    await stopsInTime();
    plane = await start();
    expect(await kubectl('get namespace kept -o name')).toBe('namespace/kept\n');
    expect(await readFile(join(stateDir, 'kubernetes/pki/ca.crt'), 'utf8')).toBe(before);
  });

  test('stops within 10 s and leaves no process behind', stopsInTime);
});

async function stopsInTime(): Promise<void> {
  const records = await readdir(join(stateDir, 'pids'));
  expect(records).toHaveLength(4);
  const processes = records.map((record) => identify(Number.parseInt(record, 10)));
  const since = performance.now();
  await plane.stop();
  expect(performance.now() - since).toBeLessThan(10_000);
  expect(processes.filter((identity) => identity && isAlive(identity))).toEqual([]);
  expect(await readdir(join(stateDir, 'pids'))).toEqual([]);
}

/** Serves the part of a node agent's API that the test needs. */
async function serveLog(cert: string, key: string, ca: string) {
  let commonName: string | string[] | undefined;
  const server = createTlsServer(
    { cert, key, ca, requestCert: true, rejectUnauthorized: true },
    (request, response) => {
      commonName = (request.socket as TLSSocket).getPeerCertificate().subject.CN;
      response.end(`${request.url?.split('?')[0]}\n`);
    },
  );
  await new Promise<void>((resolve) => server.listen(0, '127.77.0.1', resolve));
  return { server, caller: () => commonName };
}

async function plainFetchStatus(url: string): Promise<number> {
  return new Promise((resolve, reject) => {
    get(url, { ca: plane.certificates.ca }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    }).on('error', reject);
  });
}
