/**
 * Fills in the template of a request to any address: placeholders such as `{{text}}` in the path and query of the URL, in headers and in the
 * body. A value is encoded for its place, so that it changes neither the request nor its receiver. Pure: no I/O, no clock.
 */
import { type AlertText, joinSentences } from './messages.ts';
import { PLACEHOLDERS, type Placeholder } from './placeholders.ts';
import type { AlertMessage } from './rule.ts';

/** The request as a user enters it. */
export interface RequestTemplate {
  url: string;
  method?: string | undefined;
  headers?: readonly TemplateHeader[] | undefined;
  body?: string | undefined;
}

interface TemplateHeader {
  name: string;
  value: string;
}

export interface TemplateProblem {
  /** JSON pointer of the field, such as `/template/body`. */
  path: string;
  message: string;
}

export interface RenderedRequest {
  url: string;
  method: string;
  headers: Record<string, string>;
  body: string | undefined;
}

export type PlaceholderValues = Record<Placeholder, string>;

/** Times off air are of outages that have ended. */
export const listValues = (
  text: AlertText,
  message?: Pick<AlertMessage, 'kind' | 'type' | 'object' | 'objectID' | 'name' | 'at' | 'code' | 'outage'>,
): PlaceholderValues => ({
  title: text.title,
  text: joinSentences(text),
  summary: text.summary,
  message: text.cause ?? '',
  fix: text.fix ?? '',
  code: message?.code ?? '',
  link: text.link.url,
  name: message?.name ?? '',
  objectID: message?.objectID ?? '',
  streamID: message?.object === 'stream' ? message.objectID : '',
  type: message?.type ?? '',
  kind: message?.kind ?? 'note',
  timestamp: message?.at ?? '',
  offAirSeconds: String(message?.outage?.offAirSeconds ?? 0),
  outages: String(message?.outage?.outages ?? 0),
});

/** Values that hold what names and sentences may hold, to try a template with. */
const SAMPLES: PlaceholderValues = {
  title: '“News & "more" / 24” is off air',
  text: 'Off air since 29 Nov 2026, 12:00:05 UTC.\nCause: The server refuses the key.\nWhat to do: Enter the key again.',
  summary: 'Off air since 29 Nov 2026, 12:00:05 UTC.',
  message: 'The server refuses the key.',
  fix: 'Enter the key again.',
  code: 'publish_rejected',
  link: 'https://loopstream.example/streams/str-1',
  name: 'News & "more" / 24',
  objectID: 'str-1',
  streamID: 'str-1',
  type: 'stream.off_air',
  kind: 'off_air',
  timestamp: '2026-11-29T12:00:05.000Z',
  offAirSeconds: '252',
  outages: '1',
};

const EMPTY = Object.fromEntries(
  Object.keys(SAMPLES).map((name) => [name, name === 'offAirSeconds' || name === 'outages' ? '0' : '']),
) as PlaceholderValues;

/** Either a placeholder, or braces that were meant to be one. */
const PLACEHOLDER = /\{\{\s{0,9}([A-Za-z]{1,40})\s{0,9}\}\}/g;

const isPlaceholder = (name: string): name is Placeholder => Object.hasOwn(PLACEHOLDERS, name);

const fill = (template: string, values: PlaceholderValues, encode: (value: string) => string): string =>
  template.replace(PLACEHOLDER, (found, name: string) =>
    isPlaceholder(name) ? encode(values[name].toWellFormed()) : found,
  );

/** A segment of dots would lead to another path. */
const encodeUrl = (value: string): string =>
  encodeURIComponent(/^\.+$/.test(value) ? value.replaceAll('.', '·') : value);

const CONTROLS = /[\p{Cc}\p{Zl}\p{Zp}]+/gu;

/** Bytes of UTF-8, as receivers such as ntfy read them: HTTP has no other signs (RFC 9110, section 5.5). */
const toHeaderBytes = (text: string): string => Buffer.from(text, 'utf8').toString('latin1');
const encodeHeader = (value: string): string => value.replace(CONTROLS, ' ').trim();

const encodeJson = (value: string): string => JSON.stringify(value).slice(1, -1);
const encodeMarkup = (value: string): string => value.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);

type Format = 'json' | 'form' | 'markup' | 'text';

function findFormat(contentType: string): Format {
  const type = (contentType.split(';')[0] ?? '').trim().toLowerCase();
  if (type === 'application/json' || type.endsWith('+json')) return 'json';
  if (type === 'application/x-www-form-urlencoded') return 'form';
  return /^(text\/html|text\/xml|application\/xml)$|\+xml$/.test(type) ? 'markup' : 'text';
}

const ENCODERS: Record<Format, (value: string) => string> = {
  json: encodeJson,
  form: encodeURIComponent,
  markup: encodeMarkup,
  text: (value) => value,
};

