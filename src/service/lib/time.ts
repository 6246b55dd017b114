/** Checks times as clients write them. Pure: no I/O, no clock. */
import { IsDateTime } from 'typebox/format';

/** Whether it is a time of RFC 3339 that JavaScript and Kubernetes can read: no leap seconds, no suffix (RFC 9557). */
export const isTime = (text: string): boolean => IsDateTime(text) && !Number.isNaN(Date.parse(text));

const DAY = /^\d{4}-\d\d-\d\d$/;

/** Parses a time, or a day, which stands for its begin in UTC; undefined for anything else. */
export function parseTimeOrDay(text: string): Date | undefined {
  const time = DAY.test(text) ? `${text}T00:00:00Z` : text;
  return isTime(time) ? new Date(time) : undefined;
}

/** Completes the name of a field that holds no such time. */
export const NO_TIME_OR_DAY = 'must be a time such as 2027-01-31T18:00:00Z, or a day such as 2027-01-31';
