/**
 * Declares Playlist: an ordered list of uploads. Its public version rises by one for each change of the spec (version.ts). Pure: no
 * I/O, no clock.
 */
import { type Static, Type } from 'typebox';
import { Value } from 'typebox/value';
import { parseAs } from '../../lib/parse.ts';
import { Condition } from '../common/conditions.ts';
import { PUBLISHED_ANNOTATION } from '../common/names.ts';
import { OBSERVED_UID } from '../common/own-status.ts';
import { MAX_APART, MAX_RULES } from './rule-limits.ts';
import { PlaylistRule } from './rules.ts';

export const PLAYLIST_KINDS = ['video', 'audio'] as const;
export const PLAYLIST_MODES = ['sequential', 'shuffle'] as const;
export const MAX_ITEMS = 500;

const NotWithin = Type.Object(
  {
    sameArtist: Type.Integer({
      minimum: 0,
      maximum: MAX_APART,
      default: 0,
      description:
        'Number of other items that play between two of one artist in shuffle, from 0 to 20, as far as the list allows.',
    }),
  },
  { description: 'What is kept apart where items are shuffled.' },
);

export const PlaylistSpec = Type.Object({
  displayName: Type.Optional(Type.String({ minLength: 1, maxLength: 200, description: 'Name shown to people.' })),
  track: Type.Enum(PLAYLIST_KINDS, { default: 'video', description: 'The track that the playlist supplies.' }),
  mode: Type.Enum(PLAYLIST_MODES, {
    default: 'sequential',
    description: 'The order in which items are played: as listed, or shuffled.',
  }),
  notWithin: Type.Optional(NotWithin),
  items: Type.Array(
    Type.Object({
      uploadName: Type.String({
        minLength: 1,
        maxLength: 253,
        description: 'Name of an Upload in the same namespace.',
      }),
    }),
    { maxItems: MAX_ITEMS, description: 'The items to play.' },
  ),
  rules: Type.Optional(
    Type.Array(PlaylistRule, {
      maxItems: MAX_RULES,
      description:
        'Rules of what else plays when, the most important first. Those without a window hold in windows, too.',
    }),
  ),
});
export type PlaylistSpec = Static<typeof PlaylistSpec>;

export const PlaylistStatus = Type.Object({
  ...OBSERVED_UID,
  observedGeneration: Type.Optional(
    Type.Integer({ minimum: 0, description: 'Generation of the spec that this status describes.' }),
  ),
  version: Type.Optional(
    Type.Integer({
      minimum: 1,
      description: 'Version of the playlist. It rises by one for each change of the spec, and stays through a restore.',
    }),
  ),
  conditions: Type.Optional(
    Type.Array(Condition, {
      maxItems: 16,
      description:
        'Conditions: Ready is True when an item can be played, Prepared when every item can be. Reconciling and Stalled.',
    }),
  ),
});
export type PlaylistStatus = Static<typeof PlaylistStatus>;

/** The version that streams play: an immutable copy of the spec, which may have changed since. */
const Published = Type.Object({
  version: Type.Integer({ minimum: 1 }),
  mode: Type.Enum(PLAYLIST_MODES),
  notWithin: PlaylistSpec.properties.notWithin,
  items: PlaylistSpec.properties.items,
  rules: PlaylistSpec.properties.rules,
});
type Published = Static<typeof Published>;

/** The part of a playlist that streams play, and that a version is made of. */
export type PlayedPart = Pick<PlaylistSpec, 'mode' | 'notWithin' | 'items' | 'rules'>;

/** The annotation with a published version. */
export const annotatePublished = (version: number, { mode, notWithin, items, rules }: PlayedPart) => ({
  [PUBLISHED_ANNOTATION]: JSON.stringify({
    ...{ version, mode, items },
    ...(notWithin && { notWithin }),
    ...(rules && { rules }),
  } satisfies Published),
});

/** Names that fields of copies had before. Such copies are still published and kept. */
const EARLIER_NAMES: Readonly<Record<string, string>> = { uploadRef: 'uploadName', kind: 'track' };

/** Returns a copy of a spec, or of a part of one, with today's names of fields. */
export function readCopy(copy: unknown): unknown {
  if (typeof copy !== 'object' || copy === null) return copy;
  if (Array.isArray(copy)) return copy.map(readCopy);
  return Object.fromEntries(
    Object.entries(copy).map(([name, value]) => [EARLIER_NAMES[name] ?? name, readCopy(value)]),
  );
}

type Annotated = { metadata: { annotations?: Record<string, string> } };
const read = new WeakMap<Annotated, { published: Published | undefined }>();

/**
 * Reads the published part of a playlist from an annotation, since a change of the spec would be a version of its own.
 * An unreadable annotation counts as none. Objects do not change, so each is read once.
 */
export function readPublished(playlist: Annotated): Published | undefined {
  const known = read.get(playlist);
  if (known) return known.published;
  const copy = readCopy(parseAs(Type.Unknown(), playlist.metadata.annotations?.[PUBLISHED_ANNOTATION]));
  const published = Value.Check(Published, copy) ? copy : undefined;
  read.set(playlist, { published });
  return published;
}

type WithSpec = Annotated & { spec: PlayedPart };

/**
 * Returns the part that streams play: the published version, or the spec where nothing was ever published (kubectl).
 */
export const readPlayedPart = (playlist: WithSpec): PlayedPart => readPublished(playlist) ?? playlist.spec;

/** Names of the uploads of items, and of those that rules name themselves. */
export const listPartUploads = ({ items, rules = [] }: PlayedPart): string[] => [
  ...items.map(({ uploadName }) => uploadName),
  ...rules.flatMap(({ uploadName }) => uploadName ?? []),
];

/** Names of the playlists whose items rules play. */
export const listPartPlaylists = ({ rules = [] }: PlayedPart): string[] => [
  ...new Set(rules.flatMap(({ playlistName }) => playlistName ?? [])),
];

/**
 * Lists what streams play of a playlist: itself, with its items and the uploads that its rules name, and behind it each playlist whose items
 * its rules play, as far as it exists.
 */
export function listPlayedParts<T extends WithSpec>(
  playlist: T,
  find: (name: string) => T | undefined,
): { playlist: T; uploadNames: string[] }[] {
  const part = readPlayedPart(playlist);
  const named = listPartPlaylists(part).flatMap((name) => find(name) ?? []);
  return [
    { playlist, uploadNames: listPartUploads(part) },
    ...named.map((one) => ({
      playlist: one,
      uploadNames: readPlayedPart(one).items.map(({ uploadName }) => uploadName),
    })),
  ];
}

/** Names of all uploads that it needs, each once: of what is played and of what it has become since. */
export const listNeededUploads = (playlist: WithSpec): string[] => [
  ...new Set([...listPartUploads(readPlayedPart(playlist)), ...listPartUploads(playlist.spec)]),
];

/** Names of all playlists that its rules play, each once: likewise. */
export const listNeededPlaylists = (playlist: WithSpec): string[] => [
  ...new Set([...listPartPlaylists(readPlayedPart(playlist)), ...listPartPlaylists(playlist.spec)]),
];
