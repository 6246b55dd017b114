/** Starts our own servers on top of the infrastructure: the node agent, the operator, the role platform, the API server and billing. */
import { mkdirSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import type { ControlPlane } from '../control-plane/controlplane.ts';
import { claimPort } from '../process/ports.ts';
import { untilOk } from '../process/ready.ts';
import { PROJECT_ROOT } from '../process/root.ts';
import type { Part } from '../process/supervise.ts';
import { ensureAccount } from './account.ts';
import { chainSettings } from './chain.ts';
import { type Context, MAIN } from './context.ts';
import { describeSystem, findPublicUrl } from './facts.ts';
import type { Database, Infrastructure } from './infrastructure.ts';
import { startNode } from './node-agent.ts';
import { NAMESPACE, serviceAccountUser } from './rights.ts';
import type { LocalFacts } from './state.ts';

const IMAGE = 'loopstream:local';
/** The first credit of an account that signs up here: five dollars, a week on air. */
export const WELCOME_GRANT_MINOR = 500;
/** The sender of this machine's invoices. */
export const SELLER = { name: 'loopstream on this machine', address: ['localhost'], country: 'ZZ' };

export async function startServers(context: Context, infrastructure: Infrastructure): Promise<LocalFacts> {
  const { state, progress } = context;
  const { controlPlane, database } = infrastructure;
  const [account] = await Promise.all([
    database ? progress.step('account and database', () => ensureAccount(state, database.url)) : null,
    progress.step('node agent', () => startNode(context, controlPlane, { [IMAGE]: [process.execPath, MAIN] })),
    startOperator(context, controlPlane),
    startPlatform(context, controlPlane),
  ]);
  if (database)
    await Promise.all([startApi(context, controlPlane, database), startBilling(context, controlPlane, database)]);
  const { kubeconfig } = controlPlane;
  return describeSystem(context, {
    account,
    databaseUrl: database?.url ?? null,
    kubeconfig,
    receiverHost: '127.0.0.1',
  });
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

interface RoleOptions {
  opsPort: number;
  needs: readonly Part[];
  env: Record<string, string>;
}

async function startRole(context: Context, name: string, { opsPort, needs, env }: RoleOptions): Promise<void> {
  const { state, lifecycle, supervisor } = context;
  const part = supervisor.start({
    name,
    command: process.execPath,
    args: [MAIN, name],
    env,
    logFile: state.path('logs', `${name}.log`),
    stateDir: state.dir,
    needs,
    untilReady: (signal) => untilOk(`http://127.0.0.1:${opsPort}/readyz`, signal),
  });
  lifecycle.defer(name, () => part.stop());
  await part.started;
}

function startOperator(context: Context, controlPlane: ControlPlane): Promise<void> {
  const { state, progress } = context;
  return progress.step('operator', async () => {
    const opsPort = await claimPort('operator', 0);
    const reportsPort = await claimPort('operator', 0);
    const kubeconfig = await controlPlane.kubeconfigFor('operator', {
      user: serviceAccountUser('loopstream-operator'),
    });
    mkdirSync(state.path('storage'), { recursive: true });
    await startRole(context, 'operator', {
      opsPort,
      needs: [controlPlane.apiserver],
      env: roleEnvironment(context, kubeconfig, {
        defaults: { LOOPSTREAM_ALLOW_PRIVATE_LINKS: 'true', LOOPSTREAM_ALLOW_PRIVATE_DESTINATIONS: 'true' },
        wiring: {
          LOOPSTREAM_IMAGE: IMAGE,
          // It is the only operator, and a restarted one need not wait for a lease.
          LOOPSTREAM_LEADER_ELECTION: 'false',
          LOOPSTREAM_STORAGE_VOLUME: JSON.stringify({ hostPath: { path: state.path('storage'), type: 'Directory' } }),
          // With --operator-only nobody counts.
          LOOPSTREAM_METERED: String(!context.options.operatorOnly),
          // Pods are processes of this machine.
          LOOPSTREAM_REPORTS_URL: `http://127.0.0.1:${reportsPort}`,
          LOOPSTREAM_REPORTS_HOST: '127.0.0.1',
          LOOPSTREAM_REPORTS_PORT: String(reportsPort),
          LOOPSTREAM_OPS_PORT: String(opsPort),
        },
      }),
    });
  });
}

function startPlatform(context: Context, controlPlane: ControlPlane): Promise<void> {
  return context.progress.step('platform', async () => {
    const opsPort = await claimPort('platform', 0);
    const user = serviceAccountUser('loopstream-platform');
    const kubeconfig = await controlPlane.kubeconfigFor('platform', { user });
    await startRole(context, 'platform', {
      opsPort,
      needs: [controlPlane.apiserver],
      env: roleEnvironment(context, kubeconfig, {
        defaults: { LOOPSTREAM_ALLOW_PRIVATE_WATCH: 'true' },
        wiring: { LOOPSTREAM_LEADER_ELECTION: 'false', LOOPSTREAM_OPS_PORT: String(opsPort) },
      }),
    });
  });
}

function startApi(context: Context, controlPlane: ControlPlane, database: Database): Promise<void> {
  const { options, state, ports, progress } = context;
  return progress.step('API server', async () => {
    const opsPort = await claimPort('api', 0);
    const kubeconfig = await controlPlane.kubeconfigFor('api', { user: serviceAccountUser('loopstream-api') });
    await startRole(context, 'api', {
      opsPort,
      needs: [controlPlane.apiserver, database.part],
      env: roleEnvironment(context, kubeconfig, {
        defaults: {
          LOOPSTREAM_MAIL_FROM: 'loopstream <loopstream@localhost>',
          LOOPSTREAM_ALLOW_PRIVATE_LINKS: 'true',
          LOOPSTREAM_ALLOW_PRIVATE_DESTINATIONS: 'true',
          LOOPSTREAM_ALLOW_PRIVATE_WATCH: 'true',
          LOOPSTREAM_BILLING: 'true',
          LOOPSTREAM_WELCOME_GRANT_MINOR: String(WELCOME_GRANT_MINOR),
        },
        wiring: {
          LOOPSTREAM_HOST: options.host,
          LOOPSTREAM_PORT: String(ports.api),
          LOOPSTREAM_PUBLIC_URL: findPublicUrl(context),
          LOOPSTREAM_DATABASE_URL: database.url,
          LOOPSTREAM_AUTH_SECRET: state.readMemory().authSecret,
          LOOPSTREAM_SMTP_URL: `smtp://127.0.0.1:${ports.smtp}`,
          LOOPSTREAM_DASHBOARD_DIR: `${PROJECT_ROOT}/dist/dashboard`,
          LOOPSTREAM_STORAGE_URL: pathToFileURL(state.path('storage')).href,
          ...chainSettings(context),
          LOOPSTREAM_OPS_PORT: String(opsPort),
        },
      }),
    });
  });
}

function startBilling(context: Context, controlPlane: ControlPlane, database: Database): Promise<void> {
  const { progress } = context;
  return progress.step('billing', async () => {
    const opsPort = await claimPort('billing', 0);
    const kubeconfig = await controlPlane.kubeconfigFor('billing', { user: serviceAccountUser('loopstream-billing') });
    await startRole(context, 'billing', {
      opsPort,
      needs: [controlPlane.apiserver, database.part],
      env: roleEnvironment(context, kubeconfig, {
        defaults: { LOOPSTREAM_SELLER: JSON.stringify(SELLER) },
        wiring: {
          LOOPSTREAM_DATABASE_URL: database.url,
          ...chainSettings(context),
          LOOPSTREAM_OPS_PORT: String(opsPort),
        },
      }),
    });
  });
}
