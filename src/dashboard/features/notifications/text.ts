/** Says endpoints and deliveries in words. Pure: no I/O, no clock. */
import type { Delivery, Endpoint } from '../../../service/client/index.ts';
import type { EndpointKind } from '../../../service/domain/endpoints/record.ts';
import type { AccountEventType } from '../../../service/domain/events/record.ts';
import { EVENT_WORDS } from '../../../service/domain/events/words.ts';
import { formatReason, spokenDuration } from '../../lib/format.ts';
import type { Tone } from '../../ui/tone.ts';

interface KindWords {
  label: string;
  /** Where its address is found, or what is sent there. */
  help: string;
  /** How its code arrives. */
  code: string;
}

export const KIND_WORDS: Readonly<Record<EndpointKind, KindWords>> = {
  mail: {
    label: 'E-mail',
    help: 'Your own address needs no confirmation.',
    code: 'An e-mail with a code was sent there. Enter the code here.',
  },
  slack: {
    label: 'Slack',
    help: 'The address of an incoming webhook. Mattermost and Rocket.Chat have one too.',
    code: 'A message with a code was posted there. Enter the code here.',
  },
  discord: {
    label: 'Discord',
    help: 'In the settings of the channel choose Integrations, Webhooks, and copy the address of a webhook.',
    code: 'A message with a code was posted there. Enter the code here.',
  },
  webhook: {
    label: 'Webhook',
    help: 'For programs: each event is sent there as JSON, signed by the rules of Standard Webhooks.',
    code: 'A request with a code was sent there. A program that answers with the code confirms it at once. Or find the code in its log, and enter it here.',
  },
  template: {
    label: 'Other',
    help: 'Any address that takes requests, such as ntfy or Telegram. You write the request below.',
    code: 'A request with a code was sent there. Enter the code here.',
  },
};

interface StateWords {
  word: string;
  tone: Tone;
  /** The meaning of that; undefined where all is well. */
  meaning?: string;
}

export function describeState({ state, disabledCode }: Pick<Endpoint, 'state' | 'disabledCode'>): StateWords {
  if (state === 'active') return { word: 'On', tone: 'good' };
  if (state === 'unverified')
    return { word: 'Not confirmed', tone: 'attention', meaning: 'Nothing is sent until the receiver has confirmed.' };
  if (disabledCode === 'gone')
    return {
      word: 'Off',
      tone: 'danger',
      meaning: 'The receiver said that it wants no more events (it answered 410), so nothing is sent.',
    };
  return { word: 'Off', tone: 'quiet', meaning: 'Nothing is sent while it is off.' };
}

/** `A stream is off air`; a type that this page does not know yet in its own words. */
export const nameType = (type: string): string =>
  Object.hasOwn(EVENT_WORDS, type)
    ? EVENT_WORDS[type as AccountEventType].label
    : formatReason(type.replace(/[._]/g, ' '));

const count = (n: number, noun: string): string => `${n} ${noun}${n === 1 ? '' : 's'}`;

/** Names the events of an endpoint that names no types. People get those alone that somebody has to act on. */
export const nameAllTypes = (kind: EndpointKind): string => (kind === 'webhook' ? 'All events' : 'Important events');

/** `All events of 2 streams`. */
export function describeChoice({
  kind,
  types,
  objectIDs,
  rule,
}: Pick<Endpoint, 'kind' | 'types' | 'objectIDs' | 'rule'>): string {
  const what = types.length === 0 ? nameAllTypes(kind) : `${count(types.length, 'kind')} of event`;
  const whose = objectIDs.length === 0 ? '' : ` of ${count(objectIDs.length, 'stream')}`;
  return `${what}${whose}${rule === null ? '' : `, ${describeRule(rule)}`}`;
}

export const describeRule = ({ offAirSeconds }: NonNullable<Endpoint['rule']>): string =>
  offAirSeconds === 0 ? 'as soon as a stream is off air' : `after ${spokenDuration(offAirSeconds)} off air`;

export const DELIVERY_STATES: Readonly<Record<Delivery['state'], { word: string; tone: Tone }>> = {
  waiting: { word: 'Waiting', tone: 'busy' },
  delivered: { word: 'Accepted', tone: 'good' },
  failed: { word: 'Failed', tone: 'danger' },
};

type Answer = NonNullable<Delivery['lastAnswer']>;

/** The way on, in words of this page. */
export const findAnswerFix = ({ code, fix }: Pick<Answer, 'code' | 'fix'>): string | null =>
  code === 'gone' ? 'Turn the endpoint on once the receiver wants events again.' : fix;

/** `1 attempt`. */
export const countAttempts = (attempts: number): string =>
  attempts === 0 ? 'not sent yet' : count(attempts, 'attempt');
