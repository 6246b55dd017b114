/** Tells the story of a destination. */

import { findFix } from '../../lib/codes/codes.ts';
import { UNKNOWN_ISSUES } from '../../lib/codes/streams.ts';
import { findCondition } from '../../resources/common/conditions.ts';
import { DESTINATIONS, type Destination } from '../../resources/destination/resource.ts';
import { listDestinationNames } from '../../resources/stream/destinations.ts';
import { getConditionFix } from '../../resources/stream/readiness.ts';
import { LOOPSTREAMS, type LoopStream } from '../../resources/stream/resource.ts';
import { formatAge } from '../shell/age.ts';
import { explain } from '../streams/problems.ts';
import type { Reader } from './facts.ts';
import { type DiagnosedFact, listConditions, listEvents, type Story } from './story.ts';

/** Name, address, readiness, last test. The status has the address without its key. */
export function describeDestinationRow({ metadata, status }: Destination, now: Date): string[] {
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
  ];
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
  const fix = findFix(test.code, 'test');
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
  const [, address = '', state = '', tested = ''] = describeDestinationRow(destination, now);
  return {
    summary: `Destination "${name}" is ${state}: ${address}, ${tested}.`,
    findings: findFaults(destination),
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
