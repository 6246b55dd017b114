import { expect, test } from 'vitest';
import type { KubeObject } from '../../../../../src/core/kube/types.ts';
import type { Clock } from '../../../../../src/core/lib/clock.ts';
import { createWriteLimit } from '../../../../../src/service/domain/limits/writes.ts';
import { AppError } from '../../../../../src/service/lib/errors.ts';
import type { AccountClass } from '../../../../../src/service/settings/limits.ts';

const KIB = 1024;
const LIMITS = { trial: { writtenBytes: 64 * KIB }, full: { writtenBytes: 256 * KIB } };
const objectOf = (bytes: number): KubeObject => {
  const object = { apiVersion: 'v1', kind: 'Thing', metadata: { name: '' }, spec: {} };
  return { ...object, spec: { text: 'x'.repeat(bytes - JSON.stringify({ ...object, spec: { text: '' } }).length) } };
};

function startWrites(column: AccountClass, limits = LIMITS) {
  let nowMs = 0;
  let looks = 0;
  const clock: Clock = { now: () => new Date(nowMs), monotonicMs: () => nowMs };
  const findClass = async () => {
    looks += 1;
    return column;
  };
  const writes = createWriteLimit({ limits, findClass, clock });
  const refusal = (options = {}) =>
    writes.admit('ada', options).then(
      () => undefined,
      (error: unknown) => (error instanceof AppError ? { code: error.code, ...error.extras } : error),
    );
  const pass = (seconds: number) => {
    nowMs += 1000 * seconds;
  };
  return { writes, refusal, pass, countLooks: () => looks };
}

test('an account writes as much as its class allows in a minute, and the refusal says exactly when there is room', async () => {
  for (const column of ['trial', 'full'] as const) {
    const { writes, refusal, pass } = startWrites(column);
    const allowed = LIMITS[column].writtenBytes;
    writes.count('ada', objectOf(allowed - 1));
    expect(await refusal()).toBeUndefined();
    writes.count('ada', objectOf(allowed / 2 + 1));
    const refused = { code: 'too_many_writes', limit: 'writtenBytes', allowed, class: column, retryAfterSeconds: 31 };
    expect(await refusal()).toEqual(refused);
    pass(30);
    expect(await refusal()).toEqual({ ...refused, retryAfterSeconds: 1 });
    pass(1);
    expect(await refusal()).toBeUndefined();
  }
});

test('a small write counts 8 KiB, and the class is looked up only beyond the smaller limit', async () => {
  const { writes, refusal, countLooks } = startWrites('full');
  for (let i = 0; i < 7; i += 1) writes.count('ada', objectOf(500));
  await refusal();
  expect(countLooks()).toBe(0);
  writes.count('ada', objectOf(500));
  expect(await refusal()).toBeUndefined();
  expect(countLooks()).toBe(1);
  for (let i = 8; i < 32; i += 1) writes.count('ada', objectOf(500));
  expect(await refusal()).toMatchObject({ code: 'too_many_writes' });
});

test('what takes off air is refused only after twice as much', async () => {
  const { writes, refusal } = startWrites('trial');
  writes.count('ada', objectOf(LIMITS.trial.writtenBytes));
  expect(await refusal({ takesAway: true })).toBeUndefined();
  writes.count('ada', objectOf(LIMITS.trial.writtenBytes));
  expect(await refusal({ takesAway: true })).toMatchObject({ code: 'too_many_writes', retryAfterSeconds: 1 });
});

test('a limit of 0 refuses every write', async () => {
  const { refusal } = startWrites('trial', { ...LIMITS, trial: { writtenBytes: 0 } });
  expect(await refusal()).toMatchObject({ code: 'too_many_writes', retryAfterSeconds: 60 });
});
