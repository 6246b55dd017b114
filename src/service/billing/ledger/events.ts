/**
 * Parses the changes of an account's money that the database notifies (db/migrations/notify.ts): noun and id, for
 * followers of the account. Pure: no I/O, no clock.
 */

import type { OwnedChange } from '../../domain/limits/owned-resources.ts';
import { CHANGES, MONEY_NOUNS, type MoneyNoun } from '../../lib/paging/change.ts';
import { createFollowers, type Followers } from '../../lib/paging/followers.ts';

/** The channel of the notifications. */
export const CHANNEL = 'loopstream_money';

export interface LedgerEvents {
  byNoun: Record<MoneyNoun, Pick<Followers<OwnedChange | 'reset'>, 'follow'>>;
  onNotify(payload: string): void;
  /** Earlier notifications may be lost: followers must read everything again. */
  onConnect(): void;
}

const isOne = <T extends string>(all: readonly T[], one: string | undefined): one is T =>
  (all as readonly (string | undefined)[]).includes(one);

export function createLedgerEvents(): LedgerEvents {
  const createList = () => createFollowers<OwnedChange | 'reset'>();
  const byNoun = {
    balance: createList(),
    topUp: createList(),
    invoice: createList(),
    deposit: createList(),
  } satisfies LedgerEvents['byNoun'];
  return {
    byNoun,
    onNotify(payload) {
      const [, noun, change, id = '', accountId = ''] = /^(\S+) (\S+) (\S+) (.+)$/s.exec(payload) ?? [];
      // A later version of the database may notify of more nouns.
      if (isOne(MONEY_NOUNS, noun) && isOne(CHANGES, change)) byNoun[noun].notify(accountId, { id, change });
    },
    onConnect: () => byNoun.balance.notifyAll('reset'),
  };
}
