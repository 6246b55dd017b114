/** Describes a running local system: its addresses, its account, its process. */
import type { LocalAccount } from './account.ts';
import { chainUrl } from './chain.ts';
import type { Context } from './context.ts';
import type { LocalFacts } from './state.ts';

interface Parts {
  /** null without an API server. */
  account: LocalAccount | null;
  kubeconfig: string;
  /** This machine's address, at which pods and programs of this machine reach the receiver. */
  receiverHost: string;
}

/** The demo's stream is not known yet. */
export function describeSystem(
  { options, ports }: Pick<Context, 'options' | 'ports'>,
  { account, kubeconfig, receiverHost }: Parts,
): LocalFacts {
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
