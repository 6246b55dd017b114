/** Computes the bytes that an upload takes of the limits of its account. Pure: no I/O, no clock. */
import type { Upload } from './resource.ts';

type Sized = Pick<Upload, 'spec' | 'status'>;

/** Bytes that an upload has or will have: 0 if it failed, and for a link until its import ends. */
export function computeCountedBytes({ spec, status }: Sized): number {
  if (status?.media) return status.media.sizeBytes;
  const { sent } = spec.source;
  if (status?.error || !sent) return 0;
  return sent.sizeBytes ?? Math.max(sent.receivedBytes, sent.roomBytes ?? 0);
}

/** Whether it waits to be fetched from a link, or is being fetched. */
export const isFetching = ({ spec, status }: Sized): boolean =>
  spec.source.url !== undefined && !status?.media && !status?.error;

/** Bytes of all that was prepared of it, also of a rendition that is not complete. */
export const computePreparedBytes = ({ status }: Pick<Upload, 'status'>): number =>
  (status?.renditions ?? []).reduce((sum, { state, durationSeconds = 0, preparedSeconds = 0, bitrateKbps = 0 }) => {
    // The length of a pending rendition is the expected one.
    const seconds = state === 'pending' ? preparedSeconds : durationSeconds;
    return sum + Math.ceil(seconds * bitrateKbps * 125);
  }, 0);
