import { Tooltip } from '@mantine/core';
import {
  IconAlertTriangle,
  IconBroadcast,
  IconCalendarClock,
  IconFlag,
  IconHourglassHigh,
  IconMoon,
  IconPlayerStop,
  IconPower,
  IconRefresh,
  IconRocket,
  type TablerIcon,
} from '@tabler/icons-react';
import classes from '../../ui/tag.module.css';
import { getPhaseLook, type PhaseIcon } from './phase.ts';

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
};

/** The state in a word, with its icon and colour; a tooltip has its meaning. */
export function PhaseBadge({ phase, large = false }: { phase: string; large?: boolean }) {
  const look = getPhaseLook(phase);
  const Icon = ICONS[look.icon];
  return (
    <Tooltip label={look.meaning}>
      <span
        className={classes.badge}
        data-tone={look.tone}
        data-large={large || undefined}
        data-phase={phase}
        data-testid="stream-status"
      >
        {look.tone === 'live' ? (
          <span className={classes.dot} aria-hidden />
        ) : (
          <Icon size={large ? 16 : 14} stroke={2} aria-hidden />
        )}
        {look.word}
      </span>
    </Tooltip>
  );
}
