/** Builds the Program that a stream's pod plays, and reads from it where the stream stands. Pure: no I/O, no clock. */

import { createHash } from 'node:crypto';
import { isSameJson } from '../../lib/json-equal.ts';
import type { Program } from '../../protocol/program.ts';
import { SKIP_ANNOTATIONS } from '../../resources/common/names.ts';
import { listReceivers } from '../../resources/stream/destinations.ts';
import type { Playing, ProgramItem, Track } from '../../resources/stream/playing.ts';
import type { Profile } from '../../resources/stream/profile.ts';
import { leaveOut, leaveOutQuarantined } from '../../resources/stream/quarantine.ts';
import type { LoopStream } from '../../resources/stream/resource.ts';
import { findSeed } from '../../resources/stream/seed.ts';
import { parseCardProfile } from '../../resources/upload/card.ts';
import { findItemWords } from '../../resources/upload/layers.ts';
import { parseLookProfile } from '../../resources/upload/look.ts';
import { type LoudnessTarget, soundProfile } from '../../resources/upload/loudness.ts';
import type { Upload } from '../../resources/upload/resource.ts';
import { slateProfile } from '../../resources/upload/slate.ts';
import { findRendition } from '../../resources/upload/spec.ts';
import type { MediaAssessment } from '../media/assess.ts';
import { type Assessed, type Entry, findProfile, QUARANTINED } from '../media/items.ts';
import { resolveItemCard, resolveLook } from '../media/looks.ts';
import type { StreamObjects } from './observation.ts';
import type { PodClock, TrackClock } from './pod-report.ts';

/** The wishes of a stream for each item. */
interface Wanted {
  profile: Profile;
  loudness: LoudnessTarget | undefined;
  /** Returns the storage key of an item's look; absent where no item has one. */
  findLook?: (upload: Upload, playlist: string | undefined) => string | undefined;
  /** Returns the storage key of a song's card; absent where no song has one. */
  findCard?: (upload: Upload) => string | undefined;
}

/**
 * Returns the key of what an item is to show. Until that is ready, the item goes on with what it had: an edit never shows the plain pictures
 * in between. `isOfKind`: whether a profile is that of something that the stream may show in its place.
 */
function findShown(
  upload: Upload,
  wanted: { profile: string } | 'waits' | undefined,
  hadKey: string | undefined,
  isOfKind: (profile: string) => boolean,
): string | undefined {
  if (wanted === undefined) return undefined;
  const made = wanted === 'waits' ? undefined : findRendition(upload, wanted.profile);
  if (made?.state === 'ready') return made.key;
  const had = upload.status?.renditions?.find(({ key, profile }) => key === hadKey && isOfKind(profile));
  return had && findRendition(upload, had.profile)?.state === 'ready' ? had.key : undefined;
}

type LookedUp = Pick<StreamObjects, 'uploads' | 'playlists'>;

/** Finds the pictures of each item with its overlays. */
function createLookFinder(
  stream: LoopStream,
  { uploads, playlists }: LookedUp,
  previous: Program | undefined,
): Required<Wanted>['findLook'] {
  const before = new Map(previous?.video.items.map(({ id, rendition }) => [id, rendition]));
  const isInProfile = (profile: string) => parseLookProfile(profile)?.profile === findProfile(stream);
  return (upload, playlist) => {
    const place = { upload, playlist: playlist === undefined ? undefined : playlists.get(playlist) };
    const look = resolveLook(stream, place, (name) => uploads.get(name));
    return findShown(upload, look, before.get(upload.metadata.name), isInProfile);
  };
}

/** Finds the card of each song. */
function createCardFinder(
  stream: LoopStream,
  { uploads }: LookedUp,
  previous: Program | undefined,
): Required<Wanted>['findCard'] {
  const before = new Map(previous?.audio?.items.map(({ id, card }) => [id, card]));
  const isInProfile = (profile: string) => parseCardProfile(profile) === findProfile(stream);
  return (upload) => {
    const card = resolveItemCard(stream, upload, (name) => uploads.get(name));
    return findShown(upload, card, before.get(upload.metadata.name), isInProfile);
  };
}

/** Storage key of the sound that has this loudness, where the sound of the file has not. */
function findSound(upload: Upload, loudness: LoudnessTarget): string | undefined {
  const sound = findRendition(upload, soundProfile(loudness));
  return sound?.state === 'ready' && sound.loudness?.gainDb ? sound.key : undefined;
}

/** Storage key of the stream's own slate, once that is prepared. */
function findSlate({ spec }: LoopStream, { uploads }: Pick<StreamObjects, 'uploads'>, profile: Profile) {
  const upload = spec.slate && uploads.get(spec.slate.uploadName);
  if (!upload || upload.spec.quarantine) return undefined;
  const made = findRendition(upload, slateProfile(profile));
  return made?.state === 'ready' ? made.key : undefined;
}

