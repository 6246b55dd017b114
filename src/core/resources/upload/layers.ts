/** Resolves the layers of a stream's overlays for one item: fills in fields and defaults, and finds pictures. Pure: no I/O, no clock. */
import type { SongCards } from './card.ts';
import { findUploadName } from './name.ts';
import { DEFAULT_IMAGE, DEFAULT_TEXT, MAX_TEXT_CHARS, PICTURE_CODECS } from './overlay-defaults.ts';
import type { Layer, LayersOrScene, Overlays, ResolvedLayer, TemplateField } from './overlays.ts';
import { type MediaInfo, sourceKey, type UploadSpec, type UploadStatus } from './spec.ts';
import { findTags } from './tags.ts';

interface NamedObject {
  metadata: { name: string };
  spec: { displayName?: string };
}
export interface FactsUpload {
  metadata: { name: string };
  spec: Pick<UploadSpec, 'displayName' | 'source' | 'tags'>;
  status?: Pick<UploadStatus, 'media'>;
}

interface ImageUpload {
  metadata: { uid: string };
  status?: Pick<UploadStatus, 'media' | 'sourceKey'>;
}

/** Facts about an item, in the place of the fields of a template. */
export type ItemFacts = Record<TemplateField, string>;

/** Returns the words of an item that are shown; empty where it has none, but for a title, which is its name then. */
export function findItemWords(upload: FactsUpload): { title: string; artist: string; album: string } {
  const { title = findUploadName(upload) ?? upload.metadata.name, artist = '', album = '' } = findTags(upload);
  return { title, artist, album };
}

/** Returns the facts about an item of a stream, which plays it alone or in a playlist. */
export function findItemFacts(upload: FactsUpload, stream: NamedObject, playlist?: NamedObject): ItemFacts {
  const { title, artist, album } = findItemWords(upload);
  const name = (object: NamedObject | undefined) => object?.spec.displayName ?? object?.metadata.name ?? '';
  return {
    'item.title': title,
    'item.artist': artist,
    'item.album': album,
    'playlist.name': name(playlist),
    'stream.name': name(stream),
  };
}

const FIELD = /\{\{ *([a-z.]+) *\}\}/g;
/** Control characters draw nothing, and a line break is a new line. */
const CONTROL = /(?!\n)\p{Cc}/gu;

/** Returns a text with its fields filled in, at most MAX_TEXT_CHARS long; empty where it shows nothing. */
export function fillTemplate(template: string, facts: ItemFacts): string {
  const filled = template
    .replace(FIELD, (all, field: string) => (Object.hasOwn(facts, field) ? facts[field as TemplateField] : all))
    .toWellFormed()
    .replaceAll(/\r\n?/g, '\n')
    .replace(CONTROL, '')
    .trim();
  // The cut may go through a pair of surrogates.
  return filled
    .slice(0, MAX_TEXT_CHARS)
    .replace(/[\ud800-\udbff]$/, '')
    .trim();
}

/** A picture of an upload that is imported. */
export interface LayerImage {
  /** Storage key of its source. */
  key: string;
  sha256: string;
}

/** Whether a source can be shown as a picture: it has no sound. */
export const isPicture = ({ video, audio }: Pick<MediaInfo, 'video' | 'audio'>): boolean =>
  video !== undefined && audio === undefined && PICTURE_CODECS.has(video.codec);

/** The picture of an upload; undefined until it is imported, and for what is no picture. */
export function findLayerImage({ metadata, status }: ImageUpload): LayerImage | undefined {
  const { media, sourceKey: key = sourceKey(metadata.uid) } = status ?? {};
  return media && isPicture(media) ? { key, sha256: media.sha256 } : undefined;
}

/** Names of the uploads whose pictures are shown, each once. Those of a scene are the scene's. */
export const listImageNames = ({ layers = [] }: LayersOrScene = {}): string[] => [
  ...new Set(layers.flatMap(({ imageUploadName }) => imageUploadName ?? [])),
];

/** Names of the uploads whose pictures a stream shows over its items, or behind its cards. */
export const listShownImages = ({ overlays, cards }: { overlays?: LayersOrScene; cards?: SongCards }): string[] => {
  const names = [...listImageNames(overlays), cards?.imageUploadName ?? ''];
  return [...new Set(names.filter((name) => name !== ''))];
};

/**
 * Returns the layers that an item shows; undefined while a picture of them cannot be had, since a look is made as a whole. A text that is
 * empty for the item is left out.
 */
export function resolveLayers(
  { layers }: Pick<Overlays, 'layers'>,
  facts: ItemFacts,
  findImage: (uploadName: string) => LayerImage | undefined,
): ResolvedLayer[] | undefined {
  const resolved: ResolvedLayer[] = [];
  for (const layer of layers) {
    if (layer.imageUploadName === undefined) resolved.push(...resolveText(layer, facts));
    else {
      const image = findImage(layer.imageUploadName);
      if (!image) return undefined;
      const { sizePercent = DEFAULT_IMAGE.sizePercent } = layer;
      resolved.push({ ...pickPlace(layer), sizePercent, imageKey: image.key, imageSha256: image.sha256 });
    }
  }
  return resolved;
}

const pickPlace = ({ anchor, marginPercent, opacityPercent, show }: Layer) => ({
  anchor,
  marginPercent,
  opacityPercent,
  ...(show && { show }),
});

function resolveText(layer: Layer, facts: ItemFacts): ResolvedLayer[] {
  const text = fillTemplate(layer.text ?? '', facts);
  if (text === '') return [];
  const { sizePercent, font, bold, color } = { ...DEFAULT_TEXT, ...layer };
  const { outlineColor, boxColor } = layer;
  return [
    {
      ...pickPlace(layer),
      sizePercent,
      text,
      font,
      bold,
      color,
      ...(outlineColor !== undefined && { outlineColor }),
      ...(boxColor !== undefined && { boxColor }),
    },
  ];
}
