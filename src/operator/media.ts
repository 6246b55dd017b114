/**
 * Which uploads a stream plays, whether they can be played in its profile, and the Program made of them.
 * Pure: no I/O, no clock.
 */
import { createHash } from 'node:crypto';
import type { LoopStream, Playlist, Upload } from '../kube/resources.ts';
import { playedOf } from '../playlists/spec.ts';
import { type Profile, profileOf } from '../streams/profile.ts';
import type { Playing, Program, Track } from '../streams/program.ts';
import { isWanted, type Phase, type ReadinessReason } from '../streams/spec.ts';
import { nameOfUpload } from '../uploads/name.ts';
import { renditionOf } from '../uploads/spec.ts';
import { type Hold, holdOf } from './hold.ts';
import { same } from './same.ts';
import type { Finding, World } from './world.ts';

export const profileOfStream = (stream: Pick<LoopStream, 'spec'>): Profile =>
  profileOf(stream.spec.quality, stream.spec.framerate);

/** Phases in which preparing a stream's media sooner would bring nothing on air sooner. */
const PATIENT = new Set<Phase | undefined>(['scheduled', 'live', 'reconnecting', 'stopping', 'ended', 'failed']);

/** Whether a stream is meant to be on air now and is not there yet, so that somebody waits for it. */
export const isWaiting = ({ spec, status }: Pick<LoopStream, 'spec' | 'status'>): boolean =>
  isWanted(spec) && !PATIENT.has(status?.phase);

/** Names of the playlists that a stream refers to, of both kinds. */
export const playlistNames = (stream: Pick<LoopStream, 'spec'>): string[] => [
  ...(stream.spec.playlistRefs ?? []),
  ...(stream.spec.audioPlaylistRefs ?? []),
];

/** Names of the uploads that streams play of a playlist, in order. */
export const itemNames = (playlist: Pick<Playlist, 'metadata' | 'spec'>): string[] =>
  playedOf(playlist).items.map((item) => item.uploadRef);

interface Wanted {
  kind: 'video' | 'audio';
  mode: Track['mode'];
  uploads: string[];
}

/** The tracks a stream asks for. Several playlists play one after the other, in the mode of the first. */
function wantedTracks(stream: Pick<LoopStream, 'spec'>, playlists: World['playlists']): Wanted[] {
  const { uploadRef, playlistRefs = [], audioPlaylistRefs = [] } = stream.spec;
  const fromPlaylists = (kind: Wanted['kind'], refs: string[]): Wanted => {
    const found = refs.flatMap((ref) => playlists.get(ref) ?? []);
    return { kind, mode: found[0] ? playedOf(found[0]).mode : 'sequential', uploads: found.flatMap(itemNames) };
  };
  const video: Wanted =
    playlistRefs.length > 0
      ? fromPlaylists('video', playlistRefs)
      : { kind: 'video', mode: 'sequential', uploads: uploadRef === undefined ? [] : [uploadRef] };
  return audioPlaylistRefs.length > 0 ? [video, fromPlaylists('audio', audioPlaylistRefs)] : [video];
}

/** Names of all uploads that a stream plays, each once. */
export const uploadNames = (stream: Pick<LoopStream, 'spec'>, playlists: World['playlists']): string[] => [
  ...new Set(wantedTracks(stream, playlists).flatMap((track) => track.uploads)),
];

const finding = (reason: ReadinessReason, message: string): Finding => ({ reason, message });

function playlistProblem(stream: LoopStream, playlists: World['playlists']): Finding | undefined {
  const { uploadRef, playlistRefs = [], audioPlaylistRefs = [] } = stream.spec;
  if (uploadRef === undefined && playlistRefs.length === 0) {
    return finding('UploadNotFound', 'The stream names no video: it needs an uploadRef or playlistRefs.');
  }
  for (const [kind, refs] of [
    ['video', playlistRefs],
    ['audio', audioPlaylistRefs],
  ] as const) {
    for (const name of refs) {
      const playlist = playlists.get(name);
      if (!playlist) return finding('PlaylistNotFound', `Playlist "${name}" does not exist.`);
      if (playlist.spec.kind !== kind) {
        return finding('PlaylistNotFound', `Playlist "${name}" is of kind ${playlist.spec.kind}, not ${kind}.`);
      }
      if (itemNames(playlist).length === 0) return finding('PlaylistEmpty', `Playlist "${name}" has no items.`);
    }
  }
  return undefined;
}

function uploadProblem(
  name: string,
  upload: Upload | undefined,
  kind: Wanted['kind'],
  profile: Profile,
  hold: Hold | undefined,
): Finding | undefined {
  if (!upload) return finding('UploadNotFound', `Upload "${name}" does not exist.`);
  if (kind === 'video' && upload.spec.type === 'audio') {
    return finding('MediaFailed', `Upload "${name}" is audio; the stream needs a video to loop.`);
  }
  const { status } = upload;
  if (!status?.media) {
    return status?.error
      ? finding('MediaFailed', `Upload "${name}" failed: ${status.error.message}`)
      : finding('MediaImporting', `Upload "${name}" is still being fetched.`);
  }
  const rendition = renditionOf(upload, profile);
  if (rendition?.state === 'ready') return undefined;
  if (rendition?.state === 'failed') {
    return finding('MediaFailed', `Upload "${name}" could not be prepared: ${rendition.error?.message ?? ''}`.trim());
  }
  if (!hold) return finding('MediaPreparing', `Upload "${name}" is being prepared for ${profile}.`);
  const message = `Upload "${name}" is prepared for ${profile} ${hold.once}.`;
  return { ...finding(hold.reason, message), ...(hold.isUnknown && { unknown: true }) };
}

/** What a person has to act on comes first, what only takes time comes last. */
const URGENCY: string[] = [
  'UploadNotFound',
  'MediaFailed',
  'MediaAwaitsCredit',
  'MediaAwaitsGate',
  'MediaImporting',
  'MediaPreparing',
];

/** Why the media of a stream cannot be played yet; undefined when every item of every track is ready. */
export function mediaProblem(stream: LoopStream, world: World): Finding | undefined {
  const playlist = playlistProblem(stream, world.playlists);
  if (playlist) return playlist;
  const [profile, hold] = [profileOfStream(stream), holdOf(stream)];
  const checked = new Map<string, Finding | undefined>();
  for (const track of wantedTracks(stream, world.playlists)) {
    for (const name of track.uploads) {
      const key = `${track.kind} ${name}`;
      if (!checked.has(key)) checked.set(key, uploadProblem(name, world.uploads.get(name), track.kind, profile, hold));
    }
  }
  const problems = [...checked.values()].filter((problem) => problem !== undefined);
  const worst = problems.sort((a, b) => URGENCY.indexOf(a.reason) - URGENCY.indexOf(b.reason))[0];
  if (!worst || problems.length === 1) return worst;
  return { ...worst, message: `${worst.message} In all, ${problems.length} of ${checked.size} items are not ready.` };
}

function buildTrack(wanted: Wanted, world: World, profile: Profile): Track {
  const items = wanted.uploads.flatMap((name) => {
    const upload = world.uploads.get(name);
    if (!upload) return [];
    const rendition = renditionOf(upload, profile);
    return rendition?.key ? [{ id: name, name: nameOfUpload(upload) ?? name, rendition: rendition.key }] : [];
  });
  return { mode: wanted.mode, items };
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
  const [video, audio] = wantedTracks(stream, world.playlists).map((track) => buildTrack(track, world, profile));
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
