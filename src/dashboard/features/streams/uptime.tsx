import { VisuallyHidden } from '@mantine/core';
import { useNow } from '../../api/context.tsx';
import { formatUptime, secondsSince, spokenDuration } from '../../lib/format.ts';

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
