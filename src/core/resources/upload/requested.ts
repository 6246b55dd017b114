/** Reports whether a preview of an upload is requested. Pure: no I/O, no clock. */
import { kubeTime } from '../../lib/clock.ts';
import { PREVIEW_ANNOTATION, RETRY_ANNOTATION } from '../common/names.ts';
import type { Upload } from './resource.ts';
import { findRendition, isPlain, PREVIEW_PROFILE, type PreviewState } from './spec.ts';

/** A client does not wait longer, and may ask again: a failed try is repeated then. */
const VALID_MS = 3_600_000;

type PreviewAnnotations = Pick<Upload, 'metadata'>;

/** Until when a preview is wanted; undefined where it is not, or no more. */
export function getPreviewExpiry({ metadata }: PreviewAnnotations, now: Date): Date | undefined {
  const until = new Date(Date.parse(metadata.annotations?.[PREVIEW_ANNOTATION] ?? '') + VALID_MS);
  // An unreadable time is no request, and neither is one far ahead, which would hold forever.
  return until > now && until.getTime() <= now.getTime() + 2 * VALID_MS ? until : undefined;
}

/** How what can be seen of an upload stands; null where there is nothing and nothing is being made. */
export function getPreviewState(upload: Pick<Upload, 'metadata' | 'spec' | 'status'>): PreviewState | null {
  const shown = (upload.status?.renditions ?? []).filter(({ profile }) => isPlain(profile));
  const all = shown.map(({ profile }) => findRendition(upload, profile));
  if (all.some((rendition) => rendition?.state === 'ready')) return 'ready';
  const own = findRendition(upload, PREVIEW_PROFILE);
  if (own === undefined || own.state === 'ready') return null;
  return own.state === 'pending' ? 'preparing' : 'failed';
}

/** Returns the annotation that requests a preview; undefined if there is nothing to preview, or a request is recent. */
export function requestPreview(upload: Upload, now: Date): { annotations: Record<string, string> } | undefined {
  if (
    upload.spec.track === 'image' ||
    !upload.status?.media ||
    getPreviewState(upload) !== null ||
    getPreviewExpiry(upload, now)
  )
    return undefined;
  return { annotations: { [PREVIEW_ANNOTATION]: kubeTime(now) } };
}

/** A request for a retry expires: nobody wants it much later. */
const RETRY_VALID_MS = 120_000;

/** Returns the retry request to record for the upload: a new one counts once the upload has failed. */
export function readRetryRequest({ metadata, status }: Upload, now: Date): string | undefined {
  const asked = metadata.annotations?.[RETRY_ANNOTATION]?.slice(0, 1024) || undefined;
  const isOpen = asked !== undefined && asked !== status?.retried;
  if (!isOpen || status?.phase !== 'failed') return status?.retried;
  const isOld = now.getTime() - Date.parse(asked.split(' ', 1)[0] ?? '') > RETRY_VALID_MS;
  return isOld ? status.retried : asked;
}

/** Reports whether another try is requested and has not begun. */
export const isRetryAsked = (upload: Upload, now: Date): boolean =>
  readRetryRequest(upload, now) !== upload.status?.retried;
