/**
 * Lists the limits of an account: one table for everything that costs the service something, with a value for each
 * class of account. Pure: no I/O, no clock.
 */

import { DEFAULT_PREPARED_BYTES, maxSourceBytes } from '../../core/settings/common.ts';
import { ConfigError, type Env } from '../../core/settings/settings.ts';
import { AppError, type ErrorCode } from '../lib/errors.ts';
import { reader } from './settings.ts';

/** `trial`: no credit was ever bought or given. `full`: all others, and everybody where nothing costs anything. */
export const ACCOUNT_CLASSES = ['trial', 'full'] as const;
export type AccountClass = (typeof ACCOUNT_CLASSES)[number];

export const LIMIT_UNITS = ['count', 'bytes', 'seconds', 'per minute', 'per day'] as const;

interface LimitRow {
  /** For a table. */
  title: string;
  unit: (typeof LIMIT_UNITS)[number];
  trial: number;
  full: number;
  /** Follows a number in a sentence: `5 streams`. */
  words: string;
  /** How to get room without another class. */
  free: string;
  /** `quota_exceeded` unless clients know another one. */
  code?: ErrorCode;
}

const KIBI = 2 ** 10;
const MEBI = 2 ** 20;
const GIBI = 2 ** 30;

/** Why each value is what it is: docs/limits.md. */
export const LIMIT_ROWS = {
  streams: {
    title: 'Streams',
    unit: 'count',
    trial: 5,
    full: 1000,
    words: 'streams',
    free: 'Delete streams that are no longer needed.',
  },
  destinations: {
    title: 'Destinations',
    unit: 'count',
    trial: 10,
    full: 1000,
    words: 'destinations',
    free: 'Delete destinations that are no longer needed.',
  },
  playlists: {
    title: 'Playlists',
    unit: 'count',
    trial: 10,
    full: 1000,
    words: 'playlists',
    free: 'Delete playlists that are no longer needed.',
  },
  scenes: {
    title: 'Scenes',
    unit: 'count',
    trial: 10,
    full: 1000,
    words: 'scenes',
    free: 'Delete scenes that are no longer needed.',
  },
  recordBytes: {
    title: 'Records: streams, destinations, uploads, scenes, playlists and their versions, without media',
    unit: 'bytes',
    trial: 4 * MEBI,
    full: 128 * MEBI,
    words: 'of records (streams, destinations, uploads, scenes, playlists and versions of playlists, without media)',
    free: 'Delete playlists that are no longer needed, which also deletes their versions.',
  },
  writtenBytes: {
    title: 'Records written in a minute',
    unit: 'bytes',
    trial: 4 * MEBI,
    full: 20 * MEBI,
    words: 'of records written in a minute',
    code: 'too_many_writes',
    free: 'Put all changes of a playlist into one request.',
  },
  uploads: {
    title: 'Uploads',
    unit: 'count',
    trial: 50,
    full: 10_000,
    words: 'uploads',
    code: 'upload_quota_exceeded',
    free: 'Delete uploads that are no longer needed.',
  },
  uploadBytes: {
    title: 'All uploads together',
    unit: 'bytes',
    trial: 20 * GIBI,
    full: KIBI * GIBI,
    words: 'of uploads',
    code: 'upload_quota_exceeded',
    free: 'Delete uploads that are no longer needed.',
  },
  largestUploadBytes: {
    title: 'The largest upload',
    unit: 'bytes',
    trial: 5 * GIBI,
    full: 20 * GIBI,
    words: 'in one upload',
    code: 'media_too_large',
    free: 'Upload a smaller file: fewer minutes, or a lower bit rate.',
  },
  longestUploadSeconds: {
    title: 'The longest upload',
    unit: 'seconds',
    trial: 4 * 3600,
    full: 24 * 3600,
    words: 'seconds in one upload',
    code: 'media_too_large',
    free: 'Upload a shorter file.',
  },
  linkImports: {
    title: 'Imports from links at once',
    unit: 'count',
    trial: 10,
    full: 1000,
    words: 'unfinished imports from links',
    free: 'Wait until some imports have finished, or delete them.',
  },
  preparedBytes: {
    title: 'Prepared media',
    unit: 'bytes',
    trial: 20 * GIBI,
    full: DEFAULT_PREPARED_BYTES,
    words: 'of prepared media',
    free: 'Delete uploads that are no longer needed, which also deletes their prepared media.',
  },
  destinationTests: {
    title: 'Tests of destinations',
    unit: 'per minute',
    trial: 5,
    full: 30,
    words: 'tests of destinations a minute',
    code: 'rate_limited',
    free: 'Try again in a minute.',
  },
  previews: {
    title: 'Previews at once',
    unit: 'count',
    trial: 4,
    full: 8,
    words: 'previews at once',
    code: 'too_many_previews',
    free: 'Close a preview, or wait until one ends.',
  },
  apiKeys: {
    title: 'API keys',
    unit: 'count',
    trial: 10,
    full: 100,
    words: 'API keys',
    code: 'api_key_quota_exceeded',
    free: 'Revoke keys that are no longer used.',
  },
  idempotencyKeys: {
    title: 'Idempotency keys',
    unit: 'per day',
    trial: 2000,
    full: 100_000,
    words: 'idempotency keys in 24 hours',
    free: 'Wait, or send requests without a key if they are safe to repeat.',
  },
  keptAnswerBytes: {
    title: 'Responses stored for idempotency keys',
    unit: 'bytes',
    trial: 8 * MEBI,
    full: 256 * MEBI,
    words: 'of responses stored for idempotency keys in 24 hours',
    free: 'Repeat a failed request soon. If its response is not stored, read the object that it created.',
  },
} as const satisfies Record<string, LimitRow>;