/** Without the header, a body that begins as JSON is JSON. */
const findContentType = ({ headers = [], body = '' }: RequestTemplate): string =>
  headers.find(({ name }) => name.toLowerCase() === 'content-type')?.value ??
  (/^\s*[{[]/.test(body) && !/^\s*\{\{/.test(body) ? 'application/json' : 'text/plain; charset=utf-8');

/** Builds the request. The template has been checked (`checkTemplate`). */
export function renderTemplate(template: RequestTemplate, values: PlaceholderValues): RenderedRequest {
  const { url, method = 'POST', headers = [], body } = template;
  const contentType = findContentType(template);
  const hasBody = method !== 'GET' && body !== undefined;
  const filled = headers.map(({ name, value }): [string, string] => [
    name.toLowerCase(),
    toHeaderBytes(encodeHeader(fill(value, values, encodeHeader))),
  ]);
  return {
    url: fill(url, values, encodeUrl),
    method,
    headers: { ...(hasBody && { 'content-type': toHeaderBytes(contentType) }), ...Object.fromEntries(filled) },
    body: hasBody ? fill(body, values, ENCODERS[findFormat(contentType)]) : undefined,
  };
}

/** Headers that decide who receives a request, and where it ends (RFC 9110 and 9112). */
const FORBIDDEN_HEADERS =
  /^(host|content-length|transfer-encoding|connection|keep-alive|te|trailer|upgrade|expect|proxy-.*|webhook-.*)$/i;
const HEADER_NAME = /^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}$/;
const MAX_URL = 4000;

function checkPlaceholders(text: string, path: string): TemplateProblem[] {
  const unknown = [...text.matchAll(PLACEHOLDER)].flatMap(([, name = '']) => (isPlaceholder(name) ? [] : [name]));
  if (unknown.length > 0)
    return [
      {
        path,
        message: `has the unknown placeholder {{${unknown[0]}}}; there are ${Object.keys(PLACEHOLDERS).join(', ')}`,
      },
    ];
  const isOpen = text.replace(PLACEHOLDER, '').includes('{{');
  return isOpen
    ? [{ path, message: 'has {{ without the name of a placeholder and }}; write for example {{text}}' }]
    : [];
}

function parseUrl(url: string): URL | undefined {
  try {
    return new URL(url);
  } catch {
    return undefined;
  }
}

/** The receiver is the user's choice, never that of a value. */
function checkUrl(template: RequestTemplate): TemplateProblem[] {
  const path = '/url';
  const found = checkPlaceholders(template.url, path);
  if (found.length > 0) return found;
  const origin = /^https?:\/\/[^/?#]*/i.exec(template.url)?.[0];
  if (origin === undefined)
    return [{ path, message: 'is not the address of a receiver; write https://, its name and a path' }];
  if (origin.includes('{{'))
    return [
      { path, message: 'has a placeholder in the name of the receiver; placeholders may follow it, in path and query' },
    ];
  const urls = [SAMPLES, EMPTY].map((values) => parseUrl(renderTemplate(template, values).url));
  if (urls.includes(undefined))
    return [{ path, message: 'is no valid address once its placeholders are filled in; check host, port and signs' }];
  return urls.some((url) => (url?.href.length ?? 0) > MAX_URL)
    ? [{ path, message: `is longer than ${MAX_URL} characters once its placeholders are filled in` }]
    : [];
}

function checkHeaders(headers: readonly TemplateHeader[]): TemplateProblem[] {
  const path = '/template/headers';
  return headers.flatMap(({ name, value }): TemplateProblem[] => {
    const shown = name.slice(0, 100);
    if (!HEADER_NAME.test(name)) return [{ path, message: `has “${shown}”, which is no name of a header` }];
    if (FORBIDDEN_HEADERS.test(name))
      return [{ path, message: `has ${shown}, which a template must not set; leave it out` }];
    if (/[\r\n\0]/.test(value)) return [{ path, message: `has a line break in ${shown}; write it in one line` }];
    // Values are encoded for the type.
    if (/^content-type$/i.test(name) && value.includes('{{'))
      return [{ path, message: 'has a placeholder in Content-Type; write the type itself' }];
    return checkPlaceholders(value, path);
  });
}

function checkBody(template: RequestTemplate): TemplateProblem[] {
  const path = '/template/body';
  const { body } = template;
  if (body === undefined) return [];
  if (template.method === 'GET') return [{ path, message: 'is not sent with GET; use POST, or leave it out' }];
  const found = checkPlaceholders(body, path);
  if (found.length > 0 || findFormat(findContentType(template)) !== 'json') return found;
  for (const values of [SAMPLES, EMPTY]) {
    try {
      JSON.parse(renderTemplate(template, values).body ?? '');
    } catch {
      return [
        {
          path,
          message:
            'is no JSON once its placeholders are filled in; put quotes around them, and check commas and braces',
        },
      ];
    }
  }
  return [];
}

const SAYS_WHAT = /\{\{\s{0,9}(title|text|summary)\s{0,9}\}\}/;

/** Lists what is wrong with a template, as it is entered. */
export function checkTemplate(template: RequestTemplate): TemplateProblem[] {
  const { url, headers = [], body = '' } = template;
  const problems = [...checkUrl(template), ...checkHeaders(headers), ...checkBody(template)];
  if (problems.length > 0) return problems;
  // The code that confirms an endpoint comes in these, and so does what happened.
  return [url, body, ...headers.map(({ value }) => value)].some((text) => SAYS_WHAT.test(text))
    ? []
    : [
        {
          path: '/template',
          message: 'says nothing of what happened; put {{text}} or {{title}} into its body, a header or the address',
        },
      ];
}
