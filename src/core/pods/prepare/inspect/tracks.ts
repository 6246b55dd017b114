/**
 * Chooses the tracks of a source that play, as ffmpeg's av_find_best_stream() does and further: sound of the program of the picture, and
 * ordinary sound before that for the blind, comments and dubs. Pure: no I/O, no clock.
 */
import {
  MAX_LISTED_TRACKS,
  type MediaInfo,
  type MediaTrack,
  type TrackChoice,
} from '../../../resources/upload/spec.ts';
import { shortenTags } from '../../../resources/upload/tags.ts';

/** A declared track of pictures or sound, whether it plays or not. */
export interface DeclaredTrack {
  /** As ffprobe counts the tracks of the file. */
  index: number;
  kind: 'video' | 'audio';
  /** As ffmpeg names it; the name of the sample entry where ffmpeg does not know the codec. */
  codec: string;
  /** ISO 639, where the file states it. */
  language?: string;
  title?: string;
  /** Of sound. */
  channels?: number;
  /** Set for a track that cannot be decoded. */
  isUnplayable?: boolean;
  /** Set for an unplayable one of a codec that ffmpeg decodes: it is empty, or damaged from the beginning on. */
  isUnmeasured?: boolean;
  /** Set for a track that plays where the owner chooses none. */
  isAutomatic?: boolean;
}

/** A track with the facts that decide a choice. */
export interface Candidate extends DeclaredTrack {
  /** Numbers of the programs that it belongs to; none where the container knows no programs. */
  programs: readonly number[];
  isDefault: boolean;
  /** True for sound that accompanies another track, or is for some listeners only. */
  isSpecial: boolean;
  /** Pixels of a picture. */
  pixels: number;
  bitrate: number;
  sampleRate: number;
  /** Stated by the container, in seconds. */
  durationSeconds: number | undefined;
}

export interface Choice {
  video: number[];
  audio: number[];
  /** The right channel of a recording whose left one is the first sound track. */
  right: number | undefined;
}

/** Tracks by their indexes that the owner has chosen. */
export type ChosenTracks = TrackChoice;

/** Words of titles, where the container has no flags for them, or its writer has set none. */
const SPECIAL_TITLE =
  /\b(?:audio[- ]?descri\w|(?:commentary|comments?|kommentar|descriptive|described|audiodeskription|visually impaired|hard of hearing|karaoke)\b)/i;
/** ETSI EN 300 468: `qad` is what broadcasters write for audio description. */
const SPECIAL_LANGUAGES = new Set(['qad', 'nar']);

export const isSpecialSound = (flags: Readonly<Record<string, unknown>>, title = '', language = ''): boolean =>
  SPECIAL_FLAGS.some((flag) => flags[flag] === 1) || SPECIAL_TITLE.test(title) || SPECIAL_LANGUAGES.has(language);

export const SPECIAL_FLAGS = [
  ...['dub', 'comment', 'lyrics', 'karaoke', 'hearing_impaired', 'visual_impaired', 'clean_effects'],
  ...['descriptions', 'dependent', 'metadata', 'timed_thumbnails'],
] as const;

/** A track with less than this part of the largest bit rate sounds worse, whatever the encoder rounded. */
const COMPARABLE_RATE = 0.6;
/** Tracks of one recording end together. */
const SAME_LENGTH_SECONDS = 0.1;

/**
 * Returns the indexes of the tracks that can be played, the chosen one of each kind first and the others in the order in which they would
 * take its place. `chosen` tracks come first where they can be played.
 */
export function chooseTracks(all: readonly Candidate[], chosen: ChosenTracks = {}): Choice {
  const playable = all.filter(({ isUnplayable }) => !isUnplayable);
  const videos = playable.filter(({ kind }) => kind === 'video');
  const audios = playable.filter(({ kind }) => kind === 'audio');
  const hasSound = ({ programs }: Candidate) => audios.some((audio) => shares(audio.programs, programs));
  const video = rank(videos, chosen.video, [
    ({ isSpecial }) => !isSpecial,
    ({ isDefault }) => isDefault,
    hasSound,
    isLargest(({ pixels }) => pixels),
  ]);
  const programs = video[0]?.programs ?? [];
  const isBeside = (audio: Candidate) => shares(audio.programs, programs);
  const audio = rank(audios, chosen.audio, [
    isBeside,
    ({ isSpecial }) => !isSpecial,
    ({ isDefault }) => isDefault,
    isLargest(({ channels = 0 }) => channels),
    isLargest(({ bitrate }) => bitrate, COMPARABLE_RATE),
  ]);
  const declared = all.filter((track) => track.kind === 'audio' && (programs.length === 0 || isBeside(track)));
  const indexes = (tracks: readonly Candidate[]) => tracks.map(({ index }) => index);
  if (chosen.audio !== undefined) {
    const [first] = audio;
    const right = audio.find(({ index }) => index === chosen.audioRight && index !== first?.index);
    return { video: indexes(video), audio: indexes(audio), right: right?.index };
  }
  const right = findRight(declared);
  return { video: indexes(video), audio: right ? indexes(declared) : indexes(audio), right: right?.index };
}