export type LimitName = keyof typeof LIMIT_ROWS;
export const LIMIT_NAMES = Object.keys(LIMIT_ROWS) as LimitName[];

export type Limits = Readonly<Record<AccountClass, Readonly<Record<LimitName, number>>>>;
/** The values that an installation sets in place of the table's. */
export type LimitOverrides = { readonly [Class in AccountClass]?: Readonly<Partial<Record<LimitName, number>>> };

const buildColumn = (column: AccountClass, overrides: LimitOverrides) =>
  Object.freeze(
    Object.fromEntries(LIMIT_NAMES.map((name) => [name, overrides[column]?.[name] ?? LIMIT_ROWS[name][column]])),
  ) as Limits['full'];

export const withOverrides = (overrides: LimitOverrides = {}): Limits =>
  Object.freeze({ trial: buildColumn('trial', overrides), full: buildColumn('full', overrides) });

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Checks `LOOPSTREAM_LIMITS`, e.g. `{"trial":{"streams":3}}`. Throws ConfigError, which names what is wrong. */
export function parseLimits(value: unknown): LimitOverrides {
  const fail = (problem: string): never => {
    throw new ConfigError(`LOOPSTREAM_LIMITS ${problem}.`);
  };
  if (!isObject(value)) return fail('must be JSON such as {"trial":{"streams":3},"full":{"streams":5000}}');
  for (const [column, rows] of Object.entries(value)) {
    if (!ACCOUNT_CLASSES.includes(column as AccountClass))
      return fail(`has the unknown class ${JSON.stringify(column)}; the classes are ${ACCOUNT_CLASSES.join(' and ')}`);
    if (!isObject(rows)) return fail(`must have an object at ${column}`);
    for (const [name, limit] of Object.entries(rows)) {
      if (!Object.hasOwn(LIMIT_ROWS, name))
        return fail(`has the unknown limit ${JSON.stringify(name)}; the limits are ${LIMIT_NAMES.join(', ')}`);
      if (!Number.isSafeInteger(limit) || Number(limit) < 0)
        return fail(`must have a whole number of 0 or more at ${column}.${name}`);
    }
  }
  return value;
}

/**
 * Reads the limits of accounts: LOOPSTREAM_LIMITS replaces values of the table. Settings older than the table set the
 * class `full`, and LOOPSTREAM_LIMITS takes precedence.
 */
export const accountLimits = (env: Env) => {
  const { optional, integer, json } = reader(env);
  const { trial, full } = optional('LIMITS') === undefined ? {} : parseLimits(json<unknown>('LIMITS'));
  const uploads = integer('UPLOAD_QUOTA_COUNT');
  const uploadBytes = integer('UPLOAD_QUOTA_BYTES');
  return withOverrides({
    ...(trial && { trial }),
    full: { uploads, uploadBytes, largestUploadBytes: maxSourceBytes(env), ...full },
  });
};

const UNITS = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB'] as const;

/** `5`, `1,000`, `1.5 GiB`. */
export function formatLimit(name: LimitName, amount: number): string {
  if (LIMIT_ROWS[name].unit !== 'bytes') return amount.toLocaleString('en');
  const power = amount < KIBI ? 0 : Math.min(UNITS.length - 1, Math.floor(Math.log2(amount) / 10));
  const inUnit = amount / KIBI ** power;
  return `${Math.floor(inUnit * 10) / 10} ${UNITS[power]}`;
}

/** The part of a limit that a request would take. */
export interface LimitClaim {
  name: LimitName;
  /** The amount in use. */
  used: number;
  /** The amount that the request takes. */
  wanted: number;
}

export interface LimitUse extends LimitClaim {
  allowed: number;
  class: AccountClass;
  /** The same limit in the class `full`. */
  full: number;
}

const lift = ({ name, class: column, full, allowed }: LimitUse): string =>
  column === 'trial' && full > allowed
    ? ` Buying credit once raises this limit to ${formatLimit(name, full)} permanently.`
    : '';

/**
 * Builds the error of a request that would exceed a limit. Its sentence names the limit, the amount in use, and two
 * ways on.
 */
export function limitExceeded(use: LimitUse): AppError {
  const { name, used, wanted, allowed } = use;
  const { words, free, code = 'quota_exceeded' } = LIMIT_ROWS[name] as LimitRow;
  const needs = wanted > 1 ? `; this request needs ${formatLimit(name, wanted)}` : '';
  const has = `The account may have ${formatLimit(name, allowed)} ${words}, and has ${formatLimit(name, used)}${needs}.`;
  const detail = `${has} ${free}${lift(use)}`;
  return new AppError(code, detail, { extras: { limit: name, used, allowed, class: use.class } });
}
