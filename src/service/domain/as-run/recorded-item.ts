/** Describes an item of a list as it is recorded: its words for reports, and its lengths. Pure: no I/O, no clock. */
import { createHash } from 'node:crypto';
import type { Upload } from '../../../core/resources/upload/resource.ts';
import { findTags, type MediaTags } from '../../../core/resources/upload/tags.ts';

export interface RecordedItem {
  tags: Omit<MediaTags, 'album'>;
  /** Length of the file; absent where it is not known. */
  seconds?: number;
  /** Exact lengths by the storage keys of renditions. A key never stands for another file. */
  lengths: Record<string, number>;
}

export function describeUpload(upload: Upload): RecordedItem {
  const { album: _, ...tags } = findTags(upload);
  const { media, renditions = [] } = upload.status ?? {};
  const lengths = renditions
    .flatMap(({ key = '', state, durationSeconds }) =>
      state === 'ready' && durationSeconds !== undefined ? [{ key, durationSeconds }] : [],
    )
    .toSorted((a, b) => (a.key < b.key ? -1 : 1))
    .map(({ key, durationSeconds }) => [key, durationSeconds] as const);
  return {
    tags,
    ...(media && { seconds: media.durationSeconds }),
    lengths: Object.fromEntries(lengths),
  };
}

/** Changes with what is recorded. */
export const hashItem = (item: RecordedItem): string =>
  createHash('sha256').update(JSON.stringify(item)).digest('base64url').slice(0, 16);
