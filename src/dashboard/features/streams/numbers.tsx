/** Shows the live numbers of a running stream, renewed every two seconds. */
import { IconCircleCheck, IconCircleX, IconSend } from '@tabler/icons-react';
import type { LiveStats } from '../../api/api.ts';
import { formatBitrate, formatBytes, formatCount, formatFps, formatMs, formatUptime, NONE } from '../../lib/format.ts';
import { Chart } from './chart.tsx';
import { selectPoints } from './chartLine.ts';
import { useHistory } from './history.ts';
import classes from './numbers.module.css';

function Tile({ label, value, hint }: { label: string; value: string; hint?: string }) {
  return (
    <div className={classes.tile}>
      <dt>{label}</dt>
      <dd>
        <span className={classes.value}>{value}</span>
        {hint && <span className={classes.hint}>{hint}</span>}
      </dd>
    </div>
  );
}

/** Without numbers yet it takes the same place, so that nothing below it moves when they come. */
export function Numbers({ stats, readAt }: { stats: LiveStats | undefined; readAt: number }) {
  const history = useHistory(stats, readAt);
  return (
    <dl className={classes.tiles}>
      <Chart label="Bitrate" points={selectPoints(history, 'bitrateKbps')} format={formatBitrate} least={500} />
      <Chart label="Frames per second" points={selectPoints(history, 'fps')} format={formatFps} least={10} />
      <Chart
        label="Audio-video offset"
        hint="skew"
        points={selectPoints(history, 'avSkewMs')}
        format={formatMs}
        least={40}
      />
      <Tile label="Uptime" value={formatUptime(stats?.uptimeSeconds)} />
      <Tile label="Loops" value={formatCount(stats?.loopCount)} />
      <Tile label="Reconnects" value={formatCount(stats?.reconnects)} />
      <Tile
        label="Largest seam step"
        value={formatMs(stats?.seam?.maxStepMs)}
        hint={`${formatCount(stats?.seam?.count)} seams`}
      />
    </dl>
  );
}

type DestinationStats = LiveStats['destinations'][number];

interface Row {
  id: string;
  name: string;
  /** Only while it is on air. */
  stats: DestinationStats | undefined;
}

function DestinationRow({ name, stats }: Row) {
  const Icon = stats ? (stats.connected ? IconCircleCheck : IconCircleX) : IconSend;
  return (
    <li>
      <Icon size={18} stroke={1.8} aria-hidden data-connected={stats?.connected} />
      <div>
        <p>
          <strong>{name}</strong> {stats && <span>{stats.connected ? 'connected' : 'not connected'}</span>}
        </p>
        {stats && (
          <p className={classes.small}>
            {formatBytes(stats.bytesSent)} sent · {formatCount(stats.reconnects)} reconnects
          </p>
        )}
        {stats?.lastError && (
          <p className={classes.error}>
            {stats.connected && 'Last error: '}
            {stats.lastError.message}
          </p>
        )}
      </div>
    </li>
  );
}

/** All that it is sent to, each with how that goes while it is on air. */
export function DestinationRows({ rows }: { rows: readonly Row[] }) {
  return (
    <ul className={classes.destinations}>
      {rows.map((row) => (
        <DestinationRow key={row.id} {...row} />
      ))}
    </ul>
  );
}

const itemName = (item: LiveStats['current'] | undefined): string => (item ? item.name || item.id : NONE);

export function NowAndNext({ stats }: { stats: LiveStats | undefined }) {
  return (
    <dl className={classes.items}>
      <div>
        <dt>Now</dt>
        <dd>{itemName(stats?.current)}</dd>
      </div>
      <div>
        <dt>Next</dt>
        <dd>{itemName(stats?.next)}</dd>
      </div>
    </dl>
  );
}
