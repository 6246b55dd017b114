/** Tests that the progress of a repair survives its way through the status of a destination. */
import { Value } from 'typebox/value';
import { expect, test } from 'vitest';
import type { RepairState } from '../../../../src/core/platform/common/repair-state.ts';
import { buildRepairPatch, readRepairStatus } from '../../../../src/core/platform/repair-status.ts';
import { NEW_REPAIR } from '../../../../src/core/platform/youtube/repair.ts';
import { RepairStatus } from '../../../../src/core/resources/destination/platform.ts';

const MS = Date.parse('2026-06-01T12:00:00.123Z');
const FULL: RepairState = {
  phase: 'inserted',
  insertsMs: [MS, MS + 1000],
  absentSinceMs: MS + 1,
  mark: 'm',
  markedMs: MS + 2,
  broadcastId: 'b',
  boundMs: MS + 3,
  startedMs: MS + 4,
  binds: 1,
  starts: 2,
  live: { broadcastId: 'a', atMs: MS + 5 },
  stalled: 'limit',
  resume: 'again',
};

/** A merge patch leaves the fields that are not null. */
const apply = (state: RepairState): RepairStatus =>
  Object.fromEntries(Object.entries(buildRepairPatch(state)).filter(([, value]) => value !== null)) as RepairStatus;

test('every field of a state comes back as it was, to the millisecond', () => {
  for (const state of [NEW_REPAIR, FULL]) {
    expect(Value.Check(RepairStatus, apply(state))).toBe(true);
    expect(readRepairStatus(apply(state))).toEqual(state);
  }
});

test('a patch removes what an earlier state had', () => {
  expect(Object.keys(buildRepairPatch(NEW_REPAIR)).sort()).toEqual(Object.keys(RepairStatus.properties).sort());
});

test('a destination without a repair begins one', () => {
  expect(readRepairStatus(undefined)).toEqual(NEW_REPAIR);
});
