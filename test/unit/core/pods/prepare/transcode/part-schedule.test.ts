import { describe, expect, test } from 'vitest';
import { PartSchedule } from '../../../../../../src/core/pods/prepare/transcode/part-schedule.ts';

/** 50 parts of 900 frames: three ranges, the last of them half. */
const parts = Array.from({ length: 50 }, (_, at) => {
  return { firstFrame: 900 * at, endFrame: 900 * (at + 1), firstSound: 0, endSound: 0 };
});
const takeAll = (schedule: PartSchedule, limit = 100) => {
  const taken: number[] = [];
  for (let part = schedule.take(); part && taken.length < limit; part = schedule.take())
    taken.push(part.firstFrame / 900);
  return taken;
};

describe('the order in which the Job of a rendition makes its parts', () => {
  test('alone, it makes all from the beginning to the end', () => {
    expect(takeAll(new PartSchedule(parts))).toEqual(parts.map((_, at) => at));
  });

  test('it leaves ranges that others have begun, and then helps from the end', () => {
    const schedule = new PartSchedule(parts);
    schedule.note(20 * 900);
    schedule.note(21 * 900);
    expect(takeAll(schedule)).toEqual([
      ...[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19],
      ...[40, 41, 42, 43, 44, 45, 46, 47, 48, 49],
      ...[39, 38, 37, 36, 35, 34, 33, 32, 31, 30, 29, 28, 27, 26, 25, 24, 23, 22],
    ]);
  });

  test('after an interruption it goes on with the first missing part', () => {
    const schedule = new PartSchedule(parts);
    for (const part of [0, 1, 2, 5]) schedule.note(part * 900);
    expect(schedule.take()?.firstFrame).toBe(3 * 900);
    expect(schedule.take()?.firstFrame).toBe(4 * 900);
    expect(schedule.take()?.firstFrame).toBe(6 * 900);
  });

  test('a part that has come from another Job meanwhile is not made again', () => {
    const schedule = new PartSchedule(parts);
    expect(schedule.take()?.firstFrame).toBe(0);
    schedule.note(900);
    expect(schedule.take()?.firstFrame).toBe(2 * 900);
  });
});

test('another Job may have begun with the next part only where that is in another range', () => {
  const schedule = new PartSchedule(parts);
  for (let part = 0; part < 20; part++) {
    expect(schedule.leavesRange).toBe(false);
    schedule.take();
  }
  expect(schedule.leavesRange).toBe(true);
  schedule.take();
  expect(schedule.leavesRange).toBe(false);
});

test('what is prepared counts from the beginning on, and includes the parts of others', () => {
  const schedule = new PartSchedule(parts);
  schedule.note(900);
  expect(schedule.preparedFrames).toBe(0);
  expect(schedule.framesThere).toBe(900);
  schedule.note(0);
  expect(schedule.preparedFrames).toBe(1800);
});

test('ranges are shared while more than the work of one is left', () => {
  const schedule = new PartSchedule(parts);
  expect(schedule.ranges).toBe(2);
  for (let part = 0; part < 29; part++) schedule.note(part * 900);
  expect(schedule.ranges).toBe(2);
  schedule.note(29 * 900);
  expect(schedule.ranges).toBeUndefined();
  expect(new PartSchedule(parts.slice(0, 20)).ranges).toBeUndefined();
});
