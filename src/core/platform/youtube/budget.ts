/**
 * Counts the units of the YouTube Data API that a project spends in a day. Documented: 10,000 units a day by default, a list costs 1, each
 * request at least 1, also an invalid one, and the day begins at midnight Pacific time. Believed: the methods of live streaming cost as much
 * as their like elsewhere (list 1, insert, bind, transition and update 50); the table says that it has them, and has not.
 *
 * Replicas share one counter. Each call is charged before it is sent, by compare and swap, so no number of replicas spends more.
 * Pure: no I/O, no clock.
 */

export const DEFAULT_BUDGET_UNITS = 10_000;
/** The rest is for people who use the same project, and for costs that differ from what is believed. */
const SHARE = 0.9;
export const LIST_UNITS = 1;
export const WRITE_UNITS = 50;
/** Insert, bind and start, with two rounds of lists before each. A repair that the day cannot pay for to its end is not begun. */
export const REPAIR_UNITS = 3 * (WRITE_UNITS + 10 * LIST_UNITS);

export interface UnitCounter {
  /** Date in Pacific time, e.g. 2026-11-29. */
  day: string;
  units: number;
}

const PACIFIC = new Intl.DateTimeFormat('en-CA', {
  timeZone: 'America/Los_Angeles',
  year: 'numeric',
  month: '2-digit',
  day: '2-digit',
});

/** The day whose quota a call at this time is charged to. */
export const quotaDay = (nowMs: number): string => PACIFIC.format(nowMs);

const HOUR_MS = 3_600_000;

/** The next midnight in Pacific time, which is UTC-7 in summer and UTC-8 in winter. Days of a change have 23 or 25 hours. */
export function nextReset(nowMs: number): number {
  const today = quotaDay(nowMs);
  const nextDate = Date.parse(`${today}T00:00:00Z`) + 24 * HOUR_MS;
  const [summer, winter] = [nextDate + 7 * HOUR_MS, nextDate + 8 * HOUR_MS];
  return quotaDay(summer) === today ? winter : summer;
}

export const usableUnits = (budgetUnits: number): number => Math.floor(budgetUnits * SHARE);

/** Units spent on the day of `nowMs`. A counter of another day says nothing of this one. */
export const spentUnits = (counter: UnitCounter | undefined, nowMs: number): number =>
  counter?.day === quotaDay(nowMs) ? counter.units : 0;

/** The counter after a call of this cost; undefined if the call must not be made today. */
export function charge(
  counter: UnitCounter | undefined,
  costUnits: number,
  nowMs: number,
  budgetUnits = DEFAULT_BUDGET_UNITS,
): UnitCounter | undefined {
  const units = spentUnits(counter, nowMs) + costUnits;
  return units > usableUnits(budgetUnits) ? undefined : { day: quotaDay(nowMs), units };
}

/** Whether a repair can be begun: it spends in the middle of a day what polls leave. */
export const affordsRepair = (
  counter: UnitCounter | undefined,
  nowMs: number,
  budgetUnits = DEFAULT_BUDGET_UNITS,
): boolean => charge(counter, REPAIR_UNITS, nowMs, budgetUnits) !== undefined;

/** The counter after the API itself has said that nothing is left: others spend from the same project. */
export const exhaust = (nowMs: number, budgetUnits = DEFAULT_BUDGET_UNITS): UnitCounter => ({
  day: quotaDay(nowMs),
  units: usableUnits(budgetUnits),
});
