import { describe, expect, test } from 'vitest';
import { createConcurrencyLimit } from '../../../../src/service/auth/concurrency.ts';
import { AppError } from '../../../../src/service/lib/errors.ts';

const OPTIONS = { places: 2, perAddress: 2, perProvider: 2, waiting: 20, waitingPerAddress: 10, waitMs: 60_000 };
const asker = (address: string, account = 'ada') => ({ address, account, waitsForProvider: false });
const pause = () => new Promise((resolve) => setImmediate(resolve));

describe('turns', () => {
  test('no more than so many are at work at once, and all come to it in their order, after failures too', async () => {
    const inTurn = createConcurrencyLimit(OPTIONS);
    let atWork = 0;
    let most = 0;
    const begun: number[] = [];
    const work = (n: number) => async () => {
      begun.push(n);
      most = Math.max(most, ++atWork);
      await pause();
      atWork -= 1;
      if (n % 2 === 1) throw new Error(`${n} failed`);
      return n;
    };
    const all = await Promise.allSettled(Array.from({ length: 9 }, (_, n) => inTurn(asker('a'), work(n))));
    expect(all.map(({ status }) => status)).toEqual(all.map((_, n) => (n % 2 === 1 ? 'rejected' : 'fulfilled')));
    expect([most, begun]).toEqual([2, [0, 1, 2, 3, 4, 5, 6, 7, 8]]);
    expect(await inTurn(asker('a'), work(10))).toBe(10);
  });

  test('another address has its turn at once, and another account at the same address soon', async () => {
    const inTurn = createConcurrencyLimit({ ...OPTIONS, perAddress: 1 });
    const order: string[] = [];
    const work = (who: string) => async () => {
      await pause();
      order.push(who);
    };
    const flood = Array.from({ length: 6 }, () => inTurn(asker('here', 'mallory'), work('mallory')));
    const neighbour = inTurn(asker('here', 'ada'), work('ada'));
    const honest = inTurn(asker('there'), work('there'));
    await Promise.all([...flood, neighbour, honest]);
    expect(order.slice(0, 2)).toEqual(['mallory', 'there']);
    expect(order.indexOf('ada')).toBeLessThan(4);
  });

  test('a provider that never answers leaves places to those who do not ask it', async () => {
    const inTurn = createConcurrencyLimit({ ...OPTIONS, places: 3 });
    const silence = Promise.withResolvers<void>();
    let waiting = 0;
    const outside = Array.from({ length: 6 }, (_, n) =>
      inTurn({ ...asker(`there ${n}`), waitsForProvider: true }, () => {
        waiting += 1;
        return silence.promise;
      }),
    );
    expect(await inTurn(asker('here'), async () => waiting)).toBe(2);
    silence.resolve();
    await Promise.all(outside);
    expect(waiting).toBe(6);
  });

  test('one address has an end of its line, and so have all together; the longest one makes room', async () => {
    const inTurn = createConcurrencyLimit({ ...OPTIONS, waiting: 12 });
    const over = Promise.withResolvers<void>();
    const readCode = (asking: Promise<unknown>) =>
      asking.then(
        () => 'done',
        (error: unknown) => error instanceof AppError && error.code,
      );
    const flood = Array.from({ length: 15 }, () => readCode(inTurn(asker('here'), () => over.promise)));
    const others = Array.from({ length: 20 }, (_, n) => readCode(inTurn(asker(`there ${n}`), () => over.promise)));
    over.resolve();
    const count = (codes: (string | false)[], code: string) => codes.filter((one) => one === code).length;
    // Two requests are at work, and one is still in line with eleven of other accounts.
    expect(count(await Promise.all(flood), 'rate_limited')).toBe(12);
    expect(count(await Promise.all(others), 'server_busy')).toBe(9);
  });
});
