/** The pages that `type` of a problem names: /docs/errors/<code>. Pure. */
import { createHash } from 'node:crypto';
import { type ErrorDoc, howItComes, whoAnswers } from './errordocs.ts';

const html = (text: string): string =>
  text.replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`).replace(/`([^`]+)`/g, '<code>$1</code>');

const STYLE =
  'body{font:1rem/1.6 system-ui,sans-serif;max-width:42rem;margin:3rem auto;padding:0 1rem;color:#1c1f24;background:#fff}' +
  'code{font-family:ui-monospace,monospace;background:#eef0f3;padding:.1em .35em;border-radius:4px}' +
  'td,th{text-align:left;padding:.35rem 1rem .35rem 0;vertical-align:top}a{color:#1558d6}' +
  '@media(prefers-color-scheme:dark){body{color:#e6e8eb;background:#14161a}code{background:#262a31}a{color:#8ab4f8}}';

/** These pages' one style as a source of style-src (CSP3 2.3.1, hash-source). */
export const ERROR_PAGE_STYLE = `'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`;

const page = (title: string, body: string): string =>
  `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">` +
  `<title>${html(title)}</title><style>${STYLE}</style><h1>${html(title)}</h1>${body}</html>\n`;

const paragraph = (text: string): string => `<p>${html(text)}</p>`;

const list = (lines: readonly string[]): string => `<ul>${lines.map((line) => `<li>${html(line)}`).join('')}</ul>`;

export function errorPage(doc: ErrorDoc): string {
  const { status, title, code, meaning, fix, again, operations, places } = doc;
  const who = whoAnswers(doc) ? paragraph(whoAnswers(doc)) : list(operations.map((name) => `\`${name}\``));
  return page(
    title,
    `<p><code>${code}</code>, ${howItComes(doc)}</p>${paragraph(meaning)}` +
      `<h2>What to do</h2>${paragraph(fix)}${again && paragraph(again)}` +
      (status === undefined ? '' : `<h2>Who answers with it</h2>${who}`) +
      (places.length > 0 ? `<h2>Where it stands</h2>${list(places)}` : '') +
      '<p><a href="/docs/errors">All codes</a></p>',
  );
}

export function errorIndex(docs: readonly ErrorDoc[]): string {
  const row = ({ code, meaning }: ErrorDoc, middle: string) =>
    `<tr><td><a href="/docs/errors/${code}"><code>${code}</code></a><td>${middle}<td>${html(meaning)}`;
  const problems = docs.flatMap((doc) => (doc.status === undefined ? [] : row(doc, String(doc.status))));
  const states = docs.flatMap((doc) => (doc.status === undefined ? row(doc, html(doc.places.join(', '))) : []));
  return page(
    'Error codes',
    `<table><tr><th>Code<th>Status<th>Meaning${problems.join('')}</table><h2>Codes in what answers show</h2>` +
      `<table><tr><th>Code<th>Where<th>Meaning${states.join('')}</table>`,
  );
}
