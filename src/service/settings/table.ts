/**
 * Lists every setting of the hosted service once, and joins them with those of the operator: docs/settings.md, and the chart's values,
 * schema and environment come from this table. Pure: no I/O, no clock.
 */
import { CORE_ROLES, CORE_SECTIONS, CORE_SETTINGS } from '../../core/settings/table.ts';
import { DAY_SECONDS, GIBI, KIBI, MEBI, type Setting, type Table } from '../../core/settings/table-types.ts';

export const ROLES = ['api', 'billing', 'migrate', 'keys', ...CORE_ROLES] as const;
export type Role = (typeof ROLES)[number];

const { general, ...OPERATOR_SECTIONS } = CORE_SECTIONS;
/** Sections of docs/settings.md, in their order. */
export const SECTIONS = {
  general,
  api: 'API server',
  people: 'Sign-in and mail',
  uploads: 'Uploads and previews',
  money: 'Money',
  ...OPERATOR_SECTIONS,
} as const;
export type Section = keyof typeof SECTIONS;

const MONEY = ['api', 'billing'] as const;

/** A setting of the operator or its pods that roles of the service have too. */
const shared = <Row extends Setting>(row: Row, ...roles: Role[]) => ({ ...row, roles: [...roles, ...row.roles] });

const { OPS_PORT, PORT } = CORE_SETTINGS;

const SHARED = {
  LOG_LEVEL: shared(CORE_SETTINGS.LOG_LEVEL, 'api', 'billing', 'migrate', 'keys'),
  NAMESPACE: shared(CORE_SETTINGS.NAMESPACE, 'api', 'billing'),
  OPS_HOST: shared(CORE_SETTINGS.OPS_HOST, 'api', 'billing'),
  OPS_PORT: { ...shared(OPS_PORT, 'api', 'billing'), default: { ...OPS_PORT.default, api: 9402, billing: 9404 } },
  HOST: shared(CORE_SETTINGS.HOST, 'api'),
  PORT: { ...shared(PORT, 'api'), default: { api: 8080, ...PORT.default } },
  LIMITS: shared(CORE_SETTINGS.LIMITS, 'api'),
  ALLOW_PRIVATE_LINKS: shared(CORE_SETTINGS.ALLOW_PRIVATE_LINKS, 'api'),
  ALLOW_PRIVATE_DESTINATIONS: shared(CORE_SETTINGS.ALLOW_PRIVATE_DESTINATIONS, 'api'),
  ALLOW_PRIVATE_WATCH: shared(CORE_SETTINGS.ALLOW_PRIVATE_WATCH, 'api'),
  MAX_SOURCE_BYTES: shared(CORE_SETTINGS.MAX_SOURCE_BYTES, 'api'),
  STORAGE_URL: shared(CORE_SETTINGS.STORAGE_URL, 'api'),
  STORAGE_CREDENTIALS_DIR: shared(CORE_SETTINGS.STORAGE_CREDENTIALS_DIR, 'api'),
  S3_ACCESS_KEY_ID: shared(CORE_SETTINGS.S3_ACCESS_KEY_ID, 'api'),
  S3_SECRET_ACCESS_KEY: shared(CORE_SETTINGS.S3_SECRET_ACCESS_KEY, 'api'),
};

export const SETTINGS = {
  ...CORE_SETTINGS,
  ...SHARED,
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
    description: 'Requests in a minute, for each account, and for each IP address without credentials.',
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
  SCOPE_PREFIX: {
    section: 'api',
    roles: ['api'],
    type: 'text',
    default: 'service',
    description: 'The prefix of the scopes of OAuth, as in `service:read`.',
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
  SUPPORT_URL: {
    section: 'people',
    roles: ['api'],
    type: 'text',
    chart: 'api.supportUrl',
    description:
      'Where users ask for help, and for credit if they cannot pay: `mailto:help@example.com`, or an address with `https`. The page shows it.',
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
  WELCOME_GRANT_MINOR: {
    section: 'money',
    roles: ['api'],
    type: 'integer',
    default: 0,
    min: 0,
    max: 999_999_999,
    chart: 'billing.welcomeGrant.minor',
    description:
      'Credit that a new account gets when its owner has confirmed the address, in minor units of the currency; see [billing](billing.md). 0: none.',
  },
  WELCOME_GRANTS_PER_DAY: {
    section: 'money',
    roles: ['api'],
    type: 'integer',
    default: 100,
    min: 1,
    max: 1_000_000,
    chart: 'billing.welcomeGrant.perDay',
    description: 'Welcome grants to all accounts together in 24 hours.',
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
} as const satisfies Table;

export type SettingName = keyof typeof SETTINGS;