/** Numbers the artists of items. Nothing is said where each artist has one item. */
function findApart(
  least: number | undefined,
  entries: readonly Entry[],
  { uploads }: Pick<StreamObjects, 'uploads'>,
): Pick<Track, 'apart'> {
  if (least === undefined) return {};
  const artists = entries.flatMap(({ upload: id }) => {
    if (id === undefined) return [];
    const upload = uploads.get(id);
    return [upload ? findItemWords(upload).artist.trim().toLowerCase() : ''];
  });
  const named = artists.filter(Boolean);
  const numbers = new Map([...new Set(named)].map((artist, i) => [artist, i + 1]));
  if (numbers.size === named.length) return {};
  return { apart: { least, groups: artists.map((artist) => numbers.get(artist) ?? 0) } };
}

/**
 * The track that the pod is given. An item that cannot be played keeps its place without a rendition, so that the order of a
 * shuffled list stays when it joins, and an index means the same in the pod and in the playlist.
 */
function buildTrack(
  { mode, sameArtist, entries, kind, rules = [] }: Assessed,
  objects: StreamObjects,
  wanted: Wanted,
): Track {
  const { profile, loudness, findLook, findCard } = wanted;
  const lists: NonNullable<Track['lists']> = [];
  for (const { upload, playlist } of entries) {
    if (upload === undefined || playlist === undefined) continue;
    const last = lists.at(-1);
    if (last?.id === playlist) last.items += 1;
    else lists.push({ id: playlist, items: 1 });
  }
  const buildItem = ({ upload: id, name = '', playlist, problem }: Entry): ProgramItem[] => {
    if (id === undefined) return [];
    const upload = problem ? undefined : objects.uploads.get(id);
    if (problem?.reason === QUARANTINED) return [leaveOut({ id, name }, objects.uploads.get(id))];
    const plain = (upload && findRendition(upload, profile)?.key) ?? '';
    const look = upload && plain !== '' && kind === 'video' ? findLook?.(upload, playlist) : undefined;
    const rendition = look ?? plain;
    const sound = upload && rendition !== '' && loudness ? findSound(upload, loudness) : undefined;
    if (kind === 'video') return [{ id, name, rendition, ...(sound && { sound }) }];
    const card = upload && rendition !== '' ? findCard?.(upload) : undefined;
    // A song is its sound.
    return [{ id, name, rendition: sound ?? rendition, ...(card !== undefined && { card }) }];
  };
  const played = rules.map(
    ({ rule: { playlistName, uploadName: _, ...terms }, name, entries: own, sameArtist: least }) => ({
      ...terms,
      name,
      items: own.flatMap(buildItem),
      ...(playlistName !== undefined && { list: playlistName }),
      ...findApart(least, own, objects),
    }),
  );
  const items = entries.flatMap(buildItem);
  const apart = findApart(sameArtist, entries, objects);
  return { mode, items, ...(lists.length > 0 && { lists }), ...apart, ...(played.length > 0 && { rules: played }) };
}

/** Where a stream stands: what outlives a pod. */
export type Playhead = Pick<Program, 'epoch' | 'audioEpoch' | 'standings' | 'skipped'>;

export const pickPlayhead = ({ epoch, audioEpoch, standings, skipped }: Playhead): Playhead => ({
  epoch,
  ...(audioEpoch !== undefined && { audioEpoch }),
  ...(standings && { standings }),
  ...(skipped && { skipped }),
});

/** Where the stream stood when its status was written last. */
export const findKeptPlayhead = ({ status }: LoopStream): Playhead | undefined =>
  status?.epoch === undefined ? undefined : pickPlayhead({ ...status, epoch: status.epoch });

/** Another one when where the stream is sent has changed: a destination, its Secret, or what is in that. */
const hashDestinations = ({ spec }: Pick<LoopStream, 'spec'>, { destinations }: StreamObjects): string => {
  const parts = listReceivers(spec).map((name) => {
    const { metadata, spec: { secretName, leastBitrateKbps } = {}, status } = destinations.get(name) ?? {};
    const told = [name, metadata?.uid, secretName, status?.secretVersion];
    return leastBitrateKbps === undefined ? told : [...told, leastBitrateKbps];
  });
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 16);
};

/** The program without where it is sent. */
const played = ({ destinations: _, destinationsRevision: __, ...rest }: Program) => rest;

/** The objects that a stream refers to, with what can be played of its media. */
interface PlayableObjects extends StreamObjects {
  media: Pick<MediaAssessment, 'tracks'>;
}

/** Builds the program of a stream's pod, which follows on `previous`; only for a stream whose media can be played. */
export function buildProgram(
  stream: LoopStream,
  { media, ...objects }: PlayableObjects,
  playhead: string | Playhead,
  previous?: Program,
): Program {
  const profile = findProfile(stream);
  const wanted = {
    profile,
    loudness: stream.spec.loudness,
    ...(stream.spec.overlays && { findLook: createLookFinder(stream, objects, previous) }),
    ...(stream.spec.cards && { findCard: createCardFinder(stream, objects, previous) }),
  };
  const [video, audio] = media.tracks.map((track) => buildTrack(track, objects, wanted));
  const slate = findSlate(stream, objects, profile);
  const program: Program = {
    version: stream.metadata.generation ?? 1,
    ...(typeof playhead === 'string' ? { epoch: playhead } : pickPlayhead(playhead)),
    seed: findSeed(stream),
    profile,
    video: video ?? { mode: 'sequential', items: [] },
    ...(audio && { audio }),
    ...(slate !== undefined && { slate }),
    destinations: listReceivers(stream.spec),
    destinationsRevision: hashDestinations(stream, objects),
  };
  return previous ? followOn(program, previous) : program;
}

