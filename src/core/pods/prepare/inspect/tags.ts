/** Reads the tags of a file out of ffprobe's words; those of ID3v1, whose encoding ffprobe does not know, out of the file. */
import { open } from 'node:fs/promises';
import { cleanTags, type MediaTags, type TagName } from '../../../resources/upload/tags.ts';
import { decodeBytes } from '../link/text.ts';
import { readAt } from './read-at.ts';

/** Names of each tag in files, in order of precedence: Vorbis, Matroska and MP4 share theirs; T… are frames of ID3v2. */
const NAMES: Readonly<Record<Exclude<TagName, 'licenseUrl'>, readonly string[]>> = {
  title: ['title'],
  artist: ['artist', 'album_artist'],
  album: ['album'],
  isrc: ['isrc', 'tsrc', 'trc'],
  label: ['label', 'publisher', 'organization', 'tpb'],
  license: ['license'],
};
/** Names of the tags that are read, besides the title: tracks have one of their own. */
export const SONG_TAGS = [...Object.values(NAMES).flat(), 'copyright'].filter((name) => name !== 'title');

/** ID3v2 has no frame for a licence, and Creative Commons writes it there. */
const LICENSED = /\blicen[cs]e/i;

const LINK = /\bhttps?:\/\/[^\s<>"']+/i;
const END_OF_SENTENCE = '.,;:)]';
/** A replacement character: ffprobe could not read a byte. */
const UNREAD = '\ufffd';

/** Returns the first link of a text, without the signs that end its sentence. */
function findLink(text: string): string | undefined {
  const link = LINK.exec(text)?.[0];
  if (link === undefined) return undefined;
  let end = link.length;
  while (END_OF_SENTENCE.includes(link.charAt(end - 1))) end -= 1;
  return link.slice(0, end);
}

/** Reads tags by their names, in any case. */
export function parseTags(stated: Readonly<Record<string, unknown>>): MediaTags | undefined {
  const byName = new Map(Object.entries(stated).map(([name, value]) => [name.toLowerCase(), value]));
  const find = (names: readonly string[]): string | undefined =>
    names.map((name) => byName.get(name)).find((value) => typeof value === 'string' && value.trim() !== '') as
      | string
      | undefined;
  const words = Object.fromEntries(Object.entries(NAMES).map(([tag, names]) => [tag, find(names)]));
  const copyright = find(['copyright']) ?? '';
  const license = words.license ?? (LICENSED.test(copyright) ? copyright : '');
  const licenseUrl = findLink(license);
  return cleanTags({ ...words, license, licenseUrl });
}

const ID3V1_BYTES = 128;
/** Offset and length in bytes. */
const ID3V1_FIELDS = { title: [3, 30], artist: [33, 30], album: [63, 30] } as const;

/** Parses the last bytes of a file as ID3v1, in UTF-8 or else ISO 8859-1; undefined where they are none. */
export function parseId3v1(last: Buffer): MediaTags | undefined {
  if (last.length !== ID3V1_BYTES || last.toString('latin1', 0, 3) !== 'TAG') return undefined;
  const fields = Object.entries(ID3V1_FIELDS).map(([name, [at, length]]) => {
    const [text = ''] = decodeBytes(last.subarray(at, at + length)).split('\0', 1);
    return [name, text];
  });
  return cleanTags(Object.fromEntries(fields));
}

/** Resolves with the tags of a whole file: those that ffprobe could not read, it reads again where they are ID3v1. */
export async function mendTags(
  path: string,
  format: string,
  tags: MediaTags | undefined,
): Promise<MediaTags | undefined> {
  if (format !== 'mp3' || !Object.values(tags ?? {}).some((value) => value.includes(UNREAD))) return tags;
  await using file = await open(path);
  const { size } = await file.stat();
  return parseId3v1(await readAt(file, Math.max(0, size - ID3V1_BYTES), ID3V1_BYTES)) ?? tags;
}
