/** Decides where the parts of a card are, and which filters put them there. Pure: no I/O, no clock. */
import type { Card } from '../../../resources/upload/card.ts';
import type { ImageLayer, ResolvedLayer, TextLayer } from '../../../resources/upload/overlays.ts';
import type { VideoStream } from '../inspect/source.ts';
import { pictureFilters, uprightFilters } from '../inspect/stills.ts';
import { chooseMatrix, fitFilters } from '../transcode/plan.ts';
import type { DrawnLayer } from './draw.ts';
import type { Size } from './place.ts';

/** Part of the frame's width that a cover takes which is as high as wide: 59 % of the height. */
const COVER_PERCENT = 33;
/** Longer texts end with an ellipsis: two lines of a title, and one of an artist. */
const MAX_TITLE_CHARS = 80;
const MAX_ARTIST_CHARS = 60;

const PLAIN = { opacityPercent: 100, font: 'Sans', color: '#FFFFFF', bold: false } as const;

function shorten(text: string, maxChars: number): string {
  const characters = [...new Intl.Segmenter().segment(text)].map(({ segment }) => segment);
  return characters.length <= maxChars
    ? text
    : `${characters
        .slice(0, maxChars - 1)
        .join('')
        .trimEnd()}…`;
}

/** Returns the layers of a card; `cover` is the size of the cover, where the song has one. */
export function layOutCard({ title, artist }: Card, cover: Size | undefined): ResolvedLayer[] {
  const text = (words: string, more: Pick<TextLayer, 'sizePercent' | 'marginPercent'> & Partial<TextLayer>) =>
    words === '' ? [] : [{ ...PLAIN, anchor: 'Bottom' as const, text: words, ...more }];
  return [
    ...(cover ? [layOutCover(cover)] : []),
    ...text(shorten(title, MAX_TITLE_CHARS), { sizePercent: 6, marginPercent: cover ? 15 : 45, bold: true }),
    ...text(shorten(artist, MAX_ARTIST_CHARS), { sizePercent: 4, marginPercent: cover ? 8 : 37, color: '#D0D0D0' }),
  ];
}

/** The height is that of a square, whatever the shape. */
const layOutCover = ({ width, height }: Size): ImageLayer => ({
  ...{ imageKey: '', imageSha256: '', anchor: 'Top', marginPercent: 9, opacityPercent: 100 },
  sizePercent: Math.max(1, Math.round(COVER_PERCENT * Math.min(1, width / height))),
});

/** The picture behind all else. */
export interface Background {
  video: VideoStream;
  /** How it fills the frame: cut to its shape, cut and blurred, or whole on black. */
  fill: 'cut' | 'blurred' | 'whole';
}

/** Width and height of the picture that is blurred, and by how much. */
const BLURRED = { width: 160, height: 90, sigma: 4 };
const DARKENED = ['r', 'g', 'b'].map((color) => `${color}=val*0.45`).join(':');

/**
 * Returns the graph that puts the layers on the background: input 0 is the background, the others are the layers. Its output is one picture
 * that stays.
 */
export function cardGraph(background: Background | undefined, layers: readonly DrawnLayer[], frame: Size): string {
  const steps = [`[0:v]${[...backgroundFilters(background, frame), 'format=gbrp'].join(',')}[v0]`];
  for (const [n, { x, y }] of layers.entries())
    steps.push(`[v${n}][${n + 1}:v]overlay=x=${x}:y=${y}:format=gbrp[v${n + 1}]`);
  const last = ['scale=out_color_matrix=bt709:out_range=tv', 'format=yuv420p', 'setsar=1'];
  return [...steps, `[v${layers.length}]${[...last, 'tpad=stop=-1:stop_mode=clone'].join(',')}[card]`].join(';');
}

function backgroundFilters(background: Background | undefined, { width, height }: Size): string[] {
  if (!background) return [];
  const { video, fill } = background;
  if (fill === 'whole') return [...pictureFilters(video), ...fitFilters(width, height, chooseMatrix(video))];
  // A strip is cut to the shape of the frame before it is enlarged.
  const crop = `crop=w='max(1,min(iw,ih*${width}/${height}))':h='max(1,min(ih,iw*${height}/${width}))'`;
  const shape = [...uprightFilters(video), 'setsar=1', crop];
  if (fill === 'cut') return [...shape, `scale=${width}:${height}:flags=bicubic`];
  return [
    ...[...shape, `scale=${BLURRED.width}:${BLURRED.height}:flags=area`, 'format=gbrp', `gblur=sigma=${BLURRED.sigma}`],
    ...[`scale=${width}:${height}:flags=bicubic`, 'format=gbrp', `lutrgb=${DARKENED}`],
  ];
}
