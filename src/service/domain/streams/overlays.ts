/** Converts the overlays of a stream between the resource and the API, and finds their mistakes. Pure: no I/O, no clock. */
import { type Static, type TSchema, Type } from 'typebox';
import { brokenRule, OVERLAY_TEXT, SENTENCES } from '../../../core/lib/sentences.ts';
import { isPicture } from '../../../core/resources/upload/layers.ts';
import {
  DEFAULT_IMAGE,
  DEFAULT_PLACE,
  DEFAULT_TEXT,
  MAX_LAYERS,
} from '../../../core/resources/upload/overlay-defaults.ts';
import { Layer, type LayersOrScene, Overlays, Show } from '../../../core/resources/upload/overlays.ts';
import type { MediaInfo, UploadSpec } from '../../../core/resources/upload/spec.ts';
import type { FieldError } from '../../lib/errors.ts';
import { nullable } from '../../lib/schemas.ts';

const { anchor, marginPercent, opacityPercent, text, font, bold, color, outlineColor, boxColor } = Layer.properties;
const { required } = Overlays.properties;
const { firstSeconds, lastSeconds, everySeconds, forSeconds } = Show.properties;

/** Without its sentence, which the request has. */
const plain = <T extends TSchema>({
  description: _,
  default: __,
  ...schema
}: T & { description?: string; default?: unknown }) => schema as unknown as T;
/** A record can be sent again as it is read: null stands for a missing value. */
const optional = <T extends TSchema>(schema: T) => {
  const { description, ...rest } = schema as T & { description?: string };
  return Type.Optional(nullable(rest as unknown as T, description));
};

const LayerInput = Type.Object(
  {
    text: optional(text),
    imageUploadObjectID: optional(
      Type.String({ minLength: 1, maxLength: 253, description: 'objectID of the upload with the picture to show.' }),
    ),
    anchor: Type.Optional(anchor),
    marginPercent: Type.Optional(marginPercent),
    sizePercent: optional(Layer.properties.sizePercent),
    opacityPercent: Type.Optional(opacityPercent),
    font: optional(font),
    bold: optional(bold),
    color: optional(color),
    outlineColor: optional(outlineColor),
    boxColor: optional(boxColor),
    show: optional(
      Type.Object(
        {
          firstSeconds: optional(firstSeconds),
          lastSeconds: optional(lastSeconds),
          everySeconds: optional(everySeconds),
          forSeconds: optional(forSeconds),
        },
        {
          title: 'OverlayShowInput',
          additionalProperties: false,
          description: (Show as { description?: string }).description ?? '',
        },
      ),
    ),
  },
  { title: 'OverlayLayerInput', additionalProperties: false },
);

const layersInput = (minItems: number) =>
  Type.Array(LayerInput, {
    minItems,
    maxItems: MAX_LAYERS,
    description: 'From the lowest to the highest. Each has either `text` or `imageUploadObjectID`.',
  });
/** Layers of a scene. */
export const LayersInput = layersInput(1);
export const RequiredInput = required;

export const OverlaysInput = nullable(
  Type.Object(
    {
      layers: Type.Optional(layersInput(0)),
      sceneID: optional(
        Type.String({
          minLength: 1,
          maxLength: 253,
          description: 'Scene whose layers are shown, in place of `layers`.',
        }),
      ),
      required,
    },
    { title: 'StreamOverlaysInput', additionalProperties: false },
  ),
  'Texts and pictures over the items, replaced as a whole. An item shows them from its next turn, once they are prepared. Null: none.',
);

const Shown = Type.Object({
  firstSeconds: nullable(plain(firstSeconds)),
  lastSeconds: nullable(plain(lastSeconds)),
  everySeconds: nullable(plain(everySeconds)),
  forSeconds: nullable(plain(forSeconds)),
});

export const LayersOutput = Type.Array(
  Type.Object({
    text: nullable(plain(text), 'Null for a picture.'),
    imageUploadObjectID: nullable(Type.String(), 'Null for a text.'),
    anchor: plain(anchor),
    marginPercent: plain(marginPercent),
    sizePercent: Type.Integer(),
    opacityPercent: plain(opacityPercent),
    font: nullable(plain(font)),
    bold: nullable(plain(bold)),
    color: nullable(plain(color)),
    outlineColor: nullable(plain(outlineColor)),
    boxColor: nullable(plain(boxColor)),
    show: nullable(Shown, 'Null: always.'),
  }),
);

export const OverlaysOutput = nullable(
  Type.Object({
    layers: LayersOutput,
    sceneID: nullable(
      Type.String(),
      'Scene whose layers are shown. `layers` is empty then, and the scene says what is required.',
    ),
    required: Type.Boolean(),
  }),
  'Texts and pictures over the items. Null: none.',
);

type Given = NonNullable<Static<typeof OverlaysInput>>;
type GivenLayer = NonNullable<Given['layers']>[number];
type ShownOverlays = NonNullable<Static<typeof OverlaysOutput>>;

/** Fields of a text alone. */
const OF_TEXT = ['font', 'bold', 'color', 'outlineColor', 'boxColor'] as const;

