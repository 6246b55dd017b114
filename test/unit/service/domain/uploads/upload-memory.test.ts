import { describe, expect, test } from 'vitest';
import { LARGEST_PIECE, SMALLEST_PIECE } from '../../../../../src/core/pods/storage/pieces.ts';
import { NoMemory, UploadMemory } from '../../../../../src/service/domain/uploads/upload-memory.ts';

const MIB = 2 ** 20;

describe('memory of uploads', () => {
  test('is a quarter of it for one account, in smaller buffers towards the end, and all for no one', async () => {
    const memory = new UploadMemory(32 * MIB, 20);
    const a = memory.forOwner('a');
    const sizes = [];
    for (let i = 0; i < 4; i++) sizes.push((await a.take(i === 0 ? MIB : LARGEST_PIECE)).length);
    expect(sizes).toEqual([MIB, 4 * MIB, 2 * MIB, MIB]);
    await expect(a.take(SMALLEST_PIECE)).rejects.toThrow(NoMemory);
    expect((await memory.forOwner('b').take(LARGEST_PIECE)).length).toBe(LARGEST_PIECE);
  });

  test('that was given back serves waiting uploads, the one with the least first', async () => {
    const memory = new UploadMemory(MIB, 60_000);
    const [a, b] = [memory.forOwner('a'), memory.forOwner('b')];
    const held = [await a.take(SMALLEST_PIECE)];
    for (const owner of ['c', 'd', 'e']) held.push(await memory.forOwner(owner).take(SMALLEST_PIECE));
    const order: string[] = [];
    const more = a.take(SMALLEST_PIECE).then(() => order.push('a'));
    const first = b.take(LARGEST_PIECE).then((buffer) => order.push(`b ${buffer.length}`));
    memory.forOwner('c').give(held[1] as Buffer);
    await first;
    a.give(held[0] as Buffer);
    await more;
    expect(order).toEqual([`b ${SMALLEST_PIECE}`, 'a']);
    expect(memory.usedBytes).toBe(MIB);
  });
});
