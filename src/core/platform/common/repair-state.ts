/** Describes how far the repair of a broadcast is, as it is kept between two processes. Pure: no I/O, no clock. */

/**
 * - revoked    YouTube has removed the broadcast. That is not fought.
 * - limit      as many repairs as an hour or a day allows.
 * - refused    what the broadcast needs was tried in vain.
 * - taken      somebody has bound the broadcast to another key.
 */
export type StallReason = 'revoked' | 'limit' | 'refused' | 'taken';

export interface RepairState {
  phase: 'idle' | 'inserting' | 'inserted' | 'stalled';
  /** Times at which inserts were begun, of the last day. */
  insertsMs: readonly number[];
  /** The first list in a row that did not show what is looked for. */
  absentSinceMs?: number;
  /** From the insert on until its broadcast is live or over. */
  mark?: string;
  markedMs?: number;
  /** Our broadcast, once its id is known. */
  broadcastId?: string;
  boundMs?: number;
  startedMs?: number;
  binds?: number;
  starts?: number;
  /** The last broadcast on this key that viewers saw, and when. */
  live?: { broadcastId: string; atMs: number };
  stalled?: StallReason;
  /** The value of `resume` at the stall: another one is a person who wants it to go on. */
  resume?: string;
}
