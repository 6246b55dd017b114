/** Judges a choice of tracks by the tracks that a file declares. Pure: no I/O, no clock. */
import type { MediaInfo, MediaTrack, TrackChoice, UPLOAD_TYPES } from './spec.ts';

type Listed = Pick<MediaTrack, 'index' | 'kind' | 'codec' | 'unplayable'>;

/** Indexes that a message names. */
const MAX_NAMED = 12;

/**
 * Returns why a choice cannot be played, as a sentence with the way on; undefined where nothing speaks against it. `tracks`: all declared
 * ones.
 */
export function findChoiceProblem(
  type: (typeof UPLOAD_TYPES)[number],
  choice: TrackChoice | undefined,
  tracks: readonly Listed[],
): string | undefined {
  const { video, audio, audioRight } = choice ?? {};
  if (type === 'image' && (video ?? audio ?? audioRight) !== undefined)
    return 'An image has no tracks to choose: remove the choice.';
  if (audioRight !== undefined && (audio === undefined || audio === audioRight))
    return 'The right side needs another audio track for the left side.';
  const problems = [
    type === 'video' ? findTrackProblem('video', video, tracks) : undefined,
    findTrackProblem('audio', audio, tracks),
    findTrackProblem('audio', audioRight, tracks),
  ];
  return problems.find((problem) => problem !== undefined);
}

function findTrackProblem(
  kind: MediaTrack['kind'],
  index: number | undefined,
  tracks: readonly Listed[],
): string | undefined {
  if (index === undefined) return undefined;
  const track = tracks.find((one) => one.kind === kind && one.index === index);
  if (track && !track.unplayable) return undefined;
  const problem = track
    ? `Its ${kind} track ${index} (${track.codec}) cannot be decoded.`
    : `It has no ${kind} track ${index}.`;
  return `${problem} ${describeOthers(kind, tracks)}`;
}

function describeOthers(kind: MediaTrack['kind'], tracks: readonly Listed[]): string {
  const indexes = tracks.filter((track) => track.kind === kind && !track.unplayable).map(({ index }) => index);
  const named = indexes.slice(0, MAX_NAMED).join(', ');
  const more = indexes.length > MAX_NAMED ? ` and ${indexes.length - MAX_NAMED} more` : '';
  if (indexes.length === 0) return `It has no ${kind} track that can be played: remove the choice.`;
  return indexes.length === 1
    ? `Its only ${kind} track that can be played is ${named}.`
    : `Choose one of its ${kind} tracks ${named}${more}.`;
}

/** As findChoiceProblem(), by what an import has listed; undefined where that is not all of the file's tracks. */
export const findListedProblem = (
  type: (typeof UPLOAD_TYPES)[number],
  choice: TrackChoice | undefined,
  media: Pick<MediaInfo, 'tracks' | 'moreTracks'> | undefined,
): string | undefined =>
  media?.tracks && media.moreTracks === undefined ? findChoiceProblem(type, choice, media.tracks) : undefined;
