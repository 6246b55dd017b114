import { expect, test } from 'vitest';
import { findHtmlErrors } from '../../../kit/make/html.ts';

test.each<[found: string, html: string]>([
  ['element-permitted-content', '<span><table><caption>x</caption><tbody></tbody></table></span>'],
  ['autocapitalize', '<label>a <input type="email" autocapitalize="none"></label>'],
  ['readonly', '<input type="hidden" name="a" value="b" readonly>'],
  ['no-dup-id', '<p id="a"></p><p id="a"></p>'],
])('%s is found', async (found, html) => {
  expect((await findHtmlErrors(html)).join('\n')).toContain(found);
});

test('sound HTML has no findings', async () => {
  expect(await findHtmlErrors('<div><table><caption>x</caption><tbody></tbody></table></div>')).toEqual([]);
});
