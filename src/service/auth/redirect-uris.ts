/** Decides which redirect URIs a client may have (RFC 8252; RFC 9700, section 4.1). Pure: no I/O, no clock. */

const MAX_URI = 2000;
/** How much of a refused URI is repeated. */
const SHOWN = 120;

/** `http` where the browser and the program are on one machine (RFC 8252, section 7.3); written in no other way. */
const LOOPBACK = /^http:\/\/(127\.0\.0\.1|\[::1\]|localhost)(:\d{1,5})?([/?]|$)/i;
/** With a host, and without a user name that looks like one. */
const HTTPS = /^https:\/\/[^/?@]+([/?]|$)/i;
/** RFC 3986, section 3.1. A single letter is a drive of Windows. */
const SCHEME = /^[a-z][a-z\d+.-]+:./i;

/**
 * Schemes that a browser or the system acts on itself: they run scripts, show the sender's content, read files, or
 * start programs. No program of the user receives them.
 */
const RESERVED = new Set([
  'javascript',
  'vbscript',
  'livescript',
  'mocha',
  'data',
  'blob',
  'file',
  'filesystem',
  'about',
  'view-source',
  'jar',
  'wyciwyg',
  'resource',
  'feed',
  'mhtml',
  'cid',
  'mid',
  'urn',
  'http',
  'https',
  'ws',
  'wss',
  'ftp',
  'ftps',
  'mailto',
  'tel',
  'sms',
  'smsto',
  'mms',
  'callto',
  'sip',
  'sips',
  'facetime',
  'geo',
  'maps',
  'market',
  'intent',
  'content',
  'package',
  'app-settings',
  'prefs',
  'shell',
  'search',
  'search-ms',
  'res',
  'hcp',
  'help',
  'applescript',
  'ssh',
  'sftp',
  'telnet',
  'rlogin',
  'tn3270',
  'ldap',
  'ldaps',
  'smb',
  'afp',
  'nfs',
  'dav',
  'davs',
  'webdav',
  'rdp',
  'vnc',
  'gopher',
  'wais',
  'news',
  'nntp',
  'snews',
  'irc',
  'ircs',
  'magnet',
  'ed2k',
  'git',
  'svn',
  'dict',
  'tftp',
]);
const RESERVED_FAMILY = /^(ms-|ms\.|chrome|edge$|brave$|opera$|vivaldi$|moz-|safari-|devtools|itms|x-apple)/;

/** Why a redirect URI cannot be used, to follow the URI in a sentence; undefined where it can. */
export function findRedirectProblem(uri: unknown): string | undefined {
  if (typeof uri !== 'string' || uri.length > MAX_URI || !URL.canParse(uri))
    return `must be an absolute URI of at most ${MAX_URI} characters`;
  // Browsers leave out tabs and line breaks and turn backslashes round, so that two readers see two addresses.
  if (/[^!-~]|[\\#]/.test(uri)) return 'must be ASCII, without spaces, backslashes or a fragment';
  const { protocol, username, password } = new URL(uri);
  if (username !== '' || password !== '') return 'must not contain a user name or password';
  if (protocol === 'https:') return HTTPS.test(uri) ? undefined : 'must begin with https:// and a host';
  if (protocol === 'http:')
    return LOOPBACK.test(uri) ? undefined : 'must be https, or http on 127.0.0.1, [::1] or localhost';
  const scheme = protocol.slice(0, -1);
  if (!SCHEME.test(uri) || RESERVED.has(scheme) || RESERVED_FAMILY.test(scheme))
    return `must use a scheme that belongs to the app; ${scheme}: belongs to browsers or the system`;
  return undefined;
}

/** A redirect URI as it can be shown in an error. */
export function quoteRedirect(uri: unknown): string {
  const text = typeof uri === 'string' ? uri : String(JSON.stringify(uri) ?? uri);
  return JSON.stringify(text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text);
}

/** Whether any program of the person's machine could answer at the URI (RFC 8252, section 8.6). */
export const isNativeRedirect = (uri: string): boolean => !/^https:/i.test(uri);
