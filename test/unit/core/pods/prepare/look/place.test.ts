/** Tests the places of a look's layers, and the arguments of draw-text. */
import { expect, test } from 'vitest';
import {
  cleanText,
  parseBox,
  placeLayer,
  readPngSize,
  textArgs,
} from '../../../../../../src/core/pods/prepare/look/place.ts';
import { ANCHORS } from '../../../../../../src/core/resources/upload/overlays.ts';
import { FRAME, makeTextLayer } from '../../../../../kit/make/looks.ts';

const BOX = { x: 0, y: 0, width: 200, height: 100 };

test('each anchor puts a box at its edges, with the margin in percent of the height on both axes', () => {
  const places = ANCHORS.map((anchor) => {
    const { x, y } = placeLayer({ anchor, marginPercent: 10 }, BOX, FRAME);
    return [anchor, x, y];
  });
  expect(places).toEqual([
    ['TopLeft', 72, 72],
    ['Top', 540, 72],
    ['TopRight', 1008, 72],
    ['Left', 72, 310],
    ['Center', 540, 310],
    ['Right', 1008, 310],
    ['BottomLeft', 72, 548],
    ['Bottom', 540, 548],
    ['BottomRight', 1008, 548],
  ]);
});

test('a box stays in the frame whatever its margin is, at even places, and what is around it may be outside', () => {
  const portrait = { width: 720, height: 1280 };
  const wide = { ...BOX, width: 700 };
  expect(placeLayer({ anchor: 'BottomRight', marginPercent: 45 }, wide, portrait)).toEqual({ x: 0, y: 604 });
  expect(placeLayer({ anchor: 'TopLeft', marginPercent: 45 }, wide, portrait)).toEqual({ x: 20, y: 576 });
  expect(placeLayer({ anchor: 'TopLeft', marginPercent: 0 }, { ...BOX, x: 7, y: 40 }, FRAME)).toEqual({
    x: -6,
    y: -40,
  });
  expect(placeLayer({ anchor: 'Center', marginPercent: 0 }, { ...BOX, width: 2000 }, FRAME).x).toBe(0);
});

test('a text has at most six lines, and no more than nine tenths of the frame', () => {
  const read = (sizePercent: number) => textArgs(makeTextLayer('x', { sizePercent }), FRAME).slice(0, 6).join(' ');
  expect(read(5)).toBe('--line 36 --lines 6 --width 1152');
  expect(read(40)).toBe('--line 288 --lines 2 --width 1152');
  expect(read(100)).toBe('--line 720 --lines 1 --width 1152');
  expect(read(1)).toBe('--line 7 --lines 6 --width 1152');
});

test('colours get their alpha, and the side of the anchor aligns the lines', () => {
  const layer = makeTextLayer('x', { anchor: 'TopRight', bold: true, color: '#102030', outlineColor: '#abcdef' });
  expect(
    textArgs({ ...layer, boxColor: '#00000080' }, FRAME)
      .slice(8)
      .join(' '),
  ).toBe('--font Sans --bold --align right --opacity 100 --color 102030FF --outline abcdefFF --box 00000080');
  expect(textArgs(makeTextLayer('x', { anchor: 'Bottom' }), FRAME)).toContain('center');
});

test('no text is an argument', () => {
  expect(textArgs(makeTextLayer('--box 000000FF'), FRAME)).toEqual(textArgs(makeTextLayer('other'), FRAME));
});

test('control characters are spaces, all ends of lines are one, and what has no letter is nothing', () => {
  expect(cleanText('a\tb\u0007\r\nc\rd\u2028e\u2029f\ud800')).toBe('a b \nc\nd\ne\nf\ufffd');
  expect(cleanText(' \u0000\n\t ')).toBe('');
});

test('only the line that names a box is read, and only a PNG has a size', () => {
  expect(parseBox('a warning\nframe 1 -2 30 40\n')).toEqual({ x: 1, y: -2, width: 30, height: 40 });
  for (const said of ['', 'frame 1 2 3', 'frame 1 2 3 999999', 'frame 1 2 3 4;5'])
    expect(parseBox(said)).toBeUndefined();
  const png = Buffer.from('89504e470d0a1a0a0000000d49484452000001000000000a', 'hex');
  expect(readPngSize(png)).toEqual({ width: 256, height: 10 });
  expect(readPngSize(png.subarray(1))).toBeUndefined();
  expect(readPngSize(Buffer.alloc(0))).toBeUndefined();
});
