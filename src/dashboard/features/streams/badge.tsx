import { Tooltip } from '@mantine/core';
import {
  IconAlertTriangle,
  IconBroadcast,
  IconCalendarClock,
  IconEyeOff,
  IconFlag,
  IconHourglassHigh,
  IconMoon,
  IconPlayerStop,
  IconPower,
  IconRefresh,
  IconRocket,
  type TablerIcon,
} from '@tabler/icons-react';
import type { ComponentProps } from 'react';
import type { Stream } from '../../api/api.ts';
import classes from '../../ui/tag.module.css';
import { getStreamLook, type PhaseIcon } from './phase.ts';

const ICONS: Record<PhaseIcon, TablerIcon> = {
  moon: IconMoon,
  calendar: IconCalendarClock,
  hourglass: IconHourglassHigh,
  rocket: IconRocket,
  broadcast: IconBroadcast,
  refresh: IconRefresh,
  stopping: IconPower,
  stopped: IconPlayerStop,
  flag: IconFlag,
  alert: IconAlertTriangle,
  unseen: IconEyeOff,
};

interface PhaseProps {
  stream: Pick<Stream, 'onAirForViewers'>;
  /** The state that is shown, which may be ahead of the stream’s own. */
  phase: string;
  large?: boolean;
}

/** The state in a word, with its icon and colour. */
export function PhaseMark({
  stream,
  phase,
  large = false,
  className = '',
  ...others
}: PhaseProps & ComponentProps<'span'>) {
  const look = getStreamLook(stream, phase);
  const Icon = ICONS[look.icon];
  return (
    <span
      className={`${classes.badge} ${className}`.trim()}
      data-tone={look.tone}
      data-large={large || undefined}
      data-phase={phase}
      data-testid="stream-status"
      {...others}
    >
      {look.tone === 'live' ? (
        <span className={classes.dot} aria-hidden />
      ) : (
        <Icon size={large ? 16 : 14} stroke={2} aria-hidden />
      )}
      {look.word}
    </span>
  );
}

/** The same, with a tooltip that has its meaning. */
export const PhaseBadge = (props: PhaseProps) => (
  <Tooltip label={getStreamLook(props.stream, props.phase).meaning}>
    <PhaseMark {...props} />
  </Tooltip>
);
