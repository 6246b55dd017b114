import { Skeleton } from '@mantine/core';
import { IconAlertCircle, IconCircleCheck, IconSend } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import { memo } from 'react';
import type { Stream } from '../../api/api.ts';
import { formatProfile } from '../../lib/format.ts';
import { isolate } from '../../lib/isolate.ts';
import { ActMenu } from '../../ui/actMenu.tsx';
import { useAnnounceChange } from '../../ui/announce.tsx';
import cover from '../../ui/cover.module.css';
import { Name } from '../../ui/name.tsx';
import { Poster } from '../../ui/poster.tsx';
import { Named } from '../references/named.tsx';
import { PhaseBadge } from './badge.tsx';
import classes from './card.module.css';
import { WAITS_FOR_CREDIT, withoutCredit } from './credit.ts';
import { restingLine } from './offAir.ts';
import { getStreamLook, isRunning } from './phase.ts';
import { useReadiness, useShownPhase } from './queries.ts';
import { type RowCalls, useStreamActs } from './rowActs.tsx';
import { StartStopButtons } from './startStop.tsx';
import { OnAirUntil, Uptime } from './uptime.tsx';

/** `Main channel`, `Main channel + 2 more`; ids where the names are not known. */
export function destinationLine(stream: Stream, names: ReadonlyMap<string, string>): string {
  const ids = stream.destinationIDs?.length ? stream.destinationIDs : [stream.destinationID];
  const known = ids.filter((id): id is string => Boolean(id)).map((id) => isolate(names.get(id) ?? id));
  const [first, ...more] = known;
  if (first === undefined) return 'No destination';
  return more.length > 0 ? `${first} + ${more.length} more` : first;
}

/** States in which readiness says nothing that the state itself does not say better. */
const SPEAKS_FOR_ITSELF: readonly string[] = ['starting', 'live', 'reconnecting', 'stopping', 'failed'];

const Ready = () => (
  <p className={classes.readiness} data-tone="good">
    <IconCircleCheck size={16} aria-hidden /> <span>Ready</span>
  </p>
);

const UNPAID = { message: WAITS_FOR_CREDIT, fix: '' };

function Obstacle({ id }: { id: string }) {
  const { data } = useReadiness(id);
  if (data?.ready) return <Ready />;
  const issue = data && (withoutCredit(data.issues)[0] ?? (data.issues[0] && UNPAID));
  if (!issue) return <p className={classes.readiness}>Checking…</p>;
  return (
    <p className={classes.readiness} data-tone="attention" title={issue.fix}>
      <IconAlertCircle size={16} aria-hidden />{' '}
      <span>
        <Named>{issue.message}</Named>
      </span>
    </p>
  );
}

function ReadinessLine({ stream, phase }: { stream: Stream; phase: string }) {
  const spoken = SPEAKS_FOR_ITSELF.includes(phase);
  const { meaning, tone } = getStreamLook(stream, phase);
  if (spoken && stream.degraded) {
    return (
      <p className={classes.readiness} data-tone="attention" data-testid="stream-degraded">
        <IconAlertCircle size={16} aria-hidden />{' '}
        <span>
          <Named>{stream.degraded.message}</Named>
        </span>
      </p>
    );
  }
  if (spoken) {
    return (
      <p className={classes.readiness} data-tone={tone === 'danger' ? 'attention' : undefined}>
        {meaning}
      </p>
    );
  }
  // The list says when nothing is wrong; only an obstacle needs a request of its own.
  return stream.ready ? <Ready /> : <Obstacle id={stream.id} />;
}

/** Stands large on a card: how long the stream has been on air, or why it is not. */
function Headline({ stream, phase }: { stream: Stream; phase: string }) {
  if (isRunning(phase) && stream.liveSince)
    return (
      <>
        <Uptime since={stream.liveSince} />
        <OnAirUntil end={stream.nextEndAt} />
      </>
    );
  const resting = phase === 'starting' ? 'Going on air…' : phase === 'reconnecting' ? 'Reconnecting…' : undefined;
  return <span className={classes.resting}>{resting ?? restingLine(stream, phase)}</span>;
}

interface StreamCardProps {
  stream: Stream;
  destinations: ReadonlyMap<string, string>;
  calls: RowCalls;
}

/** Memoized: a page of thousands changes one of them at a time. */
export const StreamCard = memo(function StreamCard({ stream, destinations, calls }: StreamCardProps) {
  const phase = useShownPhase(stream);
  const acts = useStreamActs(stream, calls);
  const { tone, word } = getStreamLook(stream, phase);
  useAnnounceChange(`${stream.name}: ${word}`);
  return (
    <article className={classes.card} data-tone={tone} data-testid="stream-card" data-stream-id={stream.id}>
      <div className={classes.top}>
        <h2>
          <Link to="/streams/$id" params={{ id: stream.id }} className={cover.cover}>
            <Name>{stream.name}</Name>
          </Link>
        </h2>
        <PhaseBadge stream={stream} phase={phase} />
      </div>
      <div className={classes.middle}>
        <Poster url={stream.posterUrl} kind="VIDEO" />
        <p className={classes.clock}>
          <Headline stream={stream} phase={phase} />
        </p>
      </div>
      <dl className={classes.facts}>
        <dt>Picture</dt>
        <dd>{formatProfile(stream.quality, stream.framerate)}</dd>
        <dt>To</dt>
        <dd>
          <IconSend size={14} aria-hidden /> {destinationLine(stream, destinations)}
        </dd>
      </dl>
      <div className={classes.bottom}>
        <ReadinessLine stream={stream} phase={phase} />
        <div className={classes.actions}>
          <StartStopButtons stream={stream} phase={phase} />
          <ActMenu isSmall label={`More actions for ${stream.name}`} acts={acts} />
        </div>
      </div>
    </article>
  );
});

export function CardSkeleton() {
  return (
    <div className={classes.card} aria-hidden>
      <div className={classes.top}>
        <Skeleton height={18} width="55%" />
        <Skeleton height={26} width={72} radius="xl" />
      </div>
      <Skeleton height={54} width="70%" />
      <Skeleton height={14} width="70%" />
      <div className={classes.bottom}>
        <Skeleton height={14} width="40%" />
        <Skeleton height={36} width={92} />
      </div>
    </div>
  );
}
