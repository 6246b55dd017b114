/**
 * The token with which a stream's pods are looked at: their numbers and what they show, but no control of them. The operator
 * gives it to the pods; the API server makes the same one of a key that both know, so that it need not read what else the
 * pods are given. Pure: no I/O, no clock.
 */
import { createHmac } from 'node:crypto';

export const viewToken = (key: string, streamUid: string): string =>
  createHmac('sha256', key).update(streamUid).digest('base64url');
