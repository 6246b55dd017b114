/** Describes unusual states of deposits and payments for users. Pure: no I/O, no clock. */
import { formatRate, formatUnits } from './amounts.ts';
import type { DepositView } from './payment-states.ts';
import type { DepositExplanation } from './record.ts';
import { IGNORED } from './spec.ts';
import type { DepositRow, PaymentRow } from './store.ts';

const buildExplanation = (code: string, message: string): DepositExplanation => ({ code, message });

export function explainPayment(row: PaymentRow, deposit: DepositRow, currency: string): DepositExplanation | null {
  const at = row.rate === null ? 'at the rate of that time' : `at ${formatRate(row.rate)} ${currency}`;
  switch (row.state) {
    case 'ignored':
      return buildExplanation(row.reason ?? 'dust', IGNORED[row.reason ?? 'dust']);
    case 'reorged':
      return buildExplanation(
        'reorged',
        'The chain dropped the block of this payment. The payment is credited when it is in a block again.',
      );
    case 'reversed':
      return buildExplanation(
        'reversed',
        'The chain dropped this payment, and its credit was taken back. The payment is credited again if it returns to the chain.',
      );
    case 'dropped':
      return buildExplanation('dropped', 'Another transaction replaced this payment, so it is not credited.');
    default:
      if (row.state === 'credited' && row.height === null)
        return buildExplanation(
          'reorged',
          'The chain dropped the block of this payment. If the payment does not return, its credit is taken back.',
        );
      if (row.network !== deposit.network || row.asset !== deposit.asset)
        return buildExplanation('other_asset', `The payment is in another asset than the quote. It is credited ${at}.`);
      return row.late
        ? buildExplanation('late', `The payment arrived after the quote expired. It is credited ${at}.`)
        : null;
  }
}

export function explainDeposit(row: DepositRow, { state, received }: DepositView): DepositExplanation | null {
  const coins = (amount: bigint) => `${formatUnits(amount, row.decimals)} ${row.asset}`;
  if (state === 'expired')
    return buildExplanation(
      'expired',
      'No payment arrived in time. A later payment is credited at the rate of its time.',
    );
  if (row.amount === null || (state !== 'underpaid' && state !== 'credited')) return null;
  if (state === 'underpaid') {
    const rest = coins(row.amount - received);
    return buildExplanation(
      'underpaid',
      `${coins(received)} of ${coins(row.amount)} arrived and is credited. The remaining ${rest} may follow.`,
    );
  }
  if (received === row.amount) return null;
  return buildExplanation(
    'overpaid',
    `${coins(received)} arrived instead of ${coins(row.amount)}. The whole amount is credited.`,
  );
}
