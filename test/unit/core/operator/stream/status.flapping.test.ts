/** Tests what a stream says whose only destination hangs up again and again, by the reports that its pod pushes meanwhile. */
import { expect, test } from 'vitest';
import { buildEvents } from '../../../../../src/core/operator/stream/status.ts';
import { failure } from '../../../../../src/core/pods/streamer/output/failure.ts';
import { Recovery } from '../../../../../src/core/pods/streamer/output/recovery.ts';
import { findCondition } from '../../../../../src/core/resources/common/conditions.ts';
import { at, makePod, step, stream, world } from '../../../../kit/make/operator.ts';
import { parsePodReport } from '../../../../kit/make/report.ts';

const TURNS = 50;
const CLOSED = failure('reset', 'Connection reset by peer');

/** The reports of a pod whose destination takes media for `seconds` each time. */
function listReports(seconds: number) {
  const recovery = new Recovery();
  let lastError: unknown = null;
  const build = (connected: boolean) => ({
    playable: true,
    live: connected,
    destinations: [{ name: 'tv', connected, lastError: connected ? null : lastError }],
  });
  return Array.from({ length: TURNS }, () => {
    const taken = build(seconds * 1000 >= recovery.holdMs);
    recovery.end(seconds * 1000);
    lastError = CLOSED;
    return [taken, build(false)];
  }).flat();
}

test.each([0.5, 1.2, 5, 10, 15, 20, 60])('a destination that hangs up after %f s is one lasting state', (seconds) => {
  const pod = makePod(stream(), { ready: true });
  let current = stream();
  const events: string[] = [];
  const health = new Set<string>();
  listReports(seconds).forEach((answer, i) => {
    const report = parsePodReport(answer, true);
    if (!report) throw new Error('no report');
    const next = step(current, { ...world({ pod, now: at(i * seconds) }), report }).stream;
    events.push(...buildEvents(current, next.status ?? {}).map(({ reason }) => reason));
    current = next;
    // The first failure of a destination that took media for long may be the only one.
    if (i < 4) return;
    const [live, degraded] = ['Live', 'Degraded'].map((type) => findCondition(current.status?.conditions, type));
    health.add([current.status?.phase, live?.status, degraded?.status, degraded?.reason, degraded?.message].join(' '));
  });
  expect([...health]).toEqual([
    `reconnecting False True DestinationReconnecting Destination "tv" does not accept the stream. ${CLOSED.message}`,
  ]);
  const times = seconds < 20 ? 1 : 2;
  expect(events.filter((reason) => reason === 'Live')).toHaveLength(times);
  expect(events.filter((reason) => reason === 'Reconnecting')).toHaveLength(times);
  expect(events.filter((reason) => reason === 'DestinationReconnecting')).toHaveLength(times);
});
