/** Makes destinations whose viewers are watched, as the process `platform` leaves them. */
import { toPascalCase } from '../../../src/core/lib/codes/code-text.ts';
import type { PlatformReason } from '../../../src/core/lib/codes/platforms.ts';
import type { Condition } from '../../../src/core/resources/common/conditions.ts';
import { PLATFORM_LIVE, type PlatformStatus } from '../../../src/core/resources/destination/platform.ts';
import type { Destination } from '../../../src/core/resources/destination/resource.ts';
import { destination } from './operator.ts';

export const WATCHED = { kind: 'watch', policy: 'Observe', url: 'https://live.example/tv.m3u8' } as const;

export interface Seen {
  status: Condition['status'];
  reason?: PlatformReason;
  since?: Date;
  more?: Partial<PlatformStatus>;
}

/** Builds the part of the status that the process writes at `now`. It holds for a minute and a half. */
export function seePlatform({ status, reason, since, more }: Seen, now: Date) {
  const platform: PlatformStatus = {
    checkedAt: now.toISOString(),
    expiresAt: new Date(now.getTime() + 90_000).toISOString(),
    ...more,
  };
  const condition: Condition = {
    type: PLATFORM_LIVE,
    status,
    reason: reason === undefined ? 'Seen' : toPascalCase(reason),
    message: 'As the platform says.',
    lastTransitionTime: (since ?? now).toISOString(),
  };
  return { platform, condition };
}

/** A destination that is ready; `seen` is undefined where nobody has looked yet. */
export function watched(name: string, seen: Seen | undefined, now: Date): Destination {
  const made = destination(name);
  const spec = { ...made.spec, platform: WATCHED };
  if (!seen) return { ...made, spec };
  const { platform, condition } = seePlatform(seen, now);
  const status = { ...made.status, platform, conditions: [...(made.status?.conditions ?? []), condition] };
  return { ...made, spec, status };
}
