/** Tests messages to people: their words, and that strangers' text is only text in each shape. */
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  type AlertText,
  buildAlertMail,
  buildDiscordPost,
  buildSlackPost,
  describeAlert,
  describeCode,
  describeTest,
  joinSentences,
  spellSeconds,
} from '../../../../../../src/service/domain/endpoints/alerts/messages.ts';
import {
  ALERT_KINDS,
  type AlertKind,
  type AlertMessage,
} from '../../../../../../src/service/domain/endpoints/alerts/rule.ts';
import { EVENT_TYPE_NAMES, EVENT_TYPES } from '../../../../../../src/service/domain/events/record.ts';
import { type Chats, startChats, takePost } from '../../../../../kit/fake/chats.ts';

const PUBLIC = 'https://loops.example';

const message = (kind: AlertKind, more: Partial<AlertMessage> = {}): AlertMessage => ({
  key: `${kind}_7`,
  kind,
  type: 'stream.off_air',
  object: 'stream',
  objectID: 'str-1',
  name: 'Night loop',
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
  ...more,
});

const running = { to: null, offSince: '2026-11-29T12:00:05.000Z', offAirSeconds: 0 };
const withOutage = (kind: AlertKind, outage: Partial<NonNullable<AlertMessage['outage']>>): AlertMessage => {
  const one = message(kind);
  return { ...one, outage: one.outage && { ...one.outage, ...outage } };
};

describe('words', () => {
  test.each<[AlertMessage, string, string]>([
    [withOutage('off_air', running), '“Night loop” is off air', 'Off air since 29 Nov 2026, 12:00:05 UTC.'],
    [
      withOutage('flapping', { outages: 3, offAirSeconds: 6 }),
      '“Night loop” keeps going off air',
      '3 outages since 29 Nov 2026, 12:00:05 UTC. The next message comes when it is calm, or when it stays off air.',
    ],
    [
      { ...withOutage('off_air', running), isForViewers: true },
      '“Night loop” is off air for viewers',
      'Off air for viewers since 29 Nov 2026, 12:00:05 UTC. It is still being sent.',
    ],
    [
      message('back', { isForViewers: true }),
      '“Night loop” is on air again for viewers',
      'It was off air for viewers for 4 min 12 s, from 29 Nov 2026, 12:00:05 to 12:04:17 UTC.',
    ],
    [
      message('back'),
      '“Night loop” is on air again',
      'It was off air for 4 min 12 s, from 29 Nov 2026, 12:00:05 to 12:04:17 UTC.',
    ],
    [
      withOutage('calm', { outages: 20, offAirSeconds: 180 }),
      '“Night loop” is stable again',
      'It was off air 20 times from 29 Nov 2026, 12:00:05 to 12:04:17 UTC, 3 min in all.',
    ],
    [
      withOutage('was_off_air', { from: '2026-11-28T23:59:00.000Z', offAirSeconds: 43_517 }),
      '“Night loop” was off air',
      'It was off air for 12 h 5 min, from 28 Nov 2026, 23:59:00 UTC to 29 Nov 2026, 12:04:17 UTC. It is on air again.',
    ],
    [
      message('stopped'),
      '“Night loop” was stopped while it was off air',
      'It was off air for 4 min 12 s, from 29 Nov 2026, 12:00:05 to 12:04:17 UTC. Then it was stopped.',
    ],
    [
      withOutage('back', { isApproximate: true }),
      '“Night loop” is on air again',
      'It was off air for 4 min 12 s, from 29 Nov 2026, 12:00:05 to 12:04:17 UTC. Some events were lost, so the times may be inexact.',
    ],
    [
      message('note', { type: 'upload.failed', object: 'upload', objectID: 'upl-1', outage: null }),
      'Upload “Night loop” cannot be used',
      `29 Nov 2026, 12:04:17 UTC: ${EVENT_TYPES['upload.failed'].meaning}`,
    ],
    [
      message('note', {
        type: 'credit.low',
        object: 'account',
        facts: { startAt: null, hoursLeft: 24, credits: null },
        outage: null,
      }),
      'Your credit is low',
      '29 Nov 2026, 12:04:17 UTC: The credit lasts for less than 24 hours at the current rate.',
    ],
    [
      message('note', {
        type: 'schedule.upcoming',
        facts: { startAt: '2026-11-29T12:15:00.000Z', hoursLeft: null, credits: null },
        outage: null,
      }),
      '“Night loop” starts soon',
      '29 Nov 2026, 12:04:17 UTC: It starts at 29 Nov 2026, 12:15:00 UTC.',
    ],
  ])('of %o', (one, title, summary) => {
    expect(describeAlert(one, PUBLIC)).toMatchObject({ title, summary });
  });

  test('have the cause, the fix and a link to the page of the object', () => {
    const text = describeAlert(message('back'), PUBLIC);
    expect(text).toMatchObject({
      cause: 'The server refuses the key.',
      fix: 'Enter the key again.',
      link: { label: 'Open the stream', url: 'https://loops.example/streams/str-1' },
    });
    expect(joinSentences(text).split('\n').slice(1)).toEqual([
      'Cause: The server refuses the key.',
      'What to do: Enter the key again.',
    ]);
  });

  test('are there for every kind and type', () => {
    for (const type of EVENT_TYPE_NAMES) {
      const text = describeAlert(message('note', { type, object: EVENT_TYPES[type].object, outage: null }), PUBLIC);
      expect(text.title, type).not.toContain(type);
      expect(text.summary, type).toMatch(/\.$/);
    }
    for (const kind of ALERT_KINDS) expect(describeAlert(message(kind), PUBLIC).title).toContain('Night loop');
  });

  test.each([
    [0, 'less than a second'],
    [9, '9 s'],
    [60, '1 min'],
    [252, '4 min 12 s'],
    [3600, '1 h'],
    [3605, '1 h'],
    [100_000, '1 d 3 h'],
  ])('of %s seconds', (seconds, words) => {
    expect(spellSeconds(seconds)).toBe(words);
  });
});

