import { VisuallyHidden } from '@mantine/core';
import { useNow } from '../../api/context.tsx';
import { formatUntil, formatUptime, secondsSince, spokenDuration } from '../../lib/format.ts';

/** A running clock since `since` (RFC 3339). Screen readers get it in words. */
export function Uptime({ since }: { since: string | null | undefined }) {
  const seconds = secondsSince(since, useNow(Boolean(since)));
  return (
    <span data-testid="stream-uptime">
      <span aria-hidden>{formatUptime(seconds)}</span>
      <VisuallyHidden>{spokenDuration(seconds)}</VisuallyHidden>
    </span>
  );
}

/** When the schedule takes a stream off air; nothing where it does not. `isShort`: it stands below `On air`. */
export function OnAirUntil({ end, isShort = false }: { end: string | null; isShort?: boolean }) {
  const until = formatUntil(end, useNow(false));
  if (end === null || until === undefined) return null;
  return (
    <time dateTime={end} data-testid="on-air-until">
      {isShort ? 'until' : 'on air until'} {until}
    </time>
  );
}
