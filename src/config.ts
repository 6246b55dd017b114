/**
 * What the environment (environment.ts) says: one typed, checked, frozen configuration per role. Every variable begins with
 * LOOPSTREAM_ (KUBECONFIG keeps its own name). A wrong value ends the process with one sentence that names the variable.
 */

import { isIP } from 'node:net';
import { Value } from 'typebox/value';
import { LIMIT_ROWS, parseLimits, withOverrides } from './account/limits.ts';
import { feedsPerServer, previewLimits, uploadLimits } from './config-limits.ts';
import { money } from './config-money.ts';
import { authLimits, mail, outsideProvider } from './config-people.ts';
import {
  common,
  confineMode,
  DEFAULT_CACHE_BYTES,
  fetchLimits,
  MIN_CACHE_BYTES,
  maxSourceBytes,
  storageCredentials,
} from './config-pod.ts';
import { mediaLimits } from './prepare/media-limits.ts';
import { ConfigError, type Env, reader } from './settings.ts';
import { Placement } from './streams/template.ts';

export * from './config-pod.ts';
export * from './environment.ts';
export { ConfigError };

/** Kubernetes: the kubeconfig file, or the pod's service account when there is none. */
const kube = (env: Env) => ({ kubeconfig: env.KUBECONFIG, namespace: reader(env).text('NAMESPACE', 'loopstream') });

/** Room for the largest source and a rendition of it. */
const SCRATCH_BYTES = '64Gi';

/** A volume source as the operator of the service gives it; an emptyDir without a limit gets one. */
function scratchVolume(env: Env): Record<string, unknown> {
  if (reader(env).optional('SCRATCH_VOLUME') === undefined) return { emptyDir: { sizeLimit: SCRATCH_BYTES } };
  const volume = reader(env).json<{ emptyDir?: object }>('SCRATCH_VOLUME');
  return volume.emptyDir ? { ...volume, emptyDir: { sizeLimit: SCRATCH_BYTES, ...volume.emptyDir } } : volume;
}

/** Where pods may run, as a stream's `template` says it. */
function jobPlacement(env: Env): Placement {
  if (reader(env).optional('JOB_PLACEMENT') === undefined) return {};
  const placement = reader(env).json<unknown>('JOB_PLACEMENT');
  if (Value.Check(Placement, placement)) return placement;
  throw new ConfigError(
    `LOOPSTREAM_JOB_PLACEMENT must be a JSON object with ${Object.keys(Placement.properties).join(', ')}, as in a pod.`,
  );
}

/**
 * How several operators agree on the one that leads, with client-go's names and values. Without an election this process
 * must be the only one. A renewal must fit into the deadline several times, and the deadline into the duration.
 */
const leaderElection = (env: Env) => {
  const { integer, flag } = reader(env);
  if (!flag('LEADER_ELECTION', true)) return undefined;
  const durationMs = 1000 * integer('LEASE_DURATION_SECONDS', 15, 3, 3600);
  const renewDeadlineMs = 1000 * integer('LEASE_RENEW_DEADLINE_SECONDS', 10, 2, 3600);
  const retryPeriodMs = 1000 * integer('LEASE_RETRY_PERIOD_SECONDS', 2, 1, 3600);
  if (renewDeadlineMs >= durationMs)
    throw new ConfigError(
      'LOOPSTREAM_LEASE_RENEW_DEADLINE_SECONDS must be less than LOOPSTREAM_LEASE_DURATION_SECONDS.',
    );
  if (retryPeriodMs * 2 > renewDeadlineMs)
    throw new ConfigError(
      'LOOPSTREAM_LEASE_RETRY_PERIOD_SECONDS must be at most half of LOOPSTREAM_LEASE_RENEW_DEADLINE_SECONDS.',
    );
  return Object.freeze({ durationMs, renewDeadlineMs, retryPeriodMs });
};

/**
 * What an account may have (account/limits.ts): LOOPSTREAM_LIMITS in place of the table. Settings that are older than the table say
 * the same of the class `full`, and give way to it.
 */
const accountLimits = (env: Env) => {
  const { optional, integer, json } = reader(env);
  const { trial, full } = optional('LIMITS') === undefined ? {} : parseLimits(json<unknown>('LIMITS'));
  const uploads = integer('UPLOAD_QUOTA_COUNT', LIMIT_ROWS.uploads.full, 1);
  const uploadBytes = integer('UPLOAD_QUOTA_BYTES', LIMIT_ROWS.uploadBytes.full, 1);
  return withOverrides({
    ...(trial && { trial }),
    full: { uploads, uploadBytes, largestUploadBytes: maxSourceBytes(env), ...full },
  });
};

