/** Reads, names and changes the layers of a stream's overlays, as its form has them. Pure: no I/O, no clock. */
import { brokenRule, OVERLAY_TEXT, TEMPLATE_FIELDS } from '../../../core/lib/sentences.ts';
import {
  DEFAULT_IMAGE,
  DEFAULT_PLACE,
  DEFAULT_TEXT,
  MAX_TEXT_CHARS,
  PICTURE_CODECS,
} from '../../../core/resources/upload/overlay-defaults.ts';
import type { Stream, Upload } from '../../../service/client/index.ts';
import { isolate } from '../../lib/isolate.ts';

export type StreamOverlays = NonNullable<Stream['overlays']>;
export type OverlayLayer = StreamOverlays['layers'][number];
export type Anchor = OverlayLayer['anchor'];
export type OverlayFieldName = (typeof TEMPLATE_FIELDS)[number];

export const NO_OVERLAYS: StreamOverlays = { layers: [], sceneID: null, required: false };

/** Whether anything is shown: a draft may be of a version that knew no scenes. */
export const hasOverlays = ({ layers, sceneID }: StreamOverlays): boolean => layers.length > 0 || Boolean(sceneID);

const PLACE = { ...DEFAULT_PLACE, show: null };

export const NEW_TEXT: OverlayLayer = {
  ...PLACE,
  ...DEFAULT_TEXT,
  text: '{{item.title}}',
  imageUploadObjectID: null,
  anchor: 'BottomLeft',
  outlineColor: '#000000',
  boxColor: null,
};

export const newPicture = (objectID: string): OverlayLayer => ({
  ...PLACE,
  ...DEFAULT_IMAGE,
  text: null,
  imageUploadObjectID: objectID,
  anchor: 'TopRight',
  font: null,
  bold: null,
  color: null,
  outlineColor: null,
  boxColor: null,
});

/** The rows of the places, as they lie in the picture. */
export const PLACES: readonly { value: Anchor; label: string }[] = [
  { value: 'TopLeft', label: 'Top left' },
  { value: 'Top', label: 'Top' },
  { value: 'TopRight', label: 'Top right' },
  { value: 'Left', label: 'Left' },
  { value: 'Center', label: 'Centre' },
  { value: 'Right', label: 'Right' },
  { value: 'BottomLeft', label: 'Bottom left' },
  { value: 'Bottom', label: 'Bottom' },
  { value: 'BottomRight', label: 'Bottom right' },
];

const FIELD_LABELS: Record<OverlayFieldName, string> = {
  'item.title': 'Title',
  'item.artist': 'Artist',
  'item.album': 'Album',
  'playlist.name': 'Playlist',
  'stream.name': 'Stream',
};
export const TEXT_FIELDS = TEMPLATE_FIELDS.map((field) => ({ field, label: FIELD_LABELS[field] }));

/** Puts a field into a text, in place of what is selected in it. */
export function insertField(text: string, field: OverlayFieldName, start = text.length, end = start): string {
  return `${text.slice(0, start)}{{${field}}}${text.slice(end)}`;
}

export type OverlayFacts = Record<OverlayFieldName, string>;

/** Fills in the fields of a text, as its preparation does. */
export function fillText(text: string, facts: OverlayFacts): string {
  const [before = '', ...parts] = text.split('{{');
  const filled = parts.map((part) => {
    const end = part.indexOf('}}');
    const field = part.slice(0, Math.max(end, 0)).trim();
    return Object.hasOwn(facts, field) ? facts[field as OverlayFieldName] + part.slice(end + 2) : `{{${part}`;
  });
  return [before, ...filled].join('').trim();
}

/** Pictures among the uploads; one that is chosen stays on the list. */
export const listPictures = (uploads: readonly Upload[] | undefined, chosen: string | null = null): Upload[] =>
  (uploads ?? []).filter(({ objectID, video, audio, state, type }) => {
    if (objectID === chosen || type === 'IMAGE') return objectID === chosen || state !== 'failed';
    return state !== 'failed' && audio === null && video !== null && PICTURE_CODECS.has(video.codec);
  });

/** Names a layer by what it shows. */
export function nameLayer({ text, imageUploadObjectID }: OverlayLayer, uploads: readonly Upload[] | undefined): string {
  if (text !== null) return `Text: ${isolate(text.trim()) || 'empty'}`;
  const upload = uploads?.find(({ objectID }) => objectID === imageUploadObjectID);
  return `Picture: ${upload ? isolate(upload.name) : imageUploadObjectID}`;
}

export const SHOWS = [
  { value: 'always', label: 'All the time' },
  { value: 'first', label: 'At the beginning of each item' },
  { value: 'last', label: 'At the end of each item' },
  { value: 'every', label: 'Again and again' },
] as const;
export type ShowKind = (typeof SHOWS)[number]['value'];

const NEVER = { firstSeconds: null, lastSeconds: null, everySeconds: null, forSeconds: null };
const NEW_SHOWS: Record<ShowKind, OverlayLayer['show']> = {
  always: null,
  first: { ...NEVER, firstSeconds: 10 },
  last: { ...NEVER, lastSeconds: 10 },
  every: { ...NEVER, everySeconds: 300, forSeconds: 10 },
};

export const findShowKind = (show: OverlayLayer['show']): ShowKind => {
  if (show === null) return 'always';
  if (show.firstSeconds !== null) return 'first';
  return show.lastSeconds === null ? 'every' : 'last';
};

export const startShow = (kind: ShowKind): OverlayLayer['show'] => NEW_SHOWS[kind];

/** Returns the mistake of a layer's text before it is sent; undefined for none, and for a picture. */
export function findTextMistake({ text }: OverlayLayer): string | undefined {
  if (text === null) return undefined;
  if (text.trim() === '') return 'Enter a text, or remove the layer.';
  if (text.length > MAX_TEXT_CHARS) return `A text has at most ${MAX_TEXT_CHARS} characters.`;
  const broken = brokenRule(OVERLAY_TEXT, text);
  return broken && `The text ${broken}.`;
}

/** Returns a mistake of the layers before they are sent; null for none. */
export function findLayersMistake({ layers }: StreamOverlays): string | null {
  for (const layer of layers) {
    const mistake = findTextMistake(layer);
    if (mistake !== undefined) return mistake;
  }
  const isTooLong = layers.some(({ show }) => (show?.everySeconds ?? Infinity) <= (show?.forSeconds ?? 0));
  return isTooLong ? 'A layer that comes again and again is shown for less than the interval.' : null;
}
