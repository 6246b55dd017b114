/**
 * Derives the token that reads a stream's pods: their numbers and pictures, but no control of them. The operator gives
 * it to the pods. The API server derives the same token from a key that both know, so that it need not read the pods'
 * Secret. Pure: no I/O, no clock.
 */
import { createHmac } from 'node:crypto';

export const viewToken = (key: string, streamUid: string): string =>
  createHmac('sha256', key).update(streamUid).digest('base64url');
