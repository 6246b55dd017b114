/**
 * Writes planned items as XMLTV (https://wiki.xmltv.org), iCalendar (RFC 5545) and CSV (RFC 4180). XMLTV and iCalendar have whole seconds: each
 * border is rounded once, so that items still end where the next one begins. Pure: no I/O, no clock.
 */
import { formatCsv, quoteCsv } from '../lib/csv.ts';
import type { PlannedItem } from './plan.ts';

export const TIMELINE_FORMATS = ['xmltv', 'ics', 'csv'] as const;
export type TimelineFormat = (typeof TIMELINE_FORMATS)[number];

export const TIMELINE_MEDIA_TYPES: Readonly<Record<TimelineFormat, string>> = {
  xmltv: 'application/xml',
  ics: 'text/calendar',
  csv: 'text/csv',
};

/** The channel that plays the items. */
export interface PlannedChannel {
  /** Identifies it in all exports. */
  id: string;
  name: string;
  /** Time at which the export is made. */
  now: Date;
}

export function formatTimeline(format: TimelineFormat, channel: PlannedChannel, items: readonly PlannedItem[]): string {
  switch (format) {
    case 'xmltv':
      return formatXmltv(channel, items);
    case 'ics':
      return formatCalendar(channel, items);
    case 'csv':
      return formatRows(items);
  }
}

/** 20270131T180000 of a time, rounded to the second. */
function formatSecond(time: string | Date): string {
  const ms = typeof time === 'string' ? Date.parse(time) : time.getTime();
  return new Date(Math.round(ms / 1000) * 1000).toISOString().slice(0, 19).replaceAll(/[-:]/g, '');
}

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

/** XML 1.0 has no way to write control characters, surrogates without their other half, U+FFFE and U+FFFF. */
const toXml = (text: string): string =>
  text
    .toWellFormed()
    .replaceAll(/[\p{Cc}\ufffe\uffff]/gu, ' ')
    .replaceAll(/[&<>"]/g, (one) => ENTITIES[one] ?? one);

const toXmltvTime = (time: string): string => `${formatSecond(time).replace('T', '')} +0000`;

function formatXmltv({ id, name }: PlannedChannel, items: readonly PlannedItem[]): string {
  const channel = toXml(id);
  const programmes = items.map(
    ({ startAt, endAt, name: title, durationSeconds }) =>
      `  <programme start="${toXmltvTime(startAt)}" stop="${toXmltvTime(endAt)}" channel="${channel}">\n` +
      `    <title>${toXml(title)}</title>\n` +
      `    <length units="seconds">${Math.round(durationSeconds)}</length>\n` +
      '  </programme>\n',
  );
  return [
    '<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE tv SYSTEM "xmltv.dtd">\n<tv generator-info-name="loopstream">\n',
    `  <channel id="${channel}">\n    <display-name>${toXml(name)}</display-name>\n  </channel>\n`,
    ...programmes,
    '</tv>\n',
  ].join('');
}

/** RFC 5545 3.3.11. Other control characters are not allowed. */
const toCalendarText = (text: string): string =>
  text
    .toWellFormed()
    .replaceAll(/\p{Cc}/gu, ' ')
    .replaceAll(/[\\;,]/g, (one) => `\\${one}`);

const MAX_LINE_BYTES = 75;

/** RFC 5545 3.1: a line has at most 75 bytes, and goes on behind a line break and a space. */
function fold(line: string): string {
  let folded = '';
  let bytes = 0;
  for (const character of line) {
    const size = Buffer.byteLength(character);
    if (bytes + size > MAX_LINE_BYTES) {
      folded += '\r\n ';
      bytes = 1;
    }
    folded += character;
    bytes += size;
  }
  return `${folded}\r\n`;
}

function formatCalendar({ id, name, now }: PlannedChannel, items: readonly PlannedItem[]): string {
  const madeAt = `${formatSecond(now)}Z`;
  const events = items.flatMap(({ startAt, endAt, name: title }) => {
    const [start, end] = [`${formatSecond(startAt)}Z`, `${formatSecond(endAt)}Z`];
    return [
      'BEGIN:VEVENT',
      `UID:${Date.parse(startAt)}-${toCalendarText(id)}@loopstream`,
      `DTSTAMP:${madeAt}`,
      `DTSTART:${start}`,
      // An end has to be later than its start.
      ...(end > start ? [`DTEND:${end}`] : []),
      `SUMMARY:${toCalendarText(title)}`,
      'TRANSP:TRANSPARENT',
      'END:VEVENT',
    ];
  });
  const head = [
    'BEGIN:VCALENDAR',
    'VERSION:2.0',
    'PRODID:-//loopstream//timeline//EN',
    `X-WR-CALNAME:${toCalendarText(name)}`,
  ];
  return [...head, ...events, 'END:VCALENDAR'].map(fold).join('');
}

const CSV_HEADER = ['startAt', 'endAt', 'durationSeconds', 'id', 'name', 'playlistID', 'index', 'exact', 'rule'];

function formatRows(items: readonly PlannedItem[]): string {
  const rows = items.map(({ startAt, endAt, durationSeconds, id, name, playlistID, index, exact, rule }) => [
    startAt,
    endAt,
    durationSeconds,
    id,
    quoteCsv(name),
    playlistID ?? '',
    index ?? '',
    exact,
    rule === null ? '' : quoteCsv(rule),
  ]);
  return formatCsv(CSV_HEADER, rows);
}
