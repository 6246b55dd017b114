/** Describes unusual states of deposits and payments for users. Pure: no I/O, no clock. */
import { formatRate, formatUnits } from './amounts.ts';
import type { DepositView } from './payment-states.ts';
import type { Explanation } from './record.ts';
import { IGNORED } from './spec.ts';
import type { DepositRow, PaymentRow } from './store.ts';

const buildExplanation = (code: string, message: string): Explanation => ({ code, message });

export function explainPayment(row: PaymentRow, deposit: DepositRow, currency: string): Explanation | null {
  const at =
    row.rate === null ? 'at the rate of the time when it is credited' : `at ${formatRate(row.rate)} ${currency}`;
  switch (row.state) {
    case 'ignored':
      return buildExplanation(row.reason ?? 'dust', IGNORED[row.reason ?? 'dust']);
    case 'reorged':
      return buildExplanation('reorged', 'Its block has left the chain. It is credited when it is in a block again.');
    case 'reversed':
      return buildExplanation(
        'reversed',
        'It has left the chain, and what was credited was taken back. It counts again if it comes back.',
      );
    case 'dropped':
      return buildExplanation('dropped', 'The network knows it no more: another transaction has taken its place.');
    default:
      if (row.state === 'credited' && row.height === null)
        return buildExplanation(
          'reorged',
          'Its block has left the chain. If it does not come back, what was credited is taken back.',
        );
      if (row.network !== deposit.network || row.asset !== deposit.asset)
        return buildExplanation('other_asset', `It is not what was asked for; it counts all the same, ${at}.`);
      return row.late ? buildExplanation('late', `It came after the quote had expired, and counts ${at}.`) : null;
  }
}

export function explainDeposit(row: DepositRow, { state, received }: DepositView): Explanation | null {
  const coins = (amount: bigint) => `${formatUnits(amount, row.decimals)} ${row.asset}`;
  if (state === 'expired')
    return buildExplanation('expired', 'Nothing came in time. What comes later is credited at the rate of its time.');
  if (row.amount === null || (state !== 'underpaid' && state !== 'credited')) return null;
  if (state === 'underpaid') {
    const rest = coins(row.amount - received);
    return buildExplanation(
      'underpaid',
      `${coins(received)} of ${coins(row.amount)} came and is credited; ${rest} may follow.`,
    );
  }
  if (received === row.amount) return null;
  return buildExplanation(
    'overpaid',
    `${coins(received)} came where ${coins(row.amount)} was asked for; all of it is credited.`,
  );
}
