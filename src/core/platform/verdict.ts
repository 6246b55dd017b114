/** Describes what is known of a destination from the view of its platform. Pure: no I/O, no clock. */

/** Why a destination is not live for viewers, or why that is not known. Each has its sentence and fix in lib/codes/platforms.ts. */
export type PlatformReason =
  | 'broadcast_ended'
  | 'no_broadcast'
  | 'ingest_inactive'
  | 'health_bad'
  | 'key_revoked'
  | 'quota_exhausted'
  | 'unauthorized'
  | 'limit_near'
  // Of Unknown alone.
  | 'not_checked'
  | 'not_visible'
  | 'not_a_broadcast'
  | 'unconfirmed'
  | 'rate_limited'
  | 'platform_failed';

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
  /** Milliseconds since 1970: the time of the answer in which viewers saw the broadcast. */
  lastSeenMs?: number;
  issues: readonly PlatformIssue[];
}
