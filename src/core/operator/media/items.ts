/**
 * Judges each item that a stream refers to: whether it can be played in the stream's profile, and if not, why. A list goes on air
 * with the items that can (`spec.itemFailurePolicy: Skip`), or only as a whole (`Block`). Preparing costs more than anything else that
 * an account can ask for, so media is prepared only for streams whose readiness gates are all open. Pure: no I/O, no clock.
 */

import type { ReadinessReason } from '../../lib/codes/streams.ts';
import { SENTENCES } from '../../lib/sentences.ts';
import { beginWith, callObject, callPlace } from '../../resources/common/called.ts';
import { findCondition } from '../../resources/common/conditions.ts';
import { CREDIT_CONDITION, SUSPENDED_ANNOTATION } from '../../resources/common/names.ts';
import type { Playlist } from '../../resources/playlist/resource.ts';
import type { RuleSpec } from '../../resources/playlist/rules.ts';
import { listPartPlaylists, listPartUploads, readPlayedPart } from '../../resources/playlist/spec.ts';
import type { Playing, Track } from '../../resources/stream/playing.ts';
import { formatProfile, type Profile } from '../../resources/stream/profile.ts';
import { readGates } from '../../resources/stream/readiness.ts';
import type { LoopStream } from '../../resources/stream/resource.ts';
import { isWanted, type MediaField, type Phase } from '../../resources/stream/spec.ts';
import { listTrackItems } from '../../resources/stream/track-items.ts';
import { findUploadName } from '../../resources/upload/name.ts';
import { describeQuarantine } from '../../resources/upload/quarantine.ts';
import type { Upload } from '../../resources/upload/resource.ts';
import { findRendition, isPlayable, type RenditionStatus } from '../../resources/upload/spec.ts';
import type { Finding } from '../runtime/controller.ts';
import { findImageProblem, findLookProblem, resolveLook } from './looks.ts';

/** One place of a list, or a playlist that has none. */
export interface Entry {
  field: MediaField;
  playlist?: string;
  /** Place in its playlist, from 0. */
  index?: number;
  /** Name of the Upload. */
  upload?: string;
  /** The name that people see. */
  name?: string;
  /** Why it cannot be played; undefined when it can. */
  problem?: Finding | undefined;
}

export interface Assessed {
  kind: 'video' | 'audio';
  mode: Track['mode'];
  /** Other items that play between two of one artist in shuffle. */
  sameArtist?: number;
  /** All entries with an upload are items of the track, in this order. */
  entries: Entry[];
  /** The rules of its playlists, in their order. */
  rules?: AssessedRule[];
}

export interface AssessedRule {
  rule: RuleSpec;
  /** Name of the rule in the stream. */
  name: string;
  sameArtist?: number;
  entries: Entry[];
}

/** All entries of a track, those of its rules behind its own. */
export const listEntries = ({ entries, rules = [] }: Assessed): Entry[] => [
  ...entries,
  ...rules.flatMap((rule) => rule.entries),
];

export const findProfile = (stream: Pick<LoopStream, 'spec'>): Profile =>
  formatProfile(stream.spec.quality, stream.spec.framerate);

const finding = (reason: ReadinessReason, message: string): Finding => ({ reason, message });

export const QUARANTINED = 'UploadQuarantined' satisfies ReadinessReason;

/** The upload as a sentence names it: where it is in a playlist, too. */
function subject({ upload = '', name, index }: Entry, playlist: Playlist | undefined): string {
  const called = beginWith(callObject('upload', upload, name));
  if (!playlist || index === undefined) return called;
  return `${called}, ${callPlace(index, playlist.metadata.name, playlist.spec.displayName)},`;
}

/** Reasons of the condition Imported that say no more than that the file is on its way. */
const UNDER_WAY = new Set(['Importing', 'Receiving']);

/** The sentence about what an import waits for; empty where it is only under way. */
function importNote(upload: Upload): string {
  const imported = findCondition(upload.status?.conditions, 'Imported');
  return imported === undefined || UNDER_WAY.has(imported.reason) ? '' : ` ${imported.message}`;
}

/** How far a rendition is that cannot be played yet; empty while nobody can say. */
function preparingNote({ preparedSeconds, estimatedReadyAt }: RenditionStatus, totalSeconds: number): string {
  if (preparedSeconds === undefined || totalSeconds === 0) return '';
  const percent = Math.min(99, Math.floor((100 * preparedSeconds) / totalSeconds));
  const end = estimatedReadyAt === undefined ? '' : ` All of it is expected at ${estimatedReadyAt}.`;
  return ` ${percent} % of it is prepared.${end}`;
}

/** The demands of a stream on its media. */
interface Ask {
  profile: Profile;
  /** Media counts only when all of it is prepared. */
  whole: boolean;
  hold: Hold | undefined;
}

