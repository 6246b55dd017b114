/** Tests templates of requests: what is refused as it is entered, and that values change neither a request nor its receiver. */
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { describeAlert, describeCode } from '../../../../../../src/service/domain/endpoints/alerts/messages.ts';
import { PLACEHOLDERS } from '../../../../../../src/service/domain/endpoints/alerts/placeholders.ts';
import type { AlertMessage } from '../../../../../../src/service/domain/endpoints/alerts/rule.ts';
import {
  checkTemplate,
  listValues,
  type PlaceholderValues,
  type RequestTemplate,
  renderTemplate,
} from '../../../../../../src/service/domain/endpoints/alerts/template.ts';
import { type Chats, startChats } from '../../../../../kit/fake/chats.ts';

const MESSAGE: AlertMessage = {
  key: 'back_7',
  kind: 'back',
  type: 'stream.recovered',
  object: 'stream',
  objectID: 'str-1',
  name: 'Nachtprogramm “Süd” & more',
  at: '2026-11-29T12:04:17.000Z',
  code: 'publish_rejected',
  message: 'The server refuses the key.',
  fix: 'Enter the key again.',
  facts: null,
  outage: {
    from: '2026-11-29T12:00:05.000Z',
    to: '2026-11-29T12:04:17.000Z',
    offSince: null,
    outages: 1,
    offAirSeconds: 252,
    isApproximate: false,
  },
};
const TEXT = describeAlert(MESSAGE, 'https://loops.example');
const VALUES = listValues(TEXT, MESSAGE);
const DOCS = readFileSync(join(resolve(import.meta.dirname, '../../../../../..'), 'docs/alerts.md'), 'utf8');

const HOOK = 'https://hooks.example/alerts';
const withBody = (body: string, contentType?: string): RequestTemplate => ({
  url: HOOK,
  body,
  ...(contentType !== undefined && { headers: [{ name: 'Content-Type', value: contentType }] }),
});

