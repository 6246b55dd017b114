/** Provides the style of the error pages, and its hash for their policy. Pure: no I/O, no clock. */
import { createHash } from 'node:crypto';

export const STYLE =
  'body{font:1rem/1.6 system-ui,sans-serif;max-width:42rem;margin:3rem auto;padding:0 1rem;color:#1c1f24;background:#fff}' +
  'code{font-family:ui-monospace,monospace;background:#eef0f3;padding:.1em .35em;border-radius:4px}' +
  'td,th{text-align:left;padding:.35rem 1rem .35rem 0;vertical-align:top}a{color:#1558d6}' +
  '@media(prefers-color-scheme:dark){body{color:#e6e8eb;background:#14161a}code{background:#262a31}a{color:#8ab4f8}}';

/** Source of style-src for these pages (CSP3 2.3.1, hash-source). */
export const ERROR_PAGE_STYLE = `'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`;
