/** Shows for how much of the time a stream was on air, each outage with its cause, and the badge for other pages. */
import { Skeleton } from '@mantine/core';
import type { StreamOutage, StreamUptime } from '../../../service/client/index.ts';
import { problemText } from '../../api/problem.ts';
import { formatEnd, formatPercent, formatTime, spokenDuration } from '../../lib/format.ts';
import { CopyText } from '../../ui/copyText.tsx';
import { DownloadButton } from '../../ui/downloadButton.tsx';
import page from '../../ui/page.module.css';
import { Panel } from '../../ui/panel.tsx';
import classes from './outages.module.css';
import { SPANS, useUptime } from './useUptime.ts';

/** The file has all. */
const SHOWN = 5;

function Outage({ outage }: { outage: StreamOutage }) {
  const { startedAt, endedAt, seconds, message } = outage;
  return (
    <li data-testid="outage" data-open={endedAt === null || undefined}>
      <div className={classes.when}>
        <span>
          {endedAt === null && 'Off air since '}
          <time dateTime={startedAt}>{formatTime(startedAt)}</time>
          {endedAt !== null && (
            <>
              {' – '}
              <time dateTime={endedAt}>{formatEnd(endedAt, startedAt)}</time>
            </>
          )}
        </span>
        <span className={classes.length}>{spokenDuration(Math.max(1, Math.round(seconds)))}</span>
      </div>
      {message && <p className={page.dim}>{message}</p>}
    </li>
  );
}

function Outages({ uptime: { outages, outageCount } }: { uptime: StreamUptime }) {
  const left = outageCount - Math.min(SHOWN, outages.length);
  return (
    <>
      <ul className={classes.outages}>
        {outages.slice(0, SHOWN).map((outage) => (
          <Outage key={outage.startedAt} outage={outage} />
        ))}
      </ul>
      {left > 0 && <p className={page.dim}>{left} more in these 30 days. The file has them all.</p>}
    </>
  );
}

const describeSpan = (days: number): string => (days === 1 ? 'Last 24 hours' : `Last ${days} days`);

/** The page shows the image of its own server, wherever the public address leads. */
const readPath = (url: string): string => new URL(url).pathname;

function Badge({ url }: { url: string }) {
  return (
    <div className={classes.badge}>
      <img src={readPath(url)} alt="Badge with the uptime of 30 days" height={20} />
      <CopyText text={url} label="Copy badge address" />
      <p className={page.dim}>
        Any page can show this image. Everyone who has its address sees the uptime, and nothing else of the stream.
      </p>
    </div>
  );
}

/** A number of another source would not compare: nothing was known of the viewers in that span. */
const readPercent = ({ by }: StreamUptime, span: StreamUptime | undefined): number | null | undefined =>
  span?.by === by ? span.uptimePercent : null;

export function UptimePanel({ id }: { id: string }) {
  const spans = useUptime(id);
  const month = spans.at(-1);
  const uptime = month?.data;
  const hasSome = uptime !== undefined && (uptime.wantedSeconds > 0 || uptime.unknownSeconds > 0);
  return (
    <Panel
      title="Uptime"
      action={
        hasSome && (
          <DownloadButton path={`/streams/${id}/uptime?format=csv`} name={`uptime-${id}.csv`}>
            Download CSV
          </DownloadButton>
        )
      }
    >
      {month?.error && !uptime && <p role="alert">{problemText(month.error)}</p>}
      {!uptime && !month?.error && <Skeleton height={60} />}
      {uptime && !hasSome && <p className={page.dim}>It has not been on air in the last 30 days.</p>}
      {hasSome && (
        <>
          <dl className={classes.spans}>
            {SPANS.map((days, i) => (
              <div key={days}>
                <dt>{describeSpan(days)}</dt>
                <dd data-testid={`uptime-${days}d`}>{formatPercent(readPercent(uptime, spans[i]?.data))}</dd>
              </div>
            ))}
          </dl>
          {uptime.by === 'viewers' && (
            <p className={page.dim}>Time in which viewers did not see the stream counts as off air.</p>
          )}
          {uptime.outageCount > 0 ? (
            <Outages uptime={uptime} />
          ) : (
            <p className={page.dim}>No outage in the last 30 days.</p>
          )}
          {uptime.unknownSeconds > 0 && (
            <p className={page.dim}>
              Nothing is known of {spokenDuration(uptime.unknownSeconds)}. That time is not counted.
            </p>
          )}
          <Badge url={uptime.badgeUrl} />
        </>
      )}
    </Panel>
  );
}
