/** Defines an account as clients see it: its user and its credentials. Pure: no I/O, no clock. */
import { type Static, Type } from 'typebox';
import { DISPLAY_NAME_PATTERN } from '../../../core/lib/sentences.ts';
import { Labels, LabelsInput } from '../../lib/labels.ts';
import { SCOPES } from '../../lib/scopes.ts';
import { ACCOUNT_CLASSES, LIMIT_NAMES, LIMIT_UNITS } from '../../settings/limits.ts';

export const User = Type.Object(
  {
    id: Type.String(),
    email: Type.String(),
    firstName: Type.String(),
    lastName: Type.Union([Type.String(), Type.Null()]),
    createdAt: Type.String({ format: 'date-time' }),
  },
  { title: 'User' },
);
export type User = Static<typeof User>;

const AccountLimit = Type.Object(
  {
    name: Type.Enum(LIMIT_NAMES, { description: 'Stable name, the same as `limit` in a problem.' }),
    description: Type.String({ description: 'Description of the limit.' }),
    unit: Type.Enum(LIMIT_UNITS, { description: `One of: ${LIMIT_UNITS.join(', ')}.` }),
    used: Type.Union([Type.Number(), Type.Null()], {
      description: 'Amount in use. Null for a limit on a single object, such as the size of one upload.',
    }),
    allowed: Type.Number({ description: 'Amount that the account may use.' }),
    full: Type.Number({ description: 'Amount that the class `full` may use.' }),
  },
  { title: 'AccountLimit' },
);

export const AccountLimits = Type.Object(
  {
    class: Type.Enum(ACCOUNT_CLASSES, {
      title: 'AccountClass',
      description: 'trial: no credit was ever bought or granted. full: the account has had credit.',
    }),
    howToLift: Type.Union([Type.String(), Type.Null()], {
      description: 'Way to get the limits of the class `full`. Null if the account already has them.',
    }),
    limits: Type.Array(AccountLimit),
  },
  { title: 'AccountLimits' },
);
export type AccountLimits = Static<typeof AccountLimits>;

const time = Type.String({ format: 'date-time' });
const timeOrNull = Type.Union([time, Type.Null()]);

export const MAX_KEY_NAME = 64;
export const MAX_KEY_DAYS = 365;
const MAX_SELECTOR_CHARS = 1000;

/** A scope of a key: those of OAuth, without the prefix of the service. */
const KeyScope = Type.Enum(SCOPES, {
  title: 'ApiKeyScope',
  description:
    'read: read streams, uploads, destinations, playlists, scenes and events. write: create, change and control them. destructive: delete ' +
    'them. billing: read billing and usage, and create top-up links.',
});

export const ApiKey = Type.Object(
  {
    id: Type.String(),
    name: Type.String(),
    labels: Labels,
    hint: Type.String({ description: 'First characters of the key.' }),
    scopes: Type.Union([Type.Array(KeyScope), Type.Null()], {
      description: 'What the key may do. Null if it has the full access of its account.',
    }),
    labelSelector: Type.Union([Type.String(), Type.Null()], {
      description: 'The key is limited to objects with such labels. Null if it is not.',
    }),
    createdAt: time,
    expiresAt: Type.Union([time, Type.Null()], {
      description:
        'Time from which the key is refused: by its own expiry, or by the longest life that the account allows. Null if the key is ' +
        'valid until it is revoked.',
    }),
    lastUsedAt: Type.Union([time, Type.Null()], {
      description: 'Time of the last use, accurate to a minute. Null if the key was never used.',
    }),
    lastUsedAddress: Type.Union([Type.String(), Type.Null()], {
      description: 'IP address of the last use. Null if it is not known.',
    }),
  },
  { title: 'ApiKey' },
);
export type ApiKey = Static<typeof ApiKey>;

