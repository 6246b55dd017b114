/** Reads the settings of the API server. */
import { isIP } from 'node:net';
import { storageCredentials } from '../../../core/protocol/environment.ts';
import { maxSourceBytes } from '../../../core/settings/common.ts';
import { ConfigError, type Env } from '../../../core/settings/settings.ts';
import { authLimits, mail, outsideProvider } from '../../auth/settings.ts';
import { money } from '../../billing/setup/settings.ts';
import { databaseConfig } from '../../db/settings.ts';
import { accountLimits } from '../../settings/limits.ts';
import { cells, listNamespaces, reader } from '../../settings/settings.ts';

const PREVIEWS_PER_STREAM: number = 4;
const PREVIEW_SECONDS: number = 600;
const HEADERS_TIMEOUT_MS: number = 15_000;
const BODY_TIMEOUT_MS: number = 30_000;
const CONNECTION_TIMEOUT_MS: number = 120_000;
const RATE_LIMIT_WINDOW_MS: number = 60_000;
const UPLOAD_EXPIRE_HOURS: number = 72;

/** Limits of all requests that send bytes of uploads. */
const uploadLimits = (env: Env) => {
  const { integer } = reader(env);
  return Object.freeze({
    /** Memory in bytes for uploads on their way to storage. */
    memoryBytes: integer('UPLOAD_MEMORY_BYTES'),
    /** Concurrent requests that send uploads, in all and for one account. Stock clients send twenty files at once. */
    atOnce: integer('UPLOADS_AT_ONCE'),
    atOnceEach: integer('UPLOADS_AT_ONCE_PER_ACCOUNT'),
    /** Bytes per second, averaged over 30 seconds: twenty files at once on a line of 1 Mbit/s have more each. */
    minBytesPerSecond: integer('UPLOAD_MIN_BYTES_PER_SECOND'),
  });
};

/** Previews of streams and uploads: each is media that nobody pays for. */
const previewLimits = (env: Env) => {
  const { integer } = reader(env);
  return Object.freeze({
    /** Previews open at once: of one stream or upload, and in all. */
    perStream: PREVIEWS_PER_STREAM,
    perServer: integer('PREVIEWS_PER_SERVER'),
    /** Duration of a preview in seconds; a viewer opens it again. */
    seconds: PREVIEW_SECONDS,
  });
};

/** Feeds of changes open at once, of all accounts. */
const feedsPerServer = (env: Env): number => reader(env).integer('FEEDS_PER_SERVER');

/** Timeouts of clients in milliseconds. */
const timeouts = (env: Env) => {
  const { integer } = reader(env);
  return Object.freeze({
    /** From the first byte of a request to the end of its headers. */
    headersMs: HEADERS_TIMEOUT_MS,
    /** For a body of JSON. */
    bodyMs: BODY_TIMEOUT_MS,
    /** For a whole request, including the bytes of an upload. */
    requestMs: 1000 * integer('REQUEST_TIMEOUT_SECONDS'),
    /** Between two requests: longer than load balancers keep a connection, which is often 60 s. */
    keepAliveMs: 1000 * integer('KEEP_ALIVE_TIMEOUT_SECONDS'),
    /** Without a byte in either direction: longer than the longest `wait`. */
    connectionMs: CONNECTION_TIMEOUT_MS,
  });
};

const PROXIES = ['loopback', 'linklocal', 'uniquelocal'];
const isNetwork = (text: string): boolean => {
  const [address = '', bits, ...more] = text.split('/');
  const version = isIP(address);
  if (version === 0 || more.length > 0) return false;
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (version === 4 ? 32 : 128));
};

const redisUrl = (env: Env): string | undefined => {
  const url = reader(env).optional('REDIS_URL');
  if (url === undefined || (URL.canParse(url) && /^rediss?:$/.test(new URL(url).protocol))) return url;
  // The URL contains a password, so the message does not repeat it.
  throw new ConfigError('LOOPSTREAM_REDIS_URL must be a URL that begins with redis:// or rediss://.');
};

/** Networks whose X-Forwarded-For counts. Anybody who bypasses the proxies could satisfy a mere number of them. */
const trustProxy = (env: Env): string[] | false => {
  const networks = reader(env).list('TRUST_PROXY');
  if (networks.every((network) => PROXIES.includes(network) || isNetwork(network)))
    return networks.length > 0 && networks;
  throw new ConfigError(
    `LOOPSTREAM_TRUST_PROXY must be a list of addresses or networks such as 10.0.0.0/8, or ${PROXIES.join(', ')}.`,
  );
};

