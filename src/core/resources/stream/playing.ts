/** Declares what a stream plays: the part of its pod's program (protocol/program.ts) that its status may keep. Pure: no I/O, no clock. */
import { type Static, Type } from 'typebox';
import { RuleTerms } from '../playlist/rules.ts';
import { listTrackItems } from './track-items.ts';

const Item = Type.Object({
  id: Type.String({ description: 'Name of the Upload.' }),
  name: Type.String({ description: 'Display name of the item.' }),
  rendition: Type.String({
    description: 'Storage key of the rendition to play. Empty if the item is left out.',
  }),
  cut: Type.Optional(
    Type.Boolean({
      description: 'True for an item that is left out at once: where it is on air, it ends before its time.',
    }),
  ),
  sound: Type.Optional(
    Type.String({ description: 'Storage key of the sound to play in the place of that of the rendition.' }),
  ),
  card: Type.Optional(
    Type.String({
      description: 'Storage key of the pictures to show while this song plays, in the place of the video track.',
    }),
  ),
});
/**
 * `rendition`: storage key of the FLV file; its index is the same key with `.json` behind it. Empty for an item that cannot be played now:
 * it keeps its place, and is passed over.
 */
export type ProgramItem = Static<typeof Item>;

const Apart = Type.Object(
  {
    least: Type.Integer({ minimum: 1, description: 'Number of other items that play between two of one artist.' }),
    groups: Type.Array(Type.Integer({ minimum: 0 }), {
      description: 'The artist of each item, as a number. 0 for an item without one.',
    }),
  },
  { description: 'Keeps items of one artist apart where they are shuffled.' },
);

const PlayedRule = Type.Object({
  ...RuleTerms.properties,
  items: Type.Array(Item, { description: 'The items that the rule plays.' }),
  list: Type.Optional(Type.String({ description: 'Name of the Playlist that the items come from.' })),
  apart: Type.Optional(Apart),
});
export type PlayedRule = Static<typeof PlayedRule>;

const playedTrack = (description: string) =>
  Type.Object(
    {
      mode: Type.Enum(['sequential', 'shuffle'], { description: 'The order in which items are played.' }),
      items: Type.Array(Item, { minItems: 1, description: 'The items to play.' }),
      lists: Type.Optional(
        Type.Array(
          Type.Object({
            id: Type.String({ description: 'Name of the Playlist.' }),
            items: Type.Integer({ minimum: 1, description: 'Number of items that come from this playlist.' }),
          }),
          { description: 'The playlists that the items come from, in order.' },
        ),
      ),
      apart: Type.Optional(Apart),
      rules: Type.Optional(Type.Array(PlayedRule, { description: 'The rules of the playlists, in their order.' })),
    },
    { description },
  );

/**
 * The part of a program that exists nowhere else once its stream refers to something else. With the epoch in the status
 * and the destinations of the spec it restores the program. It is as long as the annotation of a pod may be (256 KiB).
 */
export const Playing = Type.Object(
  {
    version: Type.Integer({ description: 'Version of the program. Each change of the played media raises it.' }),
    profile: Type.String({ description: 'Quality and frame rate, e.g. 1080p30.' }),
    video: playedTrack('The video track.'),
    audio: Type.Optional(playedTrack('The audio track, if it does not come from the video.')),
    slate: Type.Optional(
      Type.String({ description: 'Storage key of the pictures to show while no item can be played.' }),
    ),
  },
  {
    description:
      'The program on air, kept while its successor cannot be played yet. A lost pod is rebuilt from it, and its ' +
      'media are not deleted.',
  },
);
export type Playing = Static<typeof Playing>;
export type Track = Playing['video'];

/** All items of what is played, those of rules and of the sound too. */
export const listItems = ({ video, audio }: Pick<Playing, 'video' | 'audio'>): ProgramItem[] => [
  ...listTrackItems(video),
  ...(audio ? listTrackItems(audio) : []),
];

/** Storage keys of everything that is played: renditions, sounds in the place of theirs, cards and the slate. */
export const listPlayedKeys = (played: Pick<Playing, 'video' | 'audio' | 'slate'>): string[] =>
  listItems(played)
    .flatMap(({ rendition, sound, card }) => [rendition, sound ?? '', card ?? ''])
    .concat(played.slate ?? '')
    .filter((key) => key !== '');