function uploadProblem(
  what: string,
  upload: Upload | undefined,
  kind: Assessed['kind'],
  { profile, whole, hold }: Ask,
): Finding | undefined {
  if (!upload) return finding('UploadNotFound', `${what} does not exist.`);
  const { track, quarantine } = upload.spec;
  if (quarantine) return finding(QUARANTINED, describeQuarantine(what, quarantine.reason));
  if (kind === 'video' && track === 'audio') {
    return finding('MediaFailed', `${what} is audio; the stream needs a video to loop.`);
  }
  if (track === 'image') return finding('MediaFailed', `${what} ${SENTENCES.imageIsNoItem}`);
  const { status } = upload;
  const rendition = findRendition(upload, profile);
  // The beginning may be playable while the rest of the file is still arriving.
  if (rendition && (whole ? rendition.state === 'ready' : isPlayable(rendition))) return undefined;
  if (!status?.media) {
    return status?.error
      ? finding('MediaFailed', `${what} could not be imported: ${status.error.message}`)
      : finding('MediaImporting', `${what} is still being imported.${importNote(upload)}`);
  }
  if (rendition?.state === 'failed') {
    return finding('MediaFailed', `${what} could not be prepared: ${rendition.error?.message ?? ''}`.trim());
  }
  if (!hold) {
    const note = rendition ? preparingNote(rendition, status.media.durationSeconds) : '';
    return finding('MediaPreparing', `${what} is being prepared for ${profile}.${note}`);
  }
  return {
    ...finding(hold.reason, `${what} will be prepared for ${profile} ${hold.once}.`),
    ...(hold.isUnknown && { unknown: true }),
  };
}

/** How far items of one artist are kept apart in a playlist that is shuffled. */
function readApart(playlist: Playlist | undefined): { sameArtist?: number } {
  const { sameArtist = 0 } = (playlist && readPlayedPart(playlist).notWithin) ?? {};
  return sameArtist > 0 ? { sameArtist } : {};
}

/**
 * The tracks of a stream with what can be played of them. Several playlists play one after the other, in the mode of the
 * first. A decision assesses them once: with 500 items, that is most of its work.
 */
export function assessTracks(stream: LoopStream, objects: MediaObjects): Assessed[] {
  const { uploadName, playlistNames = [], audioPlaylistNames = [] } = stream.spec;
  const ask = { profile: findProfile(stream), whole: stream.spec.startPolicy === 'Prepared', hold: findHold(stream) };
  const isRequired = stream.spec.overlays?.required === true;
  const image = isRequired ? findImageProblem(stream, (name) => objects.uploads.get(name)) : undefined;
  const findLook = (what: string, upload: Upload, playlist: Playlist | undefined) => {
    const look = resolveLook(stream, { upload, playlist }, (name) => objects.uploads.get(name));
    return findLookProblem(what, upload, look, image);
  };
  const assessEntry = (kind: Assessed['kind'], entry: Entry & { upload: string }, playlist?: Playlist): Entry => {
    const upload = objects.uploads.get(entry.upload);
    const name = (upload && findUploadName(upload)) ?? entry.upload;
    const what = subject({ ...entry, name }, playlist);
    const plain = uploadProblem(what, upload, kind, ask);
    const problem = plain ?? (isRequired && upload && kind === 'video' ? findLook(what, upload, playlist) : undefined);
    return { ...entry, name, problem };
  };
  const assessList = (kind: Assessed['kind'], field: MediaField, name: string): Entry[] => {
    const playlist = objects.playlists.get(name);
    const fault = (reason: ReadinessReason, message: string) => [
      { field, playlist: name, problem: finding(reason, message) },
    ];
    if (!playlist) return fault('PlaylistNotFound', `${beginWith(callObject('playlist', name))} does not exist.`);
    const called = beginWith(callObject('playlist', name, playlist.spec.displayName));
    if (playlist.spec.track !== kind)
      return fault('PlaylistNotFound', `${called} is of kind ${playlist.spec.track}, not ${kind}.`);
    const { items } = readPlayedPart(playlist);
    if (items.length === 0) return fault('PlaylistEmpty', `${called} has no items.`);
    return items.map(({ uploadName: upload }, index) =>
      assessEntry(kind, { field, playlist: name, index, upload }, playlist),
    );
  };
  const fromPlaylists = (kind: Assessed['kind'], field: MediaField, refs: string[]): Assessed => {
    const lists = refs.map((name) => ({ name, entries: assessList(kind, field, name) }));
    const playable = lists.filter(({ entries }) => entries.some(({ upload }) => upload !== undefined));
    const played = playable.flatMap(({ name }) => objects.playlists.get(name) ?? []).map(readPlayedPart);
    const rules = playable.flatMap(({ name: playlist }, index) =>
      (played[index]?.rules ?? []).map((rule): AssessedRule => {
        const { uploadName: upload, playlistName } = rule;
        const entries = upload === undefined ? [] : [assessEntry(kind, { field, playlist, upload })];
        return {
          rule,
          name: refs.length > 1 ? `${playlist}/${rule.name}` : rule.name,
          entries: playlistName === undefined ? entries : assessList(kind, field, playlistName),
          ...(rule.pick === 'Shuffle' && readApart(objects.playlists.get(playlistName ?? ''))),
        };
      }),
    );
    return {
      kind,
      mode: played[0]?.mode ?? 'sequential',
      ...(played[0]?.mode === 'shuffle' && readApart(objects.playlists.get(playable[0]?.name ?? ''))),
      entries: lists.flatMap(({ entries }) => entries),
      ...(rules.length > 0 && { rules }),
    };
  };
  const single = (): Assessed => {
    const none = finding('UploadNotFound', 'The stream has no video; set uploadName or playlistNames.');
    const entry: Entry =
      uploadName === undefined
        ? { field: 'uploadName', problem: none }
        : assessEntry('video', { field: 'uploadName', upload: uploadName });
    return { kind: 'video', mode: 'sequential', entries: [entry] };
  };
  const video = playlistNames.length > 0 ? fromPlaylists('video', 'playlistNames', playlistNames) : single();
  return audioPlaylistNames.length > 0
    ? [video, fromPlaylists('audio', 'audioPlaylistNames', audioPlaylistNames)]
    : [video];
}

