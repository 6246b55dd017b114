/**
 * Writes messages for people, in the shape of each kind of endpoint. A message says what happened, why, and what to do, and has a link.
 * Names and causes are text of others: no shape lets them be markup, a mention or a disguised link. Pure: no I/O, no clock.
 */
import type { Mail } from '../../../lib/mail/mailer.ts';
import { toPlainLine } from '../../../lib/mail/notices.ts';
import { renderMail } from '../../../lib/mail/templates.ts';
import { EVENT_TYPES } from '../../events/record.ts';
import { EVENT_WORDS, type EventTone } from '../../events/words.ts';
import type { AlertKind, AlertMessage } from './rule.ts';

const MAX_NAME = 100;
const MAX_SENTENCE = 500;

/** A message in words, without markup. */
export interface AlertText {
  title: string;
  /** Sentences of what happened. */
  summary: string;
  cause: string | null;
  fix: string | null;
  link: { label: string; url: string };
  tone: EventTone;
}

const COLOURS: Record<EventTone, number> = { bad: 0xc62828, warning: 0xb26a00, good: 0x0a7768, neutral: 0x5b6066 };

/** `4 min 12 s` */
export function spellSeconds(seconds: number): string {
  const parts: [count: number, unit: string][] = [
    [Math.floor(seconds / 86_400), 'd'],
    [Math.floor(seconds / 3600) % 24, 'h'],
    [Math.floor(seconds / 60) % 60, 'min'],
    [Math.floor(seconds) % 60, 's'],
  ];
  const first = parts.findIndex(([count]) => count > 0);
  if (first < 0) return 'less than a second';
  const shown = parts.slice(first, first + 2).filter(([count]) => count > 0);
  return shown.map(([count, unit]) => `${count} ${unit}`).join(' ');
}

const DAY = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeZone: 'UTC' });
const TIME = new Intl.DateTimeFormat('en-GB', { timeStyle: 'medium', timeZone: 'UTC' });

/** `29 Nov 2026, 12:00:05 UTC` */
const spellTime = (iso: string): string => `${DAY.format(new Date(iso))}, ${TIME.format(new Date(iso))} UTC`;

/** `from 29 Nov 2026, 12:00:05 to 12:04:17 UTC` */
function spellSpan(from: string, to: string): string {
  const [first, last] = [new Date(from), new Date(to)];
  const isOneDay = DAY.format(first) === DAY.format(last);
  const begin = isOneDay ? `${DAY.format(first)}, ${TIME.format(first)}` : spellTime(from);
  return `from ${begin} to ${isOneDay ? `${TIME.format(last)} UTC` : spellTime(to)}`;
}

type Outage = NonNullable<AlertMessage['outage']>;

const countOutages = ({ outages }: Outage): string => (outages === 1 ? '1 outage' : `${outages} outages`);

/** Behind `off air`: an outage that viewers have although the stream is sent. */
type Whose = '' | ' for viewers';

/** The time off air until now, or until the end. */
function describePast({ from, to, outages, offAirSeconds }: Outage, end: string, whose: Whose): string {
  const span = spellSpan(from, to ?? end);
  if (outages === 1) return `It was off air${whose} for ${spellSeconds(offAirSeconds)}, ${span}.`;
  return `It was off air${whose} ${outages} times ${span}, ${spellSeconds(offAirSeconds)} in all.`;
}

function describeOffAir(outage: Outage, whose: Whose): string {
  const since = `Off air${whose} since ${spellTime(outage.offSince ?? outage.from)}.`;
  const all =
    outage.outages === 1 ? since : `${since} That is one of ${countOutages(outage)} since ${spellTime(outage.from)}.`;
  return whose === '' ? all : `${all} It is still being sent.`;
}

const describeFlapping = (outage: Outage): string =>
  `${countOutages(outage)} since ${spellTime(outage.from)}. The next message comes when it is calm, or when it stays off air.`;

type OutageKind = Exclude<AlertKind, 'note'>;

