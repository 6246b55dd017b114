import { describe, expect, test } from 'vitest';
import { FairSlots, SlotsFull } from '../../../../src/service/lib/fair-slots.ts';

const nothing = () => undefined;
const findLimit = async (taking: Promise<unknown>) =>
  taking.then(nothing, (error: unknown) => (error instanceof SlotsFull ? error.limit : error));

describe('places', () => {
  test('are given up to the limit of each owner, and up to all of them', async () => {
    const places = new FairSlots({ total: 3, each: { account: 2, stream: 1 } });
    const first = await places.take({ account: 'a', stream: 's1' });
    expect(await findLimit(places.take({ account: 'a', stream: 's1' }))).toBe('stream');
    await places.take({ account: 'a', stream: 's2' });
    expect(await findLimit(places.take({ account: 'a', stream: 's3' }))).toBe('account');
    await places.take({ account: 'b', stream: 's4' });
    expect(await findLimit(places.take({ account: 'c', stream: 's5' }))).toBe('total');
    first();
    first();
    expect(places.taken).toBe(2);
    await places.take({ account: 'c', stream: 's5' });
    expect(() => places.takeNow({ account: 'd', stream: 's6' })).toThrow(SlotsFull);
  });

  test('go to the owner with the fewest, however many others wait', async () => {
    const places = new FairSlots({ total: 2, each: { address: 2 }, waiting: { total: 100, each: 50, ms: 60_000 } });
    const held = [await places.take({ address: 'flood' }), await places.take({ address: 'flood' })];
    const order: string[] = [];
    const wait = async (address: string) => {
      const leave = await places.take({ address });
      order.push(address);
      return leave;
    };
    const waiting = Array.from({ length: 20 }, () => wait('flood'));
    const honest = wait('honest');
    held[0]?.();
    await honest;
    expect(order).toEqual(['honest']);
    held[1]?.();
    await waiting[0];
    expect(order).toEqual(['honest', 'flood']);
    for (const one of waiting) (await one)();
  });

  test('are waited for in a line that has an end, of each and of all, and for a time', async () => {
    const places = new FairSlots({ total: 1, each: { address: 1 }, waiting: { total: 3, each: 2, ms: 20 } });
    await places.take({ address: 'a' });
    const waiting = [places.take({ address: 'a' }), places.take({ address: 'a' })].map(findLimit);
    expect(await findLimit(places.take({ address: 'a' }))).toBe('address');
    waiting.push(findLimit(places.take({ address: 'b' })));
    expect(await Promise.all(waiting)).toEqual(['address', 'address', 'total']);
  });

  test('are waited for in a line that no account can fill: the account with the most in it makes room', async () => {
    const places = new FairSlots({ total: 1, each: { address: 1 }, waiting: { total: 3, each: 3, ms: 60_000 } });
    const release = await places.take({ address: 'honest' });
    const takeAndLeave = (address: string) => places.take({ address }).then((leave) => leave());
    const flood = Array.from({ length: 3 }, () => findLimit(takeAndLeave('flood')));
    const one = takeAndLeave('one');
    expect(await flood[2]).toBe('total');
    const two = takeAndLeave('two');
    expect(await flood[1]).toBe('total');
    expect(await findLimit(places.take({ address: 'three' }))).toBe('total');
    release();
    await Promise.all([one, two]);
    expect(await flood[0]).toBeUndefined();
  });

  test('are taken from the owner with the most for an owner without any', async () => {
    const places = new FairSlots({ total: 4, each: { account: 4 }, waiting: { total: 4, each: 4, ms: 60_000 } });
    const asked: number[] = [];
    for (let i = 0; i < 4; i++) {
      const giveUp = () => {
        asked.push(i);
        release();
      };
      const release: () => void = await places.take({ account: 'greedy' }, { giveUp });
    }
    await places.take({ account: 'newcomer' });
    expect(asked).toEqual([3]);
    // Two against three is the fairest split; beyond that no place is given up.
    const leave = await places.take({ account: 'newcomer' });
    expect(asked).toEqual([3, 2]);
    const third = places.take({ account: 'newcomer' });
    await Promise.resolve();
    expect(asked).toEqual([3, 2]);
    leave();
    await third;
  });
});
