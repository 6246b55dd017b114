/** Our own servers on top of the infrastructure: the node agent, the operator and the API server. */
import { createHash } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { sleep } from '../clock.ts';
import { NAMESPACES } from '../kube/resources.ts';
import { ensureApiKey } from './account.ts';
import { type Context, MAIN, PROJECT_ROOT } from './context.ts';
import type { Infrastructure } from './infrastructure.ts';
import { startNode } from './node/start.ts';
import { claimPort } from './ports.ts';
import type { LocalFacts } from './state.ts';
import { supervise } from './supervise.ts';

export const NAMESPACE = 'loopstream';
export const IMAGE = 'loopstream:local';

export async function startServers(context: Context, infrastructure: Infrastructure): Promise<LocalFacts> {
  const { state, ports, options, progress } = context;
  const { kube, controlPlane } = infrastructure;
  await kube.apply(
    NAMESPACES,
    '',
    {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: NAMESPACE, labels: { 'pod-security.kubernetes.io/warn': 'restricted' } },
    },
    { fieldManager: 'loopstream-local' },
  );
  const [apiKey] = await Promise.all([
    progress.step('account and database', () => ensureApiKey(context, infrastructure.databaseUrl)),
    progress.step('node agent', () =>
      startNode(context, infrastructure, {
        name: 'local',
        images: { [IMAGE]: [process.execPath, MAIN] },
        podCidr: podCidr(state.dir),
      }),
    ),
    startOperator(context, infrastructure),
  ]);
  await startApi(context, infrastructure);
  const shownHost = options.host === '0.0.0.0' || options.host === '::' ? '127.0.0.1' : options.host;
  const site = `http://${shownHost.includes(':') ? `[${shownHost}]` : shownHost}:${ports.api}`;
  return {
    apiUrl: `${site}/v1`,
    graphqlUrl: `${site}/graphql`,
    apiKey,
    kubeconfig: controlPlane.kubeconfig,
    rtmpUrl: `rtmp://127.0.0.1:${ports.rtmp}/live`,
    pageUrl: `${site}/#key=${apiKey}`,
    demoStreamId: null,
    playUrl: `http://127.0.0.1:${ports.media}/live`,
    pid: process.pid,
  };
}

/** Pods' addresses: a range of the loopback net per state directory, so that two local systems do not meet. */
function podCidr(stateDir: string): string {
  const [byte = 0] = createHash('sha256').update(stateDir).digest();
  return `127.${16 + (byte % 200)}.0.0/16`;
}

const common = ({ env, state }: Context, kubeconfig: string) => ({
  PATH: env.path,
  HOME: state.dir,
  KUBECONFIG: kubeconfig,
  LOOPSTREAM_NAMESPACE: NAMESPACE,
  LOOPSTREAM_LOG_LEVEL: env.logLevel,
  LOOPSTREAM_OPS_HOST: '127.0.0.1',
});

function startOperator(context: Context, { controlPlane }: Infrastructure): Promise<void> {
  const { state, lifecycle, progress, log } = context;
  return progress.step('operator', async () => {
    const opsPort = await claimPort('operator', 0);
    mkdirSync(state.path('storage'), { recursive: true });
    const child = await supervise(
      {
        name: 'operator',
        command: process.execPath,
        args: [MAIN, 'operator'],
        env: {
          ...common(context, controlPlane.operatorKubeconfig),
          LOOPSTREAM_IMAGE: IMAGE,
          LOOPSTREAM_STORAGE_VOLUME: JSON.stringify({ hostPath: { path: state.path('storage'), type: 'Directory' } }),
          LOOPSTREAM_ALLOW_PRIVATE_LINKS: 'true',
          LOOPSTREAM_OPS_PORT: String(opsPort),
        },
        logFile: state.path('logs', 'operator.log'),
        stateDir: state.dir,
      },
      log,
    );
    lifecycle.defer('operator', () => child.stop());
    await untilOk(`http://127.0.0.1:${opsPort}/readyz`, 'operator', context);
  });
}

function startApi(context: Context, { controlPlane, databaseUrl }: Infrastructure): Promise<void> {
  const { options, state, ports, lifecycle, progress, log } = context;
  return progress.step('API server', async () => {
    const opsPort = await claimPort('api', 0);
    const child = await supervise(
      {
        name: 'api',
        command: process.execPath,
        args: [MAIN, 'api'],
        env: {
          ...common(context, controlPlane.apiKubeconfig),
          LOOPSTREAM_HOST: options.host,
          LOOPSTREAM_PORT: String(ports.api),
          LOOPSTREAM_PUBLIC_URL: `http://127.0.0.1:${ports.api}`,
          LOOPSTREAM_DATABASE_URL: databaseUrl,
          LOOPSTREAM_AUTH_SECRET: state.readMemory().authSecret,
          LOOPSTREAM_DASHBOARD_DIR: `${PROJECT_ROOT}/dist/dashboard`,
          LOOPSTREAM_OPS_PORT: String(opsPort),
        },
        logFile: state.path('logs', 'api.log'),
        stateDir: state.dir,
      },
      log,
    );
    lifecycle.defer('api', () => child.stop());
    await untilOk(`http://127.0.0.1:${opsPort}/readyz`, 'API server', context);
  });
}

/** Waits until `url` answers 200; one sentence when it does not within a minute. */
async function untilOk(url: string, name: string, { lifecycle, state }: Context): Promise<void> {
  const deadline = performance.now() + 60_000;
  for (;;) {
    const ok = await fetch(url, { signal: AbortSignal.timeout(2_000) }).then(
      (r) => r.ok,
      () => false,
    );
    if (ok) return;
    if (performance.now() > deadline)
      throw new Error(`The ${name} is not ready after a minute; see ${state.path('logs')}.`);
    await sleep(50, lifecycle.signal);
  }
}