/** The operator. Volumes are Kubernetes volume sources, e.g. {"persistentVolumeClaim":{"claimName":"media"}}. */
export const operatorConfig = (env: Env) => {
  const { text, optional, integer, flag, json } = reader(env);
  const storageUrl = text('STORAGE_URL', 'file:///media');
  const volume = (name: string) => json<Record<string, unknown>>(name);
  return Object.freeze({
    ...common(env),
    ...kube(env),
    image: text('IMAGE'),
    /** Where it runs itself: when that namespace is deleted with it, nobody serves its finalizers any more. */
    operatorNamespace: optional('OPERATOR_NAMESPACE'),
    /** Over how many seconds the streams on air are given another image, so that not all of them are at once. */
    rolloutSeconds: integer('ROLLOUT_SECONDS', 600, 0, 7 * 86_400),
    storageUrl,
    storageMountPath: text('STORAGE_MOUNT_PATH', '/media'),
    storageVolume: storageUrl.startsWith('file:') ? volume('STORAGE_VOLUME') : undefined,
    storageSecret: optional('STORAGE_SECRET'),
    /** Keys that can only read, for streams. */
    storageReadSecret: optional('STORAGE_READ_SECRET'),
    cacheBytes: integer('CACHE_BYTES', DEFAULT_CACHE_BYTES, MIN_CACHE_BYTES),
    scratchVolume: scratchVolume(env),
    /** Where Jobs and tests of destinations run: runtimeClassName, nodeSelector, tolerations, affinity, priorityClassName. */
    jobPlacement: jobPlacement(env),
    confine: confineMode(env),
    allowPrivateLinks: flag('ALLOW_PRIVATE_LINKS'),
    allowPrivateDestinations: flag('ALLOW_PRIVATE_DESTINATIONS'),
    maxSourceBytes: maxSourceBytes(env),
    mediaLimits: mediaLimits(env),
    ...fetchLimits(env),
    /** The longest that a rendition may take. */
    maxPrepareSeconds: integer('MAX_PREPARE_SECONDS', 12 * 3600, 60, 7 * 86_400),
    /** Let accounts share the renditions of files with the same content: saves work, and tells by its time who has a file. */
    shareRenditions: flag('SHARE_RENDITIONS'),
    limits: accountLimits(env),
    workers: integer('WORKERS', 8, 1, 256),
    /** undefined: no election, this process leads. */
    leaderElection: leaderElection(env),
    /** Jobs that import media at the same time; an account has at most half of them. */
    importConcurrency: integer('IMPORT_CONCURRENCY', 8, 1, 1000),
    /** Jobs that make renditions at the same time; an account has at most half of them. */
    prepareConcurrency: integer('PREPARE_CONCURRENCY', 4, 1, 1000),
    /** Somebody counts what streams use: their sessions are kept until they are acknowledged. */
    metered: flag('METERED'),
    /** Clear away media that nothing refers to. The storage must then belong to this namespace alone. */
    sweep: flag('SWEEP', true),
    /** How long media is kept when nothing refers to it any more. */
    sweepGraceHours: integer('SWEEP_GRACE_HOURS', 24, 0, 24 * 366),
    /** How long a rendition is kept in a profile that no stream asks for; 0 is for ever. */
    keepUnusedDays: integer('KEEP_UNUSED_DAYS', 30, 0, 3660),
    opsHost: text('OPS_HOST', '0.0.0.0'),
    opsPort: integer('OPS_PORT', 9401, 0, 65_535),
  });
};
export type OperatorConfig = ReturnType<typeof operatorConfig>;

/** Where people and money are kept. */
export const databaseConfig = (env: Env) => {
  const { text } = reader(env);
  return Object.freeze({ ...common(env), databaseUrl: text('DATABASE_URL'), authSecret: text('AUTH_SECRET') });
};
export type DatabaseConfig = ReturnType<typeof databaseConfig>;

/** How long clients may take, in milliseconds. */
const timeouts = (env: Env) => {
  const { integer } = reader(env);
  const seconds = (name: string, fallback: number) => 1000 * integer(`${name}_TIMEOUT_SECONDS`, fallback, 1, 86_400);
  return Object.freeze({
    /** From the first byte of a request to the end of its headers. */
    headersMs: seconds('HEADERS', 15),
    /** For a body of JSON. */
    bodyMs: seconds('BODY', 30),
    /** For a whole request, the bytes of an upload among them. */
    requestMs: seconds('REQUEST', 3600),
    /** Between two requests: longer than load balancers keep a connection, which are often told 60 s. */
    keepAliveMs: seconds('KEEP_ALIVE', 65),
    /** With no byte in either direction: longer than the longest `wait`. */
    connectionMs: seconds('CONNECTION', 120),
  });
};

/** Divided by commas; empty when it is not set. */
const list = (env: Env, name: string): string[] =>
  (reader(env).optional(name) ?? '').split(',').flatMap((part) => part.trim() || []);

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
  // It holds a password, so it is not repeated.
  throw new ConfigError('LOOPSTREAM_REDIS_URL must be redis://… or rediss://….');
};

