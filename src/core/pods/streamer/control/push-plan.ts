/**
 * Decides when a streamer reports to the operator: at once when something changes that the operator acts on or shows, and every
 * five minutes besides. Pure: no I/O, no clock.
 *
 * A flapping output costs the operator no more than being asked every 15 s did: after a burst, changes wait. An operator that is away
 * costs one small request for each backoff. The waits are random, so thousands of pods do not report in the same moment.
 */
import { type Backoff, exponentialMs } from '../../../lib/backoff.ts';
import { admit } from '../../../lib/rate.ts';
import type { StreamerReport } from '../../../protocol/report.ts';
import { REPORT_RATE } from '../../../protocol/report-rate.ts';

const HEARTBEAT_MS = 300_000;
/** Changes of one moment, such as those of two destinations, go in one report. */
const GAP_MS = 200;
const BACKOFF: Backoff = { baseMs: 1_000, maxMs: HEARTBEAT_MS };
/** The operator writes a session that is on air once an hour. */
const HOUR_SECONDS = 3600;
/** A rule that is left out again and again is worth a report in so long, lest an outage has to wait. */
const DROPPED_MS = 600_000;

export interface PushState {
  /** The report that the operator has accepted last, as `describeChange` returns it; undefined before. */
  accepted: string | undefined;
  /** Failed pushes since then. */
  failures: number;
  /** No push before this moment (monotonic, in milliseconds). */
  notBeforeMs: number;
  /** The next push without a change. */
  heartbeatMs: number;
  /** Of `admit`. */
  paidUntilMs: number;
}

export const NOTHING_PUSHED: PushState = {
  accepted: undefined,
  failures: 0,
  notBeforeMs: Number.NEGATIVE_INFINITY,
  heartbeatMs: Number.NEGATIVE_INFINITY,
  paidUntilMs: Number.NEGATIVE_INFINITY,
};

/** Returns a text that changes with all that is worth a push. Time on air that only goes by is worth one an hour. */
export function describeChange(report: StreamerReport): string {
  const { live, held, playable, clock, brokenItems, preparationBehind, droppedRules, runs, destinations } = report;
  const hours = runs.map(({ run, onAirSeconds }) => [run, Math.floor(onAirSeconds / HOUR_SECONDS)]);
  const failures = destinations.flatMap(({ name, connected, lastError }) =>
    connected || !lastError ? [] : [[name, lastError.code, lastError.message]],
  );
  // The operator holds the times after the first of a rule back as long (operator/stream/dropped-rules.ts).
  const dropped = droppedRules?.map(({ track, rule, dueAt }) => [
    track,
    rule,
    Math.floor(Date.parse(dueAt) / DROPPED_MS),
  ]);
  return JSON.stringify([live, held, playable, clock, brokenItems, preparationBehind.item, dropped, hours, failures]);
}

/** Whether the report that `change` describes is to be pushed now. */
export function isPushDue(state: PushState, change: string, nowMs: number): boolean {
  if (nowMs < state.notBeforeMs) return false;
  if (nowMs >= state.heartbeatMs) return true;
  return change !== state.accepted && admit(REPORT_RATE, state.paidUntilMs, nowMs) !== undefined;
}

/** The state after a push of `change`. `random` is from 0 to 1. */
export function afterPush(
  state: PushState,
  pushed: { change: string; isAccepted: boolean },
  nowMs: number,
  random: number,
): PushState {
  if (!pushed.isAccepted) {
    const waitMs = exponentialMs(BACKOFF, state.failures) * (0.5 + random / 2);
    return { ...state, failures: state.failures + 1, notBeforeMs: nowMs + waitMs };
  }
  return {
    accepted: pushed.change,
    failures: 0,
    notBeforeMs: nowMs + GAP_MS,
    heartbeatMs: nowMs + HEARTBEAT_MS * (0.8 + random / 5),
    paidUntilMs: admit(REPORT_RATE, state.paidUntilMs, nowMs) ?? state.paidUntilMs,
  };
}
