/** Shows where an endpoint leads, without what may be a secret. Pure: no I/O, no clock. */
import type { EndpointKind } from './record.ts';

const SHOWN = 4;

/**
 * The addresses of chats are secrets as a whole: their knowers can write there. Of a webhook, the password and the values of the query
 * are hidden.
 */
export function hideSecrets(kind: EndpointKind, target: string): string {
  if (kind === 'mail' || !URL.canParse(target)) return target;
  const url = new URL(target);
  if (kind !== 'webhook') return `${url.origin}/…${target.slice(-SHOWN)}`;
  const query = [...url.searchParams.keys()].map((name) => `${name}=…`).join('&');
  const user = url.username || url.password ? '…@' : '';
  return `${url.protocol}//${user}${url.host}${url.pathname}${query ? `?${query}` : ''}`;
}

/** The host that an endpoint's requests go to: all its ports, spelled in one way, share its budget. */
export const findHost = ({ kind, target }: { kind: EndpointKind; target: string }): string =>
  kind === 'mail' ? 'mail' : URL.canParse(target) ? new URL(target).hostname.replace(/\.$/, '') : target;