interface OutageWords {
  title: (name: string, whose: Whose) => string;
  summarize: (outage: Outage, at: string, whose: Whose) => string;
  tone: EventTone;
}

const OUTAGE_WORDS: Record<OutageKind, OutageWords> = {
  off_air: {
    title: (name, whose) => `${name} is off air${whose}`,
    summarize: (outage, _at, whose) => describeOffAir(outage, whose),
    tone: 'bad',
  },
  flapping: {
    title: (name, whose) => `${name} keeps going off air${whose}`,
    summarize: describeFlapping,
    tone: 'bad',
  },
  back: { title: (name, whose) => `${name} is on air again${whose}`, summarize: describePast, tone: 'good' },
  calm: { title: (name, whose) => `${name} is stable again${whose}`, summarize: describePast, tone: 'good' },
  was_off_air: {
    title: (name, whose) => `${name} was off air${whose}`,
    summarize: (outage, at, whose) => `${describePast(outage, at, whose)} It is on air again.`,
    tone: 'warning',
  },
  stopped: {
    title: (name, whose) => `${name} was stopped while it was off air${whose}`,
    summarize: (outage, at, whose) => `${describePast(outage, at, whose)} Then it was stopped.`,
    tone: 'neutral',
  },
};

const LINKS: Record<string, { label: string; path: (id: string) => string }> = {
  stream: { label: 'Open the stream', path: (id) => `/streams/${encodeURIComponent(id)}` },
  playlist: { label: 'Open the playlist', path: (id) => `/playlists/${encodeURIComponent(id)}` },
  upload: { label: 'Open your uploads', path: () => '/uploads' },
  destination: { label: 'Open your destinations', path: () => '/destinations' },
  key: { label: 'Open your API keys', path: () => '/account/keys' },
  account: { label: 'Open billing', path: () => '/billing' },
  invoice: { label: 'Open billing', path: () => '/billing' },
  deposit: { label: 'Open billing', path: () => '/billing' },
};
const HOME = { label: 'Open loopstream', path: () => '/' };

const quote = (name: string): string => `“${toPlainLine(name, MAX_NAME)}”`;
const toSentence = (text: string | null): string | null =>
  text === null ? null : toPlainLine(text, MAX_SENTENCE) || null;

const APPROXIMATE = 'Some events were lost, so the times may be inexact.';

function describeFacts({ type, facts }: AlertMessage): string {
  if (type === 'credit.low' && facts?.hoursLeft != null)
    return `The credit lasts for less than ${facts.hoursLeft === 1 ? 'an hour' : `${facts.hoursLeft} hours`} at the current rate.`;
  if (facts?.startAt != null) return `It starts at ${spellTime(facts.startAt)}.`;
  if (facts?.credits != null) return `${facts.credits} credits were booked.`;
  return EVENT_TYPES[type].meaning;
}

function describeWhat(message: AlertMessage): Pick<AlertText, 'title' | 'summary' | 'tone'> {
  const { kind, type, outage, at } = message;
  const name = quote(message.name);
  if (kind !== 'note' && outage) {
    const { title, summarize, tone } = OUTAGE_WORDS[kind];
    const whose = message.isForViewers ? ' for viewers' : '';
    const summary = summarize(outage, at, whose);
    return { title: title(name, whose), summary: outage.isApproximate ? `${summary} ${APPROXIMATE}` : summary, tone };
  }
  const { title, tone } = EVENT_WORDS[type];
  return { title: title(name), summary: `${spellTime(at)}: ${describeFacts(message)}`, tone };
}

/** `publicUrl` is where the page is, without a slash at its end. */
export function describeAlert(message: AlertMessage, publicUrl: string): AlertText {
  const { label, path } = LINKS[message.object] ?? HOME;
  return {
    ...describeWhat(message),
    cause: toSentence(message.message),
    fix: toSentence(message.fix),
    link: { label, url: `${publicUrl}${path(message.objectID)}` },
  };
}

