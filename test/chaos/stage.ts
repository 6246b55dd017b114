/**
 * Starts the whole service, each part as a process that may be killed by itself. The parts are Kubernetes, a node agent, Postgres, the
 * operator, the API server and the role billing, as in the local system, and a chain.
 */
import { createReadStream, mkdirSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { createKube } from '../../src/core/kube/client.ts';
import type { Lifecycle } from '../../src/core/lib/lifecycle.ts';
import { createLogger } from '../../src/core/lib/log.ts';
import { IMAGE_PROGRAM } from '../../src/core/operator/stream/command-line.ts';
import { applyCrds } from '../../src/core/resources/crd/install.ts';
import { parsePrices } from '../../src/service/billing/ledger/prices.ts';
import { type Client, createClient } from '../../src/service/client/index.ts';
import { ensureAccount } from '../../tools/local/account.ts';
import { MAIN } from '../../tools/local/context.ts';
import { type RunningPostgres, startPostgres } from '../../tools/local/postgres.ts';
import { applyRights, NAMESPACE, serviceAccountUser } from '../../tools/local/rights.ts';
import { type LocalState, openState } from '../../tools/local/state.ts';
import { claimPort } from '../../tools/process/ports.ts';
import { PROJECT_ROOT } from '../../tools/process/root.ts';
import { startSmallKubernetes, type TestKubernetes } from '../kit/real/kubernetes.ts';
import type { AgentArguments } from '../kit/real/node-agent.ts';
import { until } from '../kit/wait.ts';
import type { Chain } from './chain.ts';
import { keep, type Part } from './parts.ts';

const IMAGE = 'loopstream:local';
const NODE = 'local';
const AGENT = resolve(PROJECT_ROOT, 'test/kit/real/node-agent.ts');
const CLIP = resolve(PROJECT_ROOT, 'tools/local/demo/bigbuckbunny.mp4');
const START_MS = 90_000;
/** A credit for each tenth of a second: the ledger shows the charged time as exactly as it is counted. */
const CREDITS_PER_HOUR = 36_000;

export interface Stage {
  client: Client;
  /** A link to a video that can be imported. */
  videoUrl: string;
  databaseUrl: string;
  kubeconfig: string;
  /** The roles' settings of prices and chains. */
  settings: Record<string, string>;
  kill(name: 'api' | 'billing' | 'agent' | 'postgres'): boolean;
}

interface Ground {
  dir: string;
  state: LocalState;
  lifecycle: Lifecycle;
  kubernetes: TestKubernetes;
}

/** Kills its first process, and so all of them; restarts it with the same files and port. */
async function keepPostgres({ state, lifecycle }: Ground): Promise<{ url: string; kill(): boolean }> {
  const log = createLogger('postgres', 'silent');
  const [dataDir, port] = [state.path('postgres'), await claimPort('postgres', 0)];
  let running: RunningPostgres | undefined = await startPostgres({ dataDir, port, log });
  const { url } = running;
  let again: Promise<void> | undefined;
  lifecycle.defer('postgres', () => (again ?? Promise.resolve()).then(() => running?.stop()), 30_000);
  const kill = (): boolean => {
    if (!running) return false;
    process.kill(running.pid, 'SIGKILL');
    running = undefined;
    again = startPostgres({ dataDir, port, log }).then((next) => {
      running = next;
    });
    return true;
  };
  return { url, kill };
}

async function keepAgent({ state, lifecycle, kubernetes }: Ground): Promise<Part> {
  const identity = { user: `system:node:${NODE}`, groups: ['system:nodes'] };
  const { ca, issueServing } = kubernetes.certificates;
  const given: AgentArguments = {
    kubeconfig: await kubernetes.kubeconfigFor('node', identity),
    nodeName: NODE,
    stateDir: state.path('node'),
    images: { [IMAGE]: [process.execPath, MAIN] },
    imageFiles: { [IMAGE_PROGRAM]: MAIN },
    // The local system gives addresses of this range to a state directory only by chance.
    podCidr: `127.${16 + (process.pid % 224)}.0.0/16`,
    tls: { ...(await issueServing(identity.user, ['127.0.0.1'])), clientCa: ca },
    capacity: { cpu: '64' },
  };
  const part = await keep({
    command: process.execPath,
    args: () => [AGENT, JSON.stringify(given)],
    logFile: state.path('logs', 'agent.log'),
    env: { PATH: process.env.PATH ?? '', HOME: state.dir },
  });
  lifecycle.defer('agent', () => part.stop(), 20_000);
  return part;
}

/** Starts a role of the service, and waits until it is ready. */
async function keepRole(ground: Ground, role: string, env: Record<string, string>): Promise<Part> {
  const { state, lifecycle, kubernetes } = ground;
  const opsPort = await claimPort(role, 0);
  const part = await keep({
    command: process.execPath,
    args: () => [MAIN, role],
    logFile: state.path('logs', `${role}.log`),
    env: {
      PATH: process.env.PATH ?? '',
      HOME: state.dir,
      LOOPSTREAM_NAMESPACE: NAMESPACE,
      KUBECONFIG: await kubernetes.kubeconfigFor(role, { user: serviceAccountUser(`loopstream-${role}`) }),
      LOOPSTREAM_OPS_HOST: '127.0.0.1',
      LOOPSTREAM_OPS_PORT: String(opsPort),
      LOOPSTREAM_LOG_LEVEL: 'warn',
      ...env,
    },
  });
  lifecycle.defer(role, () => part.stop(), 20_000);
  const readyz = `http://127.0.0.1:${opsPort}/readyz`;
  await until(
    `${role} is ready`,
    () =>
      fetch(readyz).then(
        ({ ok }) => ok,
        () => false,
      ),
    START_MS,
  );
  return part;
}

/** Serves the clip over HTTP, for the importer. */
async function serveClip(lifecycle: Lifecycle): Promise<string> {
  const server = createServer((_request, response) => {
    response.setHeader('content-type', 'video/mp4').setHeader('content-length', statSync(CLIP).size);
    createReadStream(CLIP).pipe(response);
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  lifecycle.defer('clip', () => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/clip.mp4`;
}

function buildSettings(chain: Chain): Record<string, string> {
  const prices = [...parsePrices().keys()].map((profile) => {
    const [, quality, framerate] = /^(\d+p)(\d+)$/.exec(profile) ?? [];
    return { quality, framerate: Number(framerate), creditsPerHour: CREDITS_PER_HOUR };
  });
  return {
    LOOPSTREAM_PRICES: JSON.stringify(prices),
    LOOPSTREAM_CRYPTO_NETWORKS: JSON.stringify([chain.network]),
    LOOPSTREAM_CRYPTO_RATES: '{"currency":"USD","prices":{"ETH":"3000"}}',
  };
}

/** Starts all of it in `dir`; the lifecycle ends it, the last part first. */
export async function setStage(dir: string, chain: Chain, lifecycle: Lifecycle): Promise<Stage> {
  const state = openState(dir);
  for (const name of ['logs', 'storage']) mkdirSync(state.path(name), { recursive: true });
  const kubernetes = await startSmallKubernetes({ in: dir, logLevel: 'silent' });
  lifecycle.defer('kubernetes', () => kubernetes.stop(), 30_000);
  const ground: Ground = { dir, state, lifecycle, kubernetes };
  const kube = createKube({ kubeconfig: kubernetes.kubeconfig });
  await applyCrds(kube);
  await applyRights(kube);
  await kube.close();
  const postgres = await keepPostgres(ground);
  const { apiKey } = await ensureAccount(state, postgres.url);
  const settings = buildSettings(chain);
  const common = { ...settings, LOOPSTREAM_DATABASE_URL: postgres.url };
  const agent = await keepAgent(ground);
  await keepRole(ground, 'operator', {
    LOOPSTREAM_IMAGE: IMAGE,
    LOOPSTREAM_LEADER_ELECTION: 'false',
    LOOPSTREAM_STORAGE_VOLUME: JSON.stringify({ hostPath: { path: state.path('storage'), type: 'Directory' } }),
    LOOPSTREAM_ALLOW_PRIVATE_LINKS: 'true',
    LOOPSTREAM_ALLOW_PRIVATE_DESTINATIONS: 'true',
    LOOPSTREAM_METERED: 'true',
  });
  const port = await claimPort('api', 0);
  const api = await keepRole(ground, 'api', {
    ...common,
    LOOPSTREAM_HOST: '127.0.0.1',
    LOOPSTREAM_PORT: String(port),
    LOOPSTREAM_BILLING: 'true',
    LOOPSTREAM_PUBLIC_URL: `http://127.0.0.1:${port}`,
    LOOPSTREAM_AUTH_SECRET: state.readMemory().authSecret,
    LOOPSTREAM_STORAGE_URL: pathToFileURL(state.path('storage')).href,
    LOOPSTREAM_ALLOW_PRIVATE_LINKS: 'true',
    LOOPSTREAM_ALLOW_PRIVATE_DESTINATIONS: 'true',
    LOOPSTREAM_RATE_LIMIT_REQUESTS: '100000',
  });
  const billing = await keepRole(ground, 'billing', common);
  const parts = { api, billing, agent, postgres };
  return {
    client: createClient({ baseUrl: `http://127.0.0.1:${port}/v1`, apiKey, maxRetries: 0 }),
    videoUrl: await serveClip(lifecycle),
    databaseUrl: postgres.url,
    kubeconfig: kubernetes.kubeconfig,
    settings,
    kill: (name) => parts[name].kill(),
  };
}
