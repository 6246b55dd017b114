/** Says events of the account in words, and where they lead. Pure: no I/O, no clock. */
import type { LinkProps } from '@tanstack/react-router';
import type { AccountEvent } from '../../../service/client/index.ts';
import { EVENT_WORDS, type EventTone } from '../../../service/domain/events/words.ts';
import { formatTime, spokenDuration } from '../../lib/format.ts';
import { quote } from '../../lib/isolate.ts';
import { FOR_PROGRAMS } from './formValues.ts';
import { nameType } from './text.ts';

interface EventSentences {
  title: string;
  tone: EventTone;
  /** A fact that the title lacks. */
  fact?: string | undefined;
}

type Facts = Pick<AccountEvent['data'], 'offAirSeconds' | 'version' | 'startAt' | 'hoursLeft'>;

function describeFact({ offAirSeconds, version, startAt, hoursLeft }: Facts): string | undefined {
  if (offAirSeconds !== null) return `It was off air for ${spokenDuration(offAirSeconds)}.`;
  if (version !== null) return `That is version ${version}.`;
  if (startAt !== null) return `It starts at ${formatTime(startAt)}.`;
  if (hoursLeft === null) return undefined;
  return `It lasts for less than ${hoursLeft === 1 ? 'an hour' : `${hoursLeft} hours`} at the current rate.`;
}

export function describeEvent({ type, data }: Pick<AccountEvent, 'type' | 'data'>): EventSentences {
  const fact = describeFact(data);
  // The server may be newer than the page.
  if (!Object.hasOwn(EVENT_WORDS, type))
    return { title: `${quote(data.name)}: ${nameType(type)}`, tone: 'neutral', fact };
  const { title, tone } = EVENT_WORDS[type];
  return { title: title(quote(data.name)), tone, fact };
}

type To = Pick<LinkProps, 'to' | 'params'>;

/** The page about an object. */
export function findPage({ object, objectID: id }: Pick<AccountEvent, 'object' | 'objectID'>): To {
  const pages: Record<AccountEvent['object'], To> = {
    stream: { to: '/streams/$id', params: { id } },
    playlist: { to: '/playlists/$id', params: { id } },
    upload: { to: '/uploads' },
    destination: { to: '/destinations' },
    account: { to: '/billing' },
    invoice: { to: '/billing' },
    deposit: { to: '/billing/deposits/$id', params: { id } },
    key: { to: '/account/keys' },
  };
  return pages[object] ?? { to: '/' };
}

/** Groups of events to choose from, by the beginnings of their types. */
export const EVENT_GROUPS = {
  all: { label: 'All events', begins: [''] },
  streams: { label: 'Streams', begins: ['stream.', 'schedule.', 'insert.', 'destination.', 'platform.'] },
  media: { label: 'Uploads and playlists', begins: ['upload.', 'playlist.'] },
  account: { label: 'Billing and keys', begins: ['credit.', 'invoice.', 'deposit.', 'key.'] },
} as const;
export type EventGroup = keyof typeof EVENT_GROUPS;

/** The types of a group, as the API lists them: also those that come to nobody who does not name them. */
export const listGroupTypes = (group: EventGroup): AccountEvent['type'][] =>
  (Object.keys(EVENT_WORDS) as AccountEvent['type'][]).filter(
    (type) => type !== FOR_PROGRAMS && EVENT_GROUPS[group].begins.some((begin) => type.startsWith(begin)),
  );
