/**
 * Places layers over a picture in a preview, by the sizes that the preparation has: of a text in percent of the height, of a picture in
 * percent of the width. Pure: no I/O, no clock.
 */
import type { CSSProperties } from 'react';
import type { OverlayLayer } from './layers.ts';

/** A line of Noto Sans is this much higher than its letters. */
const LINE_OF_FONT = 1.36;
const FAMILIES = {
  Sans: '"Noto Sans", sans-serif',
  Serif: '"Noto Serif", serif',
  Mono: '"Noto Sans Mono", monospace',
} as const;

const SIDES = { Left: 'left', Right: 'right' } as const;

/** Lengths are those of the container of the preview: `cqh` is a percent of its height. */
export function placeLayer({ anchor, marginPercent, opacityPercent }: OverlayLayer): CSSProperties {
  const margin = `${marginPercent}cqh`;
  const [, vertical = ''] = /^(Top|Bottom)/.exec(anchor) ?? [];
  const [, horizontal = ''] = /(Left|Right)$/.exec(anchor) ?? [];
  const side = SIDES[horizontal as keyof typeof SIDES];
  const shifts = [side ? '0' : '-50%', vertical ? '0' : '-50%'];
  return {
    ...(vertical === 'Top' ? { top: margin } : vertical === 'Bottom' ? { bottom: margin } : { top: '50%' }),
    ...(side ? { [side]: margin } : { left: '50%' }),
    ...(shifts.some((shift) => shift !== '0') && { transform: `translate(${shifts.join(', ')})` }),
    opacity: opacityPercent / 100,
  };
}

export const sizePicture = ({ sizePercent }: OverlayLayer): CSSProperties => ({ width: `${sizePercent}cqw` });

export function styleText({
  anchor,
  sizePercent,
  font,
  bold,
  color,
  outlineColor,
  boxColor,
}: OverlayLayer): CSSProperties {
  const align = /(Left|Right)$/.exec(anchor)?.[0].toLowerCase() ?? 'center';
  return {
    lineHeight: `${sizePercent}cqh`,
    fontSize: `${round(sizePercent / LINE_OF_FONT)}cqh`,
    fontFamily: FAMILIES[font ?? 'Sans'],
    fontWeight: bold ? 700 : 400,
    color: color ?? '#FFFFFF',
    textAlign: align as 'left' | 'right' | 'center',
    ...(outlineColor !== null && { WebkitTextStroke: `${round(sizePercent / 8)}cqh ${outlineColor}` }),
    ...(boxColor !== null && { backgroundColor: boxColor, padding: `0 ${round(sizePercent / 4)}cqh` }),
  };
}

const round = (value: number): number => Math.round(value * 100) / 100;
