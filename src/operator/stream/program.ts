/**
 * Tells which uploads a stream plays, and makes the Program of those that can be played (playable.ts).
 * Pure: no I/O, no clock.
 */
import { createHash } from 'node:crypto';
import type { Profile } from '../../resources/stream/profile.ts';
import type { Playing, Program, Track } from '../../resources/stream/program.ts';
import type { LoopStream } from '../../resources/stream/resource.ts';
import { renditionOf } from '../../resources/upload/spec.ts';
import { type Assessed, assessTracks, profileOfStream } from '../media/items.ts';
import { same } from '../runtime/same.ts';
import type { World } from './observe.ts';

/**
 * The track that the pod is given. An item that cannot be played keeps its place without a rendition, so that the order of a
 * shuffled list stays when it joins, and an index means the same in the pod and in the playlist.
 */
function buildTrack({ mode, entries }: Assessed, world: World, profile: Profile): Track {
  const lists: NonNullable<Track['lists']> = [];
  const items = entries.flatMap(({ upload: id, name = '', playlist, problem }) => {
    if (id === undefined) return [];
    const upload = problem ? undefined : world.uploads.get(id);
    const last = lists.at(-1);
    if (playlist !== undefined && last?.id === playlist) last.items += 1;
    else if (playlist !== undefined) lists.push({ id: playlist, items: 1 });
    return [{ id, name, rendition: (upload && renditionOf(upload, profile)?.key) ?? '' }];
  });
  return { mode, items, ...(lists.length > 0 && { lists }) };
}

/** The seed of the shuffle: the same for the whole life of a stream, different for each. */
const seedOf = (uid: string): number => createHash('sha256').update(uid).digest().readUInt32BE(0);

/** Where a stream stands: what outlives a pod. */
export type Since = Pick<Program, 'epoch' | 'audioEpoch' | 'skipped'>;

export const sinceOf = ({ epoch, audioEpoch, skipped }: Since): Since => ({
  epoch,
  ...(audioEpoch !== undefined && { audioEpoch }),
  ...(skipped && { skipped }),
});

/** Another one when where the stream is sent has changed: a destination, its Secret, or what is in that. */
const revisionOf = ({ spec }: Pick<LoopStream, 'spec'>, { destinations }: World): string => {
  const parts = spec.destinationRefs.map((name) => {
    const { metadata, status } = destinations.get(name) ?? {};
    return [name, metadata?.uid, destinations.get(name)?.spec.secretName, status?.secretVersion];
  });
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 16);
};

/** The program without where it is sent. */
const played = ({ destinations: _, destinationsRevision: __, ...rest }: Program) => rest;

/**
 * What the stream's pod is to play; only for a stream without `mediaProblem`. A program that says the same as `previous`
 * is `previous`, so that an edit which changes nothing on air (a display name) changes no pod; when it plays something else,
 * its version rises.
 */
export function programOf(stream: LoopStream, world: World, since: string | Since, previous?: Program): Program {
  const profile = profileOfStream(stream);
  const [video, audio] = assessTracks(stream, world).map((track) => buildTrack(track, world, profile));
  const program: Program = {
    version: previous ? previous.version + 1 : (stream.metadata.generation ?? 1),
    ...(typeof since === 'string' ? { epoch: since } : sinceOf(since)),
    seed: seedOf(stream.metadata.uid),
    profile,
    video: video ?? { mode: 'sequential', items: [] },
    ...(audio && { audio }),
    destinations: [...stream.spec.destinationRefs],
    destinationsRevision: revisionOf(stream, world),
  };
  if (!previous) return program;
  const unchanged = { ...program, version: previous.version };
  if (same(unchanged, previous)) return previous;
  return same(played(unchanged), played(previous)) ? unchanged : program;
}

/** The program of a stream that goes on with what it played, wherever it is sent now. */
export const programOfKept = (stream: LoopStream, world: World, since: Since, playing: Playing): Program => ({
  ...playing,
  ...sinceOf(since),
  seed: seedOf(stream.metadata.uid),
  destinations: [...stream.spec.destinationRefs],
  destinationsRevision: revisionOf(stream, world),
});
