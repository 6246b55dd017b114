/**
 * Says whether viewers see a stream: from what is known of the platforms of its destinations. A destination without spec.platform says
 * nothing of its viewers, so a stream with no other one has no such condition. Pure: no I/O, no clock.
 */
import { toPascalCase } from '../../lib/codes/code-text.ts';
import { PLATFORM_CODES } from '../../lib/codes/platforms.ts';
import { beginWith, callObject } from '../common/called.ts';
import type { Verdict } from '../common/conditions.ts';
import { ON_AIR_FOR_VIEWERS } from '../stream/viewers.ts';
import { type PlatformView, readPlatformView } from './platform.ts';
import type { Destination } from './resource.ts';

/** A destination of a stream, and what is known of its viewers. */
export interface DestinationView {
  destination: string;
  /** The destination as people call it, such as `destination "Main"`. */
  called: string;
  view: PlatformView;
}

/** The views of the destinations of these names that have a platform. */
export const listViews = (
  names: readonly string[],
  destinations: ReadonlyMap<string, Destination>,
  now: Date,
): DestinationView[] =>
  names.flatMap((name): DestinationView[] => {
    const destination = destinations.get(name);
    const view = destination && readPlatformView(destination, now);
    return view
      ? [{ destination: name, called: callObject('destination', name, destination.spec.displayName), view }]
      : [];
  });

/** A code of a release after this one has no words here. */
const NEWER = { False: 'NotSeen', Unknown: 'NotKnown' } as const;

/** The reason of a condition for this view; undefined while viewers see the stream and nothing asks for attention. */
export function findViewReason({ status, reason }: PlatformView): string | undefined {
  if (reason !== undefined) return toPascalCase(reason);
  return status === 'True' ? undefined : NEWER[status];
}

const OPENINGS = {
  True: 'Viewers see the stream.',
  False: 'Viewers do not see the stream.',
  Unknown: 'It is not known whether viewers see the stream.',
} as const;

/** Names the destination and the cause, e.g. `Destination "Main": Viewers do not see the stream. The broadcast has ended …`. */
export const describeView = ({ called, view: { status, reason } }: DestinationView): string =>
  `${beginWith(called)}: ${OPENINGS[status]} ${reason === undefined ? '' : PLATFORM_CODES[reason].meaning}`.trimEnd();

/** The way on for a view; empty where there is none. */
export const findViewFix = ({ view: { reason } }: DestinationView): string =>
  reason === undefined ? '' : PLATFORM_CODES[reason].fix;

/** False if viewers of one destination do not see the stream, else Unknown if that is not known of one, else True. */
export function judgeViewers(views: readonly DestinationView[]): Verdict | undefined {
  const first = ['False', 'Unknown', 'True']
    .map((status) => views.find(({ view }) => view.status === status))
    .find(Boolean);
  if (!first) return undefined;
  const { status } = first.view;
  if (status === 'True')
    return { type: ON_AIR_FOR_VIEWERS, status, reason: 'Seen', message: 'Viewers see the stream.' };
  return {
    type: ON_AIR_FOR_VIEWERS,
    status,
    reason: findViewReason(first.view) ?? '',
    message: `${describeView(first)} ${findViewFix(first)}`.trimEnd(),
  };
}

/** Views that need somebody: viewers do not see the stream, or will not for long. Those that do not come first. */
export const listTroubledViews = (views: readonly DestinationView[]): DestinationView[] => [
  ...views.filter(({ view }) => view.status === 'False'),
  ...views.filter(({ view }) => view.status === 'True' && view.reason !== undefined),
];
