/**
 * Declares the program that a streamer pod plays. The operator passes it in the pod annotation PROGRAM_ANNOTATION, and
 * the pod reads it as a file through the downward API. It holds no secret: destinations are named, their URL and key
 * are files of a Secret. Pure: no I/O, no clock.
 */
import { type Static, Type } from 'typebox';
import { PROGRAM_ANNOTATION } from '../common/names.ts';

export const ProgramItem = Type.Object({
  /** Name of the Upload, shown as the current item. */
  id: Type.String(),
  name: Type.String(),
  /**
   * Storage key of the rendition's FLV file; its index is the same key with `.json` behind it. Empty for an item that cannot be
   * played now: it keeps its place, and is passed over.
   */
  rendition: Type.String(),
});
export type ProgramItem = Static<typeof ProgramItem>;

export const Track = Type.Object({
  mode: Type.Enum(['sequential', 'shuffle']),
  items: Type.Array(ProgramItem, { minItems: 1 }),
  /** The playlists that the items are of, one after the other; left out for a single upload. */
  lists: Type.Optional(Type.Array(Type.Object({ id: Type.String(), items: Type.Integer() }))),
});
export type Track = Static<typeof Track>;

export const Program = Type.Object({
  /** Rises by one with each published change of what is played; where it is sent has no part in it. */
  version: Type.Integer(),
  /**
   * On-air epoch of the video: item and offset are a pure function of (epoch, version, seed, now). A streamer begins by it;
   * while it runs, a skip or a new version moves its own, which the operator then writes here for the pod after it.
   */
  epoch: Type.String({ format: 'date-time' }),
  /** The same of the audio list, where it has moved by itself. */
  audioEpoch: Type.Optional(Type.String({ format: 'date-time' })),
  /** The last skip of each track that has been carried out, so that none is done twice. */
  skipped: Type.Optional(Type.Object({ video: Type.Optional(Type.String()), audio: Type.Optional(Type.String()) })),
  /** Seed of the shuffle. */
  seed: Type.Integer(),
  /** E.g. `1080p30`; every rendition in it was made for this profile. */
  profile: Type.String(),
  video: Track,
  /** If present, its sound replaces the video's own. */
  audio: Type.Optional(Track),
  /** Names of destinations: each is a member of the JSON in LOOPSTREAM_DESTINATIONS_FILE, with the keys of its Secret. */
  destinations: Type.Array(Type.String(), { minItems: 1 }),
  /**
   * Changes with the content of that file. Nothing reads it: a change of the pod's object makes kubelet update the
   * files of its volumes at once, which for a Secret alone takes a minute or two.
   */
  destinationsRevision: Type.Optional(Type.String()),
});
export type Program = Static<typeof Program>;

const playedTrack = (description: string) =>
  Type.Object(
    {
      mode: Type.Enum(['sequential', 'shuffle'], { description: 'The order in which items are played.' }),
      items: Type.Array(
        Type.Object({
          id: Type.String({ description: 'Name of the Upload.' }),
          name: Type.String({ description: 'Display name of the item.' }),
          rendition: Type.String({
            description: 'Storage key of the rendition to play. Empty if the item is left out.',
          }),
        }),
        { minItems: 1, description: 'The items to play.' },
      ),
      lists: Type.Optional(
        Type.Array(
          Type.Object({
            id: Type.String({ description: 'Name of the Playlist.' }),
            items: Type.Integer({ minimum: 1, description: 'Number of items that come from this playlist.' }),
          }),
          { description: 'The playlists that the items come from, in order.' },
        ),
      ),
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
  },
  {
    description:
      'The program on air, kept while its successor cannot be played yet. A lost pod is rebuilt from it, and its ' +
      'media are not deleted.',
  },
);
export type Playing = Static<typeof Playing>;

export const toPlaying = ({ version, profile, video, audio }: Program): Playing => ({
  version,
  profile,
  video,
  ...(audio && { audio }),
});

/** All items of what is played, those of the sound too. */
export const listItems = ({ video, audio }: Pick<Playing, 'video' | 'audio'>): ProgramItem[] => [
  ...video.items,
  ...(audio?.items ?? []),
];

/** The program that a pod was given; undefined when it carries none that can be read. */
export function readPodProgram(pod: { metadata: { annotations?: Record<string, string> } }): Program | undefined {
  try {
    const program: unknown = JSON.parse(pod.metadata.annotations?.[PROGRAM_ANNOTATION] ?? 'null');
    const isOne = program && typeof program === 'object' && 'epoch' in program && 'video' in program;
    return isOne ? (program as Program) : undefined;
  } catch {
    return undefined;
  }
}
