/** Shows what a stream plays within a day, and lets others read what it plays now. */
import { Checkbox, Skeleton } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type { StreamTimelineItem } from '../../../service/client/index.ts';
import { useApi } from '../../api/context.tsx';
import { problemText } from '../../api/problem.ts';
import { formatClock, formatLength, formatUntil } from '../../lib/format.ts';
import { CopyText } from '../../ui/copyText.tsx';
import { DownloadButton } from '../../ui/downloadButton.tsx';
import { Name } from '../../ui/name.tsx';
import page from '../../ui/page.module.css';
import { Panel } from '../../ui/panel.tsx';
import { layOutRuler, RULER_HOURS, type Ruler } from './dayRuler.ts';
import classes from './programme.module.css';

/** Of a list of three-minute items, these are a day. */
const MAX_ITEMS = 500;
const REFRESH_MS = 60_000;
/** Items in words. */
const LISTED = 6;
/** Reads what plays from now on, each minute. */
function useTimeline(id: string, isRunning: boolean) {
  const { streams } = useApi().calls;
  return useQuery({
    queryKey: ['streamTimeline', id, isRunning],
    queryFn: ({ signal }) => {
      const to = new Date(Date.now() + RULER_HOURS * 3_600_000).toISOString();
      return streams.timeline(id, { to, limit: MAX_ITEMS }, { signal });
    },
    refetchInterval: REFRESH_MS,
    enabled: isRunning,
  });
}

const describeItem = ({ name, startAt, endAt, exact }: StreamTimelineItem): string =>
  `${exact ? '' : 'about '}${formatClock(startAt)} – ${formatClock(endAt)}: ${name}`;

/** The drawing has no words for those who hear the page: the list below has them. */
function DayRuler({ ruler: { blocks, ticks, estimateFrom } }: { ruler: Ruler }) {
  return (
    <div className={classes.ruler} data-testid="day-ruler" aria-hidden>
      <div className={classes.blocks}>
        {blocks.map(({ item, start, width, shade }) => (
          <span
            key={item.startAt}
            style={{ insetInlineStart: `${100 * start}%`, width: `${100 * width}%` }}
            title={describeItem(item)}
            data-shade={shade}
            data-estimate={(estimateFrom !== undefined && start >= estimateFrom) || undefined}
          />
        ))}
      </div>
      <div className={classes.ticks}>
        {ticks.map(({ at, time }) => (
          <span key={time} style={{ insetInlineStart: `${100 * at}%` }}>
            {formatClock(time)}
          </span>
        ))}
      </div>
    </div>
  );
}

function Upcoming({ items }: { items: readonly StreamTimelineItem[] }) {
  return (
    <ol className={classes.items}>
      {items.slice(0, LISTED).map(({ startAt, name, durationSeconds, exact }) => (
        <li key={startAt}>
          <time dateTime={startAt}>
            {!exact && <span title="An estimate: not all lengths are known yet">~ </span>}
            {formatClock(startAt)}
          </time>
          <span className={classes.name}>
            <Name isCut>{name}</Name>
          </span>
          <span className={classes.length}>{formatLength(durationSeconds)}</span>
        </li>
      ))}
    </ol>
  );
}

function Day({ id, isRunning }: { id: string; isRunning: boolean }) {
  const { data, error, dataUpdatedAt } = useTimeline(id, isRunning);
  if (!isRunning) return <p className={page.dim}>Off air, it plays nothing. On air, its next 24 hours are here.</p>;
  if (error && !data) return <p role="alert">{problemText(error)}</p>;
  if (!data) return <Skeleton height={200} />;
  const ruler = layOutRuler(data);
  if (!ruler) return <p className={page.dim}>Nothing is known yet of what it plays.</p>;
  const until = formatUntil(ruler.endAt, dataUpdatedAt);
  return (
    <>
      <DayRuler ruler={ruler} />
      <Upcoming items={data.items} />
      {ruler.blocks.length > LISTED && (
        <p className={page.dim}>
          {ruler.blocks.length} items play until {until}.
          {ruler.estimateFrom !== undefined && ' Pale ones are estimates: not all lengths are known yet.'}
        </p>
      )}
    </>
  );
}

/** Turns the address on and off at which anyone may read what plays. */
function PublicNow({ id }: { id: string }) {
  const { streams } = useApi().calls;
  const queries = useQueryClient();
  const queryKey = ['streamPublicNow', id];
  const { data } = useQuery({ queryKey, queryFn: ({ signal }) => streams.publicNow(id, { signal }) });
  const change = useMutation({
    mutationFn: (enabled: boolean) => streams.updatePublicNow(id, { enabled }),
    onSuccess: (next) => queries.setQueryData(queryKey, next),
  });
  if (!data) return null;
  const { enabled, url } = data;
  return (
    <div className={classes.open}>
      <Checkbox
        label="Public address"
        description="Anyone who has it may read the titles and times of what plays, for a page of yours. Turned off, it is gone for good."
        checked={enabled}
        disabled={change.isPending}
        onChange={({ currentTarget }) => change.mutate(currentTarget.checked)}
      />
      {change.error && <p role="alert">{problemText(change.error)}</p>}
      {enabled && url === null && (
        <p className={page.dim}>It works, and cannot be shown again. Turn it off and on for another one.</p>
      )}
      {enabled && url !== null && (
        <div className={classes.address}>
          <code>{url}</code>
          <CopyText text={url} label="Copy public address" />
        </div>
      )}
    </div>
  );
}

export function ProgrammePanel({ id, isRunning }: { id: string; isRunning: boolean }) {
  return (
    <Panel
      title="Programme"
      action={
        isRunning && (
          <DownloadButton path={`/streams/${id}/timeline.ics`} name={`timeline-${id}.ics`}>
            Download calendar
          </DownloadButton>
        )
      }
    >
      <Day id={id} isRunning={isRunning} />
      <PublicNow id={id} />
    </Panel>
  );
}
