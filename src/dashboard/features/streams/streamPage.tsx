/** One stream: its picture, its health, and all acts on it. */
import { Skeleton } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import type { LiveStats, Readiness, Stream } from '../../api/api.ts';
import { problemText } from '../../api/problem.ts';
import { isolate } from '../../lib/isolate.ts';
import { useAnnounceChange } from '../../ui/announce.tsx';
import { DetailPage } from '../../ui/detailPage.tsx';
import { Name } from '../../ui/name.tsx';
import page from '../../ui/page.module.css';
import { useTitle } from '../../ui/page.tsx';
import { Panel } from '../../ui/panel.tsx';
import { useOpen } from '../../ui/useOpen.ts';
import { StreamCost } from '../billing/prices.tsx';
import { Snippets } from '../commands/snippets.tsx';
import { Player } from '../player/player.tsx';
import { MoreActions } from './actions.tsx';
import { PhaseBadge } from './badge.tsx';
import { destinationLine } from './card.tsx';
import { kubectlSnippet, restSnippet } from './commands.ts';
import { EditForm } from './editForm.tsx';
import { Events } from './events.tsx';
import { listFindings, reachesNobody } from './findings.ts';
import { Findings } from './findings.tsx';
import { Checklist } from './issues.tsx';
import { STREAM } from './kind.tsx';
import { DestinationRows, NowAndNext, Numbers } from './numbers.tsx';
import { offAirSince, restingLine } from './offAir.ts';
import { UptimePanel } from './outages.tsx';
import { Outdated } from './outdated.tsx';
import { getStreamLook, isRunning, isUnseen } from './phase.ts';
import { formatPicture } from './picture.ts';
import { ProgrammePanel } from './programme.tsx';
import {
  useDestinationNames,
  useDestinationViews,
  useEvents,
  useLiveStats,
  useReadiness,
  useShownPhase,
  useStream,
} from './queries.ts';
import { ScheduleForm } from './scheduleForm.tsx';
import { SchedulePanel } from './schedulePanel.tsx';
import { SessionsPanel } from './sessions.tsx';
import { StartStopButtons } from './startStop.tsx';
import classes from './streamPage.module.css';
import { TimelineBar } from './timelineBar.tsx';

/** Stands in a panel before its data is there, or when it did not come. */
function Pending({ error, lines = 2 }: { error: unknown; lines?: number }) {
  if (error) return <p className={page.dim}>{problemText(error)}</p>;
  return (
    <div className={classes.lines} aria-hidden>
      {Array.from({ length: lines }, (_, i) => `line ${i}`).map((key) => (
        <Skeleton key={key} height={14} />
      ))}
    </div>
  );
}

interface StreamHeadProps {
  stream: Stream;
  phase: string;
  names: ReadonlyMap<string, string>;
  /** Undefined while it is off air. */
  stats: LiveStats | undefined;
  readiness: Readiness | undefined;
  onEdit: () => void;
}

function Head({ stream, phase, names, stats, readiness, onEdit }: StreamHeadProps) {
  return (
    <div className={page.head}>
      <div className={page.title}>
        <div className={classes.nameRow}>
          <h1>
            <Name>{stream.name}</Name>
          </h1>
          <PhaseBadge stream={stream} phase={phase} large />
        </div>
        <p className={page.dim}>
          {formatPicture(stream, stats, readiness)} · to {destinationLine(stream, names)}
        </p>
        <StreamCost {...stream} seconds={stats?.uptimeSeconds} />
      </div>
      <div className={page.actions}>
        <StartStopButtons stream={stream} phase={phase} />
        <MoreActions stream={stream} phase={phase} onEdit={onEdit} />
      </div>
    </div>
  );
}

function Live({ stats, error, readAt }: { stats: LiveStats | undefined; error: unknown; readAt: number }) {
  return (
    <Panel title="Live statistics">
      <Outdated readAt={readAt} />
      {error && !stats ? <Pending error={error} /> : <Numbers stats={stats} readAt={readAt} />}
    </Panel>
  );
}