export const CreatedApiKey = Type.Object(
  {
    ...ApiKey.properties,
    key: Type.String({ description: 'The key itself. It is shown only once and not stored.' }),
  },
  { title: 'CreatedApiKey' },
);
export type CreatedApiKey = Static<typeof CreatedApiKey>;

const KeyName = Type.String({
  minLength: 1,
  maxLength: MAX_KEY_NAME,
  pattern: DISPLAY_NAME_PATTERN,
  description: 'Purpose of the key.',
});

export const ApiKeyCreate = Type.Object(
  {
    name: KeyName,
    labels: LabelsInput,
    expiresInDays: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: MAX_KEY_DAYS,
        description:
          'Days until the key expires. If not set, the key is valid until it is revoked, or for `maxKeyDays` of the account’s policy. ' +
          'More than that is refused.',
      }),
    ),
    scopes: Type.Optional(
      Type.Array(KeyScope, {
        minItems: 1,
        uniqueItems: true,
        description: 'What the key may do. If not set, the key has the full access of the account.',
      }),
    ),
    labelSelector: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: MAX_SELECTOR_CHARS,
        description:
          'Limits the key to objects with such labels, in the words of `kubectl get -l`, e.g. `team=news`. The key sees no other objects, ' +
          'and what is about the whole account is refused. If not set, the key reaches all objects.',
      }),
    ),
  },
  { title: 'ApiKeyCreate', additionalProperties: false },
);
export type ApiKeyCreate = Static<typeof ApiKeyCreate>;

export const ApiKeyUpdate = Type.Object(
  {
    name: Type.Optional(KeyName),
    labels: LabelsInput,
    expiresAt: Type.Optional(
      Type.Union([time, Type.Null()], {
        description:
          'Time from which the key is refused: in the future, and not later than before. A key that had no expiry gets one. Null only for ' +
          'a key without one.',
      }),
    ),
  },
  { title: 'ApiKeyUpdate', additionalProperties: false },
);
export type ApiKeyUpdate = Static<typeof ApiKeyUpdate>;

export const ApiKeyPolicy = Type.Object(
  {
    maxKeyDays: Type.Union([Type.Integer({ minimum: 1, maximum: MAX_KEY_DAYS }), Type.Null()], {
      description:
        'Longest life of a key in days, counted from its creation. It holds for existing keys at once: those that are older expire. Null ' +
        'if the account sets no such limit.',
    }),
  },
  { title: 'ApiKeyPolicy', additionalProperties: false },
);
export type ApiKeyPolicy = Static<typeof ApiKeyPolicy>;

export const PersonSession = Type.Object(
  {
    id: Type.String(),
    isCurrent: Type.Boolean({ description: 'True for the session that sends this request.' }),
    userAgent: Type.Union([Type.String(), Type.Null()], { description: 'User agent of the browser.' }),
    address: Type.Union([Type.String(), Type.Null()], {
      description: 'IP address from which the session was started.',
    }),
    createdAt: time,
    expiresAt: time,
  },
  { title: 'Session' },
);
export type PersonSession = Static<typeof PersonSession>;

export const ConnectedApp = Type.Object(
  {
    id: Type.String({ description: 'OAuth client id.' }),
    name: Type.Union([Type.String(), Type.Null()], { description: 'Name of the app, chosen by its developer.' }),
    uri: Type.Union([Type.String(), Type.Null()], { description: 'Web page of the app’s developer.' }),
    isVerified: Type.Boolean({ description: 'True if staff have verified the developer of the app.' }),
    scopes: Type.Array(Type.String(), { description: 'Scopes that the user granted.' }),
    connectedAt: time,
    lastUsedAt: Type.Union([time, Type.Null()], { description: 'Time at which the app last received a token.' }),
  },
  { title: 'ConnectedApp' },
);
export type ConnectedApp = Static<typeof ConnectedApp>;

