import { expect, test } from 'vitest';
import type { LoopStream } from '../../../../../src/core/resources/stream/resource.ts';
import type { LoopStreamStatus } from '../../../../../src/core/resources/stream/spec.ts';
import { TRANSITIONS } from '../../../../../src/core/resources/stream/transitions.ts';
import { listAirChanges } from '../../../../../src/service/domain/uptime/changes.ts';

const AT = '2027-01-31T18:00:00Z';
const list = (status: LoopStreamStatus) => listAirChanges({ status } as LoopStream);

test('every transition says whether the stream is on air, and only of an outage why', () => {
  const transitions = TRANSITIONS.map((kind, i) => ({
    number: i + 1,
    kind,
    at: AT,
    reason: 'DestinationReconnecting',
  }));
  expect(list({ transitions }).map(({ number, state, cause }) => [number, state, cause?.code])).toEqual([
    [1, 'onAir', undefined],
    [2, 'offAir', 'destination_reconnecting'],
    [3, 'offAir', 'destination_reconnecting'],
    [4, 'onAir', undefined],
    [5, 'unwanted', undefined],
    [6, 'onAir', undefined],
    [7, 'unwanted', undefined],
    [8, 'unchanged', undefined],
    [9, 'unchanged', undefined],
    [10, 'unchanged', undefined],
    [11, 'unchanged', undefined],
    [12, 'unchanged', undefined],
  ]);
});

test('a stream that an operator without transitions put on air is on air since it was', () => {
  expect(list({ phase: 'live', liveSince: AT })).toEqual([
    { number: 0, at: new Date(AT), state: 'onAir', cause: null },
  ]);
  expect(list({ phase: 'idle' })).toEqual([]);
});

test('an outage ends as long after its begin as no destination took media, however late it was told', () => {
  const at = (second: number) => `2027-01-31T18:00:${String(second).padStart(2, '0')}Z`;
  const outage = [
    { number: 1, kind: 'Live', at: at(0) },
    { number: 2, kind: 'Reconnecting', at: at(10) },
    { number: 3, kind: 'OffAir', at: at(15) },
    { number: 4, kind: 'Recovered', at: at(50), offAirSeconds: 7.5 },
  ] as const;
  expect(list({ transitions: [...outage] }).at(-1)?.at).toEqual(new Date('2027-01-31T18:00:17.500Z'));
  // Its begin is not known any more.
  expect(list({ transitions: outage.slice(3) })[0]?.at).toEqual(new Date(at(50)));
});

test('a transition of a platform says what viewers see, and why not; a start and a stop say that it is not known', () => {
  const about = { at: AT, destination: 'tv', reason: 'BroadcastEnded', message: 'It has ended.' };
  const transitions = [
    { number: 1, kind: 'Live', at: AT },
    { number: 2, kind: 'PlatformLive', at: AT, onAirForViewers: 'True' },
    { number: 3, kind: 'PlatformEnded', ...about, onAirForViewers: 'False' },
    { number: 4, kind: 'PlatformView', ...about, onAirForViewers: 'Unknown' },
    { number: 5, kind: 'Recovered', at: AT },
    { number: 6, kind: 'Stopped', at: AT },
  ] as const;
  expect(list({ transitions: [...transitions] }).map(({ viewers, cause }) => [viewers, cause?.code])).toEqual([
    ['unknown', undefined],
    ['onAir', undefined],
    ['offAir', 'broadcast_ended'],
    ['unknown', undefined],
    [undefined, undefined],
    ['unknown', undefined],
  ]);
});
