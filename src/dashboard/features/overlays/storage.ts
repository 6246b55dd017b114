/** Says what a change of overlays takes of the storage. Pure: no I/O, no clock. */
import { formatBytes } from '../../lib/format.ts';

/** undefined for an edit that takes nothing, as the server estimates it. */
export const describeStorage = (storageBytes: number): string | undefined =>
  storageBytes > 0 ? `It takes about ${formatBytes(storageBytes)} more of your storage.` : undefined;
