/** Reads the name of a file from Content-Disposition (RFC 6266), as servers really send it. Pure: no I/O, no clock. */
import { nameFrom } from '../../../resources/upload/name.ts';
import { decodeBytes } from './text.ts';

/** Matches a parameter: its name, and its value quoted (RFC 9110 5.6.4) or up to the next semicolon, blanks and all. */
const PARAMETER = /;\s*([\w!#$%&'*+.^`|~-]+)\s*=\s*(?:"((?:[^"\\]|\\[\s\S])*)"?|([^;]*))/g;

/** Decodes RFC 8187's charset'language'percent-encoded; undefined for other values. */
function decodeExtended(value: string): string | undefined {
  const [, charset = '', text = ''] = /^\s*([\w-]*)'[^']*'(.*)$/s.exec(value) ?? [];
  if (text === '') return undefined;
  const bytes = Buffer.from(
    text.replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
    'latin1',
  );
  return /^(iso-8859-1|windows-1252|us-ascii)$/i.test(charset) ? bytes.toString('latin1') : decodeBytes(bytes);
}

/** Decodes RFC 2047, which mail programs write, and some servers too. */
const decodeWords = (value: string): string =>
  value.replace(/=\?([\w-]+)\?([bq])\?([^?]*)\?=\s*/gi, (_, _charset, kind: string, text: string) =>
    decodeBytes(
      kind.toLowerCase() === 'b'
        ? Buffer.from(text, 'base64')
        : Buffer.from(
            text
              .replaceAll('_', ' ')
              .replace(/=([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
            'latin1',
          ),
    ),
  );

function decodePlain(value: string): string {
  const text = decodeBytes(Buffer.from(value, 'latin1'));
  if (text.includes('=?')) return decodeWords(text);
  // RFC 6266 appendix D forbids to decode percent signs. Browsers do it, since servers encode.
  if (!/%[0-9a-f]{2}/i.test(text)) return text;
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/**
 * Unescapes a quoted value. Only a backslash before a quote or itself is an escape: Windows programs send whole paths.
 */
const unquote = (value: string): string => value.replace(/\\(["\\])/g, '$1');

/** Joins the parts of one value, RFC 2231 3: `filename*0="a"; filename*1="b"`. */
function joinParts(parameters: ReadonlyMap<string, string>): string | undefined {
  const parts: string[] = [];
  for (let part = 0; ; part++) {
    const value = parameters.get(`filename*${part}`);
    if (value === undefined) return parts.length > 0 ? parts.join('') : undefined;
    parts.push(value);
  }
}

/** Returns the last part of a path, without characters that are special to a file system or a terminal. */
function lastPart(text: string): string | undefined {
  const name = nameFrom(
    (text.split(/[/\\]/).at(-1) ?? '')
      .replace(/[\p{Cc}\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff\ufffd]/gu, '')
      .trim(),
  );
  return name === '.' || name === '..' ? undefined : name;
}

/** Returns the file's name by the server; `header` has a byte in each character. Undefined where there is none. */
export function readDispositionName(header: string | string[] | undefined): string | undefined {
  for (const value of [header ?? []].flat()) {
    const parameters = new Map<string, string>();
    // Some servers leave out the type, and begin with the parameter.
    const text = /^\s*(filename|name)\*?\s*=/i.test(value) ? `;${value}` : value;
    for (const [, name = '', quoted, plain = ''] of text.matchAll(PARAMETER)) {
      const key = name.toLowerCase();
      if (!parameters.has(key)) parameters.set(key, quoted === undefined ? plain.trim() : unquote(quoted));
    }
    const extended = decodeExtended(parameters.get('filename*') ?? '');
    const plain = parameters.get('filename') ?? joinParts(parameters) ?? parameters.get('name');
    const name = lastPart(extended ?? '') ?? lastPart(decodePlain(plain ?? ''));
    if (name !== undefined) return name;
  }
  return undefined;
}
