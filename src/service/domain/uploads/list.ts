/** Declares what lists of uploads are filtered and sorted by. Pure: no I/O, no clock. */
import type { Stored } from '../../../core/kube/types.ts';
import { RETRY_ANNOTATION } from '../../../core/resources/common/names.ts';
import { findUploadName } from '../../../core/resources/upload/name.ts';
import { isRetryAsked } from '../../../core/resources/upload/requested.ts';
import type { Upload } from '../../../core/resources/upload/resource.ts';
import { UPLOAD_STATES } from '../../../core/resources/upload/spec.ts';
import { amountKey } from '../../lib/paging/noun-list.ts';
import { resourceList } from '../limits/resource-list.ts';
import { showType, UPLOAD_TYPES } from './types.ts';

/** A part is not shown to clients, and is deleted once its upload is joined. */
export const isPart = ({ spec }: Upload): boolean => spec.source.sent?.isPart === true;

/** Returns the state that clients see. A requested retry is under way, though the operator may not have begun. */
export function readState(upload: Upload, now: Date): (typeof UPLOAD_STATES)[number] {
  if (isRetryAsked(upload, now)) return upload.status?.media ? 'preparing' : 'importing';
  return upload.status?.phase ?? 'importing';
}

export const readSizeBytes = ({ spec, status }: Upload): number | null =>
  status?.media?.sizeBytes ?? spec.source.sent?.sizeBytes ?? null;

export const UPLOAD_LIST = resourceList<Stored<Upload>>({
  nouns: 'uploads',
  getName: (upload) => findUploadName(upload) ?? upload.metadata.name,
  state: { title: 'UploadState', values: UPLOAD_STATES, get: readState },
  type: { title: 'UploadType', values: UPLOAD_TYPES, get: ({ spec }) => showType(spec.track) },
  sorts: {
    state: { key: readState },
    type: { key: ({ spec }) => showType(spec.track) },
    sizeBytes: { key: (upload) => amountKey(readSizeBytes(upload)) },
    durationSeconds: { key: ({ status }) => amountKey(status?.media?.durationSeconds ?? null) },
  },
  isListed: (upload) => !isPart(upload),
  // A request for a retry expires.
  isTimed: ({ metadata, status }) => {
    const asked = metadata.annotations?.[RETRY_ANNOTATION];
    return asked !== undefined && asked !== status?.retried;
  },
});
