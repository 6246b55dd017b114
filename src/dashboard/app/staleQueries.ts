/** Finds the queries that are stale after a change. Pure: no I/O, no clock. */
import type { QueryKey } from '@tanstack/react-query';
import type { Change, FeedNews } from '../../service/client/index.ts';

/** The queries of features/billing/queries.ts, by the noun that has changed. */
const MONEY: Partial<Record<Change['noun'], string[]>> = {
  balance: ['balance', 'ledger', 'usage'],
  topUp: ['topUps'],
  invoice: ['invoices'],
  deposit: ['deposits'],
};

/** The keys of the queries to read anew; undefined: all of them. */
export function staleAfter(news: FeedNews): QueryKey[] | undefined {
  if (news === 'reset') return undefined;
  const { noun, id } = news;
  if (noun === 'stream')
    return [
      // The lists of streams are kept current stream by stream (followStreams.ts).
      ['streams', 'name', id],
      ['stream', id],
      ['readiness', id],
      ['schedule', id],
      ['events', id],
      ['stats', id],
      ['streamSessions', id],
      ['money', 'balance'],
    ];
  const ofMoney = MONEY[noun];
  if (ofMoney)
    return [...ofMoney.map((what) => ['money', what]), ...(noun === 'deposit' ? [['money', 'deposit', id]] : [])];
  if (noun === 'upload') return [['uploads'], ['playlists']];
  if (noun === 'scene') return [['scenes']];
  return noun === 'destination' ? [['destinations']] : [['playlists'], ['streams']];
}