/** Whose X-Forwarded-For counts; a mere number of proxies could be had by anybody who comes past them. */
const trustProxy = (env: Env): string[] | false => {
  const networks = list(env, 'TRUST_PROXY');
  if (networks.every((network) => PROXIES.includes(network) || isNetwork(network)))
    return networks.length > 0 && networks;
  throw new ConfigError(
    `LOOPSTREAM_TRUST_PROXY must be addresses or networks such as 10.0.0.0/8, or ${PROXIES.join(', ')}.`,
  );
};

/** Origins whose pages may read answers: `https://app.example.com`, or `*` for all of them. */
const corsOrigins = (env: Env): string[] => {
  const origins = list(env, 'CORS_ORIGINS');
  if (origins.every((origin) => origin === '*' || (URL.canParse(origin) && new URL(origin).origin === origin)))
    return origins;
  throw new ConfigError('LOOPSTREAM_CORS_ORIGINS must be origins such as https://app.example.com, or *.');
};

/** The API server. `publicUrl` is its address as clients see it; `dashboardDir` holds the built page. */
export const apiConfig = (env: Env) => {
  const { text, integer, optional, flag } = reader(env);
  return Object.freeze({
    ...databaseConfig(env),
    ...kube(env),
    host: text('HOST', '0.0.0.0'),
    port: integer('PORT', 8080, 0, 65_535),
    opsHost: text('OPS_HOST', '0.0.0.0'),
    opsPort: integer('OPS_PORT', 9402, 0, 65_535),
    publicUrl: text('PUBLIC_URL', `http://127.0.0.1:${integer('PORT', 8080, 0, 65_535)}`).replace(/\/$/, ''),
    rateLimit: Object.freeze({
      requests: integer('RATE_LIMIT_REQUESTS', 600, 1),
      windowMs: 1000 * integer('RATE_LIMIT_WINDOW_SECONDS', 60, 1, 86_400),
    }),
    authLimits: authLimits(env),
    /** OAuth clients that nobody has used for so long are removed. */
    unusedClientDays: integer('UNUSED_CLIENT_DAYS', 30, 1, 3660),
    /** Where requests are counted for all replicas together; without it each replica counts its own. */
    redisUrl: redisUrl(env),
    trustProxy: trustProxy(env),
    corsOrigins: corsOrigins(env),
    timeouts: timeouts(env),
    /** How long it answers as before once it is to end, and only /readyz says so. */
    shutdownDelayMs: 1000 * integer('SHUTDOWN_DELAY_SECONDS', 0, 0, 600),
    scopePrefix: text('SCOPE_PREFIX', 'service'),
    allowPrivateLinks: flag('ALLOW_PRIVATE_LINKS'),
    allowPrivateDestinations: flag('ALLOW_PRIVATE_DESTINATIONS'),
    maxSourceBytes: maxSourceBytes(env),
    limits: accountLimits(env),
    /** How long a client may take to send an upload, from its beginning on. */
    uploadExpireHours: integer('UPLOAD_EXPIRE_HOURS', 72, 1, 24 * 366),
    uploadLimits: uploadLimits(env),
    previewLimits: previewLimits(env),
    feedsPerServer: feedsPerServer(env),
    /** Where clients' uploads are kept; without it they can only be imported from links. */
    storageUrl: optional('STORAGE_URL'),
    storageCredentials: storageCredentials(env),
    dashboardDir: optional('DASHBOARD_DIR'),
    mail: mail(env),
    /** Where people may sign in besides here. */
    outside: outsideProvider(env),
    /** Whether strangers may make accounts; where no mail is sent they cannot. */
    signUp: flag('SIGN_UP', true),
    /** Streams cost credits, which the role `billing` counts. */
    billing: flag('BILLING'),
    /** A font file for letters that ours lack (invoices/font.ts). */
    invoiceFont: optional('INVOICE_FONT'),
    ...money(env),
  });
};
export type ApiConfig = ReturnType<typeof apiConfig>;

/** What is done about money without anybody asking. */
export const billingConfig = (env: Env) => {
  const { text, integer } = reader(env);
  return Object.freeze({
    ...common(env),
    ...kube(env),
    databaseUrl: text('DATABASE_URL'),
    /** From one count of what streams have used to the next. */
    meterIntervalMs: 1000 * integer('METER_INTERVAL_SECONDS', 10, 1, 3600),
    /** How long streams stay on air after the credit of their account is used up. */
    creditGraceSeconds: integer('CREDIT_GRACE_SECONDS', 0, 0, 31 * 86_400),
    opsHost: text('OPS_HOST', '0.0.0.0'),
    opsPort: integer('OPS_PORT', 9404, 0, 65_535),
    ...money(env),
  });
};
export type BillingConfig = ReturnType<typeof billingConfig>;
