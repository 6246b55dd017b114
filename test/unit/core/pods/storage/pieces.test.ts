import { describe, expect, test, vi } from 'vitest';
import { appendPieces, LARGEST_PIECE, SMALLEST_PIECE } from '../../../../../src/core/pods/storage/pieces.ts';

const KIB = 1024;

/** A storage that records the length of each piece, and a memory that records its use. */
function room() {
  const written: number[] = [];
  const held = new Set<Buffer>();
  return {
    written,
    held,
    storage: { write: async (_key: string, body: unknown) => void written.push((body as Buffer).length) },
    memory: {
      take: async (bytes: number) => {
        const buffer = Buffer.alloc(bytes);
        held.add(buffer);
        return buffer;
      },
      give: (buffer: Buffer) => void held.delete(buffer),
    },
  };
}

describe('bytes that arrive', () => {
  test('are kept in pieces that grow, whose memory is given back', async () => {
    const { storage, memory, written, held } = room();
    const body = async function* () {
      for (let i = 0; i < 200; i++) yield Buffer.alloc(64 * KIB);
    };
    expect(await appendPieces(storage, 'a', 0, body(), async () => undefined, memory)).toBe(200 * 64 * KIB);
    expect(written).toEqual([256, 512, 1024, 2048, 4096, 4096, 768].map((kib) => kib * KIB));
    expect([SMALLEST_PIECE, LARGEST_PIECE, held.size]).toEqual([256 * KIB, 4096 * KIB, 0]);
  });

  test('hold no memory when the sender falls silent, and go on when it goes on', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    try {
      const { storage, memory, written, held } = room();
      const more = Promise.withResolvers<void>();
      const body = async function* () {
        yield Buffer.alloc(10);
        await more.promise;
        yield Buffer.alloc(5);
      };
      const done = appendPieces(storage, 'a', 0, body(), async () => undefined, memory);
      await vi.advanceTimersByTimeAsync(5_001);
      expect([written, held.size]).toEqual([[10], 0]);
      more.resolve();
      expect(await done).toBe(15);
      expect([written, held.size]).toEqual([[10, 5], 0]);
    } finally {
      vi.useRealTimers();
    }
  });
});
