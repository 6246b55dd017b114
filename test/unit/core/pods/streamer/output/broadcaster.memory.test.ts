/** Tests that memory is used again neither too early nor too late, from the reader of an item to receivers of any speed. */
import { Writable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import fc from 'fast-check';
import { beforeAll, expect, test } from 'vitest';
import { BlockPool } from '../../../../../../src/core/lib/block-pool.ts';
import {
  FlvParser,
  isAudioFrame,
  isKeyframe,
  isVideoFrame,
  SILENT_FRAME,
} from '../../../../../../src/core/pods/rendition/flv.ts';
import { DirectoryStorage } from '../../../../../../src/core/pods/storage/directory.ts';
import type { ReadRange, Storage } from '../../../../../../src/core/pods/storage/storage.ts';
import { Broadcaster } from '../../../../../../src/core/pods/streamer/output/broadcaster.ts';
import { OutputQueue } from '../../../../../../src/core/pods/streamer/output/output-queue.ts';
import { Splicer } from '../../../../../../src/core/pods/streamer/timeline/splicer.ts';
import { ItemReader } from '../../../../../../src/core/pods/streamer/tracks/item-reader.ts';
import { cutRendition } from '../../../../../kit/make/chunks.ts';
import { tempDir } from '../../../../../kit/temp-dir.ts';
import { until } from '../../../../../kit/wait.ts';
import { buildMedia, FPS, FRAMES, GOP, item, numberIn, publish } from '../tracks/numbered-media.ts';

const PAD_BYTES = 5000;
const POISON = 0xdb;
const PICTURES = 400;

/** Overwrites what is given back, and knows what is lent. */
class PoisonPool extends BlockPool {
  readonly lent = new Set<ArrayBufferLike>();
  override take(leastBytes?: number) {
    const block = super.take(leastBytes);
    if (this.lent.has(block.bytes.buffer)) throw new Error('A block was lent twice.');
    this.lent.add(block.bytes.buffer);
    return block;
  }
  override give(bytes: Buffer) {
    if (!this.lent.delete(bytes.buffer)) throw new Error('A block was given back twice.');
    bytes.fill(POISON);
    super.give(bytes);
  }
}

/** Returns what it reads in pieces of its own, as S3 does. */
class ForeignStorage extends DirectoryStorage {
  override read(key: string, { into: _, ...range }: ReadRange = {}, signal?: AbortSignal) {
    return super.read(key, range, signal);
  }
}

/** Takes each write after as many turns as the next number of `speeds` says; a receiver reads memory only then. */
function openOutput(speeds: readonly number[]) {
  const chunks: Buffer[] = [];
  let writes = 0;
  const sink = new Writable({
    highWaterMark: 16_384,
    write: async (chunk: Buffer, _, done) => {
      for (let turn = speeds[writes++ % speeds.length] ?? 0; turn > 0; turn--) await setImmediate();
      chunks.push(Buffer.from(chunk));
      done();
    },
  });
  return { sink, data: () => Buffer.concat(chunks) };
}

type Output = ReturnType<typeof openOutput>;

/** Checks that all media is as it was read: pictures and sounds hold their numbers, each follows the one before. */
function expectWhole(data: Buffer): void {
  const [pad, soundPad] = [PAD_BYTES, 20].map((bytes) => Buffer.alloc(bytes, 7)) as [Buffer, Buffer];
  let before: number | undefined;
  // A receiver that was disconnected has the beginning of a tag at its end.
  for (const tag of new FlvParser().push(data)) {
    if (isAudioFrame(tag) && !tag.body.equals(SILENT_FRAME)) expect(tag.body.subarray(6).equals(soundPad)).toBe(true);
    if (!isVideoFrame(tag)) continue;
    const picture = numberIn(tag.body, 5);
    expect(tag.body.subarray(9).equals(pad)).toBe(true);
    expect(isKeyframe(tag)).toBe(picture % GOP === 0);
    // A keyframe comes behind GOPs that were lost, and behind a seam.
    if (picture % GOP !== 0) expect(picture).toBe((before ?? 0) + 1);
    before = picture;
  }
}

const dir = tempDir();
beforeAll(async () => {
  const cut = cutRendition(buildMedia({ pad: PAD_BYTES }), { fps: FPS, frames: 100 });
  await publish(new DirectoryStorage(dir), cut, cut.bodies.length, true);
});

/** Plays the item from one of the positions after the other, each to its end or until a splicer is closed. */
function openList(storage: Storage, pool: BlockPool, offsets: readonly number[], onData: () => void) {
  let turn = 0;
  let ready: ItemReader | undefined;
  let opening: Promise<void> | undefined;
  const open = () => {
    const offsetTicks = (offsets[turn++ % offsets.length] ?? 0) * 4000;
    opening = ItemReader.open({ storage, item, kind: 'video', offsetTicks, onData, pools: { of: () => pool } }).then(
      (reader) => {
        ready = reader;
        onData();
      },
    );
  };
  open();
  return {
    next: () => {
      const reader = ready;
      if (!reader) return 'wait' as const;
      ready = undefined;
      open();
      return reader;
    },
    close: async () => {
      await opening;
      ready?.close();
    },
  };
}

const receiver = fc.record({
  speeds: fc.array(fc.constantFrom(0, 0, 1, 5, 40), { minLength: 1, maxLength: 6 }),
  /** Pictures after which it joins, and after which it leaves. */
  joins: fc.nat(200),
  stays: fc.nat(400),
  isPreview: fc.boolean(),
});

test('each receiver gets the bytes that were read, however slow it is and whenever it leaves, and no memory stays lent', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(receiver, { minLength: 1, maxLength: 5 }),
      fc.array(fc.nat(FRAMES - 1), { minLength: 1, maxLength: 4 }),
      fc.record({
        ranges: fc.integer({ min: 2 ** 17, max: 2 ** 19 }),
        segments: fc.integer({ min: 1000, max: 50_000 }),
      }),
      fc.boolean(),
      async (receivers, offsets, blockBytes, isForeign) => {
        const ranges = new PoisonPool(blockBytes.ranges);
        const segments = new PoisonPool(blockBytes.segments);
        const storage = isForeign ? new ForeignStorage(dir) : new DirectoryStorage(dir);
        let wake = () => {};
        const list = openList(storage, ranges, offsets, () => wake());
        const splicer = new Splicer({ video: list.next });
        let ms = 0;
        const clock = { now: () => new Date(), monotonicMs: () => (ms += 25) };
        const pacing = { leadMs: 0, batchMs: 1, maxBehindMs: Number.POSITIVE_INFINITY };
        const broadcaster = new Broadcaster({ splicer, clock, pacing, pool: segments });
        wake = broadcaster.notify;
        const outputs = receivers.map(({ speeds }) => openOutput(speeds));
        const leave: (() => void)[] = [];
        const stop = new AbortController();
        broadcaster.onBatch(() => {
          const { videoFrames } = splicer.stats;
          for (const [at, { joins, stays, isPreview }] of receivers.entries()) {
            const { sink } = outputs[at] as Output;
            if (videoFrames >= joins + stays) leave[at]?.();
            if (leave[at] || videoFrames < joins) continue;
            const onOverflow = isPreview && { onOverflow: () => sink.destroy() };
            const queue = new OutputQueue({ profile: '720p30', sink, ...onOverflow });
            const unlisten = broadcaster.listen((segment) => queue.offer(segment));
            leave[at] = () => {
              unlisten();
              queue.close();
            };
          }
          if (videoFrames >= PICTURES) stop.abort();
        });
        await broadcaster.run(stop.signal);
        for (const end of leave) end?.();
        splicer.close();
        await list.close();
        await until('writes have ended', () =>
          outputs.every(({ sink }) => sink.destroyed || sink.writableLength === 0),
        );
        await until('reads have ended', () => ranges.lent.size === 0);
        const kept = new Set<ArrayBufferLike>();
        broadcaster.listen(({ parts }) => {
          for (const { buffer } of parts) kept.add(buffer);
        });
        // Besides the GOP on air, there is the block that the next segment goes into.
        await until('segments are released', () => [...segments.lent].filter((lent) => !kept.has(lent)).length <= 1);
        for (const { data } of outputs) expectWhole(data());
      },
    ),
    { numRuns: 25, endOnFailure: true },
  );
});
