/** Describes what is known of a destination from the view of its platform. Pure: no I/O, no clock. */
import type { PlatformReason } from '../../lib/codes/platforms.ts';

export interface PlatformIssue {
  code: string;
  severity: 'info' | 'warning' | 'error';
  meaning: string;
  fix: string;
}

/** The condition PlatformLive. True may carry a reason that asks for attention: `health_bad` or `limit_near`. */
export interface PlatformVerdict {
  status: 'True' | 'False' | 'Unknown';
  reason?: PlatformReason | undefined;
  viewers?: number;
  /** Id of the broadcast that viewers see. */
  broadcastId?: string;
  /** Milliseconds since 1970: the time of the answer in which viewers saw the broadcast. */
  lastSeenMs?: number;
  issues: readonly PlatformIssue[];
}
