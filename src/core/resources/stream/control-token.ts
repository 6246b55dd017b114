/**
 * Derives the token with which the operator controls the first pod of a stream, and with which that pod reports. Both read the key in the
 * Secret of a destination, so that no Secret need be made for the start. The operator is the only one that reads it besides the pod:
 * the API server writes the key and shows it to nobody. Pure: no I/O, no clock.
 */
import { createHmac } from 'node:crypto';

export const controlToken = (key: string, podUid: string): string =>
  createHmac('sha256', key).update(`control ${podUid}`).digest('base64url');
