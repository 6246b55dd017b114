/** Provides the style of the error pages, and its hash for their policy. Pure: no I/O, no clock. */
import { createHash } from 'node:crypto';

export const STYLE =
  'body{font:1rem/1.6 system-ui,sans-serif;max-width:42rem;margin:0 auto 3rem;padding:0 1rem;color:#17191b;background:#f4f4f1}' +
  'nav{display:flex;gap:1.4rem;padding:1rem 0;border-bottom:1px solid #e0e0da}nav a{font-weight:550}' +
  'code{font-family:ui-monospace,monospace;background:#e6e6e1;padding:.1em .35em;border-radius:4px;overflow-wrap:anywhere}' +
  'table{display:block;overflow-x:auto}td,th{text-align:left;padding:.35rem 1rem .35rem 0;vertical-align:top}a{color:#0a7768}' +
  'a code{padding:0;background:none}' +
  '@media(prefers-color-scheme:dark){body{color:#eceeee;background:#0c0e10}nav{border-color:#252a2f}code{background:#23282d}a{color:#3fd0b6}}';

/** Source of style-src for these pages (CSP3 2.3.1, hash-source). */
export const ERROR_PAGE_STYLE = `'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`;
