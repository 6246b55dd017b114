/**
 * Parses a destination as users give it. The address may hold the user name and password, a placeholder where the key
 * goes, or the key itself; the result is an address, a key and a login. The API server, the operator and the pods that
 * publish all use it, so that each accepts the same destinations. Pure: no I/O, no clock.
 */
import { tidyKey, tidyText, tidyUrl } from '../../lib/pasted.ts';
import { trimEndOf } from '../../lib/trim.ts';
import { findIngestKeyProblem, hasHidden, type Ingest, readIngest } from './ingest.ts';
import { findLoginProblem, type Login, splitLogin } from './login.ts';
import { fillPlaceholder, hasPlaceholder, isPlaceholderKey, isPlaceholderPart } from './placeholders.ts';
import { isWhole, platformProblem } from './platforms.ts';

export const FIELDS = ['rtmpUrl', 'rtmpKey', 'rtmpUser', 'rtmpPassword'] as const;
export type DestinationField = (typeof FIELDS)[number];

/** A destination as a user wrote it; a missing field equals an empty one. */
export type GivenDestination = { rtmpUrl: string } & Partial<Record<DestinationField, string>>;

export interface ReadDestination {
  /** The address that media is sent to, without key and login, or an SRT address with the key in it. */
  ingest: Ingest;
  /** RTMP: the stream name for the server. SRT: the stream id, unless it is an option of the address. */
  streamName: string;
  /** The address without key and login, as it may be kept and, by `redactUrl`, shown; a placeholder amid it stays. */
  rtmpUrl: string;
  /** The key as it may be kept beside that address. */
  rtmpKey: string;
  rtmpUser: string;
  rtmpPassword: string;
}

export interface DestinationProblem {
  field: DestinationField;
  /** A sentence that follows the name of the field. */
  problem: string;
}

export type DestinationResult =
  | { read: ReadDestination; problem?: undefined; field?: undefined }
  | ({ read?: undefined } & DestinationProblem);

const wrong = (field: DestinationField, problem: string): DestinationResult => ({ field, problem });

/** An address and its key, as far as they were found in each other. */
interface Located {
  rtmpUrl: string;
  rtmpKey: string;
  /** Set where the sent address differs from the stored one. */
  sent?: { rtmpUrl: string; rtmpKey: string };
}
type LocatedResult = Located | DestinationProblem;

const NO_KEY: DestinationProblem = {
  field: 'rtmpUrl',
  problem: 'has a placeholder in place of the stream key; give the key as rtmpKey',
};

/** Longer than anything that can be passed on: it is not parsed further. */
const MAX_CHARACTERS = 4096;

const NO_NAME: DestinationProblem = {
  field: 'rtmpUrl',
  problem:
    'has a placeholder for the key but no stream name; give the URL up to the application, and the key as rtmpKey',
};

/** Problems quote nothing but, by `quote`, the name of an option (ingest.ts). */
export function readDestination(given: GivenDestination, quote?: (name: string) => string): DestinationResult {
  const long = FIELDS.find((field) => (given[field] ?? '').length > MAX_CHARACTERS);
  if (long) return wrong(long, `must have at most ${MAX_CHARACTERS} characters`);
  const { rtmpUrl: bare, login } = splitLogin(tidyUrl(given.rtmpUrl));
  const credentials = mergeLogins(login, given);
  if (credentials.problem !== undefined) return wrong(credentials.field, credentials.problem);
  const key = tidyKey(given.rtmpKey ?? '');
  if (isPlaceholderKey(key) || isPlaceholderKey(tidyText(given.rtmpKey ?? '')))
    return wrong('rtmpKey', 'is a placeholder; give the stream key that the platform shows');
  const located = /^srt:/i.test(bare) ? locateInQuery(bare, key) : locateInPath(bare, key);
  if ('problem' in located) return wrong(located.field, located.problem);
  if (/^(rtmp\w*|srt|https?):\/\//i.test(located.rtmpKey)) {
    return wrong('rtmpKey', 'is a URL; give the stream key alone');
  }
  const { rtmpUrl, rtmpKey, sent = { rtmpUrl, rtmpKey } } = located;
  const { ingest, problem } = readIngest(sent.rtmpUrl, quote);
  if (problem !== undefined) return wrong('rtmpUrl', problem);
  if (/[{}<>]/.test(ingest.path + ingest.query))
    return wrong('rtmpUrl', 'has a placeholder; replace it with its value');
  const badKey = findIngestKeyProblem(sent.rtmpKey, ingest.protocol);
  if (badKey !== undefined) return wrong('rtmpKey', badKey);
  const misplaced = platformProblem(ingest);
  if (misplaced !== undefined) return wrong('rtmpUrl', misplaced);
  const badLogin = findLoginProblem(credentials, ingest.protocol);
  if (badLogin) return wrong(badLogin.field, badLogin.problem);
  const { rtmpUser, rtmpPassword } = credentials;
  return { read: { ingest, streamName: sent.rtmpKey, rtmpUrl, rtmpKey, rtmpUser, rtmpPassword } };
}

export const findHiddenProblem = (rtmpUrl: string): string | undefined =>
  hasHidden(rtmpUrl) ? 'has hidden values (…); enter them again, or leave the URL as it is shown' : undefined;

/** Stands for a key that is not known: an address is judged without it. */
const SOME_KEY = 'some-key';

/** Why an address is none of a destination, whatever its key is; undefined where it is one. The sentence follows the name of the field. */
export function findAddressProblem(rtmpUrl: string): string | undefined {
  const hidden = findHiddenProblem(rtmpUrl);
  if (hidden !== undefined) return hidden;
  const { field, problem } = readDestination({ rtmpUrl, rtmpKey: SOME_KEY });
  return field === 'rtmpUrl' ? problem : undefined;
}

