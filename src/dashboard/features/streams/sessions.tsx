/** Shows when a stream was on air, for how long, at what cost, and why each session ended. */
import { Skeleton } from '@mantine/core';
import type { Prices, StreamSession } from '../../../service/client/index.ts';
import { problemText } from '../../api/problem.ts';
import { formatCredits, formatEnd, formatTime, formatTimeSpan } from '../../lib/format.ts';
import { DownloadButton } from '../../ui/downloadButton.tsx';
import page from '../../ui/page.module.css';
import { More } from '../../ui/page.tsx';
import { Panel } from '../../ui/panel.tsx';
import { usePrices } from '../billing/prices.tsx';
import { sumSessions } from './sessionSum.ts';
import classes from './sessions.module.css';
import { useSessions } from './useSessions.ts';

function Row({ session, cost }: { session: StreamSession; cost: string | undefined }) {
  const { startedAt, endedAt, onAirSeconds, end } = session;
  return (
    <tr data-testid="session" data-on-air={endedAt === null || undefined}>
      <th scope="row">
        {endedAt === null && 'On air since '}
        <time dateTime={startedAt}>{formatTime(startedAt)}</time>
        {endedAt !== null && (
          <>
            {' – '}
            <time dateTime={endedAt}>{formatEnd(endedAt, startedAt)}</time>
          </>
        )}
        {end && <p>{end.message}</p>}
      </th>
      <td>{formatTimeSpan(onAirSeconds)}</td>
      {cost !== undefined && <td>{cost}</td>}
    </tr>
  );
}

/** `$0.05 so far` of one on air, `about $0.05` of one that is not charged yet. */
function describeCost({ credits, creditsEstimated, endedAt }: StreamSession, prices: Prices): string {
  const cost = formatCredits(credits ?? '0', prices, { exactly: true });
  if (endedAt === null) return `${cost} so far`;
  return creditsEstimated ? `about ${cost}` : cost;
}

const describeSum = (count: number, hasMore: boolean): string => {
  if (hasMore) return `Total of the latest ${count}`;
  return count === 1 ? 'Total' : `Total of all ${count}`;
};

function Sessions({ sessions, hasMore }: { sessions: readonly StreamSession[]; hasMore: boolean }) {
  const sum = sumSessions(sessions);
  const known = usePrices();
  const prices = sum.credits === null ? undefined : known;
  return (
    <table className={classes.table}>
      <thead>
        <tr>
          <th scope="col">From – to, and why it ended</th>
          <th scope="col">On air</th>
          {prices && <th scope="col">Cost</th>}
        </tr>
      </thead>
      <tbody>
        {sessions.map((session) => (
          <Row key={session.number} session={session} cost={prices && describeCost(session, prices)} />
        ))}
      </tbody>
      <tfoot>
        <tr data-testid="session-total">
          <th scope="row">{describeSum(sessions.length, hasMore)}</th>
          <td>{formatTimeSpan(sum.onAirSeconds)}</td>
          {prices && <td>{formatCredits(sum.credits ?? '0', prices, { exactly: true })}</td>}
        </tr>
      </tfoot>
    </table>
  );
}

export function SessionsPanel({ id }: { id: string }) {
  const { data, error, hasNextPage, isFetchingNextPage, fetchNextPage } = useSessions(id);
  const hasSome = data !== undefined && data.length > 0;
  return (
    <Panel
      title="Sessions"
      action={
        hasSome && (
          <DownloadButton path={`/streams/${id}/sessions?format=csv`} name={`sessions-${id}.csv`}>
            Download CSV
          </DownloadButton>
        )
      }
    >
      {error && !data && <p role="alert">{problemText(error)}</p>}
      {!data && !error && <Skeleton height={60} />}
      {data && !hasSome && <p className={page.dim}>It has not been on air yet.</p>}
      {hasSome && <Sessions sessions={data} hasMore={hasNextPage} />}
      {hasNextPage && <More loading={isFetchingNextPage} onClick={() => void fetchNextPage()} />}
    </Panel>
  );
}
