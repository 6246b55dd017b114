/**
 * Declares cards: what a song shows while it plays over no pictures of its own. A card stands in the place of a rendition's profile, as
 * `720p30-c0a1b2c`, and songs of the same content that show the same share it. Pure: no I/O, no clock.
 */
import { type Static, Type } from 'typebox';
import { hashName } from './look.ts';
import { MAX_TAG_CHARS } from './tags.ts';

/** Another way of drawing makes other cards. */
const VERSION = 1;

/** The wish of a stream for a card of each song. */
export const SongCards = Type.Object(
  {
    imageUploadName: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 253,
        description:
          'Name of the Upload in the same namespace with the picture behind the words. Without it, the cover of the song is blurred.',
      }),
    ),
  },
  {
    description:
      'A picture for each song of the audio playlists, with its cover, title and artist. It is prepared with the song, and shown in ' +
      'the place of the video.',
  },
);
export type SongCards = Static<typeof SongCards>;

export const Card = Type.Object({
  /** Empty where the song has none. */
  title: Type.String({ maxLength: MAX_TAG_CHARS }),
  artist: Type.String({ maxLength: MAX_TAG_CHARS }),
  /** Storage key of the source with the picture behind all else, and the hash of what is there. Without it, the cover is blurred. */
  background: Type.Optional(
    Type.Object({ imageKey: Type.String(), imageSha256: Type.String({ pattern: '^[0-9a-f]{64}$' }) }),
  ),
});
export type Card = Static<typeof Card>;

/** Stands in the place of a rendition's profile. A background is the same wherever it is stored. */
export const cardProfile = (profile: string, { title, artist, background }: Card): string =>
  `${profile}-c${hashName([VERSION, profile, title, artist, background?.imageSha256 ?? ''])}`;

/** Reads the profile of its pictures; undefined for what is no card. */
export const parseCardProfile = (profile: string): string | undefined => /^(\d+p\d+)-c[0-9a-z]{6}$/.exec(profile)?.[1];
