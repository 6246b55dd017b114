/** Says in words what is known of the viewers of a destination. Pure: no I/O, no clock. */
import type { Destination } from '../../../service/client/index.ts';
import { formatCount, formatTime } from '../../lib/format.ts';
import type { Tone } from '../../ui/tone.ts';

export type PlatformLive = NonNullable<Destination['platformLive']>;

export interface ViewText {
  tone: Tone;
  head: string;
  /** Short facts beside it. */
  facts: string[];
  /** The cause, and what to do. */
  cause?: string;
  fix?: string | undefined;
}

export const formatViewers = (viewers: number): string =>
  `${formatCount(viewers)} ${viewers === 1 ? 'viewer' : 'viewers'}`;

/** While nothing is sent there is nothing to see, which is no problem. */
const RESTING = 'not_sending';

export function describeView(view: PlatformLive): ViewText {
  const { status, code, message, fix, since, lastSeenAt, viewers } = view;
  if (status === 'unknown' && code === RESTING)
    return { tone: 'quiet', head: 'Viewers are looked for when a stream is sent here', facts: [] };
  const cause = { ...(code !== null && { cause: message }), fix: fix ?? undefined };
  // Of no viewers, nothing is told that the rest does not tell.
  const facts = viewers === null || (viewers === 0 && status !== 'true') ? [] : [formatViewers(viewers)];
  if (status === 'true')
    return { tone: code === null ? 'good' : 'attention', head: 'Viewers see the stream', facts, ...cause };
  const lastSeen = formatTime(lastSeenAt);
  const seen = lastSeen === undefined ? [] : [`last seen ${lastSeen}`];
  if (status === 'unknown')
    return { tone: 'quiet', head: 'Not known whether viewers see the stream', facts: seen, ...cause };
  const time = formatTime(since);
  const head = time === undefined ? 'Viewers do not see the stream' : `Viewers have not seen the stream since ${time}`;
  return { tone: 'danger', head, facts, ...cause };
}
