/**
 * Lists every setting of every role once: the parser, docs/settings.md, and the chart's values, schema and environment come from this
 * table. The name of the variable is `LOOPSTREAM_` and the key. Pure: no I/O, no clock.
 */

export const ROLES = [
  'api',
  'billing',
  'operator',
  'migrate',
  'keys',
  'streamer',
  'prepare',
  'decoder',
  'probe',
] as const;
export type Role = (typeof ROLES)[number];

/** Sections of docs/settings.md, in their order. */
export const SECTIONS = {
  general: 'All roles',
  api: 'API server',
  people: 'Sign-in and mail',
  uploads: 'Uploads and previews',
  money: 'Money',
  operator: 'Operator',
  media: 'Limits of media',
  storage: 'Storage',
  pods: 'Set by the operator in pods',
} as const;
export type Section = keyof typeof SECTIONS;

interface Common {
  section: Section;
  roles: readonly Role[];
  /** A sentence, or several, for people who install the service. */
  description: string;
  /** Path of the value of the chart that sets it, such as `api.rateLimit.requests`. */
  chart?: string;
}
/** A whole number from `min` to `max`, both included; `max` is the largest safe integer by default. */
interface Whole extends Common {
  type: 'integer';
  default?: number | Partial<Record<Role, number>>;
  min: number;
  max?: number;
}
interface Flag extends Common {
  type: 'flag';
  default?: boolean;
  computed?: string;
}
interface Text extends Common {
  type: 'text';
  default?: string;
  /** The values that are allowed, where there are few. */
  enum?: readonly string[];
  /** How docs/settings.md names a default that the code computes. */
  computed?: string;
}
/** Texts, divided by commas. */
interface List extends Common {
  type: 'list';
}
interface Json extends Common {
  type: 'json';
}
/** A text that nobody else may see. With `file`, a variable with the suffix `_FILE` may name a file that holds it instead. */
interface Secret extends Common {
  type: 'secret';
  file?: boolean;
}
export type Setting = Whole | Flag | Text | List | Json | Secret;

const KIBI = 2 ** 10;
const MEBI = 2 ** 20;
const GIBI = 2 ** 30;
const DAY_SECONDS = 86_400;
const MAX_PORT = 65_535;

const SERVERS = ['api', 'operator', 'billing'] as const;
const MONEY = ['api', 'billing'] as const;
const TOOLS = ['streamer', 'prepare', 'decoder', 'probe', 'operator'] as const;