/** Problems that a person has to act on come first, those that only take time last. */
const URGENCY: string[] = [
  'PlaylistNotFound',
  'PlaylistEmpty',
  'UploadNotFound',
  'UploadQuarantined',
  'MediaFailed',
  'MediaAwaitsCredit',
  'MediaAwaitsGate',
  'MediaImporting',
  'MediaPreparing',
];
const urgency = ({ problem }: Entry): number => URGENCY.indexOf(problem?.reason ?? '');

/** Problems that go away without anybody editing the list. */
const ON_THE_WAY: ReadonlySet<string> = new Set([
  'MediaAwaitsCredit',
  'MediaAwaitsGate',
  'MediaImporting',
  'MediaPreparing',
]);
export const isOnTheWay = (reason: string): boolean => ON_THE_WAY.has(reason);

export const isBlocking = ({ spec }: Pick<LoopStream, 'spec'>): boolean => spec.itemFailurePolicy === 'Block';

/** Entries that cannot be played, the most urgent first. */
export const listUnplayable = (tracks: readonly Assessed[]): Entry[] =>
  tracks
    .flatMap(listEntries)
    .filter(({ problem }) => problem !== undefined)
    .sort((a, b) => urgency(a) - urgency(b));

export const countItems = (tracks: readonly Assessed[]): number =>
  tracks.reduce((sum, track) => sum + listEntries(track).length, 0);

/** Whether an item that cannot be played is wanted. */
const isMissing = ({ problem }: Entry): boolean => problem !== undefined && problem.reason !== QUARANTINED;

/**
 * Why the media of a stream cannot go on air; undefined when it can. With Skip each track needs one item that plays, and what is
 * nearest to that is named: the track plays when it is ready. With Block every item is needed, those of rules too, but for those in
 * quarantine, which somebody wants left out, and the most urgent is named.
 */
export function findMediaProblem(stream: Pick<LoopStream, 'spec'>, tracks: readonly Assessed[]): Finding | undefined {
  const skips = !isBlocking(stream);
  const stuck = tracks.filter((track) => {
    const isUnplayable = ({ problem }: Entry) => problem !== undefined;
    return track.entries.every(isUnplayable) || (!skips && listEntries(track).some(isMissing));
  });
  const problems = listUnplayable(skips ? stuck.slice(0, 1).map((track) => ({ ...track, rules: [] })) : stuck);
  const nearest = problems.at(-1);
  const named = skips
    ? problems.find((entry) => nearest && urgency(entry) === urgency(nearest))
    : (problems.find(isMissing) ?? problems[0]);
  const first = named?.problem;
  if (!first || problems.length === 1) return first;
  return {
    ...first,
    message: `${first.message} ${problems.length} of ${countItems(tracks)} items are not ready.`,
  };
}

/** Whether a program that is on air would lose items that only have to be prepared again, as for another quality. */
export function losesItems(tracks: readonly Assessed[], { video, audio }: Pick<Playing, 'video' | 'audio'>): boolean {
  const playing = (track: Track | undefined) =>
    new Set(track && listTrackItems(track).flatMap(({ id, rendition }) => (rendition === '' ? [] : [id])));
  const now = { video: playing(video), audio: playing(audio) };
  return tracks.some((track) =>
    listEntries(track).some(
      ({ upload, problem }) =>
        problem !== undefined && upload !== undefined && isOnTheWay(problem.reason) && now[track.kind].has(upload),
    ),
  );
}

