/** Shows the playhead of a stream and the prepared part of its media on one bar. */
import { VisuallyHidden } from '@mantine/core';
import type { LiveStats, Readiness, Stream } from '../../api/api.ts';
import { Bar } from '../../ui/page.tsx';
import { describeTimeline } from './timeline.ts';
import classes from './timelineBar.module.css';

interface TimelineBarProps {
  stream: Stream;
  readiness: Readiness | undefined;
  /** Only while it is on air. */
  stats?: LiveStats | undefined;
}

export function TimelineBar({ stream, readiness, stats }: TimelineBarProps) {
  const view = describeTimeline(stream, readiness, stats, Date.now());
  if (!view) return null;
  const { prepared, playhead } = view;
  return (
    <div className={classes.timeline} data-testid="timeline">
      <div className={classes.track}>
        <Bar value={prepared?.at ?? 1} label="Prepared part of the media" text={prepared?.text ?? 'All is prepared'} />
        {playhead && (
          <div className={classes.playhead} style={{ insetInlineStart: `${100 * playhead.at}%` }} aria-hidden />
        )}
      </div>
      <p className={classes.legend}>
        {playhead && <span>{playhead.text}</span>}
        {prepared && <span>{prepared.text}</span>}
      </p>
      {playhead && (
        <VisuallyHidden>
          <meter min={0} max={1} value={playhead.at} aria-label="Position in the item" aria-valuetext={playhead.text} />
        </VisuallyHidden>
      )}
    </div>
  );
}
