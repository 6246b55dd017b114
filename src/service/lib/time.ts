/** Checks times as clients write them. Pure: no I/O, no clock. */
import { IsDateTime } from 'typebox/format';

/** Whether it is a time of RFC 3339 that JavaScript and Kubernetes can read: no leap seconds, no suffix (RFC 9557). */
export const isTime = (text: string): boolean => IsDateTime(text) && !Number.isNaN(Date.parse(text));
