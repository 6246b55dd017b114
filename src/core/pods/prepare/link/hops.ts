/**
 * Requests a link and follows its redirects. Every hop passes the checks of guard.ts, and no host gets what is meant
 * for another.
 */
import { type Dispatcher, request } from 'undici';
import { PrepareError } from '../failure/failure.ts';
import { first } from './answer.ts';
import type { Cookies } from './cookies.ts';
import { checkLink } from './guard.ts';
import { type LenientAnswer, type LenientServers, requestLeniently } from './lenient.ts';
import { toDirectLink } from './share-links.ts';
import { percentEncode } from './text.ts';
import { isUnreadable } from './unreadable.ts';

/** The limit of browsers (WHATWG Fetch, HTTP-redirect fetch); podcasts have many counters in front of their files. */
const MAX_REDIRECTS = 20;
const REDIRECTS = new Set([300, 301, 302, 303, 307, 308]);

export type LinkResponse = LenientAnswer;

export interface HopOptions {
  agent: Dispatcher;
  cookies: Cookies;
  allowPrivateLinks: boolean;
  signal: AbortSignal;
  /** Headers besides those of every request. */
  headers: Record<string, string>;
  lenient: LenientServers;
  /** Stand-ins for services in tests: the origin to connect to, by the origin of a link. */
  standIns?: ReadonlyMap<string, string> | undefined;
}

export interface LinkAnswer {
  response: LinkResponse;
  /** URL of the last hop. */
  url: URL;
}

/** Discards a body that is not read. */
export const discard = ({ body }: LinkResponse): void => {
  body.on('error', () => undefined).destroy();
};

/** Decodes a part of the userinfo of a URL; WHATWG URL leaves percent signs that encode nothing as they are. */
function decodePart(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Reads Basic credentials from a link (RFC 7617); undefined where it has none. */
function credentials({ username, password }: URL): string | undefined {
  if (!username && !password) return undefined;
  const login = Buffer.from(`${decodePart(username)}:${decodePart(password)}`);
  return `Basic ${login.toString('base64')}`;
}

/** A server whose answer the strict parser cannot read is asked once more, and leniently from then on. */
async function ask(
  url: URL,
  login: string | undefined,
  cookie: string | undefined,
  options: HopOptions,
): Promise<LinkResponse> {
  const { agent, signal, headers, standIns, lenient } = options;
  const standIn = standIns?.get(url.origin);
  const target = `${standIn ?? url.origin}${url.pathname}${url.search}`;
  const sent = {
    accept: '*/*',
    'accept-encoding': 'identity',
    'user-agent': 'loopstream',
    ...(standIn !== undefined && { host: url.host }),
    ...(login !== undefined && { authorization: login }),
    ...(cookie !== undefined && { cookie }),
    ...headers,
  };
  if (!lenient.origins.has(url.origin))
    try {
      return await request(target, { dispatcher: agent, signal, headers: sent });
    } catch (error) {
      if (!isUnreadable(error)) throw error;
      lenient.origins.add(url.origin);
    }
  return requestLeniently(new URL(target), sent, { connect: lenient.connect, signal });
}

/** Returns the target of a redirect; undefined where the answer is none. Throws PrepareError link_unreachable. */
function findRedirect({ statusCode, headers }: LinkResponse, url: URL): URL | undefined {
  const location = first(headers.location)?.trim();
  if (!REDIRECTS.has(statusCode) || !location) return undefined;
  const next = URL.parse(percentEncode(location), url.href);
  if (!next) throw new PrepareError('link_unreachable', 'The server redirects to an invalid link.');
  return next;
}

/**
 * Returns the first answer that is no redirect. Rejects with PrepareError link_forbidden or link_unreachable, an error
 * of the network, or the signal's reason.
 */
export async function follow(link: string | URL, options: HopOptions): Promise<LinkAnswer> {
  const { allowPrivateLinks, cookies } = options;
  const check = (url: string | URL) => checkLink(toDirectLink(checkLink(url, allowPrivateLinks)), allowPrivateLinks);
  const { origin } = checkLink(link, allowPrivateLinks);
  const login = credentials(checkLink(link, allowPrivateLinks));
  let url = check(link);
  for (let hop = 0; hop <= MAX_REDIRECTS; hop++) {
    const response = await ask(url, url.origin === origin ? login : undefined, await cookies.header(url), options);
    try {
      await cookies.take(response.headers['set-cookie'], url);
      const next = findRedirect(response, url);
      if (!next) return { response, url };
      discard(response);
      url = check(next);
    } catch (error) {
      discard(response);
      throw error;
    }
  }
  throw new PrepareError('link_unreachable', `The link redirects more than ${MAX_REDIRECTS} times.`);
}
