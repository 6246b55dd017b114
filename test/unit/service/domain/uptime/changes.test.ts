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
    [8, 'unwanted', undefined],
  ]);
});

test('a refusal of one destination leaves a stream as it was', () => {
  const kinds = ['Rejected', 'Live', 'Rejected', 'Reconnecting', 'Rejected'] as const;
  const transitions = kinds.map((kind, i) => ({ number: i + 1, kind, at: AT, reason: 'DestinationReconnecting' }));
  expect(list({ transitions }).map(({ state, cause }) => [state, cause?.code])).toEqual([
    ['unwanted', undefined],
    ['onAir', undefined],
    ['onAir', undefined],
    ['offAir', 'destination_reconnecting'],
    ['offAir', 'destination_reconnecting'],
  ]);
});

test('a stream that an operator without transitions put on air is on air since it was', () => {
  expect(list({ phase: 'live', liveSince: AT })).toEqual([
    { number: 0, at: new Date(AT), state: 'onAir', cause: null },
  ]);
  expect(list({ phase: 'idle' })).toEqual([]);
});
