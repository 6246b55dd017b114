/** Defines an account as clients see it: its user and its credentials. Pure: no I/O, no clock. */
import { type Static, Type } from 'typebox';
import { DISPLAY_NAME_PATTERN } from '../../lib/sentences.ts';
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
    name: Type.Enum(LIMIT_NAMES, { description: 'Stable; `limit` of a problem is one of these.' }),
    description: Type.String({ description: 'What is limited, for people.' }),
    unit: Type.Enum(LIMIT_UNITS),
    used: Type.Union([Type.Number(), Type.Null()], {
      description: 'What the account has of it; null where nothing adds up, such as the size of one upload.',
    }),
    allowed: Type.Number({ description: 'What the account may have.' }),
    full: Type.Number({ description: 'The same in the class `full`.' }),
  },
  { title: 'AccountLimit' },
);

export const AccountLimits = Type.Object(
  {
    class: Type.Enum(ACCOUNT_CLASSES, { description: 'trial: no credit was ever bought or given.' }),
    howToLift: Type.Union([Type.String(), Type.Null()], {
      description: 'How the limits of the class `full` are had; null for who has them.',
    }),
    limits: Type.Array(AccountLimit),
  },
  { title: 'AccountLimits' },
);
export type AccountLimits = Static<typeof AccountLimits>;

const time = Type.String({ format: 'date-time' });
const timeOrNull = Type.Union([time, Type.Null()]);

/** Limits of the auth library. */
export const MAX_KEY_NAME = 64;
export const MAX_KEY_DAYS = 365;

export const ApiKey = Type.Object(
  {
    id: Type.String(),
    name: Type.String(),
    hint: Type.String({ description: 'What it begins with.' }),
    createdAt: time,
    expiresAt: timeOrNull,
    lastUsedAt: Type.Union([time, Type.Null()], { description: 'As of a minute ago at most; null: never.' }),
  },
  { title: 'ApiKey' },
);
export type ApiKey = Static<typeof ApiKey>;

export const CreatedApiKey = Type.Object(
  {
    ...ApiKey.properties,
    key: Type.String({ description: 'The key itself. It is shown this once, and nowhere kept.' }),
  },
  { title: 'CreatedApiKey' },
);
export type CreatedApiKey = Static<typeof CreatedApiKey>;

export const ApiKeyCreate = Type.Object(
  {
    name: Type.String({
      minLength: 1,
      maxLength: MAX_KEY_NAME,
      pattern: DISPLAY_NAME_PATTERN,
      description: 'What it is for.',
    }),
    expiresInDays: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: MAX_KEY_DAYS,
        description: 'Without it, the key is good until it is revoked.',
      }),
    ),
  },
  { title: 'ApiKeyCreate', additionalProperties: false },
);
export type ApiKeyCreate = Static<typeof ApiKeyCreate>;

export const PersonSession = Type.Object(
  {
    id: Type.String(),
    isCurrent: Type.Boolean({ description: 'Whether it is the one that asks.' }),
    userAgent: Type.Union([Type.String(), Type.Null()], { description: 'What the browser calls itself.' }),
    address: Type.Union([Type.String(), Type.Null()], { description: 'From where it was begun.' }),
    createdAt: time,
    expiresAt: time,
  },
  { title: 'Session' },
);
export type PersonSession = Static<typeof PersonSession>;

export const ConnectedApp = Type.Object(
  {
    id: Type.String({ description: 'The client id.' }),
    name: Type.Union([Type.String(), Type.Null()], { description: 'What its maker calls it.' }),
    uri: Type.Union([Type.String(), Type.Null()], { description: 'Its maker’s page.' }),
    isVerified: Type.Boolean({ description: 'Whether somebody here has checked who made it.' }),
    scopes: Type.Array(Type.String(), { description: 'What was allowed.' }),
    connectedAt: time,
    lastUsedAt: Type.Union([time, Type.Null()], { description: 'When it last got a token.' }),
  },
  { title: 'ConnectedApp' },
);
export type ConnectedApp = Static<typeof ConnectedApp>;

export const PasskeyRecord = Type.Object(
  {
    id: Type.String(),
    name: Type.Union([Type.String(), Type.Null()]),
    isSynced: Type.Boolean({ description: 'Whether the device keeps it elsewhere too, and not for itself alone.' }),
    createdAt: timeOrNull,
  },
  { title: 'Passkey', description: 'Without what proves it.' },
);
export type PasskeyRecord = Static<typeof PasskeyRecord>;

export const OutsideSignIn = Type.Object(
  {
    provider: Type.String(),
    subject: Type.String({ description: 'Who the person is there.' }),
    createdAt: time,
  },
  { title: 'OutsideSignIn' },
);
export type OutsideSignIn = Static<typeof OutsideSignIn>;

export const SignInOptions = Type.Object(
  {
    signUp: Type.Boolean({ description: 'Whether strangers may make accounts.' }),
    passwordReset: Type.Boolean({ description: 'Whether links are sent by mail.' }),
    providers: Type.Array(Type.Object({ id: Type.String(), name: Type.String() }, { title: 'SignInProvider' }), {
      description: 'Where else people may sign in.',
    }),
  },
  { title: 'SignInOptions' },
);
export type SignInOptions = Static<typeof SignInOptions>;

export const AccountDelete = Type.Object(
  {
    password: Type.Optional(
      Type.String({ minLength: 1, maxLength: 256, description: 'Of the account, where it has one.' }),
    ),
    email: Type.String({
      minLength: 1,
      maxLength: 254,
      description: 'The account’s address, so that nobody deletes one by mistake.',
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
    streams: Documents('As `GET /v1/streams/{id}` shows each.'),
    destinations: Documents('As `GET /v1/destinations/{id}` shows each.'),
    uploads: Documents('As `GET /v1/uploads/{id}` shows each.'),
    playlists: Documents('As `GET /v1/playlists/{id}` shows each.'),
    apiKeys: Type.Array(ApiKey),
    sessions: Type.Array(PersonSession),
    connectedApps: Type.Array(ConnectedApp),
    passkeys: Type.Array(PasskeyRecord),
    outsideSignIns: Type.Array(OutsideSignIn, { description: 'Accounts elsewhere that let the person in here.' }),
    billingAddress: Type.Unsafe<object>({ type: 'object', description: 'As `GET /v1/billing/address` shows it.' }),
    ledger: Documents('What was booked, oldest first, as `GET /v1/billing/ledger` shows each.'),
    topUps: Documents('As `GET /v1/billing/top-ups/{id}` shows each.'),
    deposits: Documents('As `GET /v1/crypto/deposits/{id}` shows each.'),
    invoices: Documents('As `GET /v1/billing/invoices/{id}` shows each.'),
  },
  { title: 'AccountExport' },
);
