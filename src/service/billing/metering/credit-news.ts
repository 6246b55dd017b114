/** Finds what happened to the credit of an account, for its events. Pure: no I/O, no clock. */
import { READINESS_ISSUES } from '../../../core/lib/codes/streams.ts';
import { buildEventId, NO_DATA, type Snapshot } from '../../domain/events/record.ts';
import type { News, Subject } from '../../domain/events/store.ts';
import type { CreditVerdict } from './credit.ts';
import type { AccountCredit } from './estimate.ts';

const { InsufficientCredits } = READINESS_ISSUES;

const inWords = (hours: number): string => (hours === 1 ? 'an hour' : `${hours} hours`);

export const describeLow = (hours: number): string =>
  `The credit of the account lasts for less than ${inWords(hours)} at the current rate. Add credit.`;

export const toSubject = (accountId: string): Subject => ({
  accountId,
  object: 'account',
  objectId: accountId,
  uid: accountId,
});

/** The fields of the billing status that are known here. */
const buildSnapshot = ({ credit, estimate }: AccountCredit, { exhaustedAt, hadCredit }: CreditVerdict): Snapshot => ({
  state: exhaustedAt ? 'exhausted' : 'low',
  hadCredit,
  balanceCredits: String(credit.balance),
  availableCredits: String(estimate.available),
  creditsPerHour: String(estimate.creditsPerHour),
  secondsLeft: estimate.secondsLeft ?? null,
});

/**
 * Returns the event of a state that changes from `credit` to `verdict`; undefined where nobody has to know. `seq` is the number of the
 * account's last event. It is part of the id: a state that is judged again after a restored backup has the same id, though the clock
 * has gone on.
 */
export function findCreditNews(
  accountId: string,
  account: AccountCredit,
  verdict: CreditVerdict,
  { seq, now }: { seq: number; now: Date },
): News | undefined {
  const { exhaustedAt, hadCredit, warn } = verdict;
  const common = { at: now, snapshot: buildSnapshot(account, verdict) };
  if (exhaustedAt !== undefined) {
    // An account that never had credit has used none up.
    if (account.credit.exhaustedAt !== undefined || !hadCredit) return undefined;
    const { code, fix } = InsufficientCredits;
    const message = 'The credit of the account is used up.';
    return {
      ...common,
      id: buildEventId(accountId, `exhausted_${seq + 1}`),
      type: 'credit.exhausted',
      data: { ...NO_DATA, name: 'Credit', code, message, fix },
    };
  }
  if (warn === undefined) return undefined;
  return {
    ...common,
    id: buildEventId(accountId, `low${warn}_${seq + 1}`),
    type: 'credit.low',
    data: { ...NO_DATA, name: 'Credit', message: describeLow(warn), fix: 'Add credit.', hoursLeft: warn },
  };
}
