/** Finds what happened to the credit of an account, for its events. Pure: no I/O, no clock. */
import { READINESS_ISSUES } from '../../../core/lib/codes/streams.ts';
import { buildEventId, NO_DATA, type Snapshot } from '../../domain/events/record.ts';
import type { News, Subject } from '../../domain/events/store.ts';
import type { Credit, CreditVerdict } from './credit.ts';
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

type Told = Pick<News, 'type' | 'data'> & { what: string };

/** An account that never had credit has used none up. */
function findTold(credit: Credit, { exhaustedAt, hadCredit, warn }: CreditVerdict): Told | undefined {
  if (exhaustedAt !== undefined) {
    if (credit.exhaustedAt !== undefined || !hadCredit) return undefined;
    const { code, fix } = InsufficientCredits;
    const message = 'The credit of the account is used up.';
    return { type: 'credit.exhausted', what: 'exhausted', data: { ...NO_DATA, name: 'Credit', code, message, fix } };
  }
  if (warn === undefined) return undefined;
  const data = { ...NO_DATA, name: 'Credit', message: describeLow(warn), fix: 'Add credit.', hoursLeft: warn };
  return { type: 'credit.low', what: `low${warn}`, data };
}

/**
 * Returns the event of a state that changes from that of `account` to `verdict`; undefined where nobody has to know. `mark` counts the
 * events of each state, such as `low24=2&exhausted=1`. The count is the id: a state that is judged again after a restored backup has the same
 * id, though the clock has gone on.
 */
export function findCreditNews(
  accountId: string,
  account: AccountCredit,
  verdict: CreditVerdict,
  { mark, now }: { mark: string; now: Date },
): { news: News[]; mark: string } | undefined {
  const told = findTold(account.credit, verdict);
  if (!told) return undefined;
  const { what, ...event } = told;
  const counts = new URLSearchParams(mark);
  counts.set(what, String(Number(counts.get(what)) + 1));
  const id = buildEventId(accountId, `${what}_${counts.get(what)}`);
  return { news: [{ ...event, id, at: now, snapshot: buildSnapshot(account, verdict) }], mark: String(counts) };
}
