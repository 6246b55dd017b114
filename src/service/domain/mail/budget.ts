/**
 * Limits the mails to a mailbox, whatever their cause and sender. The database counts them by the mailbox behind an address. A
 * stranger who uses up the budget must not keep an owner from a link. Each kind of link therefore has a part of its own. If a part
 * is used up, the mailbox already has a valid link.
 */

import { hash } from 'node:crypto';
import { domainToASCII } from 'node:url';
import { trimEndOf } from '../../../core/lib/trim.ts';
import type { Db } from '../../db/pool.ts';
import { type Allowed, countMail } from './store.ts';

const HOUR_SECONDS = 3600;
const DAY_SECONDS = 86_400;

/** Providers that ignore these characters in a name, and deliver mail for all of these domains to one mailbox. */
const PROVIDERS: { domains: readonly string[]; ignored: RegExp }[] = [
  { domains: ['gmail.com', 'googlemail.com'], ignored: /\./g },
  { domains: ['proton.me', 'protonmail.com', 'pm.me'], ignored: /[._-]/g },
];

const split = (address: string): [local: string, domain: string] => {
  const plain = address.normalize('NFKC').trim().toLowerCase();
  const at = plain.lastIndexOf('@');
  const domain = trimEndOf(plain.slice(at + 1), '.');
  return [plain.slice(0, Math.max(at, 0)), domainToASCII(domain) || domain];
};

/** `a+tag@example.com`: most providers deliver it to `a@example.com` (RFC 5233). */
const isTagged = (address: string): boolean => split(address)[0].indexOf('+') > 0;

/** Returns the mailbox that most likely belongs to an address. It is a key for counting, never a recipient. */
export function findMailbox(address: string): string {
  const [local, domain] = split(address);
  const provider = PROVIDERS.find(({ domains }) => domains.includes(domain));
  const untagged = isTagged(address) ? local.slice(0, local.indexOf('+')) : local;
  const bare = provider ? untagged.replace(provider.ignored, '') : untagged;
  return `${bare || untagged}@${provider?.domains[0] ?? domain}`;
}

/** Mails to people who care for streams, in an hour: several streams may be off air for several reasons. */
const ALERTS_PER_HOUR = 20;
/** A code for an address that an account has entered. It takes no place of a link. */
const CODES_PER_HOUR = 3;
const CODES_PER_DAY = 6;

/** Mails that a stranger can cause. `confirm` and `known` follow a sign-up, `reset` a forgotten password, `guessed` tried passwords. */
export type StrangersMail = 'confirm' | 'known' | 'reset' | 'guessed';

/**
 * Lists budgets from the narrowest to the widest; `perHour` limits all together. A sign-up leaves one mail for a reset. A sign-up
 * with a tag leaves one for the address without it. The links of sign-ups are valid for a day, so a few a day are enough.
 */
export function listAllowances(mail: StrangersMail, address: string, perHour: number): Allowed[] {
  const hourly = (kind: string, mails: number): Allowed => ({
    kind,
    mails: Math.max(1, mails),
    seconds: HOUR_SECONDS,
  });
  const all = hourly('all', perHour);
  if (mail === 'reset') return [all];
  // It takes no place of a link, and nobody can keep it from the owner by causing other mails.
  if (mail === 'guessed') return [{ kind: 'guessed', mails: 1, seconds: DAY_SECONDS }];
  return [
    // This mail contains no link that could be used up.
    ...(mail === 'known' ? [hourly('known', 1)] : []),
    ...(isTagged(address) ? [hourly('sign-up with a tag', perHour - 2)] : []),
    hourly('sign-up', perHour - 1),
    { kind: 'sign-up in a day', mails: 2 * perHour, seconds: DAY_SECONDS },
    all,
  ];
}

export function createMailBudget({ db, perHour }: { db: Db; perHour: number }) {
  /** Hashes the addresses of strangers, so that nobody can read them. */
  const hashMailbox = (mailbox: string): string => hash('sha256', mailbox, 'base64url');
  return {
    /** Returns whether the mail may be sent, and counts it. */
    async take(mail: StrangersMail, address: string): Promise<boolean> {
      const mailbox = hashMailbox(findMailbox(address));
      for (const allowed of listAllowances(mail, address, perHour))
        if (!(await countMail(db, mailbox, allowed))) return false;
      return true;
    },

    /** Returns whether a message about streams, or the code for it, may be sent to an address, and counts it. */
    async takeAlert(mail: 'alert' | 'code', address: string): Promise<boolean> {
      const mailbox = hashMailbox(findMailbox(address));
      if (mail === 'alert')
        return countMail(db, mailbox, { kind: 'alert', mails: ALERTS_PER_HOUR, seconds: HOUR_SECONDS });
      const isHourly = await countMail(db, mailbox, { kind: 'code', mails: CODES_PER_HOUR, seconds: HOUR_SECONDS });
      return isHourly && countMail(db, mailbox, { kind: 'code in a day', mails: CODES_PER_DAY, seconds: DAY_SECONDS });
    },

    /** Budget of mails that only somebody inside the account can cause. Strangers cannot use it up. */
    notices: (address: string): { mailbox: string; allowed: Allowed } => ({
      mailbox: hashMailbox(address.toLowerCase()),
      allowed: { kind: 'notice', mails: perHour, seconds: HOUR_SECONDS },
    }),
  };
}
