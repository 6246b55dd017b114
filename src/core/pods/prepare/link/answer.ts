/** Reads what the head of an answer says of the file: whole or in part, and which content. Pure: no I/O, no clock. */

type Headers = Readonly<Record<string, string | string[] | undefined>>;

interface Head {
  statusCode: number;
  headers: Headers;
}

export const first = (header: string | string[] | undefined): string | undefined => [header ?? []].flat()[0];

/** Without a file: no content (204, 205), a part, and lists of other statuses (207, 208). */
const NOT_WHOLE = new Set([204, 205, 206, 207, 208]);

/**
 * Whether an answer has the whole file: a client takes a 2xx that it does not know for 200 (RFC 9110 15). Browsers also
 * take a 206 that names no range.
 */
export function isWholeAnswer({ statusCode, headers }: Head): boolean {
  if (statusCode === 206 && headers['content-range'] === undefined)
    return !/^\s*multipart\//i.test(first(headers['content-type']) ?? '');
  return statusCode >= 200 && statusCode < 300 && !NOT_WHOLE.has(statusCode);
}

interface Part {
  start: number;
  /** Behind the last byte. */
  end: number;
  /** Of the whole file; undefined where the server does not know it. */
  size: number | undefined;
}

/** Reads Content-Range (RFC 9110 14.4) of an answer with one part. */
export function readPart({ statusCode, headers }: Head): Part | undefined {
  if (statusCode !== 206) return undefined;
  const range = first(headers['content-range'])?.trim() ?? '';
  const [, start, last, size] = /^bytes[ =](\d+)-(\d+)\/(\d+|\*)$/i.exec(range) ?? [];
  if (start === undefined) return undefined;
  return { start: Number(start), end: Number(last) + 1, size: size === '*' ? undefined : Number(size) };
}

/** Answers of servers that know Range and cannot read If-Range. */
export const CONDITION_REFUSED = new Set([400, 412, 501]);

/** Reads a tag that stands for the same bytes: If-Range takes no weak one (RFC 9110 13.1.5). */
export function readStrongTag(headers: Headers): string | undefined {
  const etag = first(headers.etag)?.trim();
  return etag && !etag.startsWith('W/') ? etag : undefined;
}

export const announcesRanges = (headers: Headers): boolean => first(headers['accept-ranges'])?.trim() === 'bytes';
