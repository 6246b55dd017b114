/** Computes the months of invoices in the seller's time zone. Pure: no I/O, no clock. */
import { addDays, dayAt, startOfDay } from '../ledger/days.ts';

export interface Period {
  from: Date;
  /** The first moment after it. */
  until: Date;
  /** Its first and last day. */
  firstDay: string;
  lastDay: string;
}

/** The first day of the month that a day is in, and of the next one. */
const firstOfMonth = (day: string): string => `${day.slice(0, 7)}-01`;
const nextFirst = (day: string): string => firstOfMonth(addDays(firstOfMonth(day), 31));

/** When the month that it is at this time began. */
export const monthStart = (at: Date, timeZone: string): Date => startOfDay(firstOfMonth(dayAt(at, timeZone)), timeZone);

/** The month that `at` is in; of one that has been billed to the middle, as after a change of the zone, what is left of it. */
export function periodAt(at: Date, billedUntil: Date | undefined, timeZone: string): Period {
  const open = billedUntil && billedUntil > at ? billedUntil : at;
  const next = nextFirst(dayAt(open, timeZone));
  const month = monthStart(open, timeZone);
  const from = billedUntil && billedUntil > month ? billedUntil : month;
  const until = startOfDay(next, timeZone);
  return { from, until, firstDay: dayAt(from, timeZone), lastDay: addDays(next, -1) };
}
