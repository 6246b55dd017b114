import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { CODES } from '../../../../src/core/lib/codes/codes.ts';
import { ERRORS } from '../../../../src/service/lib/errors.ts';
import { describeApi } from '../../../../src/service/server/openapi/describe.ts';
import { type ErrorDoc, listErrorDocs } from '../../../../src/service/server/openapi/errordocs.ts';
import { errorIndex, errorPage } from '../../../../src/service/server/openapi/errorpages.ts';
import { apiFiles } from '../../../../tools/generate/openapi.ts';

const DOCS = join(import.meta.dirname, '../../../../docs');
let docs: ErrorDoc[];

beforeAll(async () => {
  docs = listErrorDocs(await describeApi());
});

test('docs/errors/ matches the code, a page for each code and no other (fix with `make generate`)', async () => {
  const expected = [...apiFiles(await describeApi())].filter(([name]) => name.startsWith('errors/'));
  expect(readdirSync(join(DOCS, 'errors')).sort()).toEqual(expected.map(([name]) => name.slice(7)).sort());
  for (const [name, text] of expected) expect(readFileSync(join(DOCS, name), 'utf8'), name).toBe(text);
  const tables = [...Object.keys(ERRORS), ...CODES.map(({ code }) => code)];
  expect(expected.map(([name]) => name).sort()).toEqual(
    [...new Set(['README', ...tables])].map((code) => `errors/${code}.md`).sort(),
  );
});

test('every code has a meaning and a next step, in sentences', () => {
  for (const { code, meaning, fix, title } of docs) {
    for (const text of [meaning, fix]) expect(text, code).toMatch(/^[A-Z].*\.$/);
    expect(title, code).not.toMatch(/\.$/);
  }
});

test('a code that is about operations is answered by some', () => {
  const problems = docs.filter(({ status }) => status !== undefined);
  const aboutNone = problems.filter(({ operations }) => operations.length === 0).map(({ code }) => code);
  expect(aboutNone).toEqual(['method_not_allowed']);
});

test('a code says where it stands when that is not in a problem, or not only there', () => {
  const listPlaces = (code: string) => docs.find((doc) => doc.code === code)?.places;
  expect(listPlaces('media_unreadable')).toEqual(['`error.code` of an upload']);
  expect(listPlaces('dns_failed')).toEqual([
    '`lastError.code` of a destination in a stream’s live-stats',
    '`code` of a test of a destination',
    '`lastAnswer.code` of a delivery to an endpoint',
  ]);
  expect(listPlaces('link_forbidden')).toEqual(['`error.code` of an upload']);
  // Another meaning than as an answer.
  expect(listPlaces('quota_exceeded')?.[0]).toMatch(/^`code` of an issue in a stream’s readiness: A ResourceQuota /);
  expect(docs.filter(({ status, places }) => status === undefined && places.length === 0)).toEqual([]);
});

test('the server’s page has the content of the file in docs/errors', () => {
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
