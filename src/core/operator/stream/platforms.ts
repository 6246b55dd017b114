/**
 * Follows what is known of the viewers of each destination, and tells what changes in it. Times in which nothing is known are no news: the
 * status keeps what was told last. Pure: no I/O, no clock.
 */
import { exactTime } from '../../lib/clock.ts';
import {
  type DestinationView,
  describeView,
  findViewReason,
  judgeViewers,
  listViews,
} from '../../resources/destination/views.ts';
import { listReceivers } from '../../resources/stream/destinations.ts';
import type { LoopStream } from '../../resources/stream/resource.ts';
import type { LoopStreamStatus, Phase } from '../../resources/stream/spec.ts';
import { MAX_TRANSITION_MESSAGE, type Transition } from '../../resources/stream/transitions.ts';
import type { StreamPlatform } from '../../resources/stream/viewers.ts';
import type { Observation } from './observation.ts';

const TOLD = { True: 'Live', False: 'Ended' } as const;
/** Phases between two times on air; the recorded views stay in them. */
const BETWEEN: readonly Phase[] = ['starting', 'reconnecting'];

/** Phases of an outage; each view is recorded anew after them. */
const OFF_AIR: readonly Phase[] = ['waiting', 'failed'];

export interface ViewerNews {
  /** Field of the status from now on. */
  platforms: StreamPlatform[];
  told: Omit<Transition, 'number'>[];
}

/** While no destination takes media, only the interruption is recorded: the views follow from it. */
export function followPlatforms(
  { spec, status }: LoopStream,
  phase: Phase,
  { destinations, now }: Pick<Observation, 'destinations' | 'now'>,
): ViewerNews {
  const before = status?.platforms ?? [];
  if (BETWEEN.includes(phase)) return { platforms: before, told: [] };
  if (phase !== 'live') return { platforms: [], told: OFF_AIR.includes(phase) ? tellAllGone(before, now) : [] };
  const views = listViews(listReceivers(spec), destinations, now);
  const platforms = views.map((one) => toPlatform(one, findPlatform(before, one.destination)));
  const onAirForViewers = judgeViewers(views)?.status ?? 'Unknown';
  const changes = [
    ...before.flatMap((one) => tellGone(one, platforms, now)),
    ...views.flatMap((one) => tellView(one, findPlatform(before, one.destination), status, now)),
  ];
  return { platforms, told: changes.map((one) => ({ ...one, onAirForViewers })) };
}

const findPlatform = (platforms: readonly StreamPlatform[], name: string): StreamPlatform | undefined =>
  platforms.find(({ destination }) => destination === name);

function toPlatform({ destination, view }: DestinationView, before: StreamPlatform | undefined): StreamPlatform {
  const reason = findViewReason(view);
  const told = view.status === 'Unknown' ? before?.told : TOLD[view.status];
  return { destination, status: view.status, ...(reason && { reason }), ...(told && { told }) };
}

const tell = (one: DestinationView): string => describeView(one).slice(0, MAX_TRANSITION_MESSAGE);

type Told = Omit<Transition, 'number' | 'onAirForViewers'>;

/** Nobody looks any more: the destination is not used, or has no platform. */
const tellGone = ({ destination, status }: StreamPlatform, next: readonly StreamPlatform[], now: Date): Told[] =>
  status === 'Unknown' || findPlatform(next, destination)
    ? []
    : [{ kind: 'PlatformView', at: exactTime(now), destination }];

const tellAllGone = (before: readonly StreamPlatform[], now: Date): ViewerNews['told'] =>
  before.flatMap((one) => tellGone(one, [], now)).map((one) => ({ ...one, onAirForViewers: 'Unknown' }));

function tellView(
  one: DestinationView,
  before: StreamPlatform | undefined,
  status: LoopStreamStatus | undefined,
  now: Date,
): Told[] {
  const { destination, view } = one;
  const reason = findViewReason(view);
  const seen = { ...one, view: { status: view.status, issues: [] } };
  const about = { at: findTime(view.since, status, now), destination, message: tell(seen) };
  const cause = reason === undefined ? {} : { reason, message: tell(one) };
  const isSameStatus = before?.status === view.status;
  if (view.status === 'Unknown') return isSameStatus || !before ? [] : [{ kind: 'PlatformView', ...about, ...cause }];
  const isNews = before?.told !== TOLD[view.status];
  if (view.status === 'False') {
    if (isNews) return [{ kind: 'PlatformEnded', ...about, ...cause }];
    return isSameStatus ? [] : [{ kind: 'PlatformView', ...about, ...cause }];
  }
  const asksForCare = reason !== undefined && !(isSameStatus && before.reason === reason);
  return [
    ...(isNews || !isSameStatus ? [{ kind: isNews ? 'PlatformLive' : 'PlatformView', ...about } as const] : []),
    ...(asksForCare ? [{ kind: 'PlatformHealth', ...about, ...cause } as const] : []),
  ];
}

/** The time of the destination's view, if it is no earlier than the last recorded one. */
function findTime(since: string | undefined, status: LoopStreamStatus | undefined, now: Date): string {
  const sinceMs = Date.parse(since ?? '');
  const lastMs = Date.parse(status?.transitions?.at(-1)?.at ?? status?.liveSince ?? '');
  return exactTime(sinceMs > lastMs && sinceMs <= now.getTime() ? new Date(sinceMs) : now);
}
