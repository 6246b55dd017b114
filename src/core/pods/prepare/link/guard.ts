/** Keeps links from leading to forbidden places: by their text, and at every connection. */
import type { Agent } from 'undici';
import { type AddressLookup, guardedAgent, guardedConnector } from '../../../lib/guarded-agent.ts';
import { findLinkRefusal } from '../../../resources/upload/link.ts';
import { PrepareError } from '../failure/failure.ts';

const forbidden = (detail: string) => new PrepareError('link_forbidden', detail);

/** Parses a link. Throws PrepareError link_forbidden when its text shows that it leads to a forbidden place. */
export function checkLink(link: string | URL, allowPrivate: boolean): URL {
  const refusal = findLinkRefusal(link, allowPrivate);
  if (refusal !== undefined) throw forbidden(refusal);
  const url = URL.parse(String(link));
  if (!url) throw new PrepareError('link_unreachable', 'The link is not a valid URL.');
  return url;
}

/**
 * Creates an agent for links that checks every connection. A forbidden host fails with PrepareError link_forbidden, and a name with a private
 * address as one that does not exist. Close it after use.
 */
export const linkAgent = (allowPrivate: boolean, lookup?: AddressLookup): Agent =>
  guardedAgent({ allowPrivate, lookup, forbid: forbidden });

/** Connects to the server of a link, past the same checks, without a parser of answers. */
export const linkConnector = (allowPrivate: boolean, lookup?: AddressLookup): ReturnType<typeof guardedConnector> =>
  guardedConnector({ allowPrivate, lookup, forbid: forbidden });