type WithoutNulls<T> = { [Key in keyof T]?: Exclude<T[Key], null | undefined> };
const dropNulls = <T extends object>(given: T): WithoutNulls<T> =>
  Object.fromEntries(
    Object.entries(given).filter(([, value]) => value !== null && value !== undefined),
  ) as WithoutNulls<T>;

function showLayer(layer: Layer): ShownOverlays['layers'][number] {
  const { show, imageUploadName, ...rest } = layer;
  const isText = imageUploadName === undefined;
  const nothing = { text: null, font: null, bold: null, color: null, outlineColor: null, boxColor: null };
  return {
    ...nothing,
    ...(isText ? DEFAULT_TEXT : DEFAULT_IMAGE),
    ...DEFAULT_PLACE,
    ...rest,
    imageUploadObjectID: imageUploadName ?? null,
    show: show ? { firstSeconds: null, lastSeconds: null, everySeconds: null, forSeconds: null, ...show } : null,
  };
}

export const showLayers = (layers: readonly Layer[]): ShownOverlays['layers'] => layers.map(showLayer);

export const showOverlays = (overlays: LayersOrScene | undefined): ShownOverlays | null =>
  overlays
    ? {
        layers: showLayers(overlays.layers ?? []),
        sceneID: overlays.sceneName ?? null,
        required: overlays.required ?? false,
      }
    : null;

function writeLayer({ show, imageUploadObjectID, ...given }: GivenLayer): Layer {
  return {
    ...DEFAULT_PLACE,
    ...dropNulls(given),
    ...(imageUploadObjectID && { imageUploadName: imageUploadObjectID }),
    ...(show && { show: dropNulls(show) }),
  };
}

export const writeLayers = (layers: readonly GivenLayer[]): Layer[] => layers.map(writeLayer);

/** A merge patch of what the stream has, whose nulls remove: layers take the place of a scene, and the other way round. */
export function writeOverlays(given: Given | null): LayersOrScene | null {
  if (!given) return null;
  const { layers = [], sceneID, required: isRequired = false } = given;
  const patch = sceneID
    ? { sceneName: sceneID, layers: null, required: null }
    : { sceneName: null, layers: writeLayers(layers), required: isRequired };
  return patch as unknown as LayersOrScene;
}

/** Facts about the upload that a layer names. */
export interface PictureUpload {
  track: UploadSpec['track'];
  media?: Pick<MediaInfo, 'video' | 'audio'> | undefined;
}

/** Returns why an upload cannot be shown as a picture; undefined also before it is imported, when nobody knows. */
export function findPictureProblem(upload: PictureUpload | undefined): string | undefined {
  if (!upload) return 'names an upload that does not exist';
  if (upload.track === 'audio') return 'names an upload of type AUDIO';
  if (upload.track === 'video' && upload.media && !isPicture(upload.media))
    return 'names a video: a still picture is needed, such as a PNG';
  return undefined;
}

function findShowProblem({ firstSeconds: first, lastSeconds: last, everySeconds: every, forSeconds: length }: Show) {
  const isOne = [first, last, every].filter((seconds) => seconds !== undefined).length === 1;
  const fits = every === undefined ? length === undefined : length !== undefined && length < every;
  return isOne && fits ? undefined : SENTENCES.overlayShow;
}

/** Facts about what an account has with an id. */
interface Has {
  upload: (id: string) => PictureUpload | undefined;
  scene: (id: string) => object | undefined;
}

export function findOverlayErrors(given: Given | null | undefined, has: Has): FieldError[] {
  if (!given) return [];
  const { layers = [], sceneID, required: isRequired = false } = given;
  if (!sceneID) {
    const none = { path: '/overlays/layers', message: 'must not be empty, unless sceneID is given' };
    return layers.length === 0 ? [none] : findLayerErrors(layers, '/overlays', has.upload);
  }
  const isNeither = layers.length > 0 || isRequired;
  const message = layers.length > 0 ? SENTENCES.layersOrScene : SENTENCES.requiredOfScene;
  return [
    ...(isNeither ? [{ path: layers.length > 0 ? '/overlays' : '/overlays/required', message }] : []),
    ...(has.scene(sceneID) ? [] : [{ path: '/overlays/sceneID', message: 'names a scene that does not exist' }]),
  ];
}

/** Lists the mistakes of layers below `path`. */
export function findLayerErrors(
  layers: readonly GivenLayer[],
  path: string,
  findUpload: (id: string) => PictureUpload | undefined,
): FieldError[] {
  return layers.flatMap((given, index) => {
    const { imageUploadName: id, text: words, show, ...layer } = writeLayer(given);
    const problems = {
      '': (words === undefined) === (id === undefined) ? SENTENCES.oneOverlay : undefined,
      '/text': words === undefined ? undefined : brokenRule(OVERLAY_TEXT, words),
      '/imageUploadObjectID': id === undefined ? undefined : findPictureProblem(findUpload(id)),
      '/show': show && findShowProblem(show),
    };
    const isStyled = words === undefined && OF_TEXT.some((name) => layer[name] !== undefined);
    return Object.entries({ ...problems, ...(isStyled && { '': problems[''] ?? SENTENCES.overlayOfText }) }).flatMap(
      ([part, message]) => (message === undefined ? [] : [{ path: `${path}/layers/${index}${part}`, message }]),
    );
  });
}
