import type { StreamEvent } from '../../api/api.ts';
import { useNow } from '../../api/context.tsx';
import { formatAgo, formatReason, formatTime } from '../../lib/format.ts';
import { Named } from '../references/named.tsx';
import classes from './events.module.css';

/** Lists the events of a stream, newest first. */
export function Events({ events }: { events: readonly StreamEvent[] }) {
  const now = new Date(useNow());
  if (events.length === 0) return <p className={classes.none}>No events yet.</p>;
  return (
    <ol className={classes.events}>
      {events.map(({ id, time, type, reason, message, count }) => (
        <li key={id} data-warning={type === 'Warning' || undefined}>
          <p>
            <strong>
              {formatReason(reason)}
              {count > 1 && <span className={classes.count}> ×{count}</span>}
            </strong>
            <time dateTime={time} title={formatTime(time)}>
              {formatAgo(new Date(time), now)}
            </time>
          </p>
          {message && (
            <p className={classes.message}>
              <Named>{message}</Named>
            </p>
          )}
        </li>
      ))}
    </ol>
  );
}
