/**
 * Writes notices to the owner of an account about credentials: when, what, and how to undo it. Several that wait for
 * one address become one mail. Pure: no I/O, no clock.
 */
import type { Mail } from './mailer.ts';
import { renderMail } from './templates.ts';

export const NOTICE_KINDS = ['password', 'apiKey', 'passkey', 'app', 'provider'] as const;
export type NoticeKind = (typeof NOTICE_KINDS)[number];

export interface Notice {
  kind: NoticeKind;
  /** Its name; of a password, what else was changed with it, in whole sentences of ours. */
  what: string;
  at: Date;
}

/** Ways into an account, by their number. */
export interface CredentialCounts {
  apiKeys: number;
  apps: number;
  passkeys: number;
}

/** In one mail, each in a line of its own. */
const MAX_LINES = 20;
const MAX_NAME = 64;

/** Controls, and signs that turn the direction of a text or take no room. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Cn}\p{Cs}]/gu;
/** Mail programs make a link of it. */
const LINK_LIKE = /:\/\/|\/\/|\bwww\.|@|[\p{L}\p{N}-]\.\p{L}{2,}/iu;

/** Text of others as one line that shows all that it holds. */
export const toPlainLine = (text: string, maxLength: number): string =>
  text.normalize('NFKC').replace(/\s+/g, ' ').replace(UNSEEN, '').trim().slice(0, maxLength).toWellFormed();

/** A name as a mail may hold it: it must neither imitate our own text, nor lead the reader anywhere. */
export function quoteName(name: string): string {
  const plain = toPlainLine(name, MAX_NAME);
  return plain === '' || LINK_LIKE.test(plain) ? '(name not shown)' : `“${plain}”`;
}

const count = (number: number, one: string): string => `${number} ${one}${number === 1 ? '' : 's'}`;

const list = (parts: readonly string[]): string =>
  parts.length < 2 ? (parts[0] ?? '') : `${parts.slice(0, -1).join(', ')} and ${parts.at(-1)}`;

const countWays = ({ apiKeys, apps, passkeys }: CredentialCounts): string =>
  list([
    ...(apiKeys > 0 ? [count(apiKeys, 'API key')] : []),
    ...(apps > 0 ? [count(apps, 'connected app')] : []),
    ...(passkeys > 0 ? [count(passkeys, 'passkey')] : []),
  ]);

/** Describes the credentials that a new password revoked, and those that still work. */
export function describePassword(revoked: CredentialCounts, remaining: CredentialCounts): string {
  const [gone, left] = [countWays(revoked), countWays(remaining)];
  return [
    'All other sessions were ended.',
    gone ? `Revoked: ${gone}.` : 'No API key, connected app or passkey was revoked.',
    ...(left ? [`Still valid: ${left}. Check that you recognize each of them.`] : []),
  ].join(' ');
}

/** `25 November 2026, 09:15 UTC` */
const spellTime = (at: Date): string =>
  `${new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeStyle: 'short', timeZone: 'UTC' }).format(at).replace(' at ', ', ')} UTC`;

interface Words {
  subject: string;
  one: string;
  /** With it one can … */
  meaning: string;
  page: '/account' | '/account/keys' | '/account/apps';
}

const WORDS: Record<NoticeKind, Words> = {
  password: {
    subject: 'Your password was changed',
    one: 'new password',
    meaning: 'The old password no longer works.',
    page: '/account',
  },
  apiKey: {
    subject: 'An API key was created for your account',
    one: 'new API key',
    meaning: 'A program with this key may do what you have allowed the key.',
    page: '/account/keys',
  },
  passkey: {
    subject: 'A passkey was added to your account',
    one: 'new passkey',
    meaning: 'Anyone who has the device can sign in without the password.',
    page: '/account',
  },
  app: {
    subject: 'An app was connected to your account',
    one: 'new connected app',
    meaning: 'It can use your account, within the access that you allowed.',
    page: '/account/apps',
  },
  provider: {
    subject: 'A new way to sign in to your account',
    one: 'new way to sign in',
    meaning: 'Anyone who can use your account there can sign in here.',
    page: '/account',
  },
};

const sentence = ({ kind, what, at }: Notice): string => {
  const time = spellTime(at);
  if (kind === 'password') return `${time}: your password was changed. ${what}`;
  return `${time}: ${WORDS[kind].one} ${quoteName(what)}. ${WORDS[kind].meaning}`;
};

const writeSubject = (notices: readonly Notice[]): string => {
  const kinds = NOTICE_KINDS.filter((kind) => notices.some((notice) => notice.kind === kind));
  const [only] = kinds;
  if (notices.length === 1 && only) return WORDS[only].subject;
  return kinds.length === 1 && only
    ? `Your account has ${count(notices.length, WORDS[only].one)}`
    : `${notices.length} changes to your account`;
};

/** `publicUrl`: of the pages that it leads to. */
export function buildNoticeMail(to: string, notices: readonly Notice[], publicUrl: string): Mail {
  const pages = new Set(notices.map(({ kind }) => WORDS[kind].page));
  const reset = `${publicUrl}/forgot-password`;
  const isPassword = notices.every(({ kind }) => kind === 'password');
  const [page = '/account'] = pages.size === 1 ? pages : ['/account' as const];
  const shown = notices.slice(0, MAX_LINES).map(sentence);
  const more = notices.length - shown.length;
  return renderMail({
    to,
    subject: writeSubject(notices),
    before: [
      'This is about your loopstream account.',
      ...shown,
      ...(more > 0 ? [`And ${count(more, 'more change')}.`] : []),
      isPassword
        ? 'If it was you, you need not do anything. If it was not, choose a new password immediately:'
        : 'If it was you, you need not do anything. If it was not, remove it immediately:',
    ],
    action: isPassword
      ? { label: 'Choose a new password', url: reset }
      : { label: 'Review your account', url: `${publicUrl}${page}` },
    after: isPassword
      ? []
      : [`Then choose a new password. It ends all other sessions and revokes the remaining access: ${reset}`],
  });
}
