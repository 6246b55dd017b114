/** Our own servers on top of the infrastructure: the node agent, the operator, the API server and billing. */
import { mkdirSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { sleep } from '../clock.ts';
import { ensureAccount } from './account.ts';
import { chainSettings, chainUrl } from './chain.ts';
import { type Context, MAIN, PROJECT_ROOT } from './context.ts';
import type { Infrastructure } from './infrastructure.ts';
import type { ControlPlane } from './kubernetes/controlplane.ts';
import { startNode } from './node-agent.ts';
import { claimPort } from './ports.ts';
import { NAMESPACE, serviceAccountUser } from './rights.ts';
import type { LocalFacts } from './state.ts';
import { supervise } from './supervise.ts';

const IMAGE = 'loopstream:local';

export async function startServers(context: Context, infrastructure: Infrastructure): Promise<LocalFacts> {
  const { state, ports, options, progress } = context;
  const { controlPlane, databaseUrl } = infrastructure;
  const images = { [IMAGE]: [process.execPath, MAIN] };
  const [account] = await Promise.all([
    databaseUrl ? progress.step('account and database', () => ensureAccount(state, databaseUrl)) : null,
    progress.step('node agent', () => startNode(context, controlPlane, images)),
    startOperator(context, controlPlane),
  ]);
  if (databaseUrl)
    await Promise.all([startApi(context, controlPlane, databaseUrl), startBilling(context, controlPlane, databaseUrl)]);
  const apiKey = account?.apiKey ?? null;
  const shownHost = ['0.0.0.0', '::'].includes(options.host) ? '127.0.0.1' : options.host;
  const site = `http://${shownHost.includes(':') ? `[${shownHost}]` : shownHost}:${ports.api}`;
  return {
    apiUrl: apiKey && `${site}/v1`,
    graphqlUrl: apiKey && `${site}/graphql`,
    mcpUrl: apiKey && `${site}/mcp`,
    apiKey,
    email: account?.email ?? null,
    password: account?.password ?? null,
    kubeconfig: controlPlane.kubeconfig,
    rtmpUrl: `rtmp://127.0.0.1:${ports.rtmp}/live`,
    pageUrl: apiKey && `${site}/#key=${apiKey}`,
    demoStreamId: null,
    mailUrl: apiKey && `http://127.0.0.1:${ports.mail}/`,
    chainUrl: options.crypto ? chainUrl(context) : null,
    playUrl: `http://127.0.0.1:${ports.media}/live`,
    pid: process.pid,
  };
}

/**
 * The environment of a role. `defaults` are settings that fit a single machine: a LOOPSTREAM_* variable of our own environment
 * replaces them. `wiring` connects the parts and stays as it is.
 */
const roleEnvironment = (
  { env, state }: Context,
  kubeconfig: string,
  { defaults, wiring }: Record<'defaults' | 'wiring', Record<string, string>>,
) => ({
  ...defaults,
  ...env.settings,
  PATH: env.path,
  HOME: state.dir,
  KUBECONFIG: kubeconfig,
  LOOPSTREAM_NAMESPACE: NAMESPACE,
  LOOPSTREAM_LOG_LEVEL: env.logLevel,
  LOOPSTREAM_OPS_HOST: '127.0.0.1',
  ...wiring,
});

function startOperator(context: Context, controlPlane: ControlPlane): Promise<void> {
  const { state, lifecycle, progress, log } = context;
  return progress.step('operator', async () => {
    const opsPort = await claimPort('operator', 0);
    const kubeconfig = await controlPlane.kubeconfigFor('operator', {
      user: serviceAccountUser('loopstream-operator'),
    });
    mkdirSync(state.path('storage'), { recursive: true });
    const child = await supervise(
      {
        name: 'operator',
        command: process.execPath,
        args: [MAIN, 'operator'],
        env: roleEnvironment(context, kubeconfig, {
          defaults: { LOOPSTREAM_ALLOW_PRIVATE_LINKS: 'true', LOOPSTREAM_ALLOW_PRIVATE_DESTINATIONS: 'true' },
          wiring: {
            LOOPSTREAM_IMAGE: IMAGE,
            // It is the only one, and one that is started again need not wait for the one before.
            LOOPSTREAM_LEADER_ELECTION: 'false',
            LOOPSTREAM_STORAGE_VOLUME: JSON.stringify({ hostPath: { path: state.path('storage'), type: 'Directory' } }),
            // With --operator-only nobody counts.
            LOOPSTREAM_METERED: String(!context.options.operatorOnly),
            LOOPSTREAM_OPS_PORT: String(opsPort),
          },
        }),
        logFile: state.path('logs', 'operator.log'),
        stateDir: state.dir,
      },
      log,
    );
    lifecycle.defer('operator', () => child.stop());
    await untilOk(`http://127.0.0.1:${opsPort}/readyz`, 'operator', context);
  });
}

function startApi(context: Context, controlPlane: ControlPlane, databaseUrl: string): Promise<void> {
  const { options, state, ports, lifecycle, progress, log } = context;
  return progress.step('API server', async () => {
    const opsPort = await claimPort('api', 0);
    const kubeconfig = await controlPlane.kubeconfigFor('api', { user: serviceAccountUser('loopstream-api') });
    const child = await supervise(
      {
        name: 'api',
        command: process.execPath,
        args: [MAIN, 'api'],
        env: roleEnvironment(context, kubeconfig, {
          defaults: {
            LOOPSTREAM_MAIL_FROM: 'loopstream <loopstream@localhost>',
            LOOPSTREAM_ALLOW_PRIVATE_LINKS: 'true',
            LOOPSTREAM_ALLOW_PRIVATE_DESTINATIONS: 'true',
            LOOPSTREAM_BILLING: 'true',
          },
          wiring: {
            LOOPSTREAM_HOST: options.host,
            LOOPSTREAM_PORT: String(ports.api),
            LOOPSTREAM_PUBLIC_URL: `http://127.0.0.1:${ports.api}`,
            LOOPSTREAM_DATABASE_URL: databaseUrl,
            LOOPSTREAM_AUTH_SECRET: state.readMemory().authSecret,
            LOOPSTREAM_SMTP_URL: `smtp://127.0.0.1:${ports.smtp}`,
            LOOPSTREAM_DASHBOARD_DIR: `${PROJECT_ROOT}/dist/dashboard`,
            LOOPSTREAM_STORAGE_URL: pathToFileURL(state.path('storage')).href,
            ...chainSettings(context),
            LOOPSTREAM_OPS_PORT: String(opsPort),
          },
        }),
        logFile: state.path('logs', 'api.log'),
        stateDir: state.dir,
      },
      log,
    );
    lifecycle.defer('api', () => child.stop());
    await untilOk(`http://127.0.0.1:${opsPort}/readyz`, 'API server', context);
  });
}

function startBilling(context: Context, controlPlane: ControlPlane, databaseUrl: string): Promise<void> {
  const { state, lifecycle, progress, log } = context;
  return progress.step('billing', async () => {
    const opsPort = await claimPort('billing', 0);
    const kubeconfig = await controlPlane.kubeconfigFor('billing', { user: serviceAccountUser('loopstream-billing') });
    const child = await supervise(
      {
        name: 'billing',
        command: process.execPath,
        args: [MAIN, 'billing'],
        env: roleEnvironment(context, kubeconfig, {
          defaults: {
            LOOPSTREAM_SELLER: JSON.stringify({
              name: 'loopstream on this machine',
              address: ['localhost'],
              country: 'ZZ',
            }),
          },
          wiring: {
            LOOPSTREAM_DATABASE_URL: databaseUrl,
            ...chainSettings(context),
            LOOPSTREAM_OPS_PORT: String(opsPort),
          },
        }),
        logFile: state.path('logs', 'billing.log'),
        stateDir: state.dir,
      },
      log,
    );
    lifecycle.defer('billing', () => child.stop());
    await untilOk(`http://127.0.0.1:${opsPort}/readyz`, 'billing', context);
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