/** Namespaces of accounts that get no new accounts. */
const fullNamespaces = (env: Env): string[] => {
  const full = reader(env).list('FULL_NAMESPACES');
  if (listNamespaces(cells(env)).some((namespace) => !full.includes(namespace))) return full;
  throw new ConfigError(
    'LOOPSTREAM_FULL_NAMESPACES names all namespaces of accounts. Leave one of them out, or add one to LOOPSTREAM_CELL_NAMESPACES.',
  );
};

/** Origins whose pages may read responses: `https://app.example.com`, or `*` for all of them. */
const corsOrigins = (env: Env): string[] => {
  const origins = reader(env).list('CORS_ORIGINS');
  if (origins.every((origin) => origin === '*' || (URL.canParse(origin) && new URL(origin).origin === origin)))
    return origins;
  throw new ConfigError('LOOPSTREAM_CORS_ORIGINS must be a list of origins such as https://app.example.com, or *.');
};

/** Where users ask for help: a mailbox or a page, which the dashboard links to. */
const supportUrl = (env: Env): string | undefined => {
  const url = reader(env).optional('SUPPORT_URL');
  if (url === undefined) return undefined;
  const { protocol, pathname } = URL.canParse(url) ? new URL(url) : { protocol: '', pathname: '' };
  if (protocol === 'https:' || (protocol === 'mailto:' && /^[^@]+@[^@]+$/.test(pathname))) return url;
  throw new ConfigError(
    'LOOPSTREAM_SUPPORT_URL must be an address such as mailto:help@example.com or https://example.com/help.',
  );
};

/** Reads the API server's settings. `publicUrl` is its address as clients see it; `dashboardDir` contains the built page. */
export const apiConfig = (env: Env) => {
  const { text, integer, optional, flag } = reader(env);
  return Object.freeze({
    ...databaseConfig(env),
    ...cells(env),
    fullNamespaces: fullNamespaces(env),
    host: text('HOST', '0.0.0.0'),
    port: integer('PORT', 'api'),
    opsHost: text('OPS_HOST'),
    opsPort: integer('OPS_PORT', 'api'),
    publicUrl: text('PUBLIC_URL', `http://127.0.0.1:${integer('PORT', 'api')}`).replace(/\/$/, ''),
    rateLimit: Object.freeze({
      requests: integer('RATE_LIMIT_REQUESTS'),
      windowMs: RATE_LIMIT_WINDOW_MS,
    }),
    authLimits: authLimits(env),
    /** Lifetime of unused OAuth clients in days. */
    unusedClientDays: integer('UNUSED_CLIENT_DAYS'),
    /** Counter of requests of all replicas; without it each replica counts its own. */
    redisUrl: redisUrl(env),
    trustProxy: trustProxy(env),
    /** Follow the header traceparent on whether a request is sampled. */
    trustTraceparent: flag('TRUST_TRACEPARENT'),
    corsOrigins: corsOrigins(env),
    timeouts: timeouts(env),
    /** Time in which it serves as before after the signal to stop, and only /readyz reports it. */
    shutdownDelayMs: 1000 * integer('SHUTDOWN_DELAY_SECONDS'),
    scopePrefix: text('SCOPE_PREFIX'),
    allowPrivateLinks: flag('ALLOW_PRIVATE_LINKS'),
    allowPrivateDestinations: flag('ALLOW_PRIVATE_DESTINATIONS'),
    allowPrivateWatch: flag('ALLOW_PRIVATE_WATCH'),
    maxSourceBytes: maxSourceBytes(env),
    limits: accountLimits(env),
    /** Time limit of an upload that a client sends. */
    uploadExpireHours: UPLOAD_EXPIRE_HOURS,
    uploadLimits: uploadLimits(env),
    previewLimits: previewLimits(env),
    feedsPerServer: feedsPerServer(env),
    /** Storage of clients' uploads; without it only links can be imported. */
    storageUrl: optional('STORAGE_URL'),
    storageCredentials: storageCredentials(env),
    dashboardDir: optional('DASHBOARD_DIR'),
    mail: mail(env),
    supportUrl: supportUrl(env),
    /** Identity provider besides the built-in sign-in. */
    outside: outsideProvider(env),
    /** Strangers may create accounts; this requires mail. */
    signUp: flag('SIGN_UP'),
    /** Streams cost credits, which the role `billing` counts. */
    billing: flag('BILLING'),
    welcomeGrant: Object.freeze({
      amountMinor: BigInt(integer('WELCOME_GRANT_MINOR')),
      perDay: integer('WELCOME_GRANTS_PER_DAY'),
    }),
    /** A font file for characters that ours lacks (invoices/font.ts). */
    invoiceFont: optional('INVOICE_FONT'),
    ...money(env),
  });
};
export type ApiConfig = ReturnType<typeof apiConfig>;
