/**
 * Records the rules that a streamer left out (resources/stream/dropped-rules.ts), for events and for kubectl. The pod counts, and the status
 * follows: at once for the first time of a rule, and after a hold for the next ones. Pure: no I/O, no clock.
 */
import type { EventInput } from '../../kube/events.ts';
import { kubeTime } from '../../lib/clock.ts';
import { toPascalCase } from '../../lib/codes/code-text.ts';
import { DROPPED_RULES } from '../../lib/codes/streams.ts';
import type { ReportedDrop } from '../../protocol/report.ts';
import { type DroppedRule, describeDroppedRule, MAX_DROPPED_RULES } from '../../resources/stream/dropped-rules.ts';
import { buildWarningEvent } from '../runtime/controller.ts';

/** A rule that never plays in time is written so often: nobody reads a mail a minute. */
const HOLD_MS = 10 * 60_000;
/** So many entries of a stream are written in that time, however many rules it has. */
const MOST_WRITTEN = 20;

type Entries = readonly DroppedRule[];

const isOf = (a: Pick<DroppedRule, 'rule' | 'track'>, b: Pick<DroppedRule, 'rule' | 'track'>): boolean =>
  a.rule === b.rule && a.track === b.track;

const isHeld = ({ at }: DroppedRule, now: Date): boolean => now.getTime() - Date.parse(at) < HOLD_MS;

/**
 * Returns what a report has beyond the entries, the latest where it has more than a stream can have. A new process of the pod may leave out
 * again what the one before left out, so the moment decides and not the count.
 */
const findNew = (known: Entries, reported: readonly ReportedDrop[]): ReportedDrop[] =>
  reported
    .toSorted((a, b) => Date.parse(a.dueAt) - Date.parse(b.dueAt))
    .slice(-MAX_DROPPED_RULES)
    .filter((one) => {
      const last = known.find((other) => isOf(one, other));
      return !last || Date.parse(one.dueAt) > Date.parse(last.dueAt);
    });

/**
 * Returns the entries as they are after a report: one for each rule, the one that was written last at the end. `isLeaving`: the pod goes, and
 * takes what waits with it.
 */
export function followDropped(
  known: Entries = [],
  reported: readonly ReportedDrop[],
  now: Date,
  isLeaving = false,
): Entries {
  const isDue = (one: ReportedDrop): boolean =>
    isLeaving || !known.some((other) => isOf(one, other) && isHeld(other, now));
  const first = (known.at(-1)?.number ?? 0) + 1;
  const lastNumber = (one: ReportedDrop): number => known.find((other) => isOf(one, other))?.number ?? 0;
  // Those that were written longest ago come first, so none waits for ever.
  const written = findNew(known, reported)
    .filter(isDue)
    .sort((a, b) => lastNumber(a) - lastNumber(b))
    .slice(0, Math.max(0, MOST_WRITTEN - known.filter((one) => isHeld(one, now)).length))
    .map(({ reason, ...one }, i): DroppedRule => {
      const code = toPascalCase(`rule_${reason}`) as DroppedRule['reason'];
      return { ...one, number: first + i, at: kubeTime(now), reason: code };
    });
  if (written.length === 0) return known;
  const others = known.filter((one) => !written.some((other) => isOf(one, other)));
  const isReported = (one: DroppedRule): boolean => reported.some((other) => isOf(one, other));
  return trimEntries([...others, ...written], isReported);
}

/** Forgets rules that the pod does not report, the oldest first: one that it reports would be written again. */
function trimEntries(entries: Entries, isReported: (one: DroppedRule) => boolean): Entries {
  const excess = Math.max(0, entries.length - MAX_DROPPED_RULES);
  const forgotten = new Set(
    [...entries].sort((a, b) => Number(isReported(a)) - Number(isReported(b))).slice(0, excess),
  );
  return entries.filter((one) => !forgotten.has(one));
}

/** Returns when the next part of a report may be written; undefined where nothing waits. */
export function findTellTime(entries: Entries = [], reported: readonly ReportedDrop[], now: Date): Date | undefined {
  const oldest = entries.find((one) => isHeld(one, now));
  return oldest && findNew(entries, reported).length > 0 ? new Date(Date.parse(oldest.at) + HOLD_MS) : undefined;
}

/** The Events for the entries that are new. */
export function describeDropped(before: Entries = [], entries: Entries): EventInput[] {
  const known = before.at(-1)?.number ?? 0;
  return entries
    .filter(({ number }) => number > known)
    .map((one) => buildWarningEvent(one.reason, `${describeDroppedRule(one)} ${DROPPED_RULES[one.reason].fix}`));
}
