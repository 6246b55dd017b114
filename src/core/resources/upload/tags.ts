/** Defines the words about a piece, of its file or of its owner: title, artist, rights. Pure: no I/O, no clock. */
import { type Static, Type } from 'typebox';

/** The longest value that is kept. */
export const MAX_TAG_CHARS = 256;
/** ISO 3901, without hyphens. */
const ISRC = /^[A-Z]{2}[A-Z0-9]{3}\d{7}$/;

export const TAG_MEANINGS = {
  title: 'Title of the piece.',
  artist: 'Artist of the piece.',
  album: 'Album of the piece.',
  isrc: 'International Standard Recording Code, without hyphens.',
  label: 'Record label or publisher.',
  license: 'Licence under which the piece may be played.',
  licenseUrl: 'Page with the licence, an http or https URL.',
} as const;
export type TagName = keyof typeof TAG_MEANINGS;
export const TAG_NAMES = Object.keys(TAG_MEANINGS) as TagName[];

const Tag = (name: TagName, pattern?: string) =>
  Type.Optional(
    Type.String({
      maxLength: MAX_TAG_CHARS,
      ...(pattern !== undefined && { pattern }),
      description: TAG_MEANINGS[name],
    }),
  );

export const MediaTags = Type.Object({
  title: Tag('title'),
  artist: Tag('artist'),
  album: Tag('album'),
  isrc: Tag('isrc', '^[A-Z]{2}[A-Z0-9]{3}[0-9]{7}$'),
  label: Tag('label'),
  license: Tag('license'),
  licenseUrl: Tag('licenseUrl', '^https?://'),
});
export type MediaTags = Static<typeof MediaTags>;

/** Characters that nobody sees, and those that turn the direction of the text around them. */
const UNSEEN = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/g;

/** Returns a word as people may see it: on one line, and not too long; undefined when nothing is left. */
function cleanText(text: string): string | undefined {
  // Only the beginning counts, and a file may have megabytes.
  const line = text
    .slice(0, 4 * MAX_TAG_CHARS)
    .toWellFormed()
    .replace(UNSEEN, '')
    .replace(/[\p{Cc}\s]+/gu, ' ')
    .trim();
  // The cut may go through a pair of surrogates.
  const short = line.slice(0, MAX_TAG_CHARS).replace(/[\ud800-\udbff]$/, '');
  return short.trim() || undefined;
}

function cleanIsrc(text: string): string | undefined {
  const code = text
    .toUpperCase()
    .replace(/^\s*ISRC\b/, '')
    .replaceAll(/[\s:.-]+/g, '');
  return ISRC.test(code) ? code : undefined;
}

/** A shorter address would be another one, and one with a password is nobody's page. */
function cleanUrl(text: string): string | undefined {
  if (text.length > MAX_TAG_CHARS || !URL.canParse(text)) return undefined;
  const { protocol, username, password, href } = new URL(text);
  const isPage = /^https?:$/.test(protocol) && username === '' && password === '';
  return isPage && href.length <= MAX_TAG_CHARS ? href : undefined;
}

/** Returns a value as it is kept; undefined for none, and for what is no such value. */
export function cleanTag(name: TagName, text: string): string | undefined {
  if (name === 'isrc') return cleanIsrc(text.slice(0, MAX_TAG_CHARS));
  return name === 'licenseUrl' ? cleanUrl(text.trim()) : cleanText(text);
}

/** Returns the tags that a stranger's file or pod states, as they are kept. */
export function cleanTags(stated: Readonly<Partial<Record<TagName, string | undefined>>>): MediaTags | undefined {
  const kept = TAG_NAMES.flatMap((name) => {
    const text = stated[name];
    const value = text === undefined ? undefined : cleanTag(name, text);
    return value === undefined ? [] : [[name, value] as const];
  });
  return kept.length > 0 ? Object.fromEntries(kept) : undefined;
}

/** Returns tags of at most so many characters. An address or a code that is longer is left out: a part of it would be another one. */
export const shortenTags = ({ isrc, licenseUrl = '', ...words }: MediaTags, maxChars: number): MediaTags => ({
  ...Object.fromEntries(
    Object.entries(words).map(([name, text]) => [name, text.slice(0, maxChars).replace(/[\ud800-\udbff]$/, '')]),
  ),
  ...(isrc !== undefined && { isrc }),
  ...(licenseUrl !== '' && licenseUrl.length <= maxChars && { licenseUrl }),
});

interface TaggedUpload {
  spec: { tags?: MediaTags };
  status?: { media?: { tags?: MediaTags } };
}

/** Returns the tags that hold: a word of the owner's goes before that of the file. */
export const findTags = ({ spec, status }: TaggedUpload): MediaTags => ({ ...status?.media?.tags, ...spec.tags });
