/**
 * Turns share links, which show a page, into links to the file itself. One table has a row for each service. The
 * resulting links pass the same checks as any other (guard.ts). Pure: no I/O, no clock.
 */

interface Rule {
  service: string;
  hosts: RegExp;
  /** Returns the direct link of a share link; undefined for other links. */
  direct?: (url: URL) => URL | undefined;
  /** Finds the file in a page of the service. For services on any host, it is called only when a page came. */
  behindPage?: (url: URL, html: string) => URL | undefined;
}

const ENTITIES: Record<string, string> = { amp: '&', quot: '"', '#39': "'", '#x27': "'", '#x2F': '/', '#47': '/' };
const decodeEntities = (text: string): string =>
  text.replace(/&([#\w]+);/g, (all, name: string) => ENTITIES[name] ?? all);

function attribute(tag: string, name: string): string | undefined {
  // linear-time: one tag; the names are our own words.
  const [, quoted, single] = new RegExp(`\\s${name}\\s*=\\s*(?:"([^"]*)"|'([^']*)')`, 'i').exec(tag) ?? [];
  const value = quoted ?? single;
  return value === undefined ? undefined : decodeEntities(value);
}

const withQuery = (url: URL, query: Record<string, string | null>): URL => {
  const changed = new URL(url);
  for (const [name, value] of Object.entries(query)) {
    if (value === null) changed.searchParams.delete(name);
    else changed.searchParams.set(name, value);
  }
  return changed;
};

const DRIVE_DOWNLOAD = 'https://drive.usercontent.google.com/download';
/** Matches `/file/d/ID/view`, also below `/u/0/` or `/a/example.com/`. */
const DRIVE_FILE = /^\/(?:(?:u\/\d+|a\/[\w.-]+)\/)?file\/(?:u\/\d+\/)?d\/([\w-]{10,})(?:\/|$)/;
const DRIVE_QUERY = /^\/(?:(?:u\/\d+|a\/[\w.-]+)\/)?(?:open|uc|download)\/?$/;

function driveLink(url: URL): URL | undefined {
  const id = DRIVE_FILE.exec(url.pathname)?.[1] ?? (DRIVE_QUERY.test(url.pathname) ? url.searchParams.get('id') : null);
  if (!id || !/^[\w-]{10,}$/.test(id)) return undefined;
  // Google asks to confirm large files ("cannot be scanned for viruses"): confirm=t answers that.
  const query: Record<string, string> = { id, export: 'download', confirm: url.searchParams.get('confirm') || 't' };
  for (const name of ['resourcekey', 'authuser', 'uuid', 'at']) {
    const value = url.searchParams.get(name);
    if (value) query[name] = value;
  }
  return withQuery(new URL(DRIVE_DOWNLOAD), query);
}

/** The form that confirms a download at Google; older pages have a link instead. */
function driveForm(url: URL, html: string): URL | undefined {
  const tag = [...html.matchAll(/<form\b[^<>]*>/gi)].find(([form]) => attribute(form, 'id') === 'download-form');
  const form = tag ? html.slice(tag.index).split(/<\/form>/i, 1)[0] : undefined;
  const action = tag && attribute(tag[0], 'action');
  if (form !== undefined && action !== undefined && URL.canParse(action, url.href)) {
    const inputs = [...form.matchAll(/<input\b[^<>]*>/gi)].map(([input]) => input);
    const fields = inputs.flatMap((input) => {
      const name = attribute(input, 'name');
      return name === undefined ? [] : [[name, attribute(input, 'value') ?? ''] as const];
    });
    return withQuery(new URL(action, url), Object.fromEntries(fields));
  }
  const link = [...html.matchAll(/<a\b[^<>]*>/gi)]
    .map(([a]) => attribute(a, 'href'))
    .find((href) => /[?&]confirm=/.test(href ?? ''));
  return link !== undefined && URL.canParse(link, url.href) ? new URL(link, url) : undefined;
}

const DROPBOX_FILE = /^\/(?:s|sh|scl\/fi|scl\/fo)\/[^/]+/;
const dropboxLink = (url: URL): URL | undefined =>
  DROPBOX_FILE.test(url.pathname) && url.searchParams.get('raw') !== '1' ? withQuery(url, { dl: '1' }) : undefined;

/** Matches `/:v:/g/personal/…`: the letters name the kind of file, and how it is opened. */
const SHAREPOINT_FILE = /^\/:[a-z]:\/[a-z]\//i;
const sharepointLink = (url: URL): URL | undefined =>
  SHAREPOINT_FILE.test(url.pathname) ? withQuery(url, { download: '1', web: null }) : undefined;

/** Matches `1drv.ms/v/s!…` and `1drv.ms/v/c/…`, which redirect to one of the others and keep the query. */
const shortLink = (url: URL): URL | undefined =>
  /^\/[a-z]\/[^/]+/i.test(url.pathname) ? withQuery(url, { download: '1' }) : undefined;

/** Pages of OneDrive that name the file in their query. */
function onedriveLink(url: URL): URL | undefined {
  const { searchParams: query } = url;
  const id = query.get('resid') ?? query.get('id');
  if (!/^\/(?:redir|embed|view\.aspx|edit\.aspx|)\/?$/i.test(url.pathname) || !id?.includes('!')) return undefined;
  const direct = new URL('/download', url);
  direct.searchParams.set('resid', id);
  for (const name of ['authkey', 'cid', 'ithint', 'e']) {
    const value = query.get(name);
    if (value) direct.searchParams.set(name, value);
  }
  return direct;
}

/** Public links of Nextcloud and ownCloud, at the root of a host or below: `/s/TOKEN`, `/index.php/s/TOKEN`. */
const NEXTCLOUD_SHARE = /^(.*?\/(?:index\.php\/)?s\/[\w-]{4,})\/?$/;
function nextcloudLink(url: URL): URL | undefined {
  const [, share] = NEXTCLOUD_SHARE.exec(url.pathname) ?? [];
  if (share === undefined) return undefined;
  const direct = new URL(url);
  direct.pathname = `${share}/download`;
  return direct;
}

const RULES: readonly Rule[] = [
  {
    service: 'Google Drive',
    hosts: /^(?:drive|docs|drive\.usercontent)\.google\.com$/,
    direct: driveLink,
    behindPage: driveForm,
  },
  { service: 'Dropbox', hosts: /^(?:www\.)?dropbox\.com$/, direct: dropboxLink },
  { service: 'OneDrive, short', hosts: /^1drv\.ms$/, direct: shortLink },
  { service: 'OneDrive', hosts: /^(?:www\.)?onedrive\.live\.com$/, direct: onedriveLink },
  { service: 'SharePoint', hosts: /\.sharepoint(?:-df)?\.(?:com|us|cn|de)$/, direct: sharepointLink },
  { service: 'Nextcloud and ownCloud', hosts: /^/, behindPage: (url) => nextcloudLink(url) },
];

const isSame = (a: URL, b: URL): boolean => a.href === b.href;

/** Returns the direct link of a share link, or the link itself. A second call changes nothing more. */
export function toDirectLink(url: URL): URL {
  for (const { hosts, direct } of RULES) {
    const found = hosts.test(url.hostname) ? direct?.(url) : undefined;
    if (found) return found;
  }
  return url;
}

/** Finds the file when a page came from `url`; undefined where no rule applies. */
export function findBehindPage(url: URL, html: string): URL | undefined {
  for (const { hosts, behindPage } of RULES) {
    const found = hosts.test(url.hostname) ? behindPage?.(url, html) : undefined;
    if (found && !isSame(found, url)) return found;
  }
  return undefined;
}
