/** The pages that `type` of a problem names: /docs/errors/<code>. Pure. */
import { createHash } from 'node:crypto';
import { type ErrorDoc, whoAnswers } from './errordocs.ts';

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

export function errorPage(doc: ErrorDoc): string {
  const operations = doc.operations.map((operation) => `<li><code>${html(operation)}</code>`).join('');
  return page(
    doc.title,
    `<p><code>${doc.code}</code>, HTTP status ${doc.status}</p>${paragraph(doc.meaning)}` +
      `<h2>What to do</h2>${paragraph(doc.fix)}${paragraph(doc.again)}` +
      `<h2>Who answers with it</h2>${whoAnswers(doc) ? paragraph(whoAnswers(doc)) : `<ul>${operations}</ul>`}` +
      '<p><a href="/docs/errors">All codes</a></p>',
  );
}

export function errorIndex(docs: readonly ErrorDoc[]): string {
  const rows = docs.map(
    ({ code, status, meaning }) =>
      `<tr><td><a href="/docs/errors/${code}"><code>${code}</code></a><td>${status}<td>${html(meaning)}`,
  );
  return page('Error codes', `<table><tr><th>Code<th>Status<th>Meaning${rows.join('')}</table>`);
}
