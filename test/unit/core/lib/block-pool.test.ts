import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Block, BlockPool, BlockPools } from '../../../../src/core/lib/block-pool.ts';

test('no block is lent twice at a time, and one that nobody holds is lent again', () => {
  const command = fc.oneof(
    fc.constant({ act: 'take' as const, at: 0 }),
    fc.record({ act: fc.constantFrom('hold' as const, 'release' as const), at: fc.nat() }),
  );
  fc.assert(
    fc.property(fc.array(command, { maxLength: 300 }), (commands) => {
      const pool = new BlockPool(16);
      const made = new Set<Buffer>();
      let most = 0;
      const held: Block[] = [];
      for (const { act, at } of commands) {
        const index = at % Math.max(1, held.length);
        const block = act === 'take' ? pool.take() : held[index];
        if (!block) continue;
        if (act === 'release') held.splice(index, 1);
        else held.push(block);
        if (act === 'take') {
          expect(held.filter(({ bytes }) => bytes === block.bytes)).toHaveLength(1);
          made.add(block.bytes);
        }
        if (act === 'hold') block.hold();
        if (act === 'release') block.release();
        most = Math.max(most, new Set(held.map(({ bytes }) => bytes)).size);
      }
      expect(made.size).toBe(most);
    }),
  );
});

test('a block that nobody holds can be neither held nor released', () => {
  const block = new BlockPool(16).take();
  block.release();
  expect(() => block.hold()).toThrow('cannot be held');
  expect(() => block.release()).toThrow('too often');
});

test('a larger block is made for one use', () => {
  const pool = new BlockPool(16);
  const large = pool.take(17);
  expect(large.bytes).toHaveLength(17);
  large.release();
  expect(pool.take().bytes).toHaveLength(16);
});

test('blocks of a peak are given up when they have not been needed for a while, others are kept', () => {
  const pool = new BlockPool(16);
  const made = new Set<Buffer>();
  const use = (count: number) => {
    const blocks = Array.from({ length: count }, () => pool.take());
    for (const block of blocks) {
      made.add(block.bytes);
      block.release();
    }
  };
  use(100);
  expect(made.size).toBe(100);
  for (let time = 0; time < 100; time++) use(3);
  expect(made.size).toBe(100);
  use(100);
  expect(made.size).toBe(197);
});

test('of pools, the one of the size that was asked for last is kept', () => {
  const pools = new BlockPools();
  const small = pools.of(8);
  expect(pools.of(8)).toBe(small);
  expect(pools.of(16).blockBytes).toBe(16);
  expect(pools.of(8)).not.toBe(small);
});
