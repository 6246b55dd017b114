/** Gives credit to accounts, for tests and benchmarks about something else. */
import { customer, type Ledger } from '../../../src/service/billing/ledger/ledger.ts';

let given = 0;

export interface Gift {
  at?: Date;
  /** The text in the statement. */
  reason?: string;
}

/** Credits an account with spendable credit; a negative amount takes it away. */
export async function adjustCredit(
  ledger: Ledger,
  accountId: string,
  credits: bigint,
  { at = new Date(), reason }: Gift = {},
): Promise<void> {
  const entries = [
    { account: customer(accountId), credits },
    { account: 'grants', credits: -credits },
  ];
  given += 1;
  const key = `given:${accountId}:${process.pid}:${given}`;
  const details = reason === undefined ? {} : { reason };
  await ledger.post({ key, kind: 'grant', accountId, entries, at, details });
}
