/** Names the limits and defaults of overlays, for their schema and for the page, which loads no schema. Pure: no I/O, no clock. */

export const MAX_LAYERS = 8;
/** Of a text, before and after its fields are filled in. */
export const MAX_TEXT_CHARS = 500;

export const DEFAULT_PLACE = { anchor: 'BottomRight', marginPercent: 4, opacityPercent: 100 } as const;
/** Defaults that depend on what the layer shows, and those of a text. */
export const DEFAULT_TEXT = { sizePercent: 5, font: 'Sans', bold: false, color: '#FFFFFF' } as const;
export const DEFAULT_IMAGE = { sizePercent: 15 } as const;

/** Codecs of pictures, as ffmpeg names them. */
export const PICTURE_CODECS: ReadonlySet<string> = new Set(['png', 'mjpeg', 'webp', 'gif', 'bmp']);
