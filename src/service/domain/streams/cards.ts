/** Converts the cards of a stream between the resource and the API, and finds their mistakes. Pure: no I/O, no clock. */
import { type Static, Type } from 'typebox';
import { SENTENCES } from '../../../core/lib/sentences.ts';
import type { LoopStreamSpec } from '../../../core/resources/stream/spec.ts';
import type { SongCards } from '../../../core/resources/upload/card.ts';
import type { FieldError } from '../../lib/errors.ts';
import { nullable } from '../../lib/schemas.ts';
import { findPictureProblem, type PictureUpload } from './overlays.ts';

export const CardsInput = nullable(
  Type.Object(
    {
      imageUploadObjectID: Type.Optional(
        nullable(
          Type.String({ minLength: 1, maxLength: 253 }),
          'objectID of an upload with a still picture, which is behind the words of each card. Null: the cover of the song, blurred.',
        ),
      ),
    },
    { title: 'StreamCardsInput', additionalProperties: false },
  ),
  'A picture for each song of the audio playlists, in place of the video: cover, title and artist. `{}` turns it on. Null: none.',
);
export const CardsOutput = nullable(
  Type.Object({
    imageUploadObjectID: nullable(
      Type.String(),
      'Upload whose picture is behind the words. Null: the cover of the song.',
    ),
  }),
  'A picture for each song. Null: the video is shown.',
);

type Given = Static<typeof CardsInput>;

export const showCards = (cards: SongCards | undefined): Static<typeof CardsOutput> =>
  cards ? { imageUploadObjectID: cards.imageUploadName ?? null } : null;

/** A merge patch: null removes the image that was there. */
export const writeCards = (given: Given) => given && { imageUploadName: given.imageUploadObjectID ?? null };

/** `findUpload` returns what an account has with an id. */
export function findCardImageErrors(
  given: Given | undefined,
  findUpload: (id: string) => PictureUpload | undefined,
): FieldError[] {
  const id = given?.imageUploadObjectID;
  const message = typeof id === 'string' ? findPictureProblem(findUpload(id)) : undefined;
  return message === undefined ? [] : [{ path: '/cards/imageUploadObjectID', message }];
}

interface Asked {
  cards?: Given | undefined;
  audioPlaylistIDs?: readonly string[] | undefined;
}

/** Finds cards without songs. `before`: the stream as it is, for an update. */
export function findCardErrors(
  { cards, audioPlaylistIDs }: Asked,
  before?: Pick<LoopStreamSpec, 'cards' | 'audioPlaylistNames'>,
): FieldError[] {
  const wants = cards === undefined ? before?.cards !== undefined : cards !== null;
  const songs = audioPlaylistIDs ?? before?.audioPlaylistNames ?? [];
  if (!wants || songs.length > 0) return [];
  if (cards) return [{ path: '/cards', message: SENTENCES.cardsOfSongs }];
  return [{ path: '/audioPlaylistIDs', message: SENTENCES.songsOfCards }];
}
