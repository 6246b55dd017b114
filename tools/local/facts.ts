/** Describes a running local system: its addresses, its account, its process. */
import type { LocalAccount } from './account.ts';
import { chainUrl } from './chain.ts';
import type { Context } from './context.ts';
import type { LocalFacts } from './state.ts';

interface Parts {
  /** null without an API server. */
  account: LocalAccount | null;
  /** As programs of this machine reach it; null without an API server. */
  databaseUrl: string | null;
  kubeconfig: string;
  /** This machine's address, at which pods and programs of this machine reach the receiver. */
  receiverHost: string;
}

/** Hosts that a browser of this machine also reaches by a name. */
const NAMED = ['127.0.0.1', '::1', '0.0.0.0', '::'];

type Addressed = Pick<Context, 'options' | 'ports'> & { env: Pick<Context['env'], 'settings'> };

/**
 * Returns the address of the page and the APIs, without a slash at the end: LOOPSTREAM_PUBLIC_URL if it is set. Otherwise it has a
 * name where it can, since browsers keep passkeys for names only (Web Authentication, section 5.1.2).
 */
export function findPublicUrl({ env, options: { host }, ports }: Addressed): string {
  const set = env.settings.LOOPSTREAM_PUBLIC_URL;
  if (set !== undefined) return set.replace(/\/$/, '');
  const address = host.includes(':') ? `[${host}]` : host;
  return `http://${NAMED.includes(host) ? 'localhost' : address}:${ports.api}`;
}

/** Returns the address of the API server as programs of this machine reach it, without a slash at the end. */
export function findLocalUrl({ options: { host }, ports }: Pick<Context, 'options' | 'ports'>): string {
  const reached = { '0.0.0.0': '127.0.0.1', '::': '[::1]' }[host] ?? (host.includes(':') ? `[${host}]` : host);
  return `http://${reached}:${ports.api}`;
}

/** The demo's stream is not known yet. */
export function describeSystem(
  context: Addressed,
  { account, databaseUrl, kubeconfig, receiverHost }: Parts,
): LocalFacts {
  const { options, ports } = context;
  const apiKey = account?.apiKey ?? null;
  const site = findPublicUrl(context);
  return {
    apiUrl: apiKey && `${site}/v1`,
    graphqlUrl: apiKey && `${site}/graphql`,
    mcpUrl: apiKey && `${site}/mcp`,
    apiKey,
    email: account?.email ?? null,
    password: account?.password ?? null,
    databaseUrl,
    kubeconfig,
    rtmpUrl: `rtmp://${receiverHost}:${ports.rtmp}/live`,
    pageUrl: apiKey && `${site}/#key=${apiKey}`,
    demoStreamId: null,
    mailUrl: apiKey && `http://127.0.0.1:${ports.mail}/`,
    chainUrl: options.crypto ? chainUrl({ ports }) : null,
    playUrl: `http://127.0.0.1:${ports.media}/live`,
    pid: process.pid,
  };
}