/** The message with the code by which an endpoint shows that somebody wants its messages. */
export const describeCode = (code: string, publicUrl: string): AlertText => ({
  title: `Your code is ${code}`,
  summary: `Enter the code ${code} in loopstream, so that messages about streams may be sent here. If you do not know of it, do nothing: then nothing is sent.`,
  cause: null,
  fix: null,
  link: { label: HOME.label, url: `${publicUrl}${HOME.path()}` },
  tone: 'neutral',
});

export const describeTest = (publicUrl: string): AlertText => ({
  title: 'This is a test',
  summary: 'Messages of loopstream arrive here. Nothing has happened.',
  cause: null,
  fix: null,
  link: { label: HOME.label, url: `${publicUrl}${HOME.path()}` },
  tone: 'neutral',
});

const CAUSE = 'Cause';
const FIX = 'What to do';

/** All sentences of a message but its title. */
export const joinSentences = ({ summary, cause, fix }: AlertText): string =>
  [summary, ...(cause ? [`${CAUSE}: ${cause}`] : []), ...(fix ? [`${FIX}: ${fix}`] : [])].join('\n');

const cut = (text: string, maxLength: number): string =>
  text.length > maxLength ? `${text.slice(0, maxLength - 1).toWellFormed()}…` : text;

/** It has no width, and separates signs that would be markup together. */
const APART = '\u200b';

/**
 * Slack reads &, < and > as markup (docs.slack.dev, "Escaping text"). Servers that take the same shape, such as Mattermost, read Markdown
 * and `@all` too.
 */
const escapeSlack = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replace(/[@\]]/g, `$&${APART}`);

const toHex = (colour: number): string => `#${colour.toString(16).padStart(6, '0')}`;

/** Builds the body of an incoming webhook of Slack. Attachments, since Mattermost and Rocket.Chat know no blocks. */
export const buildSlackPost = (text: AlertText): Record<string, unknown> => {
  const toText = (one: string) => escapeSlack(cut(one, 1500));
  const field = (title: string, value: string | null) => (value ? [{ title, value: toText(value), short: false }] : []);
  return {
    text: toText(text.title),
    mrkdwn: false,
    attachments: [
      {
        color: toHex(COLOURS[text.tone]),
        fallback: toText(`${text.title}. ${text.summary}`),
        text: toText(text.summary),
        fields: [...field(CAUSE, text.cause), ...field(FIX, text.fix)],
        title: text.link.label,
        title_link: text.link.url,
        mrkdwn_in: [],
      },
    ],
  };
};

/** Discord shows a sign after a backslash as it is. */
const escapeDiscord = (text: string): string => text.replace(/[\\*_~`|>#[\]()<:@+=-]/g, '\\$&');

/** Builds the body of a webhook of Discord. Nobody is mentioned, whatever a text holds. */
export const buildDiscordPost = (text: AlertText): Record<string, unknown> => {
  // Twice as long when each sign is escaped: a field has at most 1024 characters.
  const toText = (one: string) => escapeDiscord(cut(one, 500));
  const field = (name: string, value: string | null) => (value ? [{ name, value: toText(value) }] : []);
  return {
    content: toText(text.title),
    embeds: [
      {
        title: text.link.label,
        url: text.link.url,
        description: toText(text.summary),
        color: COLOURS[text.tone],
        fields: [...field(CAUSE, text.cause), ...field(FIX, text.fix)],
      },
    ],
    allowed_mentions: { parse: [] },
  };
};

/** Signs of which mail programs make links, by others that look alike. */
const LOOK_ALIKE: Record<string, string> = { '.': '․', '@': '＠', ':': '：' };
const softenLinks = (text: string): string =>
  text.replace(/:(?=\/\/)|@|\.(?=\p{L}{2})/gu, (sign) => LOOK_ALIKE[sign] ?? sign);

/** Builds the mail. A mail program makes no link of text in it, except of ours. */
export const buildAlertMail = (to: string, text: AlertText): Mail =>
  renderMail({
    to,
    subject: softenLinks(text.title),
    before: softenLinks(`${text.title}. ${joinSentences(text)}`).split('\n'),
    action: text.link,
    after: ['You get this mail because this address was entered and confirmed for messages about streams.'],
  });
