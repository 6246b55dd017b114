/**
 * Renders the page of the local mailbox. Mails are shown as text, with their links; no part of them is run. Pure: no
 * I/O, no clock.
 */
import { createHash } from 'node:crypto';

export interface ShownMail {
  id: string;
  from: string;
  to: string[];
  subject: string;
  /** RFC 3339; null where the mail does not say. */
  date: string | null;
  text: string;
}

const STYLE =
  'body{font:1rem/1.6 system-ui,sans-serif;max-width:44rem;margin:2.5rem auto;padding:0 1rem;color:#17191b;background:#f4f4f1}' +
  'article{background:#fff;border:1px solid #e0e0da;border-radius:14px;padding:1rem 1.25rem;margin:1rem 0}' +
  'h2{font-size:1rem;margin:0}p{margin:.25rem 0}small{color:#5b6066}pre{white-space:pre-wrap;overflow-wrap:anywhere;font:inherit}' +
  'a{color:#0a7768}' +
  '@media(prefers-color-scheme:dark){body{color:#eceeee;background:#0c0e10}article{background:#14171a;border-color:#252a2f}' +
  'small{color:#9aa2a9}a{color:#3fd0b6}}';

export const PAGE_POLICY = `default-src 'none'; style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'`;

const html = (text: string): string => text.replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`);

/** Addresses of pages become links; all else stays what it is. */
const linked = (text: string): string =>
  text
    .split(/(https?:\/\/[^\s<>"]+)/)
    .map((part, i) => (i % 2 === 1 ? `<a href="${html(part)}">${html(part)}</a>` : html(part)))
    .join('');

const article = ({ from, to, subject, date, text }: ShownMail): string =>
  `<article><h2>${html(subject)}</h2><p><small>To ${html(to.join(', '))}, from ${html(from)}` +
  `${date === null ? '' : `, <time datetime="${html(date)}">${html(date)}</time>`}</small></p><pre>${linked(text)}</pre></article>`;

/** `mails`: newest first. It reloads every few seconds. */
export const mailboxPage = (mails: readonly ShownMail[]): string =>
  `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">` +
  `<meta http-equiv="refresh" content="5"><title>Mailbox · loopstream</title><style>${STYLE}</style>` +
  `<h1>Mailbox</h1><p>This mailbox gets every mail of this loopstream. No mail leaves the machine.</p>` +
  `${mails.map(article).join('') || '<p>No mail yet. To get one, sign up or request a new password.</p>'}</html>\n`;
