/** Addresses of the pages of signing in, and where people go from them. Pure: no I/O, no clock. */

/** Pages that stand alone, and that nobody need have signed in for. */
export const OPEN_PAGES = [
  '/sign-in',
  '/sign-up',
  '/check-mail',
  '/verify',
  '/forgot-password',
  '/reset-password',
  '/consent',
];

// linear-time: the path is that of the browser's own page.
export const isOpenPage = (path: string): boolean => OPEN_PAGES.includes(path.replace(/(.)\/+$/, '$1'));

/** Our own fields in the query that a program has sent the person with. */
const OURS = ['error', 'next'];

/**
 * The query of a program that has sent the person here, as the authorization server has signed it; it is sent back as it is.
 * Undefined for those who came by themselves.
 */
export function readOAuthQuery(search: string): string | undefined {
  const fields = new URLSearchParams(search);
  if (!fields.has('client_id') || !fields.has('sig')) return undefined;
  if (!OURS.some((name) => fields.has(name))) return search.replace(/^\?/, '');
  for (const name of OURS) fields.delete(name);
  return fields.toString();
}

/**
 * Whether a mail's link to the page of signing in was followed, which says nothing of the program that somebody may have come
 * for: a mail is the same for everybody.
 */
export const isByMail = ({ pathname, search }: Pick<Location, 'pathname' | 'search'>): boolean =>
  pathname === '/sign-in' && new URLSearchParams(search).get('from') === 'letter';

/** The authorization server adds these to a program's query, to know it again. */
const SIGNED = ['sig', 'exp', 'ba_iat', 'ba_pl', 'ba_param'];

/** Where a program's request begins anew: a signature is good for minutes, and a mail may take longer to be read. */
export function askAgain(query: string): string {
  const fields = new URLSearchParams(query);
  for (const name of SIGNED) fields.delete(name);
  return `/api/auth/oauth2/authorize?${fields}`;
}

/** The page of signing in with the query of the way there: the program's, or where one goes on to. */
export function signInAgain(search: string): string {
  const [query, next] = [readOAuthQuery(search), new URLSearchParams(search).get('next')];
  if (query !== undefined) return `/sign-in?${query}`;
  return next === null ? '/sign-in' : `/sign-in?${new URLSearchParams({ next })}`;
}

/** Where `?next=` leads, within this site and to no page of signing in; the beginning otherwise. `origin`: of this site. */
export function parseNext(search: string, origin: string): string {
  const next = new URLSearchParams(search).get('next') ?? '/';
  if (!next.startsWith('/') || !URL.canParse(next, origin)) return '/';
  const { origin: there, pathname, search: query, hash } = new URL(next, origin);
  return there === origin && !isOpenPage(pathname) ? `${pathname}${query}${hash}` : '/';
}

/** The one-time token in a fragment such as `#token=…`, which browsers send to no server. */
export const tokenIn = (hash: string): string | undefined =>
  new URLSearchParams(hash.replace(/^#/, '')).get('token') || undefined;

/** Whether a browser may be sent there for a program: a page, or an app of the device, and nothing that runs here. */
export function mayFollow(url: string): boolean {
  return URL.canParse(url) && !/^(javascript|data|blob|vbscript|file|about|view-source):$/i.test(new URL(url).protocol);
}

/** The name that people know an address by: the host of a page, `this device` for a loopback one, the scheme of an app. */
export function describeUrl(url: string): string {
  if (!URL.canParse(url)) return 'an unreadable address';
  const { protocol, hostname, host } = new URL(url);
  if (!/^https?:$/.test(protocol)) return `the app ${protocol.slice(0, -1)} on this device`;
  return /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname) ? 'a program on this device' : host;
}

/** The host that describes a client whose id is the address of its document; undefined for a client that registered itself. */
export const describingHost = (clientId: string): string | undefined =>
  /^https:/i.test(clientId) && URL.canParse(clientId) ? new URL(clientId).host : undefined;

/** Whether devices keep passkeys for a page at this host: they do for names, and for no bare address (WebAuthn, section 5.1.2). */
export const hasPasskeys = (hostname: string): boolean => !/^[\d.]+$|^\[/.test(hostname);

/**
 * Where the passkeys of this service work: `here`, or at the address of the same page at the service's own URL. Undefined where they
 * work nowhere, and until `publicUrl` is known: the server accepts them from pages of that address alone.
 */
export function findPasskeySite(
  page: Pick<Location, 'origin' | 'pathname' | 'search'>,
  publicUrl: string | undefined,
): 'here' | URL | undefined {
  if (publicUrl === undefined || !URL.canParse(publicUrl)) return undefined;
  const { origin, hostname } = new URL(publicUrl);
  if (!hasPasskeys(hostname)) return undefined;
  return page.origin === origin ? 'here' : new URL(`${page.pathname}${page.search}`, origin);
}
