/**
 * Limits the letters that a mailbox gets, whatever causes them and from whichever address: counted in the database, by the
 * mailbox behind an address. An owner must not be kept from a link by a stranger who has used the budget up, so each kind of
 * link has a part of it that the others cannot use; where a part is used up, a link that is good lies in the mailbox.
 */
import { hash } from 'node:crypto';
import { domainToASCII } from 'node:url';
import type { Db } from '../../db/pool.ts';
import { type Allowed, takeLetter } from './store.ts';

const HOUR_SECONDS = 3600;
const DAY_SECONDS = 86_400;

/** Providers that deliver to one mailbox whichever of these signs stand in its name, and under whichever of these domains. */
const PROVIDERS: { domains: readonly string[]; ignored: RegExp }[] = [
  { domains: ['gmail.com', 'googlemail.com'], ignored: /\./g },
  { domains: ['proton.me', 'protonmail.com', 'pm.me'], ignored: /[._-]/g },
];

const split = (address: string): [local: string, domain: string] => {
  const plain = address.normalize('NFKC').trim().toLowerCase();
  const at = plain.lastIndexOf('@');
  const domain = plain.slice(at + 1).replace(/\.+$/, '');
  return [plain.slice(0, Math.max(at, 0)), domainToASCII(domain) || domain];
};

/** `a+tag@example.com`: most providers deliver it to `a@example.com` (RFC 5233). */
const isTagged = (address: string): boolean => split(address)[0].indexOf('+') > 0;

/** The mailbox that an address most likely leads to. It is only counted by, and never written to. */
export function mailboxOf(address: string): string {
  const [local, domain] = split(address);
  const provider = PROVIDERS.find(({ domains }) => domains.includes(domain));
  const untagged = isTagged(address) ? local.slice(0, local.indexOf('+')) : local;
  const bare = provider ? untagged.replace(provider.ignored, '') : untagged;
  return `${bare || untagged}@${provider?.domains[0] ?? domain}`;
}

/** Letters that a stranger can have sent. `confirm` and `known` follow a sign-up, `reset` a forgotten password. */
export type StrangersLetter = 'confirm' | 'known' | 'reset';

/**
 * From the narrowest to the widest; `perHour`: all of them together. A sign-up leaves one letter for a reset, and one for a
 * sign-up with a tag leaves one for the address without it. The links of sign-ups are good for a day, so few a day do.
 */
export function allowancesOf(letter: StrangersLetter, address: string, perHour: number): Allowed[] {
  const hourly = (kind: string, letters: number): Allowed => ({
    kind,
    letters: Math.max(1, letters),
    seconds: HOUR_SECONDS,
  });
  const all = hourly('all', perHour);
  if (letter === 'reset') return [all];
  return [
    // It holds nothing that could be used up.
    ...(letter === 'known' ? [hourly('known', 1)] : []),
    ...(isTagged(address) ? [hourly('sign-up with a tag', perHour - 2)] : []),
    hourly('sign-up', perHour - 1),
    { kind: 'sign-up in a day', letters: 2 * perHour, seconds: DAY_SECONDS },
    all,
  ];
}

export function createMailBudget({ db, perHour }: { db: Db; perHour: number }) {
  /** Addresses of strangers are kept in no form that could be read. */
  const keyOf = (mailbox: string): string => hash('sha256', mailbox, 'base64url');
  return {
    /** Whether the letter may be sent; it counts from then on. */
    async take(letter: StrangersLetter, address: string): Promise<boolean> {
      const mailbox = keyOf(mailboxOf(address));
      for (const allowed of allowancesOf(letter, address, perHour))
        if (!(await takeLetter(db, mailbox, allowed))) return false;
      return true;
    },

    /** For what only somebody inside the account can cause: apart from all that a stranger could use up. */
    notices: (address: string): { mailbox: string; allowed: Allowed } => ({
      mailbox: keyOf(address.toLowerCase()),
      allowed: { kind: 'notice', letters: perHour, seconds: HOUR_SECONDS },
    }),
  };
}