export const PasskeyRecord = Type.Object(
  {
    id: Type.String(),
    name: Type.Union([Type.String(), Type.Null()]),
    isSynced: Type.Boolean({ description: 'True if the device syncs the passkey to other devices.' }),
    createdAt: timeOrNull,
  },
  { title: 'Passkey', description: 'A passkey, without its credentials.' },
);
export type PasskeyRecord = Static<typeof PasskeyRecord>;

export const OutsideSignIn = Type.Object(
  {
    provider: Type.String(),
    subject: Type.String({ description: 'Id of the user at the provider.' }),
    createdAt: time,
  },
  { title: 'OutsideSignIn' },
);
export type OutsideSignIn = Static<typeof OutsideSignIn>;

export const SignInOptions = Type.Object(
  {
    signUp: Type.Boolean({ description: 'True if anyone may create an account.' }),
    passwordReset: Type.Boolean({ description: 'True if the service mails links to reset a password.' }),
    providers: Type.Array(Type.Object({ id: Type.String(), name: Type.String() }, { title: 'SignInProvider' }), {
      description: 'Other providers to sign in with.',
    }),
    publicUrl: Type.String({
      description: 'Address of the page of this service. Passkeys work only there, and only if its host is a name.',
    }),
    supportUrl: Type.Union([Type.String({ format: 'uri' }), Type.Null()], {
      description: 'Where to ask for help: a `mailto:` or `https:` address. Null if the operators have set none.',
    }),
  },
  { title: 'SignInOptions' },
);
export type SignInOptions = Static<typeof SignInOptions>;

export const AccountDelete = Type.Object(
  {
    password: Type.Optional(
      Type.String({ minLength: 1, maxLength: 256, description: 'Password of the account, if it has one.' }),
    ),
    email: Type.String({
      minLength: 1,
      maxLength: 254,
      description: 'Email address of the account, to confirm the deletion.',
    }),
  },
  { title: 'AccountDelete', additionalProperties: false },
);
export type AccountDelete = Static<typeof AccountDelete>;

const Documents = (description: string) => Type.Array(Type.Unsafe<object>({ type: 'object' }), { description });
export const Export = Type.Object(
  {
    exportedAt: time,
    user: User,
    streams: Documents('Each as `GET /v1/streams/{id}` returns it.'),
    destinations: Documents('Each as `GET /v1/destinations/{id}` returns it.'),
    uploads: Documents('Each as `GET /v1/uploads/{id}` returns it.'),
    playlists: Documents('Each as `GET /v1/playlists/{id}` returns it.'),
    scenes: Documents('Each as `GET /v1/scenes/{id}` returns it.'),
    endpoints: Documents('Each as `GET /v1/endpoints/{id}` returns it.'),
    events: Documents('Events of the last seven days, oldest first, each as `GET /v1/events` returns it.'),
    uptime: Documents('Uptime of each stream in the last 400 days, each as `GET /v1/streams/{id}/uptime` returns it.'),
    apiKeys: Type.Array(ApiKey),
    apiKeyPolicy: ApiKeyPolicy,
    sessions: Type.Array(PersonSession),
    connectedApps: Type.Array(ConnectedApp),
    passkeys: Type.Array(PasskeyRecord),
    outsideSignIns: Type.Array(OutsideSignIn, {
      description: 'Accounts at other providers that can sign in to this account.',
    }),
    billingAddress: Type.Unsafe<object>({
      type: 'object',
      description: 'The address as `GET /v1/billing/address` returns it.',
    }),
    ledger: Documents('Ledger entries, oldest first, each as `GET /v1/billing/ledger` returns it.'),
    topUps: Documents('Each as `GET /v1/billing/top-ups/{id}` returns it.'),
    deposits: Documents('Each as `GET /v1/crypto/deposits/{id}` returns it.'),
    invoices: Documents('Each as `GET /v1/billing/invoices/{id}` returns it.'),
  },
  { title: 'AccountExport' },
);
export type AccountExport = Static<typeof Export>;
