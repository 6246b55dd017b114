import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Block, BlockPool } from '../../../../../../src/core/lib/block-pool.ts';
import { type FlvTag, TAG_AUDIO, TAG_VIDEO } from '../../../../../../src/core/pods/rendition/flv.ts';
import { TagQueue } from '../../../../../../src/core/pods/streamer/tracks/tag-queue.ts';

const command = fc.record({
  act: fc.constantFrom('push', 'push', 'take', 'take', 'clear'),
  times: fc.integer({ min: 1, max: 200 }),
  bytes: fc.nat(50),
});

test('tags come out as they went in, in their order, and each block is held until the tag behind its last one is taken', () => {
  fc.assert(
    fc.property(fc.array(command, { maxLength: 30 }), (commands) => {
      const lent = new Set<Buffer>();
      class CountedPool extends BlockPool {
        override take(): Block {
          const block = super.take();
          lent.add(block.bytes);
          return block;
        }
        override give(bytes: Buffer): void {
          lent.delete(bytes);
          super.give(bytes);
        }
      }
      const pool = new CountedPool(64);
      const queue = new TagQueue<number>();
      let expected: { tag: FlvTag; about: number }[] = [];
      let taken: Buffer | undefined;
      let made = 0;
      const push = (bytes: number) => {
        const block = pool.take();
        const body = block.bytes.subarray(7, 7 + bytes).fill(made);
        const tag: FlvTag = { type: made % 3 ? TAG_VIDEO : TAG_AUDIO, timestampMs: made * 40, body, offset: made * 99 };
        queue.push(tag, block, made);
        block.release();
        expected.push({ tag, about: made++ });
      };
      for (const { act, times, bytes } of commands) {
        for (let n = 0; n < (act === 'clear' ? 1 : times); n++) {
          if (act === 'push') push(bytes);
          if (act === 'take') {
            const next = expected.shift();
            taken = next?.tag.body;
            expect(queue.take()).toEqual(next);
          }
        }
        if (act === 'clear') {
          queue.clear();
          expected = [];
          taken = undefined;
        }
        expect(queue.bytes).toBe(expected.reduce((sum, { tag }) => sum + tag.body.length, 0));
        expect(queue.first).toEqual(expected[0]?.tag);
        expect(queue.spanMs).toBe(Math.max(0, expected.length - 1) * 40);
        expect(lent.size).toBe(expected.length + (taken ? 1 : 0));
      }
    }),
  );
});
