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

const FILE_ENDING = /\.[A-Za-z0-9]{1,8}$/;

/** The file's name out of a link. One that names no file is called by its host: `example.com/watch`, `example.com`. */
export function parseLinkName(url: string): string | undefined {
  const { host, pathname } = new URL(url);
  const last = pathname.split('/').at(-1) ?? '';
  // Control characters may hide behind percent signs. A sign that encodes nothing stays, as in 100%.mp4.
  const name = last.replace(/(?:%[0-9a-f]{2})+/gi, decodePart);
  if (FILE_ENDING.test(name)) return nameFrom(name);
  return nameFrom(name === '' ? host : `${host}/${name}`);
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
