import { Skeleton } from '@mantine/core';
import { IconChevronLeft } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import { type ReactNode, useEffect, useId } from 'react';
import { problems } from '../../client/index.ts';
import type { LiveStats, Stream } from '../api.ts';
import { formatProfile } from '../format.ts';
import { Player } from '../player/player.tsx';
import { problemText } from '../problem.ts';
import { useAnnounceChange } from '../shell/announce.tsx';
import { Failure, StreamNotFound } from '../shell/notices.tsx';
import { PhaseBadge } from './badge.tsx';
import { destinationLine } from './card.tsx';
import { Events } from './events.tsx';
import { ReadinessPanel } from './issues.tsx';
import { DestinationRows, NowAndNext, Numbers } from './numbers.tsx';
import { isRunning, lookOf } from './phase.ts';
import { PowerButtons } from './power.tsx';
import { useDestinationNames, useEvents, useLiveStats, useReadiness, useShownPhase, useStream } from './queries.ts';
import classes from './streamPage.module.css';
import { offAirSince, restingLine } from './when.ts';

function Panel({ title, children }: { title: string; children: ReactNode }) {
  const id = useId();
  return (
    <section className={classes.panel} aria-labelledby={id}>
      <h2 id={id}>{title}</h2>
      {children}
    </section>
  );
}

/** What a panel says before its data is there, or when it did not come. */
function Pending({ error, lines = 2 }: { error: unknown; lines?: number }) {
  if (error) return <p className={classes.dim}>{problemText(error)}</p>;
  return (
    <div className={classes.lines} aria-hidden>
      {Array.from({ length: lines }, (_, i) => `line ${i}`).map((key) => (
        <Skeleton key={key} height={14} />
      ))}
    </div>
  );
}

function Head({ stream, phase, names }: { stream: Stream; phase: string; names: ReadonlyMap<string, string> }) {
  return (
    <div className={classes.head}>
      <div className={classes.title}>
        <div className={classes.nameRow}>
          <h1>{stream.name}</h1>
          <PhaseBadge phase={phase} large />
        </div>
        <p className={classes.dim}>
          {formatProfile(stream.quality, stream.framerate)} · to {destinationLine(stream, names)}
        </p>
      </div>
      <PowerButtons stream={stream} phase={phase} />
    </div>
  );
}

function Live({ stats, error, readAt }: { stats: LiveStats | undefined; error: unknown; readAt: number }) {
  return (
    <Panel title="Live numbers">
      {stats ? <Numbers stats={stats} readAt={readAt} /> : <Pending error={error} lines={5} />}
    </Panel>
  );
}

function StreamView({ stream }: { stream: Stream }) {
  const phase = useShownPhase(stream);
  const running = isRunning(phase);
  const names = useDestinationNames();
  const stats = useLiveStats(stream.id, phase);
  const readiness = useReadiness(stream.id, phase);
  const events = useEvents(stream.id);
  const { word } = lookOf(phase);
  useAnnounceChange(`${stream.name} is now ${word.toLowerCase()}`);
  useEffect(() => {
    document.title = `${phase === 'live' ? '● ' : ''}${stream.name} · ${word} · loopstream`;
  }, [stream.name, phase, word]);

  const numbers = running ? stats.data : undefined;
  return (
    <>
      <Head stream={stream} phase={phase} names={names} />
      <div className={classes.columns}>
        <div className={classes.column}>
          <Player
            streamId={stream.id}
            name={stream.name}
            phase={phase}
            resting={restingLine(stream, phase, offAirSince(events.data?.data))}
          />
          {numbers && (
            <Panel title="Playing">
              <NowAndNext stats={numbers} />
            </Panel>
          )}
          {numbers && numbers.destinations.length > 0 && (
            <Panel title="Destinations">
              <DestinationRows rows={numbers.destinations} />
            </Panel>
          )}
        </div>
        <div className={classes.column}>
          {running && <Live stats={numbers} error={stats.error} readAt={stats.dataUpdatedAt} />}
          {running && stream.degraded && (
            <Panel title="Not as it should be">
              <p className={classes.degraded} role="status">
                {stream.degraded.message}
              </p>
            </Panel>
          )}
          <Panel title="Readiness">
            {readiness.data ? <ReadinessPanel readiness={readiness.data} /> : <Pending error={readiness.error} />}
          </Panel>
          <Panel title="Recent events">
            {events.data ? <Events events={events.data.data} /> : <Pending error={events.error} lines={4} />}
          </Panel>
        </div>
      </div>
    </>
  );
}

function Loading() {
  return (
    <div aria-busy="true">
      <h1 className={classes.loadingTitle}>Loading the stream…</h1>
      <div className={classes.columns} aria-hidden>
        <Skeleton className={classes.loadingPlayer ?? ''} radius="lg" />
        <Skeleton height={260} radius="lg" />
      </div>
    </div>
  );
}

export function StreamPage({ id }: { id: string }) {
  const { data: stream, error, refetch } = useStream(id);
  const missing = error instanceof problems.StreamNotFound;
  return (
    <>
      <nav aria-label="Breadcrumb" className={classes.crumb}>
        <Link to="/streams">
          <IconChevronLeft size={16} aria-hidden /> Streams
        </Link>
      </nav>
      {missing ? (
        <StreamNotFound />
      ) : stream ? (
        <StreamView stream={stream} />
      ) : error ? (
        <Failure title="The stream could not be loaded" error={error} retry={refetch} />
      ) : (
        <Loading />
      )}
    </>
  );
}
