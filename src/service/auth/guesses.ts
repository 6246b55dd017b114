/**
 * Bounds the passwords that are tried for one account, however many addresses they come from. Places in which somebody has signed in
 * to the account go on unhindered: an address by the limits of its own, a browser by a count of its own (OWASP, "Slow Down Online
 * Guessing Attacks with Device Cookies"). All other places share one count, so a stranger cannot lock out the owner.
 *
 * An address without an account is counted in the same way.
 */
import { createHmac, randomBytes } from 'node:crypto';
import { APIError } from 'better-auth/api';
import type { Db } from '../db/pool.ts';
import { cookieName, readCookie } from './addresses.ts';
import {
  countGuess,
  findKnownSources,
  forgetSources,
  keepSources,
  SOURCE_DAYS,
  type Tried,
  uncountGuess,
} from './guesses/store.ts';

/** The header by which mount.ts tells the network address of a request; never a browser's own. */
export const NETWORK_HEADER = 'x-client-network';

/** 32 random bytes as base64url. */
const SECRET = /^[\w-]{43}$/;
/** So many buckets are the largest number of counts. Which accounts share one is secret, and a hint to nobody. */
const BUCKET_BITS = 20;

/** Which count a try belongs to; `none` where the limit of the address suffices. */
export type Count = 'none' | 'browser' | 'strangers';

export function chooseCount(known: { address: boolean; browser: boolean }): Count {
  if (known.address) return 'none';
  return known.browser ? 'browser' : 'strangers';
}

/** Decides about a try that has been counted: in how many seconds the next one may come, where this one may not. */
export const findWait = ({ attempts, secondsLeft }: Tried, limit: number): number | undefined =>
  attempts > limit ? secondsLeft : undefined;

/** The first refusal of an hour is worth a mail; the owner gets one a day. */
export const isFirstRefusal = ({ attempts }: Tried, limit: number): boolean => attempts === limit + 1;

/** Ways to sign in that need no password from here. */
export interface OtherWays {
  hasMail: boolean;
  /** Name of the outside provider. */
  provider: string | undefined;
}

/** Says why a try is refused, and how the owner gets in nevertheless. */
export function describeRefusal(waitSeconds: number, { hasMail, provider }: OtherWays): string {
  const ways = [
    'with a passkey',
    ...(provider === undefined ? [] : [`with ${provider}`]),
    'from a browser that has signed in before',
  ];
  return [
    'Too many passwords were tried for this account from places that have not signed in to it.',
    `Sign in ${ways.slice(0, -1).join(', ')} or ${ways.at(-1)}.`,
    ...(hasMail ? ['Or choose a new password by mail, which works here immediately.'] : []),
    `Otherwise try again in ${waitSeconds} seconds.`,
  ].join(' ');
}

const refuse = (code: string, message: string, waitSeconds: number) =>
  new APIError('TOO_MANY_REQUESTS', { code, message }, { 'retry-after': String(waitSeconds) });

interface Asked {
  headers?: Headers | undefined;
}

interface Answered extends Asked {
  setCookie(name: string, value: string, attributes: object): unknown;
}

export interface GuessDeps {
  db: Db;
  secret: string;
  publicUrl: string;
  /** Passwords that all strange places together may try in an hour, and each known browser. */
  limit: number;
  ways: OtherWays;
  /** Called once an hour at most for an account, or an address without one. */
  onRefused(email: string): Promise<void>;
}

export type Guesses = ReturnType<typeof createGuesses>;

export function createGuesses({ db, secret, publicUrl, limit, ways, onRefused }: GuessDeps) {
  const cookie = cookieName(publicUrl, 'browser');
  const attributes = {
    httpOnly: true,
    sameSite: 'lax' as const,
    path: '/',
    maxAge: SOURCE_DAYS * 86_400,
    secure: publicUrl.startsWith('https:'),
  };
  const digest = (...parts: string[]) => createHmac('sha256', secret).update(JSON.stringify(['guesses', ...parts]));
  const bucketOf = (...parts: string[]): number =>
    digest('bucket', ...parts)
      .digest()
      .readUInt32BE() >>>
    (32 - BUCKET_BITS);
  const sourceOf = (...parts: string[]): string => digest('source', ...parts).digest('base64url');

  function readSources({ headers }: Asked) {
    const address = headers?.get(NETWORK_HEADER);
    const kept = readCookie(headers?.get('cookie') ?? '', cookie) ?? '';
    return {
      address: address ? sourceOf('address', address) : undefined,
      browser: SECRET.test(kept) ? kept : undefined,
    };
  }

  return {
    /**
     * Counts a try before its password is checked, so that tries at the same moment count too. Throws `TOO_MANY_GUESSES`, whether
     * the password is the right one or not. Resolves to what takes the count back if it was, or undefined where nothing was counted.
     */
    async admit(address: string, asked: Asked): Promise<(() => Promise<void>) | undefined> {
      const email = address.trim().toLowerCase();
      const source = readSources(asked);
      const browser = source.browser === undefined ? undefined : sourceOf('browser', source.browser);
      const known = await findKnownSources(db, email, [source.address ?? '', browser ?? '']);
      const isKnown = (one: string | undefined) => one !== undefined && known.includes(one);
      const count = chooseCount({ address: isKnown(source.address), browser: isKnown(browser) });
      if (count === 'none') return undefined;
      const bucket = count === 'browser' ? bucketOf(email, browser ?? '') : bucketOf(email);
      const tried = await countGuess(db, bucket);
      const wait = findWait(tried, limit);
      if (wait === undefined) return () => uncountGuess(db, bucket);
      if (count === 'strangers' && isFirstRefusal(tried, limit)) await onRefused(email);
      throw refuse('TOO_MANY_GUESSES', describeRefusal(wait, ways), wait);
    },

    /** Counts a try of somebody with a session, whose cookie may be stolen. Throws `TOO_MANY_ATTEMPTS`. */
    async admitSession(token: string): Promise<void> {
      const wait = findWait(await countGuess(db, bucketOf('session', token)), limit);
      if (wait === undefined) return;
      const message = `Too many passwords were tried in this session. Try again in ${wait} seconds, or sign in again.`;
      throw refuse('TOO_MANY_ATTEMPTS', message, wait);
    },

    /** Forgets the places of an account: a stranger may have signed in there. */
    forgetPlaces: (userId: string): Promise<void> => forgetSources(db, userId),

    /** The user has shown in this place to be the owner. */
    async trust(userId: string, context: Answered): Promise<void> {
      const { address, browser = randomBytes(32).toString('base64url') } = readSources(context);
      await keepSources(db, userId, [...(address === undefined ? [] : [address]), sourceOf('browser', browser)]);
      context.setCookie(cookie, browser, attributes);
    },
  };
}