/** Describes the declared tracks for an Upload's status: those that play by themselves are always among them. */
export function listTracks(declared: readonly DeclaredTrack[]): Pick<MediaInfo, 'tracks' | 'moreTracks'> {
  const kept = keepTracks(declared, MAX_LISTED_TRACKS, ({ isAutomatic }) => isAutomatic === true);
  const more = declared.length - kept.length;
  const tracks = kept.map(
    ({ isUnplayable, isUnmeasured: _, isAutomatic, ...track }): MediaTrack => ({
      ...track,
      codec: track.codec.slice(0, MAX_CODEC_CHARS),
      ...(isUnplayable && { unplayable: true }),
      ...(isAutomatic && { automatic: true }),
    }),
  );
  return { tracks, ...(more > 0 && { moreTracks: more }) };
}

const MAX_CODEC_CHARS = 64;
/** Some fifteen hundred bytes for all tags, in any script. */
const MAX_FITTED_TAG_CHARS = 80;

/** Keeps at most `count` tracks, in their order: those that must stay, and then the first ones. */
function keepTracks<T>(tracks: readonly T[], count: number, mustStay: (track: T) => boolean): T[] {
  let room = count - tracks.filter(mustStay).length;
  return tracks.filter((track) => mustStay(track) || room-- > 0);
}

/** Bytes of JSON, as UTF-8. */
const countBytes = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));

/**
 * Shortens a result until that has at most so many bytes: long tags go first, then the titles of tracks, then tracks. The Job could report
 * nothing otherwise.
 */
export function fitResult<T extends { media: MediaInfo }>(given: T, maxBytes: number): T {
  if (countBytes(given) <= maxBytes) return given;
  const tags = given.media.tags && shortenTags(given.media.tags, MAX_FITTED_TAG_CHARS);
  const result = tags ? { ...given, media: { ...given.media, tags } } : given;
  const { tracks = [], moreTracks = 0 } = result.media;
  const withTracks = (kept: readonly MediaTrack[]): T => {
    const { moreTracks: _, ...media } = result.media;
    const more = moreTracks + tracks.length - kept.length;
    return { ...result, media: { ...media, tracks: [...kept], ...(more > 0 && { moreTracks: more }) } };
  };
  if (tracks.length === 0 || countBytes(result) <= maxBytes) return result;
  const plain = tracks.map(({ title: _, ...track }) => track);
  let fitted = withTracks(plain);
  for (let count = plain.length - 1; count >= 0 && countBytes(fitted) > maxBytes; count--)
    fitted = withTracks(keepTracks(plain, count, ({ automatic }) => automatic === true));
  return fitted;
}

const shares = (some: readonly number[], others: readonly number[]): boolean =>
  some.some((program) => others.includes(program)) || (some.length === 0 && others.length === 0);

type Test = (track: Candidate, among: readonly Candidate[]) => boolean;

const isLargest =
  (measure: (track: Candidate) => number, part = 1): Test =>
  (track, among) =>
    measure(track) >= part * Math.max(...among.map(measure));

/** Puts the best track first, then the best one of the rest, and so on. A test counts where some but not all tracks pass it. */
function rank(tracks: readonly Candidate[], chosen: number | undefined, tests: readonly Test[]): Candidate[] {
  const left = [...tracks];
  const ranked: Candidate[] = [];
  while (left.length > 0) {
    let best = left;
    for (const test of [({ index }: Candidate) => index === chosen, ...tests]) {
      const among = best;
      const passing = among.filter((track) => test(track, among));
      if (passing.length > 0) best = passing;
    }
    const [first] = best;
    if (!first) break;
    ranked.push(first);
    left.splice(left.indexOf(first), 1);
  }
  return ranked;
}

/** Returns the second of two mono tracks that are the sides of one recording, as cameras and broadcasters store them. */
function findRight(declared: readonly Candidate[]): Candidate | undefined {
  const [left, right, third] = declared;
  if (!left || !right || third) return undefined;
  const isSide = (track: Candidate) => track.channels === 1 && !track.isUnplayable && !track.isSpecial;
  const lengths = [left.durationSeconds, right.durationSeconds];
  const areAsLong =
    lengths[0] !== undefined && lengths[1] !== undefined && Math.abs(lengths[0] - lengths[1]) < SAME_LENGTH_SECONDS;
  const isSame = left.codec === right.codec && left.sampleRate === right.sampleRate && left.language === right.language;
  return isSide(left) && isSide(right) && areAsLong && isSame ? right : undefined;
}
