/** What of what a page shows is old when something has changed. Pure: no I/O, no clock. */
import type { QueryKey } from '@tanstack/react-query';
import type { Change, FeedNews } from '../../client/index.ts';

/** What is read of money (billing/queries.ts), by what has changed. */
const MONEY: Partial<Record<Change['noun'], string[]>> = {
  balance: ['balance', 'ledger', 'usage'],
  topUp: ['topUps'],
  invoice: ['invoices'],
  deposit: ['deposits'],
};

/** What to read anew; undefined: everything. */
export function staleAfter(news: FeedNews): QueryKey[] | undefined {
  if (news === 'reset') return undefined;
  const { noun, id } = news;
  if (noun === 'stream')
    return [
      ['streams'],
      ['stream', id],
      ['readiness', id],
      ['schedule', id],
      ['events', id],
      ['stats', id],
      ['money', 'balance'],
    ];
  const ofMoney = MONEY[noun];
  if (ofMoney)
    return [...ofMoney.map((what) => ['money', what]), ...(noun === 'deposit' ? [['money', 'deposit', id]] : [])];
  if (noun === 'upload') return [['uploads'], ['playlists']];
  return noun === 'destination' ? [['destinations']] : [['playlists'], ['streams']];
}
