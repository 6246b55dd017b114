/** Shows the live numbers of a running stream, renewed every two seconds. */
import { IconCircleCheck, IconCircleX, IconSend } from '@tabler/icons-react';
import type { Destination } from '../../../service/client/index.ts';
import type { LiveStats } from '../../api/api.ts';
import {
  formatBitrate,
  formatBytes,
  formatCount,
  formatFps,
  formatMs,
  formatSkew,
  formatUptime,
  NONE,
} from '../../lib/format.ts';
import { Name } from '../../ui/name.tsx';
import { ViewersView } from '../destinations/view.tsx';
import { Chart } from './chart.tsx';
import { selectPoints } from './chartLine.ts';
import { useHistory } from './history.ts';
import classes from './numbers.module.css';
import { listPublishingFacts } from './publishing.ts';

interface TileProps {
  label: string;
  value: string;
  hint?: string;
  /** Shown to those who point at it. */
  explanation?: string;
  isWide?: boolean;
}

function Tile({ label, value, hint, explanation, isWide = false }: TileProps) {
  return (
    <div className={classes.tile} title={explanation} data-wide={isWide || undefined}>
      <dt>{label}</dt>
      <dd>
        <span className={classes.value}>{value}</span>
        {hint && <span className={classes.hint}>{hint}</span>}
      </dd>
    </div>
  );
}

/** `1 change of clips`. */
const formatChanges = (count: number | null | undefined): string =>
  `${formatCount(count)} ${count === 1 ? 'change' : 'changes'} of clips`;

/** Without numbers yet it takes the same place, so that nothing below it moves when they come. */
export function Numbers({ stats, readAt }: { stats: LiveStats | undefined; readAt: number }) {
  const history = useHistory(stats, readAt);
  const viewers = stats?.viewers ?? undefined;
  return (
    <dl className={classes.tiles}>
      <Chart label="Bitrate" points={selectPoints(history, 'bitrateKbps')} format={formatBitrate} least={500} />
      <Chart label="Frames per second" points={selectPoints(history, 'fps')} format={formatFps} least={10} />
      <Chart
        label="Sound and picture"
        explanation="How far the sound is from the picture, measured at the start of each clip. Below 45 ms nobody notices it."
        points={selectPoints(history, 'avSkewMs')}
        format={formatSkew}
        formatEnd={formatMs}
        least={40}
      />
      <Tile label="On air for" value={formatUptime(stats?.uptimeSeconds)} />
      {viewers !== undefined && <Tile label="Viewers" value={formatCount(viewers)} />}
      <Tile label="Loops" value={formatCount(stats?.loopCount)} />
      <Tile label="Reconnects" value={formatCount(stats?.reconnects)} />
      <Tile
        label="Longest step between clips"
        explanation="The longest time between the last picture of a clip and the first one of the next. One frame takes 33 ms at 30 fps."
        value={formatMs(stats?.seam?.maxStepMs)}
        hint={formatChanges(stats?.seam?.count)}
        // Tiles stand in pairs.
        isWide={viewers !== undefined}
      />
    </dl>
  );
}

type DestinationStats = LiveStats['destinations'][number];

interface Row {
  id: string;
  name: string;
  /** Whether it is switched off. */
  isOff: boolean;
  /** Only while it is on air. */
  stats: DestinationStats | undefined;
  /** The view of its viewers. */
  view: Destination['platformLive'] | undefined;
}

/** Shows the last minute beside the values that the platform asks for. */
function Publishing({ stats, keyframeSeconds }: { stats: DestinationStats; keyframeSeconds: number | null }) {
  const facts = listPublishingFacts(stats, keyframeSeconds);
  if (facts.length === 0) return null;
  return (
    <p className={classes.small} data-testid="publishing">
      Last minute:{' '}
      {facts.map(({ text, wanted, isBad }, n) => (
        <span key={text} className={isBad ? classes.error : undefined}>
          {n > 0 && ' · '}
          {text}
          {wanted && ` (asked: ${wanted})`}
        </span>
      ))}
    </p>
  );
}

function DestinationRow({ id, name, isOff, stats, view, keyframeSeconds }: Row & { keyframeSeconds: number | null }) {
  const Icon = stats ? (stats.connected ? IconCircleCheck : IconCircleX) : IconSend;
  return (
    <li>
      <Icon
        size={18}
        stroke={1.8}
        aria-hidden
        // A stream that viewers do not see is not shown as one that is well.
        data-connected={view?.status === 'false' ? undefined : stats?.connected}
      />
      <div>
        <p>
          <strong>
            <Name>{name}</Name>
          </strong>{' '}
          {stats && <span className={classes.state}>{stats.connected ? 'connected' : 'not connected'}</span>}
          {isOff && <span className={classes.state}>switched off</span>}
        </p>
        {stats && (
          <p className={classes.small}>
            {formatBytes(stats.bytesSent)} sent · {formatCount(stats.reconnects)}{' '}
            {stats.reconnects === 1 ? 'reconnect' : 'reconnects'}
          </p>
        )}
        {stats?.connected && <Publishing stats={stats} keyframeSeconds={keyframeSeconds} />}
        {stats?.lastError && (
          <p className={classes.error}>
            {stats.connected && 'Last error: '}
            {stats.lastError.message}
          </p>
        )}
        {view && <ViewersView id={id} view={view} isInset />}
      </div>
    </li>
  );
}

/** All that it is sent to, each with how that goes while it is on air. */
export function DestinationRows({ rows, stats }: { rows: readonly Row[]; stats: LiveStats | undefined }) {
  const keyframeSeconds = stats?.keyframeIntervalSeconds ?? null;
  return (
    <ul className={classes.destinations}>
      {rows.map((row) => (
        <DestinationRow key={row.id} {...row} keyframeSeconds={keyframeSeconds} />
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
        <dd>
          <Name>{itemName(stats?.current)}</Name>
        </dd>
      </div>
      <div>
        <dt>Next</dt>
        <dd>
          <Name>{itemName(stats?.next)}</Name>
        </dd>
      </div>
      {stats?.currentAudio && (
        <div>
          <dt>Sound</dt>
          <dd data-testid="sound">
            <Name>{itemName(stats.currentAudio)}</Name>
            {stats.nextAudio && (
              <span className={classes.small}>
                , next <Name>{itemName(stats.nextAudio)}</Name>
              </span>
            )}
          </dd>
        </div>
      )}
    </dl>
  );
}
