/** What a running stream measures of itself, renewed every two seconds. */
import { IconCircleCheck, IconCircleX } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import type { LiveStats } from '../api.ts';
import { formatBitrate, formatBytes, formatCount, formatFps, formatMs, formatUptime, NONE } from '../format.ts';
import classes from './numbers.module.css';
import { Spark, useHistory } from './spark.tsx';

function Tile({ label, value, hint, children }: { label: string; value: string; hint?: string; children?: ReactNode }) {
  return (
    <div className={classes.tile} data-wide={children ? true : undefined}>
      <dt>{label}</dt>
      <dd>
        <span className={classes.value}>{value}</span>
        {hint && <span className={classes.hint}>{hint}</span>}
      </dd>
      {children && <dd className={classes.under}>{children}</dd>}
    </div>
  );
}

export function Numbers({ stats, readAt }: { stats: LiveStats; readAt: number }) {
  const bitrates = useHistory(stats.bitrateKbps, readAt);
  return (
    <dl className={classes.tiles}>
      <Tile label="Bitrate" value={formatBitrate(stats.bitrateKbps)}>
        <Spark values={bitrates} label="Bitrate of the last two minutes" />
      </Tile>
      <Tile label="Uptime" value={formatUptime(stats.uptimeSeconds)} />
      <Tile label="Frames a second" value={formatFps(stats.fps)} />
      <Tile label="Loops" value={formatCount(stats.loopCount)} />
      <Tile label="Reconnects" value={formatCount(stats.reconnects)} />
      <Tile label="Sound to picture" value={formatMs(stats.avSkewMs)} hint="skew" />
      <Tile
        label="Largest seam step"
        value={formatMs(stats.seam?.maxStepMs)}
        hint={`${formatCount(stats.seam?.count)} seams`}
      />
    </dl>
  );
}

type DestinationStats = LiveStats['destinations'][number];

export function DestinationRows({ rows }: { rows: readonly DestinationStats[] }) {
  return (
    <ul className={classes.destinations}>
      {rows.map((row) => {
        const Icon = row.connected ? IconCircleCheck : IconCircleX;
        return (
          <li key={row.id}>
            <Icon size={18} stroke={1.8} aria-hidden data-connected={row.connected} />
            <div>
              <p>
                <strong>{row.name}</strong> <span>{row.connected ? 'connected' : 'not connected'}</span>
              </p>
              <p className={classes.small}>
                {formatBytes(row.bytesSent)} sent · {formatCount(row.reconnects)} reconnects
              </p>
              {row.lastError && (
                <p className={classes.error}>
                  {row.connected && 'Last error: '}
                  {row.lastError.message}
                </p>
              )}
            </div>
          </li>
        );
      })}
    </ul>
  );
}

const itemName = (item: LiveStats['current']): string => (item ? item.name || item.id : NONE);

export function NowAndNext({ stats }: { stats: LiveStats }) {
  return (
    <dl className={classes.items}>
      <div>
        <dt>Now</dt>
        <dd>{itemName(stats.current)}</dd>
      </div>
      <div>
        <dt>Next</dt>
        <dd>{itemName(stats.next)}</dd>
      </div>
    </dl>
  );
}