/**
 * The program for a pod that plays `previous`. One that says the same is `previous`, so that an edit which changes nothing on air (a
 * display name) changes no pod; when it plays something else, its version rises.
 */
export function followOn(program: Program, previous: Program): Program {
  const unchanged = { ...program, version: previous.version };
  if (isSameJson(unchanged, previous)) return previous;
  return isSameJson(played(unchanged), played(previous)) ? unchanged : { ...program, version: previous.version + 1 };
}

/** The program on air without the uploads that are in quarantine now; undefined where it has none of them. */
export function dropQuarantined(
  program: Program | undefined,
  { uploads }: Pick<StreamObjects, 'uploads'>,
): Program | undefined {
  if (!program) return undefined;
  const left = leaveOutQuarantined(program, uploads);
  return left === program ? undefined : followOn(left, program);
}

/** The program of a stream that goes on with what it played, wherever it is sent now. */
export const rebuildProgram = (
  stream: LoopStream,
  objects: StreamObjects,
  playhead: Playhead,
  playing: Playing,
): Program => ({
  ...playing,
  ...pickPlayhead(playhead),
  seed: findSeed(stream),
  destinations: listReceivers(stream.spec),
  destinationsRevision: hashDestinations(stream, objects),
});

export interface Skip {
  track: 'video' | 'audio';
  /** The value of the annotation. */
  id: string;
  /** Too old, or of a track that the stream does not have. */
  void: boolean;
}

/** A request for the next item expires: nobody wants it minutes later. */
const VALID_MS = 120_000;
const TRACKS = ['video', 'audio'] as const;

const asked = ({ metadata }: LoopStream, track: Skip['track']): string | undefined =>
  metadata.annotations?.[SKIP_ANNOTATIONS[track]] || undefined;

const isOld = (id: string, now: Date): boolean => now.getTime() - Date.parse(id.split(' ', 1)[0] ?? '') > VALID_MS;

export function findPendingSkip(stream: LoopStream, { skipped, audio }: Program, now: Date): Skip | undefined {
  for (const track of TRACKS) {
    const id = asked(stream, track);
    if (id === undefined || id === skipped?.[track]) continue;
    return { track, id, void: isOld(id, now) || (track === 'audio' && !audio) };
  }
  return undefined;
}

/** Everything that was asked for until now, as done: a stream that goes on air anew begins at the beginning. */
export function readSkipped(stream: LoopStream): Pick<Program, 'skipped'> {
  const video = asked(stream, 'video');
  const audio = asked(stream, 'audio');
  if (video === undefined && audio === undefined) return {};
  return { skipped: { ...(video !== undefined && { video }), ...(audio !== undefined && { audio }) } };
}

export const withSkipped = (program: Program, { track, id }: Skip): Program => ({
  ...program,
  skipped: { ...program.skipped, [track]: id },
});

/** `reported` when it is another moment than `known`: the two may be written differently. */
const updateEpoch = (known: string, reported: string | undefined): string =>
  reported !== undefined && Date.parse(reported) !== Date.parse(known) ? reported : known;

/**
 * The program with the epochs that its pod now has, where they are of this version of it; the same object when they are
 * what it says. The pod knows what it has been given from then on; the one after it does not.
 */
export function withClock(program: Program, clock: PodClock): Program {
  const { video, audio } = clock;
  const read = (one: TrackClock | undefined) => (one?.version === program.version ? one.epoch : undefined);
  const { audioEpoch: audioBefore = program.epoch, ...rest } = program;
  const epoch = updateEpoch(program.epoch, read(video));
  const audioEpoch = updateEpoch(audioBefore, read(audio));
  const standings = updateStandings(program, clock);
  const isSame = epoch === program.epoch && audioEpoch === audioBefore;
  if (isSame && isSameJson(standings, program.standings ?? {})) return program;
  return {
    ...withoutStandings(rest),
    epoch,
    ...(program.audio && audioEpoch !== epoch && { audioEpoch }),
    ...((standings.video || standings.audio) && { standings }),
  };
}

const withoutStandings = <T extends Pick<Program, 'standings'>>({ standings: _, ...rest }: T) => rest;

/** Where the lists with rules stood at the epochs of the pod. */
function updateStandings({ version, standings }: Program, clock: PodClock): NonNullable<Program['standings']> {
  const read = (kind: 'video' | 'audio') =>
    clock[kind]?.version === version ? clock[kind] : { standing: standings?.[kind] };
  const [{ standing: video }, { standing: audio }] = [read('video') ?? {}, read('audio') ?? {}];
  return { ...(video && { video }), ...(audio && { audio }) };
}
