/** Tests where the preview of overlays shows a layer. */
import { expect, test } from 'vitest';
import { NEW_TEXT, newPicture } from '../../../../../src/dashboard/features/overlays/layers.ts';
import { placeLayer, sizePicture, styleText } from '../../../../../src/dashboard/features/overlays/placement.ts';

const place = (anchor: (typeof NEW_TEXT)['anchor']) => placeLayer({ ...NEW_TEXT, anchor, marginPercent: 4 });

test.each([
  ['TopLeft', { top: '4cqh', left: '4cqh' }],
  ['Top', { top: '4cqh', left: '50%', transform: 'translate(-50%, 0)' }],
  ['Right', { top: '50%', right: '4cqh', transform: 'translate(0, -50%)' }],
  ['Center', { top: '50%', left: '50%', transform: 'translate(-50%, -50%)' }],
  ['BottomRight', { bottom: '4cqh', right: '4cqh' }],
] as const)('the anchor %s is as far from its edges as the margin says, and in the middle else', (anchor, style) => {
  expect(place(anchor)).toEqual({ ...style, opacity: 1 });
});

test('a picture is as wide, and a line as high, as their percent says', () => {
  expect(sizePicture({ ...newPicture('upl-1'), sizePercent: 20 })).toEqual({ width: '20cqw' });
  const line = { ...NEW_TEXT, sizePercent: 10, outlineColor: null, boxColor: '#00000080', anchor: 'Top' } as const;
  expect(styleText(line)).toMatchObject({
    ...{ lineHeight: '10cqh', fontSize: '7.35cqh', textAlign: 'center', color: '#FFFFFF' },
    ...{ backgroundColor: '#00000080', padding: '0 2.5cqh' },
  });
  expect(styleText({ ...line, anchor: 'TopRight', boxColor: null })).not.toHaveProperty('padding');
});
