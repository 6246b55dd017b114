import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { ERRORS } from '../../src/errors.ts';
import { describeApi } from '../../src/http/describe.ts';
import { type ErrorDoc, errorDocsOf } from '../../src/http/errordocs.ts';
import { errorIndex, errorPage } from '../../src/http/errorpages.ts';
import { apiFiles } from '../../src/http/generate.ts';

const DOCS = join(import.meta.dirname, '../../docs');
let docs: ErrorDoc[];

beforeAll(async () => {
  docs = errorDocsOf(await describeApi());
});

test('docs/errors/ is what the code says, a page a code and no other (mend with `make generate`)', async () => {
  const expected = [...apiFiles(await describeApi())].filter(([name]) => name.startsWith('errors/'));
  expect(readdirSync(join(DOCS, 'errors')).sort()).toEqual(expected.map(([name]) => name.slice(7)).sort());
  for (const [name, text] of expected) expect(readFileSync(join(DOCS, name), 'utf8'), name).toBe(text);
  expect(expected).toHaveLength(Object.keys(ERRORS).length + 1);
});

test('every code says what it means and what to do about it, in sentences', () => {
  for (const [code, { meaning, fix, title }] of Object.entries(ERRORS)) {
    for (const text of [meaning, fix]) expect(text, code).toMatch(/^[A-Z].*\.$/);
    expect(title, code).not.toMatch(/\.$/);
  }
});

test('a code that is about operations is answered by some', () => {
  const aboutNone = docs.filter(({ operations }) => operations.length === 0).map(({ code }) => code);
  expect(aboutNone).toEqual(['method_not_allowed']);
});

test('the page that the server shows says what the file in docs/errors says', () => {
  const words = (text: string) =>
    text
      .replace(/<style>.*<\/style>|<!--.*-->|<[^>]+>|[`#*-]/g, ' ')
      .replace(/&#(\d+);/g, (_all, point) => String.fromCharCode(point))
      .match(/[\p{L}\d{}/_]+/gu)
      ?.join(' ');
  for (const doc of docs) {
    const file = words(readFileSync(join(DOCS, 'errors', `${doc.code}.md`), 'utf8').replaceAll('-', ' '));
    const page = words(errorPage(doc).replaceAll('-', ' '));
    expect(page, doc.code).toContain(file);
    expect(errorIndex(docs)).toContain(`href="/docs/errors/${doc.code}"`);
  }
});