describe('a template is refused', () => {
  test.each<[string, RequestTemplate, string, RegExp]>([
    ['without a scheme', { url: 'hooks.example/{{text}}' }, '/url', /https:\/\//],
    ['of another scheme', { url: 'ftp://hooks.example/{{text}}' }, '/url', /https:\/\//],
    ['without a host', { url: 'https:///{{text}}' }, '/url', /valid address/],
    ['with a port that is none', { url: 'https://hooks.example:99999/{{text}}' }, '/url', /valid address/],
    [
      'whose receiver a value would choose',
      { url: 'https://{{name}}.example/{{text}}' },
      '/url',
      /name of the receiver/,
    ],
    ['with an unknown placeholder', { url: `${HOOK}?t={{titel}}` }, '/url', /\{\{titel\}\}.*title/],
    ['with braces left open', withBody('{{text'), '/template/body', /\{\{/],
    ['with an object’s own words as a placeholder', withBody('{{text}} {{constructor}}'), '/template/body', /unknown/],
    [
      'with a header that names another receiver',
      { ...withBody('{{text}}'), headers: [{ name: 'host', value: 'x' }] },
      '/template/headers',
      /host/,
    ],
    [
      'with a length of its own',
      { ...withBody('{{text}}'), headers: [{ name: 'Content-Length', value: '1' }] },
      '/template/headers',
      /must not/,
    ],
    [
      'with a line break in a header',
      { ...withBody('{{text}}'), headers: [{ name: 'a', value: 'b\r\nc: d' }] },
      '/template/headers',
      /line/,
    ],
    [
      'with a header that is none',
      { ...withBody('{{text}}'), headers: [{ name: 'a b', value: 'c' }] },
      '/template/headers',
      /no name/,
    ],
    ['of a type that a value would choose', withBody('{{text}}', 'text/{{name}}'), '/template/headers', /Content-Type/],
    ['of JSON that is none', withBody('{"text": {{text}}}'), '/template/body', /JSON/],
    ['of JSON that misses a brace', withBody('{"text": "{{text}}"', 'application/json'), '/template/body', /JSON/],
    ['with a body that GET has not', { url: `${HOOK}?t={{text}}`, method: 'GET', body: 'x' }, '/template/body', /GET/],
    ['that says nothing of what happened', withBody('{"stream": "{{name}}"}'), '/template', /\{\{text\}\}/],
  ])('%s', (_, template, path, problem) => {
    const [found] = checkTemplate(template);
    expect(found?.path).toBe(path);
    expect(found?.message).toMatch(problem);
  });

  test.each<RequestTemplate>([
    { url: 'https://hooks.example/send/{{title}}?from=a&text={{ text }}', method: 'GET' },
    { url: 'https://user:secret@hooks.example:8443/a/b', body: '{{title}}: {{text}}' },
    withBody('{"seconds": {{offAirSeconds}}, "text": "{{title}}"}'),
    withBody('[{"a": {"b": "{{text}}"}}]', 'application/json; charset=utf-8'),
    withBody('text={{text}}&to=1', 'application/x-www-form-urlencoded'),
    withBody('<p>{{text}}</p>', 'text/html'),
  ])('not: %o', (template) => {
    expect(checkTemplate(template)).toEqual([]);
  });
});

const hostile = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.constantFrom(
    '..',
    '.',
    '../../admin',
    '?a=b#c',
    '"}, "x": {"',
    'a\r\nX-Evil: 1',
    '&to=2',
    '</p><script>',
    '\ud800',
    '{{link}}',
  ),
);
const values = fc.record(
  Object.fromEntries(Object.keys(PLACEHOLDERS).map((name) => [name, hostile])) as Record<
    keyof PlaceholderValues,
    typeof hostile
  >,
);

describe('a value, whatever it is,', () => {
  test('stays within its part of the address', () => {
    const template: RequestTemplate = { url: 'https://hooks.example:8443/a/{{name}}/b?c={{title}}&d=1', method: 'GET' };
    fc.assert(
      fc.property(values, (given) => {
        const url = new URL(renderTemplate(template, given).url);
        expect(url.origin).toBe('https://hooks.example:8443');
        expect(url.pathname).toMatch(/^\/a\/[^/]*\/b$/);
        expect([...url.searchParams.keys()]).toEqual(['c', 'd']);
        expect(url.searchParams.get('c')?.replaceAll('·', '.')).toBe(given.title.toWellFormed());
        expect(url.hash).toBe('');
      }),
    );
  });

  test('adds no header, and is what Node sends', () => {
    const template = { ...withBody('{{text}}'), headers: [{ name: 'Title', value: 'Alert: {{title}}' }] };
    fc.assert(
      fc.property(values, (given) => {
        const { headers } = renderTemplate(template, given);
        expect(Object.keys(headers)).toEqual(['content-type', 'title']);
        expect(() => new Headers(headers)).not.toThrow();
      }),
    );
  });

  test('is the same text in JSON and in a form', () => {
    const json = withBody('{"a": {"b": "{{text}}"}, "c": "x {{name}}"}');
    const form = withBody('text={{text}}&c=1', 'application/x-www-form-urlencoded');
    fc.assert(
      fc.property(values, (given) => {
        const text = given.text.toWellFormed();
        expect(JSON.parse(renderTemplate(json, given).body ?? '')).toEqual({
          a: { b: text },
          c: `x ${given.name.toWellFormed()}`,
        });
        const fields = new URLSearchParams(renderTemplate(form, given).body);
        expect([...fields.keys()]).toEqual(['text', 'c']);
        expect(fields.get('text')).toBe(text);
      }),
    );
  });

  test('is no markup in HTML, and as it is in plain text', () => {
    const given = { ...VALUES, text: '<script>{{link}}</script>' };
    expect(renderTemplate(withBody('<p>{{text}}</p>', 'text/html'), given).body).not.toContain('<script>');
    expect(renderTemplate(withBody('{{text}}'), given)).toMatchObject({
      headers: { 'content-type': 'text/plain; charset=utf-8' },
      body: '<script>{{link}}</script>',
    });
  });
});

/** Reads the example of a page: the JSON block under a heading. */
function readExample(heading: string): { url: string; template: Omit<RequestTemplate, 'url'> } {
  const section = DOCS.split(`### ${heading}\n`)[1] ?? '';
  const [, json = ''] = /```json\n([\s\S]*?)```/.exec(section) ?? [];
  return JSON.parse(json) as { url: string; template: Omit<RequestTemplate, 'url'> };
}

describe('the examples of the documentation', () => {
  let chats: Chats;
  beforeAll(async () => {
    chats = await startChats();
  });
  afterAll(() => chats.close());

  test.each([
    ['ntfy', 'ntfy', /^https:\/\/ntfy\.sh\/[^/?]+/],
    ['Telegram', 'telegram', /^https:\/\/api\.telegram\.org\/bot[^/?]+\/sendMessage/],
  ] as const)('post to %s what people read', async (heading, chat, address) => {
    const { url, template } = readExample(heading);
    expect(checkTemplate({ url, ...template })).toEqual([]);
    expect(url).toMatch(address);
    for (const filled of [VALUES, listValues(describeCode('123456', 'https://loops.example'))]) {
      const request = renderTemplate({ url: url.replace(address, chats.urls[chat]), ...template }, filled);
      const response = await fetch(request.url, { ...request, body: request.body ?? null });
      expect(response.status, await response.text()).toBe(200);
      const text = chats.posts.at(-1)?.text ?? '';
      for (const part of [filled.title, filled.text, filled.link]) expect(text).toContain(part);
    }
  });

  test('name every placeholder', () => {
    for (const name of Object.keys(PLACEHOLDERS)) expect(DOCS).toContain(`\`{{${name}}}\``);
  });
});
