import { describe, expect, test } from 'vitest';
import { readRange } from '../../../../../src/service/domain/uptime/range.ts';

const NOW = new Date('2027-01-31T18:00:00Z');
const read = (from?: string, to?: string) => {
  const range = readRange({ from, to }, NOW);
  return [range.from.toISOString(), range.to.toISOString()];
};

describe('the range of an uptime', () => {
  test.each([
    [undefined, undefined, '2027-01-01T18:00:00.000Z', '2027-01-31T18:00:00.000Z'],
    ['2027-01-30', undefined, '2027-01-30T00:00:00.000Z', '2027-01-31T18:00:00.000Z'],
    [undefined, '2027-01-20', '2026-12-21T00:00:00.000Z', '2027-01-20T00:00:00.000Z'],
    ['2027-01-30T12:00:00+02:00', '2027-01-30T10:00:00.5Z', '2027-01-30T10:00:00.000Z', '2027-01-30T10:00:00.500Z'],
    ['2027-01-01', '2028-01-01', '2027-01-01T00:00:00.000Z', '2027-01-31T18:00:00.000Z'],
    // Nothing is known of the future yet.
    ['2027-02-01', undefined, '2027-02-01T00:00:00.000Z', '2027-02-01T00:00:00.000Z'],
    ['2027-02-01', '2027-03-01', '2027-02-01T00:00:00.000Z', '2027-02-01T00:00:00.000Z'],
    ['2025-12-27T18:00:00Z', undefined, '2025-12-27T18:00:00.000Z', '2027-01-31T18:00:00.000Z'],
  ])('%s to %s is from %s to %s', (from, to, first, last) => expect(read(from, to)).toEqual([first, last]));

  test.each([
    ['yesterday', undefined, '/from'],
    ['2027-02-30', undefined, '/from'],
    ['2027-01-30 12:00', undefined, '/from'],
    [undefined, '1800000000', '/to'],
    ['2027-01-20', '2027-01-20', '/from'],
    ['2027-01-20', '2027-01-10', '/from'],
    ['2025-12-27T17:59:59Z', undefined, '/from'],
  ])('%s to %s is refused, with the field and a sentence', (from, to, path) => {
    let caught: unknown;
    try {
      read(from, to);
    } catch (error) {
      caught = error;
    }
    expect(caught).toMatchObject({
      code: 'validation_failed',
      extras: { errors: [{ path, message: expect.any(String) }] },
    });
  });
});
