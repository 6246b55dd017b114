import { describe, expect, test } from 'vitest';
import { createTurns } from '../../src/auth/turns.ts';

describe('turns', () => {
  test('no more than so many are at work at once, and all come to it in their order, after failures too', async () => {
    const inTurn = createTurns(2);
    let atWork = 0;
    let most = 0;
    const begun: number[] = [];
    const work = (n: number) => async () => {
      begun.push(n);
      most = Math.max(most, ++atWork);
      await new Promise((resolve) => setImmediate(resolve));
      atWork -= 1;
      if (n % 2 === 1) throw new Error(`${n} failed`);
      return n;
    };
    const all = await Promise.allSettled(Array.from({ length: 9 }, (_, n) => inTurn(work(n))));
    expect(all.map(({ status }) => status)).toEqual(all.map((_, n) => (n % 2 === 1 ? 'rejected' : 'fulfilled')));
    expect([most, begun]).toEqual([2, [0, 1, 2, 3, 4, 5, 6, 7, 8]]);
    expect(await inTurn(work(10))).toBe(10);
  });
});
