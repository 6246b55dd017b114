/** Tests that a pasted URL or key is read without what came along around it. */
import { expect, test } from 'vitest';
import { tidyKey, tidyText, tidyUrl } from '../../../../src/core/lib/pasted.ts';

const URL_TEXT = 'https://a.example/x.mp4';

test.each([
  ` ${URL_TEXT}`,
  `${URL_TEXT}\r\n`,
  `\u00a0\u200b${URL_TEXT}\ufeff`,
  'https://a.exam\u00adple/\u200bx.mp4',
  `<${URL_TEXT}>`,
  ` < ${URL_TEXT} > `,
  `"${URL_TEXT}"`,
  `“${URL_TEXT}”`,
  `\`<${URL_TEXT}>\`\n`,
  `(${URL_TEXT})`,
  `<${URL_TEXT}`,
  `${URL_TEXT}">`.slice(0, -1),
  `${URL_TEXT}>`,
])('%j is the URL', (text) => expect(tidyUrl(text)).toBe(URL_TEXT));

test.each(['<', '""', '<>', '<a', 'a>', '"'.repeat(100)])('%j loses at most what is around it', (text) =>
  expect(text).toContain(tidyUrl(text)),
);

test.each([
  'https://a.example/(x)',
  "https://a.example/it's",
  "https://a.example/x'",
  'https://[2001:db8::1]/x]',
  'rtmp://a/b/<key>',
  'rtmp://a/b/[your key]',
  'rtmp://a/b/{stream_key}',
  'https://a.example/نیم\u200cفاصله.mp4',
])('%j stays', (text) => expect(tidyUrl(text)).toBe(text));

test.each([' key\n', '"key"', '<key>', "'key'", '“key”', '\u2060"ke\u200by"\u00a0'])('%j is the key', (text) =>
  expect(tidyKey(text)).toBe('key'),
);

test.each(['(key)', '[key]', 'key"', '?a="b"'])('the key %j stays', (text) => expect(tidyKey(text)).toBe(text));

test('a password keeps its quotes and brackets', () => expect(tidyText(' "<pass>"\n')).toBe('"<pass>"'));