const HOSTILE = [
  '<!channel> <@U123> <https://evil.example|Pay here>',
  '@everyone @here <@&1> [Pay here](https://evil.example) **now** `x` ||y||',
  '"><script>alert(1)</script><img src=x onerror=alert(1)>',
  'Pay at https://evil.example or www.evil.example, mail a@evil.example',
  'a\r\nBcc: victim@example.com\r\n\r\nhello',
  `\u202Eesrever ${'x'.repeat(5000)} \ud800`,
];

let chats: Chats;
beforeAll(async () => {
  chats = await startChats();
});
afterAll(() => chats.close());

const post = (url: string, body: unknown): Promise<Response> =>
  fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) });

const hostileTexts = HOSTILE.map((text): AlertText => {
  const one = withOutage('off_air', running);
  return describeAlert(
    { ...one, name: text, message: text, fix: text, objectID: text.slice(0, 50).toWellFormed() },
    PUBLIC,
  );
});

describe('text of strangers', () => {
  test('is accepted by Slack, and holds no mark of Slack, no mention and no disguised link', async () => {
    for (const text of [...hostileTexts, describeCode('123456', PUBLIC), describeTest(PUBLIC)]) {
      const body = buildSlackPost(text);
      expect((await post(chats.urls.slack, body)).status).toBe(200);
      const { title_link: link, ...rest } = (body.attachments as Record<string, unknown>[])[0] ?? {};
      const shown = JSON.stringify([body.text, rest]);
      expect(shown).not.toMatch(/[<>]/);
      expect(shown).not.toMatch(/@[a-z]/i);
      expect(shown).not.toContain('](');
      expect(new URL(String(link)).origin).toBe(PUBLIC);
    }
  });

  test('is accepted by Discord, mentions nobody, and has each mark of Markdown behind a backslash', async () => {
    for (const text of [...hostileTexts, describeCode('123456', PUBLIC), describeTest(PUBLIC)]) {
      const body = buildDiscordPost(text);
      expect((await post(chats.urls.discord, body)).status).toBe(200);
      expect(body.allowed_mentions).toEqual({ parse: [] });
      const [embed] = body.embeds as { description: string; fields: { value: string }[] }[];
      for (const shown of [
        String(body.content),
        embed?.description ?? '',
        ...(embed?.fields ?? []).map(({ value }) => value),
      ])
        expect(shown.replace(/\\[\\*_~`|>#[\]()<:@+=-]/g, '')).not.toMatch(/[\\*_~`|>#[\]()<:@]/);
    }
  });

  test('is text in a mail, of which no mail program makes a link, and one line in its subject', () => {
    for (const text of hostileTexts) {
      const mail = buildAlertMail('owner@example.com', text);
      expect(mail.subject).not.toMatch(/[\r\n]/);
      const own = mail.text.replaceAll(text.link.url, '');
      expect(own).not.toMatch(/:\/\/|www\.|@|evil\.example/);
      expect(mail.html).not.toMatch(/<script|<img/i);
      expect([...mail.html.matchAll(/href="([^"]*)"/g)].every(([, href = '']) => href.startsWith(PUBLIC))).toBe(true);
    }
  });

  test('never makes a shape that a chat refuses', () => {
    const request = { headers: { 'content-type': 'application/json' } };
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 600 }), fc.string({ unit: 'grapheme' }), (name, cause) => {
        const text = describeAlert({ ...message('back'), name, message: cause, fix: name }, PUBLIC);
        takePost('slack', request, JSON.stringify(buildSlackPost(text)));
        takePost('discord', request, JSON.stringify(buildDiscordPost(text)));
      }),
    );
  });
});
