/** Starts a control plane with a node, and reads that node's pods, for tests of the node. */
import { readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createKube } from '../../../src/core/kube/client.ts';
import { NAMESPACES, PODS, type Pod, type PodStatus } from '../../../src/core/kube/core.ts';
import { type Kube, KubeError, type Resource } from '../../../src/core/kube/types.ts';
import { Lifecycle } from '../../../src/core/lib/lifecycle.ts';
import { createLogger } from '../../../src/core/lib/log.ts';
import { IMAGE_PROGRAM } from '../../../src/core/operator/stream/command-line.ts';
import { runNode } from '../../../tools/node-agent/run.ts';
import { MAIN } from '../system/app.ts';
import { PATIENCE, patience } from '../wait.ts';
import { startSmallKubernetes } from './kubernetes.ts';
import type { AgentArguments } from './node-agent.ts';

export const NS = 'node-test';

/** An HTTP server on its pod's address; a request for /flip toggles its readiness. */
export const SERVER = `
  let ok = true;
  const { IP } = process.env;
  require('node:http').createServer((request, response) => {
    if (request.url === '/flip') ok = !ok;
    if (request.url === '/' && !ok) console.log('unready at ' + Date.now());
    response.writeHead(request.url === '/flip' || ok ? 200 : 503).end(IP);
  }).listen(8000, IP, () => console.log('listening on ' + IP));
`;

/** Polls until `check` returns a true value; the test's own time-out is the limit. */
export async function until<T>(
  what: string,
  look: () => Promise<T | undefined | false>,
  withinMs = 30_000,
): Promise<T> {
  const end = performance.now() + withinMs * PATIENCE;
  const wait = patience();
  let error: unknown;
  while (performance.now() < end) {
    try {
      const found = await look();
      if (found) return found;
    } catch (cause) {
      error = cause;
    }
    await wait();
  }
  throw new Error(`waited in vain for ${what}`, { cause: error });
}

export interface PodInput {
  script?: string;
  container?: Record<string, unknown>;
  spec?: Record<string, unknown>;
  annotations?: Record<string, string>;
}

export const podSpec = ({ script, container, spec }: PodInput) => ({
  nodeName: 'node-a',
  terminationGracePeriodSeconds: 2,
  containers: [
    {
      name: 'main',
      image: 'test:1',
      ...(script === undefined ? {} : { command: ['node', '-e', script] }),
      ...container,
    },
  ],
  ...spec,
});

/** Returns live processes whose environment names this pod. */
export function listProcesses(uid: string): number[] {
  return readdirSync('/proc')
    .filter((entry) => /^\d+$/.test(entry))
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/environ`, 'utf8').includes(`LOOPSTREAM_NODE_CONTAINER=${uid}/`);
      } catch {
        return false;
      }
    })
    .map(Number);
}

export const main = (status: PodStatus) => status.containerStatuses?.[0];
export const ready = (status: PodStatus) => status.conditions?.find(({ type }) => type === 'Ready')?.status === 'True';

/** Reads pods in the namespace NS. */
function buildPodHelpers(kube: Kube) {
  const createPod = (name: string, input: PodInput): Promise<Pod> =>
    kube.create(PODS, NS, {
      metadata: { name, ...(input.annotations ? { annotations: input.annotations } : {}) },
      spec: podSpec(input),
    });

  const status = async (name: string): Promise<PodStatus> => (await kube.get(PODS, NS, name)).status ?? {};
  const untilReady = (name: string) =>
    until(`${name} to be ready`, async () => (ready(await status(name)) ? status(name) : undefined));
  const readLog = async (name: string, query = '') =>
    (await kube.raw('GET', `/api/v1/namespaces/${NS}/pods/${name}/log${query}`)).text;

  async function untilGone(resource: Resource, name: string): Promise<void> {
    await until(`${name} to be gone`, async () => {
      try {
        await kube.get(resource, NS, name);
        return false;
      } catch (error) {
        return error instanceof KubeError && error.status === 404;
      }
    });
  }

  const listEvents = async (name: string): Promise<{ reason: string; message: string; count?: number }[]> => {
    const { text } = await kube.raw('GET', `/api/v1/namespaces/${NS}/events?fieldSelector=involvedObject.name=${name}`);
    return JSON.parse(text).items;
  };
  return { createPod, status, untilReady, readLog, untilGone, listEvents };
}

/** Starts a control plane with the node `node-a`, which has a node's own rights; returns the arguments for further nodes too. */
export async function startTestNode(images: AgentArguments['images'] = {}) {
  const kubernetes = await startSmallKubernetes();
  const kube = createKube({ kubeconfig: kubernetes.kubeconfig });
  const dir = await mkdtemp(join(tmpdir(), 'loopstream-node-'));
  const lifecycle = new Lifecycle();
  const argumentsFor = async (nodeName: string): Promise<AgentArguments> => {
    const identity = { user: `system:node:${nodeName}`, groups: ['system:nodes'] };
    const { ca, issueServing } = kubernetes.certificates;
    return {
      kubeconfig: await kubernetes.kubeconfigFor(nodeName, identity),
      nodeName,
      stateDir: join(dir, nodeName),
      images: { 'test:1': [process.execPath], ...images },
      imageFiles: { [IMAGE_PROGRAM]: MAIN },
      tls: { ...(await issueServing(identity.user, ['127.0.0.1'])), clientCa: ca },
      capacity: { cpu: '64' },
    };
  };
  await kube.create(NAMESPACES, '', { metadata: { name: NS }, spec: {} });
  await until('the default service account', async () => {
    const { status } = await kube.raw('GET', `/api/v1/namespaces/${NS}/serviceaccounts/default`);
    return status === 200;
  });
  const { kubeconfig, ...options } = await argumentsFor('node-a');
  const own = createKube({ kubeconfig });
  lifecycle.defer('node client', () => own.close());
  await runNode({ ...options, kube: own, log: createLogger('node', 'warn') }, lifecycle);
  const stop = async () => {
    await lifecycle.stop();
    await kube.close();
    await kubernetes.stop();
    await rm(dir, { recursive: true, force: true });
  };
  return { kube, kubernetes, argumentsFor, stop, ...buildPodHelpers(kube) };
}
export type TestNode = Awaited<ReturnType<typeof startTestNode>>;
