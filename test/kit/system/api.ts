/**
 * Starts the API server for tests on a real Postgres and a real Kubernetes API, with its rights in a cluster, and without an operator.
 * Tests write the status in the operator's place.
 */

import { createKube } from '../../../src/core/kube/client.ts';
import type { Kube } from '../../../src/core/kube/types.ts';
import { Lifecycle } from '../../../src/core/lib/lifecycle.ts';
import { createLogger } from '../../../src/core/lib/log.ts';
import { FINALIZER } from '../../../src/core/resources/common/names.ts';
import { applyCrds } from '../../../src/core/resources/crd/install.ts';
import { LOOPSTREAMS } from '../../../src/core/resources/stream/resource.ts';
import type { LoopStreamStatus } from '../../../src/core/resources/stream/spec.ts';
import { UPLOADS } from '../../../src/core/resources/upload/resource.ts';
import type { UploadStatus } from '../../../src/core/resources/upload/spec.ts';
import { openAuth } from '../../../src/service/auth/open.ts';
import type { createAuthService } from '../../../src/service/auth/service.ts';
import { type RunningApi, runApi } from '../../../src/service/server/main.ts';
import { type ApiConfig, apiConfig } from '../../../src/service/server/setup/settings.ts';
import { withOverrides } from '../../../src/service/settings/limits.ts';
import { applyRights, NAMESPACE, serviceAccountUser } from '../../../tools/local/rights.ts';
import { shareTestKubernetes, startSmallKubernetes, type TestKubernetes } from '../real/kubernetes.ts';
import { shareTestPostgres } from '../real/postgres.ts';

export interface Answer<T = Record<string, unknown>> {
  status: number;
  headers: Headers;
  body: T;
}

