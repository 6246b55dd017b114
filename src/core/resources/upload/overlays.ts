/**
 * Declares overlays: pictures and texts that a stream shows over its items. They are part of the pictures of a look, which is made when an
 * item is prepared, so that they cost nothing on air. Pure: no I/O, no clock.
 */
import { type Static, Type } from 'typebox';
import { TEMPLATE_FIELDS } from '../../lib/sentences.ts';
import { DEFAULT_IMAGE, DEFAULT_PLACE, DEFAULT_TEXT, MAX_LAYERS, MAX_TEXT_CHARS } from './overlay-defaults.ts';

export const ANCHORS = [
  'TopLeft',
  'Top',
  'TopRight',
  'Left',
  'Center',
  'Right',
  'BottomLeft',
  'Bottom',
  'BottomRight',
] as const;
export const FONTS = ['Sans', 'Serif', 'Mono'] as const;
/** Of an item that shows none. */
export const OVERLAY_CHOICES = ['None'] as const;
/** A field that a text may name, as in `{{item.title}}`. One that is empty for an item leaves nothing in its place. */
export type TemplateField = (typeof TEMPLATE_FIELDS)[number];

const COLOR = '^#[0-9A-Fa-f]{6}$';
const BOX_COLOR = '^#[0-9A-Fa-f]{6}([0-9A-Fa-f]{2})?$';
const Color = (pattern: string, description: string) =>
  Type.Optional(Type.String({ maxLength: 9, pattern, description }));
const Seconds = (description: string) => Type.Optional(Type.Integer({ minimum: 1, maximum: 86_400, description }));

export const Show = Type.Object(
  {
    firstSeconds: Seconds('Shown for this long from the beginning of the item.'),
    lastSeconds: Seconds('Shown for this long until the end of the item.'),
    everySeconds: Seconds(
      'Shown once in each interval of this length, from the beginning of the item. Needs forSeconds.',
    ),
    forSeconds: Seconds('How long it is shown in each interval. Less than everySeconds.'),
  },
  {
    description:
      'When the layer is shown: one of firstSeconds, lastSeconds, or everySeconds with forSeconds. Always without it.',
  },
);
export type Show = Static<typeof Show>;

/** Fields that texts and pictures have in common. */
const Place = {
  anchor: Type.Enum(ANCHORS, {
    title: 'OverlayAnchor',
    default: DEFAULT_PLACE.anchor,
    description: `Place in the picture. Defaults to ${DEFAULT_PLACE.anchor}.`,
  }),
  marginPercent: Type.Integer({
    minimum: 0,
    maximum: 45,
    default: DEFAULT_PLACE.marginPercent,
    description: `Distance from the edges, in percent of the height of the picture. Defaults to ${DEFAULT_PLACE.marginPercent}.`,
  }),
  opacityPercent: Type.Integer({
    minimum: 1,
    maximum: 100,
    default: DEFAULT_PLACE.opacityPercent,
    description: `Opacity of the layer, in percent. Defaults to ${DEFAULT_PLACE.opacityPercent}.`,
  }),
  show: Type.Optional(Show),
};
const Size = (description: string) => Type.Integer({ minimum: 1, maximum: 100, description });
const outlineColor = Color(COLOR, 'Colour of an outline, as #RRGGBB. No outline without it.');
const boxColor = Color(BOX_COLOR, 'Colour of a box behind the text, as #RRGGBB or #RRGGBBAA. No box without it.');

export const Layer = Type.Object(
  {
    text: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: MAX_TEXT_CHARS,
        description: `Text to show. It may name ${TEMPLATE_FIELDS.map((field) => `{{${field}}}`).join(', ')}.`,
      }),
    ),
    imageUploadName: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 253,
        description: 'Name of the Upload in the same namespace that has the picture to show.',
      }),
    ),
    ...Place,
    sizePercent: Type.Optional(
      Size(
        'Height of a line, in percent of the height of the picture, for a text; width, in percent of its width, for a ' +
          `picture. Defaults to ${DEFAULT_TEXT.sizePercent} for a text and ${DEFAULT_IMAGE.sizePercent} for a picture.`,
      ),
    ),
    font: Type.Optional(Type.Enum(FONTS, { title: 'OverlayFont', description: 'Font of the text. Defaults to Sans.' })),
    bold: Type.Optional(Type.Boolean({ description: 'True for bold text. Defaults to false.' })),
    color: Color(COLOR, 'Colour of the text, as #RRGGBB. Defaults to #FFFFFF.'),
    outlineColor,
    boxColor,
  },
  { description: 'A text or a picture.' },
);
export type Layer = Static<typeof Layer>;

export const Overlays = Type.Object(
  {
    layers: Type.Array(Layer, {
      minItems: 1,
      maxItems: MAX_LAYERS,
      description: 'Texts and pictures, from the lowest to the highest. At most 8.',
    }),
    required: Type.Optional(
      Type.Boolean({
        description:
          'True leaves an item out until its overlays are prepared. By default it plays without them until its next turn.',
      }),
    ),
  },
  {
    description:
      'Texts and pictures over the items of the stream. Each is prepared with the item, and shown from its next turn.',
  },
);
export type Overlays = Static<typeof Overlays>;

/** The overlays of a stream: layers of its own, or those of a scene. */
export const LayersOrScene = Type.Object(
  {
    layers: Type.Optional(Overlays.properties.layers),
    required: Overlays.properties.required,
    sceneName: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 253,
        description: 'Name of the Scene in the same namespace whose layers are shown, instead of layers.',
      }),
    ),
  },
  {
    description:
      'Texts and pictures over the items of the stream. Each is prepared with the item, and shown from its next turn.',
  },
);
export type LayersOrScene = Static<typeof LayersOrScene>;

/** A layer of one item as it is drawn: its fields are filled in, and nothing has a default. */
const TextLayer = Type.Object({
  ...Place,
  sizePercent: Size(''),
  text: Type.String({ minLength: 1, maxLength: MAX_TEXT_CHARS }),
  font: Type.Enum(FONTS),
  bold: Type.Boolean(),
  color: Type.String({ pattern: COLOR }),
  outlineColor,
  boxColor,
});
export type TextLayer = Static<typeof TextLayer>;
const ImageLayer = Type.Object({
  ...Place,
  sizePercent: Size(''),
  /** Storage key of the source with the picture, and the hash of what is there. */
  imageKey: Type.String(),
  imageSha256: Type.String({ pattern: '^[0-9a-f]{64}$' }),
});
export type ImageLayer = Static<typeof ImageLayer>;

export const ResolvedLayer = Type.Union([TextLayer, ImageLayer]);
export type ResolvedLayer = Static<typeof ResolvedLayer>;