/** The forms that change a stream; their result shows at once. */
function Forms({ stream, form, close }: { stream: Stream; form: string | undefined; close: () => void }) {
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

interface HealthProps {
  stream: Stream;
  running: boolean;
  /** Codes that the top of the page tells of. */
  told: readonly string[];
  onMend: (form: string) => void;
}

/** Ticks off what a stream needs. */
function Health({ stream, running, told, onMend }: HealthProps) {
  const readiness = useReadiness(stream.id);
  return (
    <Panel title="Readiness">
      {readiness.data ? (
        <>
          <Checklist readiness={readiness.data} told={told} onMend={onMend} />
          {!running && <TimelineBar stream={stream} readiness={readiness.data} />}
        </>
      ) : (
        <Pending error={readiness.error} lines={3} />
      )}
    </Panel>
  );
}

function StreamView({ stream }: { stream: Stream }) {
  const phase = useShownPhase(stream);
  const running = isRunning(phase);
  const names = useDestinationNames();
  const stats = useLiveStats(stream.id, phase);
  const readiness = useReadiness(stream.id);
  const events = useEvents(stream.id);
  const { opened, open, close } = useOpen();
  const { word, meaning } = getStreamLook(stream, phase);
  useAnnounceChange(`${stream.name} is now ${word.toLowerCase()}`);
  useTitle(`${phase === 'live' && !isUnseen(stream, phase) ? '● ' : ''}${isolate(stream.name)} · ${word}`);

  const numbers = running ? stats.data : undefined;
  const findings = listFindings(stream, phase, { stats: numbers, readiness: readiness.data });
  const unseen = reachesNobody(phase, numbers);
  const views = useDestinationViews();
  const rows = stream.destinations.map(({ destinationID: id, enabled }) => {
    const own = numbers?.destinations.find((one) => one.id === id);
    return { id, name: own?.name ?? names.get(id) ?? id, isOff: !enabled, stats: own, view: views.get(id) };
  });
  return (
    <>
      <Head
        stream={stream}
        phase={phase}
        names={names}
        stats={numbers}
        readiness={readiness.data}
        onEdit={() => open('edit')}
      />
      <Findings stream={stream} findings={findings} isOffAir={phase !== 'live' || unseen} onMend={open} />
      <div className={page.columns}>
        <div className={page.column}>
          <Player
            streamId={stream.id}
            name={stream.name}
            phase={phase}
            isUnseen={unseen || isUnseen(stream, phase)}
            meaning={meaning}
            resting={restingLine(stream, phase, offAirSince(events.data?.data))}
          />
          {running && (
            <Panel title="Playing">
              <NowAndNext stats={numbers} />
              <TimelineBar stream={stream} readiness={readiness.data} stats={numbers} />
              {!numbers && <div className={classes.timelinePlace} />}
            </Panel>
          )}
          <ProgrammePanel id={stream.id} isRunning={running} />
          <Panel title="Destinations">
            <DestinationRows rows={rows} stats={numbers} />
          </Panel>
          <UptimePanel id={stream.id} />
          <SessionsPanel id={stream.id} />
          <Panel title="API and kubectl" screenOnly>
            <Snippets
              about="This stream"
              rest={restSnippet(location.origin, stream)}
              kubectl={kubectlSnippet(stream)}
            />
          </Panel>
        </div>
        <div className={page.column}>
          {running && (
            <div data-dim={unseen || undefined} className={classes.live}>
              <Live stats={numbers} error={stats.error} readAt={stats.dataUpdatedAt} />
            </div>
          )}
          <Health stream={stream} running={running} told={findings.map(({ code }) => code)} onMend={open} />
          <SchedulePanel stream={stream} onChange={() => open('schedule')} />
          <Panel title="Recent events">
            {events.data ? <Events events={events.data.data} /> : <Pending error={events.error} lines={4} />}
          </Panel>
        </div>
      </div>
      <Forms stream={stream} form={opened} close={close} />
    </>
  );
}

export function StreamPage({ id }: { id: string }) {
  return (
    <DetailPage kind={STREAM} query={useStream(id)}>
      {(stream) => <StreamView stream={stream} />}
    </DetailPage>
  );
}