export interface Client {
  accountId: string;
  key: string;
  keyId: string;
  call<T = Record<string, unknown>>(
    method: string,
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<Answer<T>>;
}

export interface TestApi {
  url: string;
  opsUrl: string;
  databaseUrl: string;
  kubernetes: TestKubernetes;
  /** The administrator's client. */
  kube: Kube;
  config: ApiConfig;
  /** The same settings, for an API server as a process of its own. */
  environment: Readonly<Record<string, string>>;
  auth: ReturnType<typeof createAuthService>;
  /** Makes an account with a key. */
  client(name: string): Promise<Client>;
  /** Starts another replica on the same Kubernetes and Postgres. */
  replica(overrides?: Partial<ApiConfig>): Promise<RunningApi & { stop(): Promise<void> }>;
  /** Writes a stream's status for its current spec, in the place of the operator and of the gates' owners. */
  observe(id: string, status: Partial<LoopStreamStatus>, falseConditions?: FalseCondition[]): Promise<void>;
  observeUpload(id: string, status: UploadStatus): Promise<void>;
  /** Removes the finalizer of a stream of which nothing is on air, in the place of the operator. */
  release(id: string): Promise<void>;
  stop(): Promise<void>;
}

export interface FalseCondition {
  type: string;
  reason: string;
  message: string;
  status?: 'False' | 'Unknown';
}

export async function call<T>(
  url: string,
  method: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<Answer<T>> {
  const isText = typeof body === 'string';
  const response = await fetch(url, {
    method,
    headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
    ...(body === undefined ? {} : { body: isText ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  const json = /json/.test(response.headers.get('content-type') ?? '') && text !== '';
  return { status: response.status, headers: response.headers, body: (json ? JSON.parse(text) : text) as T };
}

/**
 * Definitions are installed once per kubeconfig. A test that changes a definition or a right restores it
 * (test/system/kube/validation.test.ts).
 */
const installed = new Set<string>();

/** Installs our definitions and rights, once in a control plane. */
async function install(kube: Kube, kubeconfig: string): Promise<void> {
  if (installed.has(kubeconfig)) return;
  await Promise.all([applyCrds(kube), applyRights(kube)]);
  installed.add(kubeconfig);
}

/** `alone` starts it on a control plane that no other test uses. */
export async function startTestApi(overrides: Partial<ApiConfig> = {}, { alone = false } = {}): Promise<TestApi> {
  const [postgres, kubernetes] = await Promise.all([
    shareTestPostgres(),
    alone ? startSmallKubernetes() : shareTestKubernetes(),
  ]);
  const kube = createKube({ kubeconfig: kubernetes.kubeconfig });
  await install(kube, kubernetes.kubeconfig);
  const authSecret = 'a secret of the test, long enough for the auth library';
  const environment = {
    LOOPSTREAM_LOG_LEVEL: 'info',
    LOOPSTREAM_DATABASE_URL: postgres.url,
    LOOPSTREAM_AUTH_SECRET: authSecret,
    LOOPSTREAM_NAMESPACE: NAMESPACE,
    LOOPSTREAM_HOST: '127.0.0.1',
    LOOPSTREAM_PORT: '0',
    LOOPSTREAM_OPS_HOST: '127.0.0.1',
    LOOPSTREAM_OPS_PORT: '0',
    LOOPSTREAM_RATE_LIMIT_REQUESTS: '100000',
    // No account of these tests is on trial, unless a test overrides it.
    LOOPSTREAM_LIMITS: JSON.stringify({ trial: withOverrides().full }),
    LOOPSTREAM_ALLOW_PRIVATE_DESTINATIONS: 'true',
    LOOPSTREAM_ALLOW_PRIVATE_WATCH: 'true',
    KUBECONFIG: await kubernetes.kubeconfigFor('api', { user: serviceAccountUser('loopstream-api') }),
  };
  const config: ApiConfig = { ...apiConfig(environment), publicUrl: 'http://127.0.0.1:8080', ...overrides };
  const lifecycles: Lifecycle[] = [];
  const replica: TestApi['replica'] = async (more = {}) => {
    const log = createLogger('api', process.env.TEST_LOG ?? 'silent');
    const lifecycle = new Lifecycle(log);
    lifecycles.push(lifecycle);
    const running = await runApi({ ...config, ...more }, lifecycle, log);
    await running.ready;
    return { ...running, stop: () => lifecycle.stop() };
  };
  const { url, opsUrl } = await replica();
  const opened = openAuth(config);

  return {
    url,
    opsUrl,
    databaseUrl: postgres.url,
    kubernetes,
    kube,
    config,
    environment,
    auth: opened.service,
    replica,
    async client(name) {
      const accountId = await opened.service.ensureUser({ email: `${name}@example.com`, firstName: name });
      const { key, id: keyId } = await opened.service.createApiKey(accountId, name);
      return {
        accountId,
        key,
        keyId,
        call: (method, path, body, headers) => call(`${url}${path}`, method, body, { 'x-api-key': key, ...headers }),
      };
    },
    async observe(id, status, falseConditions = []) {
      const { metadata, spec } = await kube.get(LOOPSTREAMS, NAMESPACE, id);
      const observedGeneration = metadata.generation ?? 1;
      const gates = (spec.readinessGates ?? []).map(({ conditionType }) => conditionType);
      const conditions = ['DestinationReady', 'MediaReady', 'ScheduleValid', ...gates].map((type) => {
        const wrong = falseConditions.find((condition) => condition.type === type);
        const rest = { status: wrong?.status ?? (wrong ? 'False' : 'True'), reason: wrong?.reason ?? type };
        const lastTransitionTime = '2026-01-01T00:00:00Z';
        return { type, ...rest, message: wrong?.message ?? 'Fine.', observedGeneration, lastTransitionTime };
      });
      const full = { canStart: falseConditions.length === 0, ...status, observedGeneration, conditions };
      await kube.mergePatch(LOOPSTREAMS, NAMESPACE, id, { status: full }, { subresource: 'status' });
    },
    async observeUpload(id, status) {
      await kube.mergePatch(UPLOADS, NAMESPACE, id, { status }, { subresource: 'status' });
    },
    async release(id) {
      const { metadata } = await kube.get(LOOPSTREAMS, NAMESPACE, id);
      const finalizers = (metadata.finalizers ?? []).filter((finalizer) => finalizer !== FINALIZER);
      await kube.mergePatch(LOOPSTREAMS, NAMESPACE, id, { metadata: { finalizers } });
    },
    async stop() {
      for (const lifecycle of lifecycles) await lifecycle.stop();
      await opened.close();
      await kube.close();
      await Promise.all([postgres.stop(), kubernetes.stop()]);
    },
  };
}
