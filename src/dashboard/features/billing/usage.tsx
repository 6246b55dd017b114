/** Shows usage by day as a chart and by stream as a table, and offers both as a file. */
import { NativeSelect, Skeleton, VisuallyHidden } from '@mantine/core';
import { lazy, Suspense, useState } from 'react';
import type { Billing, Usage } from '../../../service/client/index.ts';
import { problemText } from '../../api/problem.ts';
import {
  createAxisFormat,
  formatCredits,
  formatDayOfMonth,
  formatIsoDay,
  formatTimeSpan,
  toChartNumber,
} from '../../lib/format.ts';
import { UTC } from '../../lib/timeZones.ts';
import { DownloadButton } from '../../ui/downloadButton.tsx';
import page from '../../ui/page.module.css';
import { Panel } from '../../ui/panel.tsx';
import classes from './billing.module.css';
import { type DayRange, useUsage } from './queries.ts';
import { StreamName } from './streamName.tsx';

const UsageChart = lazy(() => import('./chart.tsx'));

const DAYS = [
  { value: '7', label: 'The last 7 days' },
  { value: '30', label: 'The last 30 days' },
  { value: '90', label: 'The last 90 days' },
];

function buildRange(days: number): DayRange {
  const first = new Date();
  first.setDate(first.getDate() - days + 1);
  return { from: formatIsoDay(first), to: formatIsoDay(new Date()) };
}

function ByDay({ usage, billing }: { usage: Usage; billing: Billing }) {
  const days = usage.lines.map(({ day, credits }) => ({
    day: formatDayOfMonth(day ?? ''),
    cost: toChartNumber(credits, billing),
  }));
  const format = createAxisFormat(Math.max(0, ...days.map(({ cost }) => cost)), billing);
  return (
    <figure className={classes.chart} data-testid="usage-chart">
      <div aria-hidden>
        <Suspense fallback={<Skeleton height={220} />}>
          <UsageChart days={days} format={format} />
        </Suspense>
      </div>
      <VisuallyHidden component="div">
        <table>
          <caption>Cost by day</caption>
          <tbody>
            {usage.lines
              .filter(({ credits }) => credits !== '0')
              .map(({ day, credits }) => (
                <tr key={day}>
                  <th scope="row">{day}</th>
                  <td>{formatCredits(credits, billing)}</td>
                </tr>
              ))}
          </tbody>
        </table>
      </VisuallyHidden>
    </figure>
  );
}

function ByStream({ usage, billing }: { usage: Usage; billing: Billing }) {
  return (
    <table className={classes.table}>
      <caption>By stream</caption>
      <thead>
        <tr>
          <th scope="col">Stream</th>
          <th scope="col">On air</th>
          <th scope="col">Cost</th>
        </tr>
      </thead>
      <tbody>
        {usage.lines.map(({ streamID, credits, onAirSeconds }) => (
          <tr key={streamID}>
            <th scope="row">{streamID && <StreamName id={streamID} />}</th>
            <td>{formatTimeSpan(onAirSeconds)}</td>
            <td>{formatCredits(credits, billing, { exactly: true })}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Download({ range, timeZone }: { range: DayRange; timeZone: string }) {
  const query = new URLSearchParams({ ...range, groupBy: 'stream', timeZone, format: 'csv' });
  return (
    <DownloadButton path={`/billing/usage?${query}`} name={`usage-${range.from}-${range.to}.csv`}>
      CSV
    </DownloadButton>
  );
}

export function UsagePanel({ billing }: { billing: Billing }) {
  const [days, setDays] = useState('30');
  const range = buildRange(Number(days));
  const byDay = useUsage(range, 'day');
  const byStream = useUsage(range, 'stream');
  const error = byDay.error ?? byStream.error;
  return (
    <Panel
      title="Usage"
      action={
        <div className={classes.acts}>
          <NativeSelect
            size="xs"
            aria-label="Range of days"
            data={DAYS}
            value={days}
            onChange={(event) => setDays(event.currentTarget.value)}
          />
          <Download range={range} timeZone={byDay.data?.timeZone ?? UTC} />
        </div>
      }
    >
      {error && <p role="alert">{problemText(error)}</p>}
      {byDay.data && (
        <p className={`${page.dim} ${classes.sentence}`} data-testid="usage-sum">
          {formatCredits(byDay.data.credits, billing)} for {formatTimeSpan(byDay.data.onAirSeconds)} on air, in days of{' '}
          {byDay.data.timeZone}.
        </p>
      )}
      {byDay.data ? <ByDay usage={byDay.data} billing={billing} /> : !error && <Skeleton height={220} />}
      {byStream.data && byStream.data.lines.length > 0 && <ByStream usage={byStream.data} billing={billing} />}
    </Panel>
  );
}
