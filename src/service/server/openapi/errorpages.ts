/** Renders the page of an error code, to which the `type` of a problem links: /docs/errors/<code>. Pure. */
import { STYLE } from '../http/error-page-style.ts';
import { type ErrorDoc, howItComes, whoAnswers } from './errordocs.ts';

const html = (text: string): string =>
  text.replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`).replace(/`([^`]+)`/g, '<code>$1</code>');

const page = (title: string, body: string): string =>
  `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">` +
  `<title>${html(title)} · loopstream</title><meta name="robots" content="noindex"><style>${STYLE}</style>` +
  `<nav><a href="/">loopstream</a> <a href="/docs">API</a> <a href="/docs/errors">Error codes</a></nav>` +
  `<main><h1>${html(title)}</h1>${body}</main></html>\n`;

const paragraph = (text: string): string => `<p>${html(text)}</p>`;

const list = (lines: readonly string[]): string => `<ul>${lines.map((line) => `<li>${html(line)}`).join('')}</ul>`;

export function errorPage(doc: ErrorDoc): string {
  const { status, title, code, meaning, fix, again, operations, places } = doc;
  const who = whoAnswers(doc) ? paragraph(whoAnswers(doc)) : list(operations.map((name) => `\`${name}\``));
  return page(
    title,
    `<p><code>${code}</code>, ${howItComes(doc)}</p>${paragraph(meaning)}` +
      `<h2>What to do</h2>${paragraph(fix)}${again && paragraph(again)}` +
      (status === undefined ? '' : `<h2>Operations that return it</h2>${who}`) +
      (places.length > 0 ? `<h2>Where it appears</h2>${list(places)}` : '') +
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
    `<table><tr><th>Code<th>Status<th>Meaning${problems.join('')}</table><h2>Codes inside responses</h2>` +
      `<table><tr><th>Code<th>Where<th>Meaning${states.join('')}</table>`,
  );
}
