/** Tells a page, an error document or a playlist from a media file, by its first bytes. Pure: no I/O, no clock. */
/** This many bytes are enough, also behind comments and blank lines. */
export const PAGE_BYTES = 4096;
const MAX_TITLE_CHARS = 80;

/** WHATWG MIME Sniffing 7.1, and the equally plain signs of XHTML. */
const HTML =
  /^<(?:!doctype html|html|head|body|script|style|title|meta|link|iframe|h1|div|font|table|a|br|p|b|form|center|span|noscript)(?=[\s/>])/i;
const XML_DECLARATION = /^<\?xml[^>]*>\s*/i;
const COMMENT = { begin: '<!--', end: '-->' };
const XML = /^(?:<\?xml\b|<[a-z][\w:.-]*(?:[\s/][^<>]*)?>)/i;
const JSON_TEXT = /^(?:\{\s*(?:"|\})|\[\s*(?:["{[\]]|-?\d))/;

/**
 * Returns the text behind an XML declaration and comments. One expression over all comments would try each way to divide
 * them, which takes twice as long with each comment more.
 */
function skipComments(text: string): string {
  let rest = text.replace(XML_DECLARATION, '');
  while (rest.startsWith(COMMENT.begin)) {
    const end = rest.indexOf(COMMENT.end, COMMENT.begin.length);
    if (end < 0) break;
    rest = rest.slice(end + COMMENT.end.length).trimStart();
  }
  return rest;
}

function decodeAs(charset: string, bytes: Buffer, fatal: boolean): string | undefined {
  try {
    // The last character may be cut.
    return new TextDecoder(charset, { fatal }).decode(bytes, { stream: true });
  } catch {
    return undefined;
  }
}

/**
 * Decodes text; undefined for binary data. UTF-16 has a mark of its own; everything else reads as ASCII where it
 * matters.
 */
function decodeText(head: Buffer, contentType = ''): string | undefined {
  const [a, b, c] = head;
  if (a === 0xff && b === 0xfe) return decodeAs('utf-16le', head, false);
  if (a === 0xfe && b === 0xff) return decodeAs('utf-16be', head, false);
  const bytes = a === 0xef && b === 0xbb && c === 0xbf ? head.subarray(3) : head;
  // WHATWG MIME Sniffing 3: binary data bytes.
  const isBinary = bytes.some((byte) => byte < 0x09 || byte === 0x0b || (byte > 0x0d && byte < 0x20 && byte !== 0x1b));
  if (isBinary) return undefined;
  const latin1 = bytes.toString('latin1');
  const charset = /charset=["']?([\w-]+)/i.exec(`${contentType} ${latin1.slice(0, 1024)}`)?.[1] ?? '';
  return decodeAs('utf-8', bytes, true) ?? decodeAs(charset, bytes, false) ?? latin1;
}

const ENTITIES: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: ' ', '#39': "'" };

/** Returns the text of an element in one line. */
const readable = (text: string): string =>
  text
    .replace(/<[^<>]*>/g, ' ')
    .replace(/&([a-z]+|#39);/gi, (all, name: string) => ENTITIES[name.toLowerCase()] ?? all)
    .replace(/[\s\p{Cc}\p{Cf}]+/gu, ' ')
    .trim()
    .slice(0, MAX_TITLE_CHARS)
    .toWellFormed();

function element(text: string, name: string): string | undefined {
  // linear-time: the names are our own words, and `<` ends each part.
  const content = new RegExp(`<${name}\\b[^<>]*>([^<]*(?:<!\\[CDATA\\[[^<]*)?)</${name}`, 'i').exec(text)?.[1];
  return readable(content?.replace(/<!\[CDATA\[|\]\]>/g, '') ?? '') || undefined;
}

/**
 * Reads the message of an object store's error document, e.g. `AccessDenied: Request has expired`; undefined without
 * one.
 */
export function readErrorDocument(head: Buffer): string | undefined {
  const text = decodeText(head);
  if (text === undefined || !XML.test(text.trimStart())) return undefined;
  const said = [element(text, 'Code'), element(text, 'Message')].filter((part) => part !== undefined);
  return said.length > 0 ? said.join(': ').replace(/\.$/, '') : undefined;
}

const ADVICE =
  'Use the link that downloads the file itself, and share the file with everybody who has the link. Or download the file, and upload it.';

export interface WebPage {
  isHtml: boolean;
  /** Whole sentences: what came, and what to do. */
  detail: string;
}

function explainHtml(text: string): WebPage {
  const title = element(text, 'title');
  return { isHtml: true, detail: `${title === undefined ? '' : `The title of the page is “${title}”. `}${ADVICE}` };
}

/**
 * Recognizes a page in place of a media file; undefined where it may be media. A type alone says little: some servers
 * call every file a page, and some call a page a video.
 */
export function recognizePage(head: Buffer, contentType: string): WebPage | undefined {
  const text = decodeText(head, contentType);
  if (text === undefined) return undefined;
  const start = text.trimStart();
  const type = contentType.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  if (HTML.test(skipComments(start)) || (XML.test(start) && /<html[\s>]/i.test(start))) return explainHtml(text);
  if (XML.test(start)) {
    const said = readErrorDocument(head);
    const what = said === undefined ? 'The server sent an XML document.' : `The server sent an error: ${said}.`;
    return { isHtml: false, detail: `${what} ${ADVICE}` };
  }
  if (
    JSON_TEXT.test(start) &&
    (/\bjson\b/.test(type) || /^[\s\S]{0,2048}[\]}]\s*$/.test(text) || !/^(video|audio)\//.test(type))
  )
    return { isHtml: false, detail: `The server sent JSON, as an API does. ${ADVICE}` };
  if (start.startsWith('#EXTM3U'))
    return {
      isHtml: false,
      detail: 'It is an HLS playlist, which refers to other files. Use the link of one media file.',
    };
  return type === 'text/html' || type === 'application/xhtml+xml' ? explainHtml(text) : undefined;
}
