import ICAL from 'ical.js';
import { describe, expect, test } from 'vitest';
import { formatTimeline } from '../../../../src/core/programme/formats.ts';
import type { PlannedItem } from '../../../../src/core/programme/plan.ts';

const BEGIN_MS = Date.parse('2026-03-01T00:00:00.000Z');
const NAMES = [
  'Plain',
  'Rain, wind; and \\ thunder',
  '<b>"Bold" & \'brave\'</b> ]]>',
  '=HYPERLINK("http://example.com")',
  'Ünïcödé – 雨と風 🌧️'.repeat(5),
  'a\u0000b\u001bc\ud800d\ufffee\nBEGIN:VEVENT',
];
/** Items of 1.7 s and one of 0.2 s, so that borders lie between seconds. */
const items = NAMES.map((name, index): PlannedItem => {
  const startMs = BEGIN_MS + index * 1700;
  const endMs = startMs + (index === NAMES.length - 1 ? 200 : 1700);
  return {
    startAt: new Date(startMs).toISOString(),
    endAt: new Date(endMs).toISOString(),
    durationSeconds: (endMs - startMs) / 1000,
    id: `upl-${index}`,
    name,
    playlistID: index === 0 ? null : 'pls-1',
    index: index === 0 ? null : index,
    exact: index < 3,
    rule: index === 1 ? 'news' : null,
  };
});
const channel = { id: 'str-1', name: 'Night, "loop" & more', now: new Date(BEGIN_MS) };
const second = (time: string) => Math.round(Date.parse(time) / 1000);

describe('iCalendar', () => {
  const text = formatTimeline('ics', channel, items);
  const calendar = new ICAL.Component(ICAL.parse(text));
  const events = calendar.getAllSubcomponents('vevent').map((one) => new ICAL.Event(one));

  test('is read by others with every name and time, to the second', () => {
    const cleaned = NAMES.map((name) => name.toWellFormed().replaceAll(/\p{Cc}/gu, ' '));
    expect(events.map(({ summary }) => summary)).toEqual(cleaned);
    expect(events.map(({ startDate }) => startDate.toUnixTime())).toEqual(items.map(({ startAt }) => second(startAt)));
    expect(events.slice(0, -1).map(({ endDate }) => endDate.toUnixTime())).toEqual(
      items.slice(0, -1).map(({ endAt }) => second(endAt)),
    );
    expect(new Set(events.map(({ uid }) => uid)).size).toBe(items.length);
    // The parser leaves a text of an unknown property as it is written.
    expect(calendar.getFirstPropertyValue('x-wr-calname')).toBe('Night\\, "loop" & more');
  });

  test('has lines of at most 75 bytes, which end with CR and LF', () => {
    const lines = text.split('\r\n');
    expect(lines.at(-1)).toBe('');
    expect(text.replaceAll('\r\n', '')).not.toMatch(/[\r\n]/);
    for (const line of lines) expect(Buffer.byteLength(line)).toBeLessThanOrEqual(75);
  });

  test('of nothing is a calendar without events', () => {
    const empty = new ICAL.Component(ICAL.parse(formatTimeline('ics', channel, [])));
    expect(empty.getAllSubcomponents('vevent')).toEqual([]);
  });
});

describe('XMLTV', () => {
  const text = formatTimeline('xmltv', channel, items);

  test('has each programme until the next one begins, in whole seconds of UTC', () => {
    const times = [...text.matchAll(/start="(\d{14}) \+0000" stop="(\d{14}) \+0000"/g)];
    expect(times[0]?.slice(1)).toEqual(['20260301000000', '20260301000002']);
    for (const [index, [, start]] of times.entries()) if (index > 0) expect(start).toBe(times[index - 1]?.[2]);
    expect(times).toHaveLength(items.length);
  });

  test('has no character that XML does not allow, and no markup of a name', () => {
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there.
    expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\ud800\ufffe]/);
    expect(text).toContain("&lt;b&gt;&quot;Bold&quot; &amp; 'brave'&lt;/b&gt; ]]&gt;");
  });
});

test('CSV has a line for each item, and no name is a formula', () => {
  const [header, ...lines] = formatTimeline('csv', channel, items.slice(0, 4)).split('\r\n');
  expect(header).toBe('startAt,endAt,durationSeconds,id,name,playlistID,index,exact,rule');
  expect(lines).toEqual([
    '2026-03-01T00:00:00.000Z,2026-03-01T00:00:01.700Z,1.7,upl-0,"Plain",,,true,',
    '2026-03-01T00:00:01.700Z,2026-03-01T00:00:03.400Z,1.7,upl-1,"Rain, wind; and \\ thunder",pls-1,1,true,"news"',
    '2026-03-01T00:00:03.400Z,2026-03-01T00:00:05.100Z,1.7,upl-2,"<b>""Bold"" & \'brave\'</b> ]]>",pls-1,2,true,',
    '2026-03-01T00:00:05.100Z,2026-03-01T00:00:06.800Z,1.7,upl-3,"\'=HYPERLINK(""http://example.com"")",pls-1,3,false,',
    '',
  ]);
});
