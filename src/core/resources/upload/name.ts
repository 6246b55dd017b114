/** Derives display names from a client, a link or its server. Pure: no I/O, no clock. */
import type { UploadSpec, UploadStatus } from './spec.ts';

const MAX_CHARS = 200;

/** The text as a name, without control characters and not too long; undefined when nothing is left. */
export function nameFrom(text: string): string | undefined {
  // The cut may go through a pair of surrogates.
  const name = text
    .replace(/\p{Cc}/gu, '')
    .slice(0, MAX_CHARS)
    .replace(/[\ud800-\udbff]$/, '');
  return name.isWellFormed() && name !== '' ? name : undefined;
}

/** The file's name out of a link; undefined when it has none. */
export function parseLinkName(url: string): string | undefined {
  const last = new URL(url).pathname.split('/').at(-1) ?? '';
  // Control characters may hide behind percent signs. A sign that encodes nothing stays, as in 100%.mp4.
  return nameFrom(last.replace(/(?:%[0-9a-f]{2})+/gi, decodePart));
}

function decodePart(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

interface NamedUpload {
  metadata: { name?: string };
  spec: Pick<UploadSpec, 'displayName' | 'source'>;
  status?: Pick<UploadStatus, 'media'>;
}

/**
 * Returns an upload's display name: given by the user, by the server of the link, or by the link itself, in this order.
 * Undefined without any.
 */
export function findUploadName({ spec: { displayName, source }, status }: NamedUpload): string | undefined {
  const isOfLink = source.url !== undefined && URL.canParse(source.url) && displayName === parseLinkName(source.url);
  if (displayName !== undefined && !isOfLink) return displayName;
  return status?.media?.name ?? displayName;
}