/** Why nothing is prepared for a stream. */
export interface Hold {
  reason: ReadinessReason;
  /** Completes "The media will be prepared …". */
  once: string;
  /** Nobody has said yet whether the gate is open. */
  isUnknown: boolean;
  /** Since when the gate is closed (RFC 3339); absent while its condition does not exist. */
  since?: string;
}

/** Undefined for a stream that may go on air. Without billing streams have no gates. */
export function findHold({
  metadata,
  spec,
  status,
}: Pick<LoopStream, 'metadata' | 'spec' | 'status'>): Hold | undefined {
  if (metadata.annotations?.[SUSPENDED_ANNOTATION] !== undefined)
    return { reason: 'MediaAwaitsGate', once: 'when the account is no longer suspended', isUnknown: false };
  const gate = readGates(spec, status?.conditions).find((one) => one.status !== 'True');
  if (!gate) return undefined;
  const since = findCondition(status?.conditions, gate.type)?.lastTransitionTime;
  const isCredit = gate.type === CREDIT_CONDITION;
  return {
    reason: isCredit ? 'MediaAwaitsCredit' : 'MediaAwaitsGate',
    once: isCredit ? 'when the account has credit' : `when the condition "${gate.type}" is true`,
    isUnknown: gate.status === 'Unknown',
    ...(since !== undefined && { since }),
  };
}

/** A running Job continues for this long after a gate closes, so a prompt top-up loses no work. */
const GRACE_MS = 120_000;

/**
 * Until when Jobs for a stream may go on although nothing new is prepared for it; undefined where they may not. A gate that nobody has
 * reported yet is not closed: a stream may get it while its media is being prepared.
 */
export function findGraceEnd(stream: LoopStream, now: Date): Date | undefined {
  const hold = findHold(stream);
  const since = hold?.isUnknown && hold.since === undefined ? now.getTime() : Date.parse(hold?.since ?? '');
  return Number.isNaN(since) ? undefined : new Date(since + GRACE_MS);
}

/** The playlists and uploads that a stream refers to, those of its overlays too, by name. Those that do not exist are not in the maps. */
export interface MediaObjects {
  playlists: ReadonlyMap<string, Playlist>;
  uploads: ReadonlyMap<string, Upload>;
}

/** Phases in which preparing a stream's media sooner would bring nothing on air sooner. */
const PATIENT = new Set<Phase | undefined>(['scheduled', 'live', 'reconnecting', 'stopping', 'ended', 'failed']);

/** Whether a stream is meant to be on air now and is not there yet, so that somebody waits for it. */
export const isWaiting = ({ spec, status }: Pick<LoopStream, 'spec' | 'status'>): boolean =>
  isWanted(spec) && !PATIENT.has(status?.phase);

/** Names of the playlists that a stream refers to, of both kinds. */
export const listPlaylistNames = (stream: Pick<LoopStream, 'spec'>): string[] => [
  ...(stream.spec.playlistNames ?? []),
  ...(stream.spec.audioPlaylistNames ?? []),
];

/** Names of the uploads that streams play of a playlist, in order. Those of playlists that its rules name are not among them. */
export const listItemNames = (playlist: Pick<Playlist, 'metadata' | 'spec'>): string[] =>
  listPartUploads(readPlayedPart(playlist));

/** Names of the playlists whose items the rules of a playlist play. */
export const listRulePlaylists = (playlist: Pick<Playlist, 'metadata' | 'spec'>): string[] =>
  listPartPlaylists(readPlayedPart(playlist));

/** A playlist and those whose items its rules play, as far as they exist. */
export const listPlayedLists = (
  playlist: Playlist | undefined,
  find: (name: string) => Playlist | undefined,
): Playlist[] => (playlist ? [playlist, ...listRulePlaylists(playlist).flatMap((name) => find(name) ?? [])] : []);

/** Names of all uploads that a stream plays, each once. */
export function listUploadNames({ spec }: Pick<LoopStream, 'spec'>, playlists: MediaObjects['playlists']): string[] {
  const find = (name: string) => playlists.get(name);
  const fromLists = (refs: string[] = []) =>
    refs.flatMap((ref) => listPlayedLists(find(ref), find)).flatMap(listItemNames);
  const single = spec.uploadName === undefined ? [] : [spec.uploadName];
  const video = spec.playlistNames?.length ? fromLists(spec.playlistNames) : single;
  return [...new Set([...video, ...fromLists(spec.audioPlaylistNames)])];
}