export const SETTINGS = {
  LOG_LEVEL: {
    section: 'general',
    roles: ROLES,
    type: 'text',
    default: 'info',
    description: 'The lowest severity of log lines: `trace`, `debug`, `info`, `warn`, `error` or `fatal`.',
  },
  NAMESPACE: {
    section: 'general',
    roles: SERVERS,
    type: 'text',
    default: 'loopstream',
    description:
      'The namespace of the resources. `KUBECONFIG` names a kubeconfig file; without it, the process uses the service account of its pod.',
  },
  CELL_NAMESPACES: {
    section: 'general',
    roles: ['api', 'billing'],
    type: 'list',
    chart: 'api.cellNamespaces',
    description:
      'Further namespaces that hold the resources of accounts, each with an operator of its own. A new account goes to the one with the fewest streams, `LOOPSTREAM_NAMESPACE` included, and stays there. They must exist (`docs/scale.md`).',
  },
  FULL_NAMESPACES: {
    section: 'general',
    roles: ['api'],
    type: 'list',
    chart: 'api.fullNamespaces',
    description: 'Namespaces of accounts that get no new accounts.',
  },
  OPS_HOST: {
    section: 'general',
    roles: SERVERS,
    type: 'text',
    default: '0.0.0.0',
    description: 'The address of the port for `/healthz`, `/readyz` and `/metrics`. Never make it public.',
  },
  OPS_PORT: {
    section: 'general',
    roles: SERVERS,
    type: 'integer',
    default: { operator: 9401, api: 9402, billing: 9404 },
    min: 0,
    max: MAX_PORT,
    description: 'The port for `/healthz`, `/readyz` and `/metrics`.',
  },

  HOST: {
    section: 'api',
    roles: ['api', 'streamer', 'prepare'],
    type: 'text',
    description: 'The address that the server listens on.',
    computed: '`0.0.0.0`; none for prepare, which then reports no progress',
  },
  PORT: {
    section: 'api',
    roles: ['api', 'streamer', 'prepare'],
    type: 'integer',
    default: { api: 8080, streamer: 9400, prepare: 9403 },
    min: 0,
    max: MAX_PORT,
    description: 'The port that the server listens on.',
  },
  PUBLIC_URL: {
    section: 'api',
    roles: ['api'],
    type: 'text',
    chart: 'api.publicUrl',
    computed: '`http://127.0.0.1:<port>`',
    description:
      'The address of the API server as clients see it, such as `https://loops.example.com`. It names the issuer of access tokens, so OAuth needs it.',
  },
  DATABASE_URL: {
    section: 'api',
    roles: ['api', 'billing', 'migrate', 'keys'],
    type: 'secret',
    description: 'The PostgreSQL database of accounts and money: `postgres://…`.',
  },
  AUTH_SECRET: {
    section: 'api',
    roles: ['api', 'migrate', 'keys'],
    type: 'secret',
    description: 'The key that signs sessions. Keep it secret.',
  },
  RATE_LIMIT_REQUESTS: {
    section: 'api',
    roles: ['api'],
    type: 'integer',
    default: 600,
    min: 1,
    chart: 'api.rateLimit.requests',
    description: 'Requests in a window, for each account, and for each IP address without credentials.',
  },
  RATE_LIMIT_WINDOW_SECONDS: {
    section: 'api',
    roles: ['api'],
    type: 'integer',
    default: 60,
    min: 1,
    max: DAY_SECONDS,
    chart: 'api.rateLimit.windowSeconds',
    description: 'The length of that window.',
  },
  REDIS_URL: {
    section: 'api',
    roles: ['api'],
    type: 'secret',
    description:
      'The Redis server that counts requests for all replicas together: `redis://…`. Without it, each replica counts its own.',
  },
  TRUST_PROXY: {
    section: 'api',
    roles: ['api'],
    type: 'list',
    chart: 'api.trustProxy',
    description:
      'Addresses or networks of trusted proxies, whose `X-Forwarded-For` the server believes, such as `10.0.0.0/8,loopback`.',
  },
  TRUST_TRACEPARENT: {
    section: 'api',
    roles: ['api'],
    type: 'flag',
    default: false,
    chart: 'tracing.trustTraceparent',
    description:
      'Lets the header `traceparent` of a request decide whether the request is [traced](tracing.md). Enable it only behind a proxy that sets this header itself. Without it, the request joins the trace of the header, and the sampler decides.',
  },
  CORS_ORIGINS: {
    section: 'api',
    roles: ['api'],
    type: 'list',
    chart: 'api.corsOrigins',
    description: 'Origins whose pages may use the API, such as `https://app.example.com`; `*` for all.',
  },
  SHUTDOWN_DELAY_SECONDS: {
    section: 'api',
    roles: ['api'],
    type: 'integer',
    default: 0,
    min: 0,
    max: 600,
    description:
      'Time after SIGTERM in which the server still accepts requests while `/readyz` fails, so that load balancers stop sending to it.',
  },
  HEADERS_TIMEOUT_SECONDS: {
    section: 'api',
    roles: ['api'],
    type: 'integer',
    default: 15,
    min: 1,
    max: DAY_SECONDS,
    description: 'The longest time from the first byte of a request to the end of its headers.',
  },
  BODY_TIMEOUT_SECONDS: {
    section: 'api',
    roles: ['api'],
    type: 'integer',
    default: 30,
    min: 1,
    max: DAY_SECONDS,
    description: 'The longest time for a JSON body.',
  },
  REQUEST_TIMEOUT_SECONDS: {
    section: 'api',
    roles: ['api'],
    type: 'integer',
    default: 3600,
    min: 1,
    max: DAY_SECONDS,
    description: 'The longest time for a whole request, including the bytes of an upload.',
  },
  KEEP_ALIVE_TIMEOUT_SECONDS: {
    section: 'api',
    roles: ['api'],
    type: 'integer',
    default: 65,
    min: 1,
    max: DAY_SECONDS,
    description:
      'The longest time between two requests of a connection. Make it longer than that of the load balancer, which is often 60 s.',
  },
  CONNECTION_TIMEOUT_SECONDS: {
    section: 'api',
    roles: ['api'],
    type: 'integer',
    default: 120,
    min: 1,
    max: DAY_SECONDS,
    description: 'The longest time that a connection may be silent in both directions.',
  },
  SCOPE_PREFIX: {
    section: 'api',
    roles: ['api'],
    type: 'text',
    default: 'service',
    description: 'The prefix of the scopes of OAuth, as in `service:read`.',
  },
  LIMITS: {
    section: 'api',
    roles: ['api', 'operator'],
    type: 'json',
    description: 'Limits that replace rows of the [table of limits](limits.md), such as `{"trial":{"streams":2}}`.',
  },
  ALLOW_PRIVATE_LINKS: {
    section: 'api',
    roles: ['api', 'operator', 'prepare'],
    type: 'flag',
    default: false,
    chart: 'operator.allowPrivateLinks',
    description: 'Lets uploads come from private addresses. Never enable it where strangers can create uploads.',
  },
  ALLOW_PRIVATE_DESTINATIONS: {
    section: 'api',
    roles: ['api', 'operator', 'streamer', 'probe'],
    type: 'flag',
    default: false,
    chart: 'operator.allowPrivateDestinations',
    description:
      'Lets destinations have private addresses and names of the cluster, but not link-local addresses. Never enable it where strangers can create destinations.',
  },
  DASHBOARD_DIR: {
    section: 'api',
    roles: ['api'],
    type: 'text',
    description: 'The directory of the built dashboard. The image sets it.',
  },

  SIGN_UP: {
    section: 'people',
    roles: ['api'],
    type: 'flag',
    default: true,
    chart: 'api.signUp',
    description: 'Lets anyone create an account, if mail is configured.',
  },
  SMTP_URL: {
    section: 'people',
    roles: ['api'],
    type: 'secret',
    file: true,
    description: 'The mail server: `smtps://user:password@host`. Without it, the service sends no mail.',
  },
  MAIL_FROM: {
    section: 'people',
    roles: ['api'],
    type: 'text',
    description: 'The sender of mail: `Loops <loops@example.com>`.',
  },
  SIGN_IN_ATTEMPTS: {
    section: 'people',
    roles: ['api'],
    type: 'integer',
    default: 20,
    min: 1,
    chart: 'api.accessLimits.signInAttempts',
    description:
      'Passwords that one IP address may try for one account in ten minutes, and all places together that never signed in to it in an hour.',
  },
  CLIENT_REGISTRATIONS: {
    section: 'people',
    roles: ['api'],
    type: 'integer',
    default: 20,
    min: 1,
    chart: 'api.accessLimits.clientRegistrations',
    description: 'OAuth clients that one IP address may register in an hour, and unknown ones that it may open.',
  },
  MAILS_PER_HOUR: {
    section: 'people',
    roles: ['api'],
    type: 'integer',
    default: 5,
    min: 1,
    chart: 'api.accessLimits.mailsPerHour',
    description: 'Mails to one mailbox in an hour. Notices to the user of an account have a separate count.',
  },
  UNUSED_CLIENT_DAYS: {
    section: 'people',
    roles: ['api'],
    type: 'integer',
    default: 30,
    min: 1,
    max: 3660,
    chart: 'api.accessLimits.unusedClientDays',
    description: 'Days after which the service deletes an OAuth client that no user has approved.',
  },
  OIDC_ISSUER: {
    section: 'people',
    roles: ['api'],
    type: 'text',
    description: 'An OpenID Connect provider at which users may sign in too, such as `https://id.example.com`.',
  },
  OIDC_CLIENT_ID: {
    section: 'people',
    roles: ['api'],
    type: 'text',
    description: 'The client id of this service at the provider.',
  },
  OIDC_CLIENT_SECRET: {
    section: 'people',
    roles: ['api'],
    type: 'secret',
    file: true,
    description: 'The client secret at the provider. Without one, this service is a public client.',
  },
  OIDC_NAME: {
    section: 'people',
    roles: ['api'],
    type: 'text',
    computed: 'the host of the issuer',
    description: 'The name of the provider on the sign-in page.',
  },
  OIDC_SIGN_UP: {
    section: 'people',
    roles: ['api'],
    type: 'flag',
    computed: 'as `LOOPSTREAM_SIGN_UP`',
    description: 'Creates an account for each new user from the provider.',
  },
  OIDC_EMAIL_CLAIMS: {
    section: 'people',
    roles: ['api'],
    type: 'list',
    description:
      'Claims that hold the e-mail address, in order, with commas in between; `email` by default. Microsoft Entra ID: `email,preferred_username`.',
  },
  OIDC_TRUST_EMAIL: {
    section: 'people',
    roles: ['api'],
    type: 'flag',
    default: false,
    description: 'Trusts every e-mail address from the provider, even if the provider does not mark it as verified.',
  },

  UPLOAD_QUOTA_COUNT: {
    section: 'uploads',
    roles: ['api'],
    type: 'integer',
    default: 10_000,
    min: 1,
    chart: 'uploads.quota.count',
    description: 'Uploads of an account of the class `full`.',
  },
  UPLOAD_QUOTA_BYTES: {
    section: 'uploads',
    roles: ['api'],
    type: 'integer',
    default: KIBI * GIBI,
    min: 1,
    chart: 'uploads.quota.bytes',
    description: 'Bytes of all uploads of an account of the class `full`.',
  },
  MAX_SOURCE_BYTES: {
    section: 'uploads',
    roles: ['api', 'operator', 'prepare'],
    type: 'integer',
    default: 20 * GIBI,
    min: 1,
    chart: 'uploads.maxSizeBytes',
    description: 'Bytes of the largest file that is imported.',
  },
  UPLOAD_EXPIRE_HOURS: {
    section: 'uploads',
    roles: ['api'],
    type: 'integer',
    default: 72,
    min: 1,
    max: 24 * 366,
    chart: 'uploads.expireHours',
    description: 'Hours in which a client must send a whole file.',
  },
  UPLOADS_AT_ONCE_PER_ACCOUNT: {
    section: 'uploads',
    roles: ['api'],
    type: 'integer',
    default: 32,
    min: 1,
    max: 100_000,
    chart: 'uploads.sending.atOncePerAccount',
    description:
      'Requests of one account that send uploads to one server at the same time. Standard clients send twenty files at once.',
  },
  UPLOADS_AT_ONCE: {
    section: 'uploads',
    roles: ['api'],
    type: 'integer',
    default: 256,
    min: 1,
    max: 100_000,
    chart: 'uploads.sending.atOnce',
    description: 'Requests of all accounts that send uploads to one server at the same time.',
  },
  UPLOAD_MEMORY_BYTES: {
    section: 'uploads',
    roles: ['api'],
    type: 'integer',
    default: 32 * MEBI,
    min: MEBI,
    max: 2 ** 34,
    chart: 'uploads.sending.memoryBytes',
    description: 'Bytes of memory in which one server buffers uploads before the storage.',
  },
  UPLOAD_MIN_BYTES_PER_SECOND: {
    section: 'uploads',
    roles: ['api'],
    type: 'integer',
    default: 4096,
    min: 0,
    chart: 'uploads.sending.minBytesPerSecond',
    description:
      'Bytes a second, averaged over 30 seconds, below which the server disconnects a sender. The client can resume the upload.',
  },
  PREVIEWS_PER_STREAM: {
    section: 'uploads',
    roles: ['api'],
    type: 'integer',
    default: 4,
    min: 1,
    max: 100_000,
    chart: 'api.previews.perStream',
    description: 'Previews of one stream or upload that one server shows at the same time.',
  },
  PREVIEWS_PER_SERVER: {
    section: 'uploads',
    roles: ['api'],
    type: 'integer',
    default: 48,
    min: 1,
    max: 100_000,
    chart: 'api.previews.perServer',
    description: 'Previews of all accounts that one server shows at the same time.',
  },
  PREVIEW_SECONDS: {
    section: 'uploads',
    roles: ['api'],
    type: 'integer',
    default: 600,
    min: 1,
    max: DAY_SECONDS,
    chart: 'api.previews.seconds',
    description: 'Seconds after which a preview ends. A page that is still open reconnects.',
  },
  FEEDS_PER_SERVER: {
    section: 'uploads',
    roles: ['api'],
    type: 'integer',
    default: 2000,
    min: 1,
    max: 1_000_000,
    chart: 'api.feedsPerServer',
    description: 'Change feeds that are open at one server at the same time.',
  },

  BILLING: {
    section: 'money',
    roles: ['api'],
    type: 'flag',
    default: false,
    description: 'Makes streams cost credits. The role `billing` counts their use; see [billing](billing.md).',
  },
  CURRENCY: {
    section: 'money',
    roles: MONEY,
    type: 'text',
    default: 'USD',
    description:
      'The currency of money, by its code of ISO 4217; see [billing](billing.md), The currency. With Stripe, one that Stripe charges.',
  },
  PRICES: {
    section: 'money',
    roles: MONEY,
    type: 'json',
    description:
      'The prices of an hour on air: a list of `quality`, `framerate`, `creditsPerHour` and, for a future price, `from`.',
  },
  METER_INTERVAL_SECONDS: {
    section: 'money',
    roles: ['billing'],
    type: 'integer',
    default: 10,
    min: 1,
    max: 3600,
    chart: 'billing.intervalSeconds',
    description: 'Seconds between two counts of usage.',
  },
  CREDIT_GRACE_SECONDS: {
    section: 'money',
    roles: ['billing'],
    type: 'integer',
    default: 0,
    min: 0,
    max: 31 * DAY_SECONDS,
    chart: 'billing.graceSeconds',
    description: 'Seconds that streams stay on air after the credit is used up. The account owes their usage.',
  },
  STRIPE_KEY: {
    section: 'money',
    roles: MONEY,
    type: 'secret',
    file: true,
    description: 'The secret key of Stripe. Without it, the service accepts no cards.',
  },
  STRIPE_WEBHOOK_SECRET: {
    section: 'money',
    roles: MONEY,
    type: 'secret',
    file: true,
    description: 'The signing secret of `/v1/webhooks/stripe`. During a rotation, two of them, separated by a comma.',
  },
  STRIPE_URL: {
    section: 'money',
    roles: MONEY,
    type: 'text',
    default: 'https://api.stripe.com',
    description: 'The address of Stripe’s API.',
  },
  TOP_UP_MIN_MINOR: {
    section: 'money',
    roles: MONEY,
    type: 'integer',
    default: 0,
    min: 0,
    max: 999_999_999_999,
    description:
      'The smallest top-up, in minor units of the currency. 0: by its size, such as 5 USD, 500 JPY or 50000 IDR; never less than Stripe charges.',
  },
  TOP_UP_MAX_MINOR: {
    section: 'money',
    roles: MONEY,
    type: 'integer',
    default: 0,
    min: 0,
    max: 999_999_999_999,
    description:
      'The largest top-up, in minor units of the currency. 0: by its size, such as 1000 USD, 100000 JPY or 10000000 IDR.',
  },
  SELLER: {
    section: 'money',
    roles: MONEY,
    type: 'secret',
    file: true,
    description:
      'The sender of invoices, as JSON; see [invoices](invoices.md). Without it, the service issues no invoices.',
  },
  INVOICE_FONT: {
    section: 'money',
    roles: ['api'],
    type: 'text',
    description:
      'A font file for characters that the built-in fonts lack, such as Chinese ones; see [invoices](invoices.md).',
  },
  CRYPTO_NETWORKS: {
    section: 'money',
    roles: MONEY,
    type: 'json',
    description:
      'Networks of crypto deposits, with their nodes and public keys; see [crypto](crypto.md). Without it, the service accepts no deposits.',
  },
  CRYPTO_RATES: {
    section: 'money',
    roles: MONEY,
    type: 'json',
    description: 'The price of each coin, as a fixed table.',
  },
  CRYPTO_RATES_URL: {
    section: 'money',
    roles: MONEY,
    type: 'text',
    description: 'The URL of a source of prices for each coin.',
  },
  CRYPTO_QUOTE_SECONDS: {
    section: 'money',
    roles: MONEY,
    type: 'integer',
    default: 900,
    min: 60,
    max: DAY_SECONDS,
    description: 'Seconds that a quote is valid.',
  },

  IMAGE: {
    section: 'operator',
    roles: ['operator'],
    type: 'text',
    description: 'The image of the pods.',
  },
  PREPARE_IMAGE: {
    section: 'operator',
    roles: ['operator'],
    type: 'text',
    computed: 'as `LOOPSTREAM_IMAGE`',
    description: 'The image of the Jobs that import and prepare media. It has ffmpeg and ffprobe.',
  },
  WATCH_NAMESPACES: {
    section: 'operator',
    roles: ['operator'],
    type: 'list',
    description:
      'The namespaces that the operator watches, instead of `LOOPSTREAM_NAMESPACE`: names, or `*` for all. The Lease is then in `LOOPSTREAM_OPERATOR_NAMESPACE`.',
  },
  OPERATOR_NAMESPACE: {
    section: 'operator',
    roles: ['operator'],
    type: 'text',
    description:
      'The namespace of the operator, if it differs from that of the resources. When this namespace is deleted, the operator removes the finalizers of its streams.',
  },
  WORKERS: {
    section: 'operator',
    roles: ['operator'],
    type: 'integer',
    default: 8,
    min: 1,
    max: 256,
    chart: 'operator.workers',
    description: 'Resources of a kind that are reconciled at the same time.',
  },
  SCRAPE_ANNOTATIONS: {
    section: 'operator',
    roles: ['operator'],
    type: 'flag',
    default: false,
    chart: 'monitoring.scrapeAnnotations',
    description:
      'Gives every pod the annotations `prometheus.io/scrape`, `prometheus.io/port` and `prometheus.io/path`, for a Prometheus that scrapes by them. Streams on air keep their pods.',
  },
  LEADER_ELECTION: {
    section: 'operator',
    roles: ['operator'],
    type: 'flag',
    default: true,
    chart: 'operator.leaderElection',
    description: 'Lets several operators elect a leader by a Lease. Turn it off only with a single replica.',
  },
  LEASE_DURATION_SECONDS: {
    section: 'operator',
    roles: ['operator'],
    type: 'integer',
    default: 15,
    min: 3,
    max: 3600,
    description: 'Seconds after which another operator replaces a leader that does not renew its Lease.',
  },
  LEASE_RENEW_DEADLINE_SECONDS: {
    section: 'operator',
    roles: ['operator'],
    type: 'integer',
    default: 10,
    min: 2,
    max: 3600,
    description: 'Seconds without a renewal after which a leader stops.',
  },
  LEASE_RETRY_PERIOD_SECONDS: {
    section: 'operator',
    roles: ['operator'],
    type: 'integer',
    default: 2,
    min: 1,
    max: 3600,
    description: 'Seconds between two renewals.',
  },
  ROLLOUT_SECONDS: {
    section: 'operator',
    roles: ['operator'],
    type: 'integer',
    default: 600,
    min: 0,
    max: 7 * DAY_SECONDS,
    chart: 'operator.rolloutSeconds',
    description: 'Seconds over which the operator spreads the change of streams on air to a new image.',
  },
  IMPORT_CONCURRENCY: {
    section: 'operator',
    roles: ['operator'],
    type: 'integer',
    default: 8,
    min: 1,
    max: 1000,
    chart: 'operator.importConcurrency',
    description:
      'Jobs of this operator that import media at the same time. An account of a namespace has at most half of them.',
  },
  PREPARE_CONCURRENCY: {
    section: 'operator',
    roles: ['operator'],
    type: 'integer',
    default: 4,
    min: 1,
    max: 1000,
    chart: 'operator.prepareConcurrency',
    description:
      'Jobs of this operator that make renditions at the same time. An account of a namespace has at most half of them.',
  },
  PREPARE_PODS: {
    section: 'operator',
    roles: ['operator'],
    type: 'integer',
    // Each reads the whole source where the storage is S3.
    default: 16,
    min: 1,
    max: 1000,
    chart: 'operator.preparePods',
    description:
      'Pods that make one long rendition at the same time, as far as `LOOPSTREAM_PREPARE_CONCURRENCY` leaves places and the nodes have processors; 1 lets one pod make it alone.',
  },
  MAX_PREPARE_SECONDS: {
    section: 'operator',
    roles: ['operator'],
    type: 'integer',
    default: 12 * 3600,
    min: 60,
    max: 7 * DAY_SECONDS,
    chart: 'operator.maxPrepareSeconds',
    description: 'The longest time to make a rendition, in seconds.',
  },
  SHARE_RENDITIONS: {
    section: 'operator',
    roles: ['operator'],
    type: 'flag',
    default: false,
    chart: 'operator.shareRenditions',
    description:
      'Lets accounts share the renditions of files with the same content. It saves work, but the time of a preparation reveals whether another account has the same file.',
  },
  METERED: {
    section: 'operator',
    roles: ['operator'],
    type: 'flag',
    default: false,
    description: 'Keeps `status.sessions` until they are acknowledged, for an installation that counts usage.',
  },
  METERED_NAMESPACES: {
    section: 'operator',
    roles: ['operator'],
    type: 'list',
    description: 'The namespaces to which `LOOPSTREAM_METERED` applies. Empty for all.',
  },
  SWEEP: {
    section: 'operator',
    roles: ['operator'],
    type: 'flag',
    default: true,
    chart: 'operator.sweep.enabled',
    description:
      'Deletes media without references. Turn it off where namespaces share a storage: it needs `{namespace}` in `LOOPSTREAM_STORAGE_URL`, or a claim in each namespace.',
  },
  SWEEP_GRACE_HOURS: {
    section: 'operator',
    roles: ['operator'],
    type: 'integer',
    default: 24,
    min: 0,
    max: 24 * 366,
    chart: 'operator.sweep.graceHours',
    description: 'Hours for which media without references is kept.',
  },
  KEEP_UNUSED_DAYS: {
    section: 'operator',
    roles: ['operator'],
    type: 'integer',
    default: 30,
    min: 0,
    max: 3660,
    chart: 'operator.sweep.keepUnusedDays',
    description: 'Days for which a rendition that no stream uses is kept; 0 keeps it forever.',
  },
  JOB_PLACEMENT: {
    section: 'operator',
    roles: ['operator'],
    type: 'json',
    description:
      'The placement of Jobs and tests of destinations: `runtimeClassName`, `nodeSelector`, `tolerations`, `affinity`, `priorityClassName`.',
  },
  REPORTS_URL: {
    section: 'operator',
    roles: ['operator', 'streamer'],
    type: 'text',
    description:
      'The base URL at which the pods of streams report to the operator: a Service in front of `LOOPSTREAM_REPORTS_PORT`. Without it, the operator asks every pod every 15 seconds.',
  },
  REPORTS_HOST: {
    section: 'operator',
    roles: ['operator'],
    type: 'text',
    default: '0.0.0.0',
    description: 'The address of the port for the reports of pods.',
  },
  REPORTS_PORT: {
    section: 'operator',
    roles: ['operator'],
    type: 'integer',
    default: 9406,
    min: 0,
    max: MAX_PORT,
    description: 'The port for the reports of pods.',
  },
  CONFINE: {
    section: 'operator',
    roles: TOOLS,
    type: 'text',
    default: 'auto',
    enum: ['auto', 'required', 'off'],
    chart: 'confine',
    description:
      'The confinement of ffmpeg by Landlock and seccomp: `auto` uses all that the node supports, `required` starts ffmpeg only with full support, `off` uses none.',
  },

  MAX_DURATION_SECONDS: {
    section: 'media',
    roles: ['operator', 'prepare'],
    type: 'integer',
    default: DAY_SECONDS,
    min: 1,
    chart: 'uploads.limits.durationSeconds',
    description: 'The longest duration of a source, in seconds.',
  },
  MAX_SECONDS_PER_KILOBYTE: {
    section: 'media',
    roles: ['operator', 'prepare'],
    type: 'integer',
    // A silent slide show of one colour with a frame every ten seconds has 1.6 bytes a second (620 s for each 1000 bytes), sound at
    // 6 kbit/s 750 (1.3 s for each 1000 bytes).
    default: 1000,
    min: 1,
    chart: 'uploads.limits.secondsPerKilobyte',
    description: 'Seconds of output that each 1000 bytes of a source may produce, beyond the first ten minutes.',
  },
  MAX_FRAMES: {
    section: 'media',
    roles: ['operator', 'prepare'],
    type: 'integer',
    // 24 hours of 120 frames a second have 10.4 million.
    default: 12_000_000,
    min: 1,
    chart: 'uploads.limits.frames',
    description: 'Packets of one track of a source.',
  },
  MAX_PIXELS: {
    section: 'media',
    roles: ['operator', 'prepare'],
    type: 'integer',
    // 8192 × 4320: the largest pictures that cameras record and that H.264 and HEVC have levels for.
    default: 8192 * 4320,
    min: 1,
    chart: 'uploads.limits.pixels',
    description: 'Pixels of a picture of a source.',
  },
  MAX_GIGAPIXELS: {
    section: 'media',
    roles: ['operator', 'prepare'],
    type: 'integer',
    // Ten hours of 8K at 60 frames a second have 76,000.
    default: 100_000,
    min: 1,
    chart: 'uploads.limits.gigapixels',
    description: 'Frames times pixels of a source, in 10^9.',
  },
  MAX_GAP_SECONDS: {
    section: 'media',
    roles: ['operator', 'prepare'],
    type: 'integer',
    // A title that stands for an hour is media, a month is a broken clock.
    default: 7200,
    min: 1,
    chart: 'uploads.limits.gapSeconds',
    description: 'Seconds from one frame of a source to the next.',
  },
  MAX_SAMPLE_RATE: {
    section: 'media',
    roles: ['operator', 'prepare'],
    type: 'integer',
    // Studios record up to 768 kHz.
    default: 768_000,
    min: 1,
    chart: 'uploads.limits.sampleRate',
    description: 'Samples of sound a second of a source.',
  },
  MAX_CHANNELS: {
    section: 'media',
    roles: ['operator', 'prepare'],
    type: 'integer',
    default: 64,
    min: 1,
    chart: 'uploads.limits.channels',
    description: 'Channels of sound of a source.',
  },
  MAX_TRACKS: {
    section: 'media',
    roles: ['operator', 'prepare'],
    type: 'integer',
    default: 256,
    min: 1,
    chart: 'uploads.limits.tracks',
    description: 'Tracks of a source, with subtitles and attached fonts.',
  },
  MAX_PROBE_SECONDS: {
    section: 'media',
    roles: ['operator', 'prepare'],
    type: 'integer',
    default: 1800,
    min: 1,
    chart: 'uploads.limits.probeSeconds',
    description: 'The longest time to read a source to its end, in seconds.',
  },
  FETCH_TIMEOUT_SECONDS: {
    section: 'media',
    roles: ['operator', 'prepare'],
    type: 'integer',
    default: 3600,
    min: 1,
    max: 7 * DAY_SECONDS,
    chart: 'uploads.link.timeoutSeconds',
    description: 'The longest transfer from a link, in seconds.',
  },
  MIN_FETCH_BYTES_PER_SECOND: {
    section: 'media',
    roles: ['operator', 'prepare'],
    type: 'integer',
    default: 16 * KIBI,
    min: 0,
    chart: 'uploads.link.minBytesPerSecond',
    description:
      'Bytes a second, averaged over 30 seconds, below which the import from a link fails; 0 allows any rate.',
  },

  STORAGE_URL: {
    section: 'storage',
    roles: ['api', 'operator', 'streamer', 'prepare'],
    type: 'text',
    computed: '`file:///media` for the operator',
    description:
      'The storage of media: `file:///path`, or `s3://bucket/prefix?endpoint=http://host:9000&region=…&forcePathStyle=…`, where all but the bucket may be left out. `{namespace}` in it is the namespace of the object, for the operator and the API server. An API server without it imports from links only.',
  },
  STORAGE_VOLUME: {
    section: 'storage',
    roles: ['operator'],
    type: 'json',
    description:
      'For a directory: the volume source of Kubernetes, such as `{"persistentVolumeClaim":{"claimName":"media"}}`.',
  },
  STORAGE_MOUNT_PATH: {
    section: 'storage',
    roles: ['operator'],
    type: 'text',
    default: '/media',
    description: 'For a directory: its mount path in pods.',
  },
  STORAGE_SECRET: {
    section: 'storage',
    roles: ['operator'],
    type: 'text',
    description: 'For S3: the Secret with the keys `accessKeyId` and `secretAccessKey`. Pods mount them as files.',
  },
  STORAGE_READ_SECRET: {
    section: 'storage',
    roles: ['operator'],
    type: 'text',
    description: 'For S3: a Secret with read-only keys for streams. Without it, streams get the Secret above.',
  },
  STORAGE_CREDENTIALS_DIR: {
    section: 'storage',
    roles: ['api', 'streamer', 'prepare'],
    type: 'text',
    description:
      'For S3: a directory with the files `accessKeyId` and `secretAccessKey`. The process reads changed files within minutes.',
  },
  S3_ACCESS_KEY_ID: {
    section: 'storage',
    roles: ['api', 'streamer', 'prepare'],
    type: 'secret',
    description: 'For S3, instead of that directory: the access key.',
  },
  S3_SECRET_ACCESS_KEY: {
    section: 'storage',
    roles: ['api', 'streamer', 'prepare'],
    type: 'secret',
    description: 'For S3, instead of that directory: the secret access key.',
  },
  CACHE_BYTES: {
    section: 'storage',
    roles: ['operator', 'streamer'],
    type: 'integer',
    default: 2 * GIBI,
    // Half a minute of the highest quality: with less, reading ahead would push out what is being played.
    min: 256 * MEBI,
    description: 'For S3: bytes of disk that a stream uses as a cache.',
  },
  CACHE_DIR: {
    section: 'storage',
    roles: ['streamer'],
    type: 'text',
    description: 'For S3: the directory of that cache, for one process. Without it, there is no cache.',
  },
  SCRATCH_VOLUME: {
    section: 'storage',
    roles: ['operator'],
    type: 'json',
    description: 'The volume source for the working files of a Job. By default an `emptyDir` of 64 GiB.',
  },
  SENDER: {
    section: 'storage',
    roles: ['streamer', 'probe'],
    type: 'text',
    computed: 'as `LOOPSTREAM_FFMPEG`',
    description:
      'The ffmpeg that sends to destinations. The image has a build of ffmpeg that can only send, and takes less memory (`make sender`).',
  },
  FFMPEG: {
    section: 'storage',
    roles: ['streamer', 'prepare', 'decoder', 'probe'],
    type: 'text',
    default: 'ffmpeg',
    description: 'The program ffmpeg.',
  },
  FFPROBE: {
    section: 'storage',
    roles: ['prepare', 'decoder'],
    type: 'text',
    default: 'ffprobe',
    description: 'The program ffprobe.',
  },
  CA_FILE: {
    section: 'storage',
    roles: ['streamer', 'probe'],
    type: 'text',
    description: 'A PEM file with the authorities that RTMPS trusts, instead of those of the system.',
  },

  SETTINGS: {
    section: 'pods',
    roles: ['streamer'],
    type: 'json',
    description:
      'Settings of this page as one JSON object of texts, with their names after `LOOPSTREAM_`, such as `{"PORT":"9400"}`. A variable of its own wins over it.',
  },
  STREAM_DIR: {
    section: 'pods',
    roles: ['streamer'],
    type: 'text',
    description:
      'The directory with the program of the stream and the content of its Secret. Each file can be named by itself too.',
  },
  PROGRAM_FILE: {
    section: 'pods',
    roles: ['streamer'],
    type: 'text',
    computed: '`program.json` in `LOOPSTREAM_STREAM_DIR`',
    description: 'The file with the program of the stream.',
  },
  DESTINATIONS_FILE: {
    section: 'pods',
    roles: ['streamer'],
    type: 'text',
    computed: '`destinations.json` in `LOOPSTREAM_STREAM_DIR`',
    description: 'The JSON file with `rtmpUrl`, `rtmpKey`, `rtmpUser` and `rtmpPassword` of each destination.',
  },
  METRICS_PORT: {
    section: 'pods',
    roles: ['streamer'],
    type: 'integer',
    min: 0,
    max: MAX_PORT,
    description: 'The port of `/metrics`, if it differs from the other port.',
  },
  CONTROL_TOKEN_FILE: {
    section: 'pods',
    roles: ['streamer'],
    type: 'text',
    computed: '`token` in `LOOPSTREAM_STREAM_DIR`',
    description: 'The file with the token of the operator. Without it, the control API rejects every request.',
  },
  VIEW_TOKEN_FILE: {
    section: 'pods',
    roles: ['streamer'],
    type: 'text',
    computed: '`viewToken` in `LOOPSTREAM_STREAM_DIR`',
    description: 'The file with the token for live stats and the preview. Without it, they are open to everyone.',
  },
  PUBLISHER_FILE: {
    section: 'pods',
    roles: ['streamer'],
    type: 'text',
    computed: '`publisher` in `LOOPSTREAM_STREAM_DIR`',
    description: 'The file with the UID of the pod that may publish. Without it, this pod publishes.',
  },
  GRANT_DIR: {
    section: 'pods',
    roles: ['streamer'],
    type: 'text',
    description:
      'The directory that keeps what the operator granted to the first pod of a stream, across restarts of the container.',
  },
  POD_UID_FILE: {
    section: 'pods',
    roles: ['streamer'],
    type: 'text',
    computed: '`podUid` in `LOOPSTREAM_STREAM_DIR`',
    description: 'The file with the UID of this pod.',
  },
  LINGER_SECONDS: {
    section: 'pods',
    roles: ['streamer'],
    type: 'integer',
    default: 0,
    min: 0,
    max: 3600,
    description:
      'Seconds for which the streamer still publishes after SIGTERM, so that another pod can take over. A stop command ends them.',
  },
  RESULT_FILE: {
    section: 'pods',
    roles: ['streamer', 'prepare', 'probe'],
    type: 'text',
    description: 'The file for the result, which Kubernetes reads when the container has ended.',
  },
  SESSIONS_FILE: {
    section: 'pods',
    roles: ['streamer'],
    type: 'text',
    description: 'The file that keeps the time on air across restarts of the container.',
  },
  TASK: {
    section: 'pods',
    roles: ['prepare'],
    type: 'json',
    description: 'The task of a Job.',
  },
  RECORDS: {
    section: 'pods',
    roles: ['prepare'],
    type: 'json',
    description: 'The Upload that a Job works for, or the records that a sweep writes and removes.',
  },
  DECODER_SOCKET: {
    section: 'pods',
    roles: ['prepare', 'decoder'],
    type: 'text',
    description: 'The socket between the two containers of a Job.',
  },
  INPUT_DIR: {
    section: 'pods',
    roles: ['prepare'],
    type: 'text',
    description: 'The directory of the files that the decoder reads.',
  },
  STEP_SECONDS: {
    section: 'pods',
    roles: ['prepare'],
    type: 'integer',
    default: 60,
    min: 1,
    description: 'The processor time of one step of reading a file, in seconds, after which a Job ends itself.',
  },
  OWN_RATES: {
    section: 'pods',
    roles: ['prepare'],
    type: 'flag',
    default: false,
    description:
      'Copies pictures whose clock is a little off at their own average frame rate. The operator sets it while every streamer on air is of a release that plays such renditions.',
  },
  DESTINATION_DIR: {
    section: 'pods',
    roles: ['probe'],
    type: 'text',
    description:
      'The directory with the files `rtmpUrl` and `rtmpKey`, and `rtmpUser` and `rtmpPassword` where there is a login.',
  },
} as const satisfies Record<string, Setting>;

export type SettingName = keyof typeof SETTINGS;
