/** Builds the part of a Destination's status that the process `platform` writes, as of now. */

import { toPascalCase } from '../../../src/core/lib/codes/code-text.ts';
import { type PlatformReason, SEEN } from '../../../src/core/lib/codes/platforms.ts';
import { PLATFORM_LIVE, type PlatformStatus } from '../../../src/core/resources/destination/platform.ts';
import type { DestinationStatus } from '../../../src/core/resources/destination/spec.ts';

interface ViewOptions extends Partial<PlatformStatus> {
  status: 'True' | 'False' | 'Unknown';
  reason?: PlatformReason;
  /** Since when it has been so. */
  sinceMs?: number;
}

/** It holds for an hour. */
export function buildPlatformStatus({ status, reason, sinceMs = Date.now(), ...more }: ViewOptions): DestinationStatus {
  const at = (ms: number) => new Date(ms).toISOString();
  const now = Date.now();
  return {
    platform: { checkedAt: at(now), expiresAt: at(now + 3_600_000), ...more },
    conditions: [
      {
        type: PLATFORM_LIVE,
        status,
        reason: reason === undefined ? SEEN : toPascalCase(reason),
        message: '',
        lastTransitionTime: at(sinceMs),
      },
    ],
  };
}
