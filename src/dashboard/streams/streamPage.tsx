/** One stream: what it shows, how it does, and all that can be done with it. */
import { Skeleton } from '@mantine/core';
import { IconChevronLeft } from '@tabler/icons-react';
import { useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { problems } from '../../client/index.ts';
import type { LiveStats, Stream } from '../api.ts';
import { formatProfile } from '../format.ts';
import { Panel } from '../parts/panel.tsx';
import { Player } from '../player/player.tsx';
import { problemText } from '../problem.ts';
import { useAnnounceChange } from '../shell/announce.tsx';
import { Failure, StreamNotFound } from '../shell/notices.tsx';
import { MoreActions } from './actions.tsx';
import { PhaseBadge } from './badge.tsx';
import { destinationLine } from './card.tsx';
import { EditForm } from './editForm.tsx';
import { Events } from './events.tsx';
import { Checklist } from './issues.tsx';
import { DestinationRows, NowAndNext, Numbers } from './numbers.tsx';
import { isRunning, lookOf } from './phase.ts';
import { PowerButtons } from './power.tsx';
import { useDestinationNames, useEvents, useLiveStats, useReadiness, useShownPhase, useStream } from './queries.ts';
import { ScheduleForm } from './scheduleForm.tsx';
import { SchedulePanel } from './schedulePanel.tsx';
import { Snippets } from './snippets.tsx';
import classes from './streamPage.module.css';
import { offAirSince, restingLine } from './when.ts';

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

type Form = 'edit' | 'schedule';

interface HeadProps {
  stream: Stream;
  phase: string;
  names: ReadonlyMap<string, string>;
  onEdit: () => void;
}

function Head({ stream, phase, names, onEdit }: HeadProps) {
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
      <div className={classes.actions}>
        <PowerButtons stream={stream} phase={phase} />
        <MoreActions stream={stream} phase={phase} onEdit={onEdit} />
      </div>
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

/** The forms that change a stream; what they made of it shows at once. */
function Forms({ stream, form, close }: { stream: Stream; form: Form | undefined; close: () => void }) {
  const queries = useQueryClient();
  const done = (after: Stream) => {
    queries.setQueryData(['stream', stream.id], after);
    close();
    return Promise.all(
      [['readiness', stream.id], ['schedule', stream.id], ['streams']].map((queryKey) =>
        queries.invalidateQueries({ queryKey }),
      ),
    );
  };
  if (form === 'edit') return <EditForm stream={stream} onClose={close} onDone={done} />;
  return form === 'schedule' ? <ScheduleForm stream={stream} onClose={close} onDone={done} /> : null;
}

/** What keeps it off air while it is there; what is wrong while it is on air. */
function Health({ stream, running, onMend }: { stream: Stream; running: boolean; onMend: (form: Form) => void }) {
  const readiness = useReadiness(stream.id);
  return (
    <>
      {running && stream.degraded && (
        <Panel title="Not as it should be">
          <p className={classes.degraded} role="status">
            {stream.degraded.message}
          </p>
        </Panel>
      )}
      <Panel title="Readiness">
        {readiness.data ? (
          <Checklist readiness={readiness.data} onMend={onMend} />
        ) : (
          <Pending error={readiness.error} lines={3} />
        )}
      </Panel>
    </>
  );
}

function StreamView({ stream }: { stream: Stream }) {
  const phase = useShownPhase(stream);
  const running = isRunning(phase);
  const names = useDestinationNames();
  const stats = useLiveStats(stream.id, phase);
  const events = useEvents(stream.id);
  const [form, setForm] = useState<Form>();
  const { word } = lookOf(phase);
  useAnnounceChange(`${stream.name} is now ${word.toLowerCase()}`);
  useEffect(() => {
    document.title = `${phase === 'live' ? '● ' : ''}${stream.name} · ${word} · loopstream`;
  }, [stream.name, phase, word]);

  const numbers = running ? stats.data : undefined;
  const rows = stream.destinationIDs.map((id) => {
    const own = numbers?.destinations.find((one) => one.id === id);
    return { id, name: own?.name ?? names.get(id) ?? id, stats: own };
  });
  return (
    <>
      <Head stream={stream} phase={phase} names={names} onEdit={() => setForm('edit')} />
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
          <Panel title="Destinations">
            <DestinationRows rows={rows} />
          </Panel>
          <Panel title="API and kubectl">
            <Snippets stream={stream} />
          </Panel>
        </div>
        <div className={classes.column}>
          {running && <Live stats={numbers} error={stats.error} readAt={stats.dataUpdatedAt} />}
          <Health stream={stream} running={running} onMend={setForm} />
          <SchedulePanel stream={stream} onChange={() => setForm('schedule')} />
          <Panel title="Recent events">
            {events.data ? <Events events={events.data.data} /> : <Pending error={events.error} lines={4} />}
          </Panel>
        </div>
      </div>
      <Forms stream={stream} form={form} close={() => setForm(undefined)} />
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
