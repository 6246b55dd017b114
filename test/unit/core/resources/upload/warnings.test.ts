import { expect, test } from 'vitest';
import { UPLOAD_WARNINGS } from '../../../../../src/core/lib/codes/uploads.ts';
import {
  MAX_WARNING_CHARS,
  MAX_WARNINGS,
  mergeWarnings,
  warn,
} from '../../../../../src/core/resources/upload/warnings.ts';

const CODES = Object.keys(UPLOAD_WARNINGS) as (keyof typeof UPLOAD_WARNINGS)[];

test('every warning is a sentence that leaves room for measurements', () => {
  for (const code of CODES) {
    const { message } = warn(code);
    expect(message, code).toMatch(/^[A-Z].*\.$/);
    expect(message.length, code).toBeLessThan(MAX_WARNING_CHARS / 2);
  }
  expect(warn('picture_held', 'For 10.0 s.').message).toMatch(/is held\. For 10\.0 s\.$/);
  expect(warn('picture_held', 'x'.repeat(999)).message).toHaveLength(MAX_WARNING_CHARS);
});

test('one warning of each code is kept, the newest, and no more than a status takes', () => {
  const newer = warn('picture_held', 'For 11.0 s.');
  const merged = mergeWarnings([newer, warn('still_picture')], undefined, [warn('picture_held', 'For 12.0 s.')]);
  expect(merged).toEqual([warn('still_picture'), warn('picture_held', 'For 12.0 s.')]);
  expect(mergeWarnings(CODES.map((code) => warn(code)))).toHaveLength(Math.min(CODES.length, MAX_WARNINGS));
});

test('a report with the longest warnings fits into Kubernetes’ limit for a Job', () => {
  const warnings = CODES.slice(0, MAX_WARNINGS).map((code) => warn(code, 'x'.repeat(999)));
  // 1000 characters are for the media's hash, size and codecs.
  expect(JSON.stringify(warnings).length).toBeLessThan(4096 - 1000);
});
