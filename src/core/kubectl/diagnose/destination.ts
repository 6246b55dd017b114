/** Tells the story of a destination. */

import { findDestinationFix } from '../../lib/codes/destinations.ts';
import { PLATFORM_CODES } from '../../lib/codes/platforms.ts';
import { UNKNOWN_ISSUES } from '../../lib/codes/streams.ts';
import { PLATFORM_ISSUES } from '../../lib/codes/youtube-issues.ts';
import { findCondition } from '../../resources/common/conditions.ts';
import { readPlatformView } from '../../resources/destination/platform.ts';
import { DESTINATIONS, type Destination } from '../../resources/destination/resource.ts';
import { listDestinationNames } from '../../resources/stream/destinations.ts';
import { getConditionFix } from '../../resources/stream/readiness.ts';
import { LOOPSTREAMS, type LoopStream } from '../../resources/stream/resource.ts';
import { formatAge } from '../shell/age.ts';
import { explain } from '../streams/problems.ts';
import type { Reader } from './facts.ts';
import { type DiagnosedFact, listConditions, listEvents, mergeFindings, type Story } from './story.ts';

/** The findings about the destination's viewers; empty without spec.platform. */
function describeViewers(destination: Destination, now: Date): string[] {
  const view = readPlatformView(destination, now);
  if (!view) return [];
  const { status, reason, viewers, checkedAt } = view;
  const counted = viewers === undefined ? '' : ` (${viewers})`;
  const known = { True: `viewers${counted} see it`, False: 'viewers do not see it', Unknown: 'viewers: unknown' }[
    status
  ];
  const age = checkedAt === undefined ? '' : `, checked ${formatAge(checkedAt, now)} ago`;
  return [`${known}${reason === undefined ? '' : ` (${reason})`}${age}`];
}

/** Name, address, readiness, last test, viewers. The status has the address without its key. */
export function describeDestinationRow(destination: Destination, now: Date): string[] {
  const { metadata, status } = destination;
  const { rtmpUrl, test, conditions } = status ?? {};
  const ready = findCondition(conditions, 'Ready');
  const tested = test
    ? `test ${test.ok ? 'passed' : `failed (${test.code ?? 'unknown'})`} ${formatAge(test.finishedAt, now)} ago`
    : 'never tested';
  return [
    metadata.name,
    rtmpUrl ?? 'no address',
    ready?.status === 'True' ? 'ready' : (ready?.reason ?? 'not checked'),
    tested,
    ...describeViewers(destination, now),
  ];
}

/** The process that looks is needed for the answer, and its absence is a finding too. */
function findViewFaults(destination: Destination, now: Date): DiagnosedFact[] {
  const view = readPlatformView(destination, now);
  if (!view?.reason || view.reason === 'not_sending') return [];
  return [PLATFORM_CODES[view.reason], ...view.issues.flatMap(({ code }) => PLATFORM_ISSUES.get(code) ?? [])].map(
    ({ meaning: message, fix }) => ({ message, fix }),
  );
}

function findFaults({ metadata, status }: Destination): DiagnosedFact[] {
  const ready = findCondition(status?.conditions, 'Ready');
  if (!ready)
    return [
      {
        message: `The operator has not checked destination "${metadata.name}".`,
        fix: UNKNOWN_ISSUES.NotChecked.fix,
      },
    ];
  if (ready.status !== 'True') return [{ message: ready.message, fix: getConditionFix(ready) }];
  const { test } = status ?? {};
  if (!test || test.ok) return [];
  const fix = findDestinationFix(test.code);
  return [
    { message: `The last test failed at the step ${test.stage}: ${test.message}`, ...(fix !== undefined && { fix }) },
  ];
}

export async function tellDestination(reader: Reader, name: string, now: Date): Promise<Story> {
  const { kube, namespace } = reader;
  const destination = await kube.get(DESTINATIONS, namespace, name);
  const [streams, events] = await Promise.all([
    reader.attempt<LoopStream[]>(kube.list(LOOPSTREAMS, { namespace }), []),
    reader.events({ kind: 'Destination', name }),
  ]);
  const users = streams.filter(({ spec }) => listDestinationNames(spec).includes(name));
  const [, address = '', state = '', ...more] = describeDestinationRow(destination, now);
  return {
    summary: `Destination "${name}" is ${state}: ${[address, ...more].join(', ')}.`,
    findings: mergeFindings(findFaults(destination), findViewFaults(destination, now)),
    sections: [
      listConditions(destination.status?.conditions, now),
      {
        title: 'Streams',
        rows: users.map((stream) => [stream.metadata.name, stream.status?.phase ?? 'unknown', explain(stream).why]),
      },
      listEvents(events, now),
    ],
    unseen: reader.unseen,
  };
}