/** `optional`: the address may be complete. The key may also have been forgotten, so people must say that they mean none. */
export type KeyNeed = 'none' | 'optional' | 'required';

/** Whether a new destination needs a key: SRT needs none, nor does an address that ends with the key. */
export function findKeyNeed({ ingest, streamName }: ReadDestination): KeyNeed {
  if (ingest.protocol === 'srt' || streamName !== '') return 'none';
  return isWhole(ingest) ? 'optional' : 'required';
}

type GivenCredentials = { rtmpUser: string; rtmpPassword: string; problem?: undefined } | DestinationProblem;

/** The login of the fields, or that of the address; given twice it must be the same. */
export function mergeLogins(login: Login | undefined, given: Partial<GivenDestination>): GivenCredentials {
  const [rtmpUser, rtmpPassword] = [tidyText(given.rtmpUser ?? ''), tidyText(given.rtmpPassword ?? '')];
  if (!login) return { rtmpUser, rtmpPassword };
  const isOther = (mine: string, theirs: string) => mine !== '' && theirs !== '' && mine !== theirs;
  if (isOther(rtmpUser, login.user) || isOther(rtmpPassword, login.password)) {
    return {
      field: 'rtmpUrl',
      problem: 'contains a login that differs from rtmpUser and rtmpPassword; give the login in these fields only',
    };
  }
  return { rtmpUser: rtmpUser || login.user, rtmpPassword: rtmpPassword || login.password };
}

/** SRT: the key takes the place of a placeholder within a value, or it is the stream id. */
function locateInQuery(rtmpUrl: string, key: string): LocatedResult {
  if (!hasPlaceholder(rtmpUrl)) return { rtmpUrl, rtmpKey: key };
  if (key === '') return NO_KEY;
  return { rtmpUrl, rtmpKey: key, sent: { rtmpUrl: fillPlaceholder(rtmpUrl, encodeURIComponent(key)), rtmpKey: '' } };
}

interface Path {
  /** Scheme and authority. */
  base: string;
  parts: string[];
  /** From the question mark on. */
  query: string;
}

function splitPath(rtmpUrl: string): Path {
  const [, base = rtmpUrl, path = '', query = ''] = /^([^:/?#]+:\/\/[^/?]*)([^?]*)(.*)$/s.exec(rtmpUrl) ?? [];
  const inner = trimEndOf(path.replace(/^\/+/, ''), '/');
  return { base, parts: inner === '' ? [] : inner.split('/'), query };
}

const join = (base: string, parts: readonly string[]): string => [base, ...parts].join('/');
const append = (key: string, query: string): string => key + (key.includes('?') ? query.replace(/^\?/, '&') : query);

/**
 * RTMP: the key may be the last part of the path, or have a placeholder there. The kept address is read again: where it ends like
 * its key (`rtmp://host/app/name` with the key `name`), the placeholder keeps that end from being taken for the key.
 */
function locateInPath(rtmpUrl: string, key: string): LocatedResult {
  const located = findInPath(rtmpUrl, key);
  if ('problem' in located || located.sent) return located;
  const found = { rtmpUrl: tidyText(located.rtmpUrl), rtmpKey: tidyKey(located.rtmpKey) };
  const again = findInPath(found.rtmpUrl, found.rtmpKey);
  if (!('problem' in again) && again.rtmpUrl === found.rtmpUrl && again.rtmpKey === found.rtmpKey) return found;
  return { rtmpUrl: `${found.rtmpUrl}/{key}`, rtmpKey: found.rtmpKey, sent: found };
}

function findInPath(rtmpUrl: string, key: string): LocatedResult {
  const { base, parts, query } = splitPath(rtmpUrl);
  const last = parts.at(-1);
  const app = join(base, parts.slice(0, -1));
  if (last !== undefined && isPlaceholderPart(last)) {
    if (key === '') return NO_KEY;
    const sent = { rtmpUrl: app, rtmpKey: append(fillPlaceholder(last, key), query) };
    return sent.rtmpKey === key ? sent : { rtmpUrl, rtmpKey: key, sent };
  }
  if (hasPlaceholder(rtmpUrl)) {
    if (key === '') return NO_KEY;
    const filled = cutKey(fillPlaceholder(rtmpUrl, key));
    return filled.rtmpKey === '' ? NO_NAME : { rtmpUrl, rtmpKey: key, sent: filled };
  }
  if (key === '') return cutKey(rtmpUrl);
  if (parts.length > 1) {
    const [name = ''] = key.split('?', 1);
    if (`${last}${query}` === key) return { rtmpUrl: app, rtmpKey: key };
    if (last === name) return { rtmpUrl: app, rtmpKey: name === key ? append(key, query) : key };
  }
  return { rtmpUrl, rtmpKey: key };
}

/**
 * Cuts the key off the end of the address where no key is given, as programs of one argument write it. ffmpeg
 * (`rtmp_open`) takes two parts of the path as the application when there are three, unless the second has a colon, as
 * `mp4:` has.
 */
function cutKey(rtmpUrl: string): Located {
  const { base, parts, query } = splitPath(rtmpUrl);
  const length = parts.length > 2 && !parts[1]?.includes(':') ? 2 : 1;
  const rtmpKey = parts.slice(length).join('/');
  return rtmpKey === ''
    ? { rtmpUrl, rtmpKey }
    : { rtmpUrl: join(base, parts.slice(0, length)), rtmpKey: rtmpKey + query };
}
