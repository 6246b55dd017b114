/** Starts the API server as an image runs it, from the bundle and with its own rights, on a real kube-apiserver and Postgres. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createKube } from '../../../src/core/kube/client.ts';
import type { Kube } from '../../../src/core/kube/types.ts';
import { applyCrds } from '../../../src/core/resources/crd/install.ts';
import { environment } from '../../../src/core/settings/environment.ts';
import type { KeyBounds } from '../../../src/service/auth/keys.ts';
import { openAuth } from '../../../src/service/auth/open.ts';
import { migrate } from '../../../src/service/server/migrate.ts';
import { applyRights, NAMESPACE, serviceAccountUser } from '../../../tools/local/rights.ts';
import { reserveFreePort } from '../../../tools/process/ports.ts';
import { spawnChild } from '../../../tools/process/processes.ts';
import { startTestKubernetes, type TestKubernetes } from '../../kit/real/kubernetes.ts';
import { startTestPostgres } from '../../kit/real/postgres.ts';
import { until } from '../../kit/wait.ts';

const BUNDLE = join(import.meta.dirname, '../../../dist/app/main.js');
const AUTH_SECRET = 'a secret of the benchmark, long enough for the auth library';

export interface Account {
  accountId: string;
  key: string;
}

export interface BenchSystem {
  /** The administrator's client. */
  kube: Kube;
  plane: TestKubernetes;
  databaseUrl: string;
  /** Makes an account, or another key of it. */
  account(name: string, bounds?: KeyBounds): Promise<Account>;
  /** Resolves when its caches are filled. `options` are Node's, `settings` the server's. */
  startApi(
    options?: readonly string[],
    settings?: Record<string, string>,
  ): Promise<{ url: string; opsUrl: string; pid: number; readyMs: number }>;
  /** Takes everything down, and leaves nothing behind. */
  stop(): Promise<void>;
}

export async function startSystem(): Promise<BenchSystem> {
  await using started = new AsyncDisposableStack();
  const dir = await mkdtemp(join(tmpdir(), 'bench-api-'));
  started.defer(() => rm(dir, { recursive: true, force: true }));
  const [postgres, plane] = await Promise.all([startTestPostgres(), startTestKubernetes()]);
  started.defer(() => postgres.stop());
  started.defer(() => plane.stop());
  const kube = createKube({ kubeconfig: plane.kubeconfig });
  started.defer(() => kube.close());
  await Promise.all([applyCrds(kube), applyRights(kube)]);
  const database = { databaseUrl: postgres.url, authSecret: AUTH_SECRET };
  await migrate(database);
  const auth = openAuth(database);
  started.defer(() => auth.close());
  const kubeconfig = await plane.kubeconfigFor('api', { user: serviceAccountUser('loopstream-api') });

  const startApi: BenchSystem['startApi'] = async (options = [], settings = {}) => {
    const [port, opsPort] = [await reserveFreePort(), await reserveFreePort()];
    const since = performance.now();
    const child = await spawnChild({
      name: 'api',
      command: process.execPath,
      args: [...options, BUNDLE, 'api'],
      env: {
        PATH: environment().PATH ?? '',
        HOME: dir,
        NODE_ENV: 'production',
        KUBECONFIG: kubeconfig,
        LOOPSTREAM_NAMESPACE: NAMESPACE,
        LOOPSTREAM_DATABASE_URL: postgres.url,
        LOOPSTREAM_AUTH_SECRET: AUTH_SECRET,
        LOOPSTREAM_HOST: '127.0.0.1',
        LOOPSTREAM_PORT: String(port),
        LOOPSTREAM_OPS_HOST: '127.0.0.1',
        LOOPSTREAM_OPS_PORT: String(opsPort),
        LOOPSTREAM_LOG_LEVEL: 'warn',
        // Every request is counted, and none refused.
        LOOPSTREAM_RATE_LIMIT_REQUESTS: '1000000000',
        ...settings,
      },
      logFile: join(dir, 'api.log'),
      stateDir: dir,
    });
    clients.defer(() => child.stop());
    const opsUrl = `http://127.0.0.1:${opsPort}`;
    const isReady = () =>
      fetch(`${opsUrl}/readyz`).then(
        ({ ok }) => ok,
        () => false,
      );
    await until('the API server is ready', isReady, 120_000);
    return { url: `http://127.0.0.1:${port}`, opsUrl, pid: child.pid, readyMs: performance.now() - since };
  };

  const clients = new AsyncDisposableStack();
  started.defer(() => clients.disposeAsync());
  const all = started.move();
  return {
    kube,
    plane,
    databaseUrl: postgres.url,
    startApi,
    async account(name, bounds) {
      const accountId = await auth.service.ensureUser({ email: `${name}@example.com`, firstName: name });
      return { accountId, key: (await auth.service.createApiKey(accountId, name, bounds)).key };
    },
    stop: () => all.disposeAsync(),
  };
}
