/** What was used: by day as a picture and by stream as a table, and both as a file. */
import { Button, NativeSelect, Skeleton, VisuallyHidden } from '@mantine/core';
import { IconDownload } from '@tabler/icons-react';
import { lazy, Suspense, useState } from 'react';
import type { Billing, Usage } from '../../../client/index.ts';
import { useApi } from '../../api/context.tsx';
import { problemText } from '../../api/problem.ts';
import { saveFile } from '../../lib/download.ts';
import page from '../../ui/page.module.css';
import { Panel } from '../../ui/panel.tsx';
import { useOnce } from '../account/useAuthAction.ts';
import classes from './billing.module.css';
import { ownZone, type Range, useUsage } from './queries.ts';
import { StreamName } from './streamName.tsx';
import { axisFormat, formatCredits, lengthOf, toNumber } from './text.ts';

const UsageChart = lazy(() => import('./chart.tsx'));

const DAYS = [
  { value: '7', label: 'The last 7 days' },
  { value: '30', label: 'The last 30 days' },
  { value: '90', label: 'The last 90 days' },
];

/** Of the reader's own clock: `2027-01-31`. */
function dayOf(at: Date): string {
  const [month, day] = [at.getMonth() + 1, at.getDate()].map((n) => String(n).padStart(2, '0'));
  return `${at.getFullYear()}-${month}-${day}`;
}

function rangeOf(days: number): Range {
  const first = new Date();
  first.setDate(first.getDate() - days + 1);
  return { from: dayOf(first), to: dayOf(new Date()) };
}

/** `Jan 31`, as the reader writes it: a day has no zone. */
const labelOf = (day: string): string =>
  new Date(day).toLocaleDateString(undefined, { month: 'short', day: 'numeric', timeZone: 'UTC' });

function ByDay({ usage, billing }: { usage: Usage; billing: Billing }) {
  const days = usage.lines.map(({ day, credits }) => ({ day: labelOf(day ?? ''), cost: toNumber(credits, billing) }));
  const format = axisFormat(Math.max(0, ...days.map(({ cost }) => cost)), billing.currency);
  return (
    <figure className={classes.chart} data-testid="usage-chart">
      <div aria-hidden>
        <Suspense fallback={<Skeleton height={220} />}>
          <UsageChart days={days} format={format} />
        </Suspense>
      </div>
      <VisuallyHidden component="div">
        <table>
          <caption>What each day cost</caption>
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
            <td>{lengthOf(onAirSeconds)}</td>
            <td>{formatCredits(credits, billing, { exactly: true })}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Download({ range }: { range: Range }) {
  const api = useApi();
  const query = new URLSearchParams({ ...range, groupBy: 'stream', timeZone: ownZone(), format: 'csv' });
  const { run, busy, problem } = useOnce(
    () => api.file(`/billing/usage?${query}`, 'text/csv'),
    (file) => saveFile(file, `usage-${range.from}-${range.to}.csv`),
  );
  return (
    <>
      <Button
        size="compact-sm"
        variant="default"
        leftSection={<IconDownload size={15} aria-hidden />}
        loading={busy}
        onClick={() => run(undefined)}
      >
        CSV
      </Button>
      {problem && <p role="alert">{problem}</p>}
    </>
  );
}

export function UsagePanel({ billing }: { billing: Billing }) {
  const [days, setDays] = useState('30');
  const range = rangeOf(Number(days));
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
            aria-label="Which days"
            data={DAYS}
            value={days}
            onChange={(event) => setDays(event.currentTarget.value)}
          />
          <Download range={range} />
        </div>
      }
    >
      {error && <p role="alert">{problemText(error)}</p>}
      {byDay.data && (
        <p className={page.dim} data-testid="usage-sum">
          {formatCredits(byDay.data.credits, billing)} for {lengthOf(byDay.data.onAirSeconds)} on air, in days of{' '}
          {ownZone()}.
        </p>
      )}
      {byDay.data ? <ByDay usage={byDay.data} billing={billing} /> : !error && <Skeleton height={220} />}
      {byStream.data && byStream.data.lines.length > 0 && <ByStream usage={byStream.data} billing={billing} />}
    </Panel>
  );
}
