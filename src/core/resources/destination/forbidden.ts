/** Decides to which hosts a destination may send. Apart from ingest.ts, which the dashboard loads too. Pure: no I/O, no clock. */
import { isInternalHost } from '../../lib/public-address.ts';
import type { Ingest } from './ingest.ts';

export const PRIVATE_HOST = 'must have a public host, not one of a private network';

/** Why nothing may be sent to a host, as far as its text tells; undefined when it may, or when only DNS can tell. */
export const ingestForbidden = ({ host }: Ingest, allowPrivate: boolean): string | undefined =>
  isInternalHost(host, allowPrivate) ? PRIVATE_HOST : undefined;
