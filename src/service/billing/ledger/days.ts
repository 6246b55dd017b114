/**
 * Computes the days of a time zone: when each begins, also where clocks change. A day is `2027-01-31`. Pure: no I/O, no
 * clock.
 */

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
/** No zone is, or ever was, further from UTC. */
const FURTHEST_MS = 27 * HOUR_MS;
const QUARTER_MS = 900_000;
/**
 * When a day begins, in UTC, in zones that are not whole hours away from it: of summer and winter those of Newfoundland, the
 * Marquesas, the Chathams, South Australia, Eucla, Myanmar, Nepal, India, Afghanistan and Iran.
 */
const BETWEEN_HOURS: ReadonlySet<number> = new Set(
  [
    '02:30',
    '03:30',
    '09:30',
    '10:15',
    '11:15',
    '13:30',
    '14:30',
    '15:15',
    '17:30',
    '18:15',
    '18:30',
    '19:30',
    '20:30',
  ].map((time) => Date.parse(`1970-01-01T${time}Z`) / QUARTER_MS),
);

const formats = new Map<string, Intl.DateTimeFormat>();

/** In its own way of writing numbers, a day is written as ISO 8601 has it. */
function getFormat(timeZone: string): Intl.DateTimeFormat {
  let format = formats.get(timeZone);
  if (!format) {
    const fields = { year: 'numeric', month: '2-digit', day: '2-digit' } as const;
    format = new Intl.DateTimeFormat('sv-SE', { timeZone, ...fields });
    // Names of zones, with their aliases, are some hundreds.
    formats.set(timeZone, format);
  }
  return format;
}

/** Whether it is a day of the calendar, written as here. */
export function isDay(text: string): boolean {
  if (!/^\d{4}-\d\d-\d\d$/.test(text)) return false;
  const at = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(at.getTime()) && at.toISOString().startsWith(text);
}

/** The day that it is at this time there. */
export const dayAt = (at: Date, timeZone: string): string => getFormat(timeZone).format(at);

/** The day so many days later. */
export const addDays = (day: string, days: number): string =>
  new Date(Date.parse(day) + days * DAY_MS).toISOString().slice(0, 10);

/** How many days `to` is after `from`. */
export const daysBetween = (from: string, to: string): number => (Date.parse(to) - Date.parse(from)) / DAY_MS;

/** The first millisecond of a day there; of a day that a zone has left out, that of the one after it. */
export function startOfDay(day: string, timeZone: string): Date {
  const middle = Date.parse(day);
  const begun = (ms: number) => dayAt(new Date(ms), timeZone) >= day;
  // Most begin at a whole hour of UTC or a quarter of one, and near the same as they would in UTC.
  let [before, after] = [middle - FURTHEST_MS, middle + FURTHEST_MS];
  while (after - before > 1) {
    const half = Math.floor((before + after) / 2);
    if (begun(half)) after = half;
    else before = half;
  }
  return new Date(after);
}

/** Returns the times between these two, in milliseconds, at which a day begins somewhere on earth: ascending. */
export function midnightsBetween(from: number, to: number): number[] {
  const found: number[] = [];
  for (let quarter = Math.floor(from / QUARTER_MS) + 1; quarter * QUARTER_MS < to; quarter++)
    if (quarter % 4 === 0 || BETWEEN_HOURS.has(quarter % (DAY_MS / QUARTER_MS))) found.push(quarter * QUARTER_MS);
  return found;
}

/** When each day from the first to the last begins, and at last when the day after them does: ascending. */
export function dayStarts(from: string, to: string, timeZone: string): Date[] {
  const starts: Date[] = [];
  for (let day = from; day <= addDays(to, 1); day = addDays(day, 1)) {
    // A day after the one before it, in nearly all cases.
    const guess = (starts.at(-1)?.getTime() ?? Number.NaN) + DAY_MS;
    const isRight =
      !Number.isNaN(guess) && dayAt(new Date(guess), timeZone) >= day && dayAt(new Date(guess - 1), timeZone) < day;
    starts.push(isRight ? new Date(guess) : startOfDay(day, timeZone));
  }
  return starts;
}
