/** Shows the streams that are on air, each with its picture. */
import { Link } from '@tanstack/react-router';
import type { Stream } from '../../api/api.ts';
import { formatBitrate, formatFps } from '../../lib/format.ts';
import { useAnnounceChange } from '../../ui/announce.tsx';
import cover from '../../ui/cover.module.css';
import { Name } from '../../ui/name.tsx';
import { formatViewers } from '../destinations/viewText.ts';
import { Thumbnail } from '../player/thumbnail.tsx';
import { PhaseBadge } from '../streams/badge.tsx';
import { destinationLine } from '../streams/card.tsx';
import { getStreamLook } from '../streams/phase.ts';
import { useDestinationNames, useLiveStats, useShownPhase } from '../streams/queries.ts';
import { OnAirUntil, Uptime } from '../streams/uptime.tsx';
import classes from './overview.module.css';

/** More than fit a screen are in the list of streams. */
const SHOWN = 12;
/** Their numbers are asked for one by one, so they are asked for seldom. */
const STATS_MS = 5_000;

function OnAirCard({ stream, names }: { stream: Stream; names: ReadonlyMap<string, string> }) {
  const phase = useShownPhase(stream);
  const { data: stats } = useLiveStats(stream.id, phase, STATS_MS);
  const { word, tone } = getStreamLook(stream, phase);
  useAnnounceChange(`${stream.name}: ${word}`);
  return (
    <article className={classes.airCard} data-tone={tone} data-testid="on-air-card">
      <Thumbnail streamId={stream.id} posterUrl={stream.posterUrl} live={phase === 'live'} />
      <div className={classes.airBadge}>
        <PhaseBadge stream={stream} phase={phase} />
      </div>
      <div className={classes.airBody}>
        <h3>
          <Link to="/streams/$id" params={{ id: stream.id }} className={cover.cover}>
            <Name>{stream.name}</Name>
          </Link>
        </h3>
        <p className={classes.airNumbers}>
          {stream.liveSince && <Uptime since={stream.liveSince} />}
          <OnAirUntil end={stream.nextEndAt} />
          {stats?.live && (
            <span>
              {formatBitrate(stats.bitrateKbps)} · {formatFps(stats.fps)} fps
              {stats.viewers !== null && ` · ${formatViewers(stats.viewers)}`}
            </span>
          )}
        </p>
        <p className={classes.dim}>to {destinationLine(stream, names)}</p>
      </div>
    </article>
  );
}

export function OnAir({ streams }: { streams: readonly Stream[] }) {
  const names = useDestinationNames();
  if (streams.length === 0) return <p className={classes.nothing}>Nothing is on air at the moment.</p>;
  return (
    <>
      <ul className={classes.airGrid}>
        {streams.slice(0, SHOWN).map((stream) => (
          <li key={stream.id}>
            <OnAirCard stream={stream} names={names} />
          </li>
        ))}
      </ul>
      {streams.length > SHOWN && (
        <p className={classes.all}>
          <Link to="/streams" search={{ status: 'live' }}>
            All {streams.length} that are on air
          </Link>
        </p>
      )}
    </>
  );
}
