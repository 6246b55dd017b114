import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type FlvTag, TAG_AUDIO, TAG_VIDEO } from '../../../../../../src/core/pods/rendition/flv.ts';
import { CuttableItem } from '../../../../../../src/core/pods/streamer/timeline/cuttable-item.ts';
import type { TimelineItem } from '../../../../../../src/core/pods/streamer/timeline/splicer.ts';

const FRAME_TICKS = 4000;
const FRAME_MS = FRAME_TICKS / 120;

/** Builds pictures in decoding order, each with the slot in which it is shown. */
function buildItem(shown: number[], delayFrames: number): TimelineItem {
  let at = 0;
  return {
    id: 'a',
    name: 'A',
    videoHeader: undefined,
    audioHeader: undefined,
    frameTicks: FRAME_TICKS,
    videoFrames: shown.length,
    delayFrames,
    takeVideo() {
      const slot = shown[at];
      if (slot === undefined) return 'end';
      const body = Buffer.alloc(5);
      body.writeIntBE(Math.round((slot - at + delayFrames) * FRAME_MS), 2, 3);
      return { type: TAG_VIDEO, timestampMs: 0, body, offset: at++ } as FlvTag;
    },
    takeAudio: () => ({ type: TAG_AUDIO, timestampMs: 0, body: Buffer.alloc(2), offset: 0 }) as FlvTag,
    mute: () => undefined,
    close: () => undefined,
  };
}

/** GOPs of anchors with up to two B-frames before each. */
const pictures = fc.array(fc.integer({ min: 0, max: 2 }), { minLength: 1, maxLength: 30 }).map((runs) => {
  const shown = [0];
  for (const b of runs) {
    const first = shown.length;
    shown.push(first + b, ...Array.from({ length: b }, (_, k) => first + k));
  }
  return shown;
});

test('a skip ends pictures where every slot up to there has been shown, within three pictures', () => {
  fc.assert(
    fc.property(pictures, fc.nat(40), (shown, after) => {
      let over = false;
      const item = new CuttableItem(buildItem(shown, 2), 'video', () => over);
      let taken = 0;
      for (; taken < after && item.takeVideo() !== 'end'; taken++);
      over = true;
      const asked = taken;
      while (item.takeVideo() !== 'end') taken++;
      expect(taken - asked).toBeLessThanOrEqual(3);
      expect(shown.slice(0, taken).sort((a, b) => a - b)).toEqual([...Array(Math.min(taken, shown.length)).keys()]);
      expect(item.takeAudio()).toBe('end');
    }),
  );
});

test('sound that leads ends at its next frame; sound that follows goes on until the pictures end', () => {
  const over = () => true;
  expect(new CuttableItem(buildItem([0], 0), 'audio', over).takeAudio()).toBe('end');
  expect(new CuttableItem(buildItem([0], 0), 'video', over).takeAudio()).not.toBe('end');
});
