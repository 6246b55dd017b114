/** Credit as a gift, for tests and benchmarks that are about something else. */
import { customer, type Ledger } from '../../../src/billing/ledger/ledger.ts';

let given = 0;

export interface Gift {
  at?: Date;
  /** Stands in the statement. */
  reason?: string;
}

/** Credits an account with what it then has to use; less than 0 takes it away again. */
export async function give(
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
