/** Translates ffprobe's description of a source, and draws conclusions from it. Pure: no I/O, no clock. */
import { MAX_TRACK_TITLE_CHARS, type TRACK_KINDS } from '../../../resources/upload/spec.ts';
import type { MediaTags } from '../../../resources/upload/tags.ts';
import { findChoiceProblem } from '../../../resources/upload/track-choice.ts';
import { PrepareError } from '../failure/failure.ts';
import type { Patch } from '../tools/untrusted-input.ts';
import { readPlacement } from './display-matrix.ts';
import type { Shift } from './join-clocks.ts';
import { parseTags } from './tags.ts';
import {
  type Candidate,
  type Choice,
  type ChosenTracks,
  chooseTracks,
  type DeclaredTrack,
  isSpecialSound,
} from './tracks.ts';
import type { UnopenedTrack } from './unopened.ts';

export type MediaType = (typeof TRACK_KINDS)[number];

/** Numerator and denominator. */
export type Ratio = readonly [number, number];

export interface VideoStream {
  index: number;
  codec: string;
  profile: string;
  pixelFormat: string;
  /** As stored, before rotation and pixel aspect. */
  width: number;
  height: number;
  sampleAspect: Ratio;
  /** Degrees, a multiple of 90. */
  rotation: number;
  /** True where they are not shown as they are stored: turned, mirrored, scaled or skewed. */
  isTransformed?: boolean;
  /** The widening of stored pictures over their heightening, in the matrix of the track. */
  stretch?: number;
  framerate: Ratio;
  interlaced: boolean;
  /** Frames between decoding and showing a picture, which B-frames need. */
  reorderedFrames: number;
  colorSpace: string;
  colorTransfer: string;
  /** Name of its sample entry, e.g. `avc1`; `encv` where it is encrypted. */
  tag?: string;
  /** Exif's orientation, where it is known (stills.ts). ffmpeg then turns nothing by itself. */
  orientation?: number;
  /** ETSI TS 103 572: the profile, and the compatibility of its pictures. */
  dolbyVision?: { profile: number; compatibility: number };
  /** Start and end of this stream by the container, in seconds; undefined where it states none. */
  declaredStartSeconds: number | undefined;
  declaredEndSeconds: number | undefined;
  /** Number of frames by the container, shown or not. */
  frames: number | undefined;
}

export interface AudioStream {
  index: number;
  codec: string;
  profile: string;
  /** As for a VideoStream. */
  tag?: string;
  sampleRate: number;
  channels: number;
  /** Names of the channels' places, as ffmpeg writes them; empty where the file states none. */
  layout?: string;
  /** Index of the track with the right channel, where this one is the left channel of the same recording. */
  rightIndex?: number | undefined;
  declaredStartSeconds: number | undefined;
  declaredEndSeconds: number | undefined;
  /** As for a VideoStream. */
  frames?: number | undefined;
}

/** A declared track of this kind without content. */
export type EmptyTrack = 'video' | 'audio';

export interface Source {
  /** ffprobe's name of the container. */
  format: string;
  /** First timestamp of all streams; ffmpeg counts from here. */
  startSeconds: number;
  /** Duration of the file by its header. */
  declaredEndSeconds: number | undefined;
  sizeBytes: number;
  /** Bytes that it has by its header; undefined where that states none. */
  declaredBytes?: number | undefined;
  /** Streams of any kind, also unused ones. */
  tracks: number;
  /** True when the container declares its tracks encrypted. */
  isProtected?: boolean;
  video: VideoStream | undefined;
  audio: AudioStream | undefined;
  /** Further tracks, in the order in which a player would choose them. */
  others?: { video: readonly VideoStream[]; audio: readonly AudioStream[] };
  /** All tracks of pictures and sound, in the order of the file; without cover art. */
  declared?: readonly DeclaredTrack[];
  /** Words of the file about what it plays. */
  tags?: MediaTags | undefined;
  /** They hide tracks from ffprobe, which cannot open them. */
  patches?: readonly Patch[];
  /** Tracks that were chosen and left out again. */
  empty?: readonly EmptyTrack[];
}

/** Packets after which a codec's run-up is over; containers shorten, move and hide those. */
export const SETTLED_PACKETS = 8;

/** Result of reading every packet of one stream. Times in seconds, as stored. */
export interface StreamScan {
  packets: number;
  /** Packets that are decoded and not shown, because of an edit list or the encoder's delay. */
  hidden: number;
  startSeconds: number;
  endSeconds: number;
  largestStepSeconds: number;
  /** The longest time from a keyframe to the next one, or to the end. */
  largestGopSeconds?: number;
  /** Time of packet SETTLED_PACKETS, in the order of the file, where there is one. */
  settledSeconds?: number;
  bytes: number;
  /**
   * True when each packet is shown exactly at a frame time of the asked profile, and keyframes begin its GOPs. In a clock
   * that breaks, this is said of each of its pieces.
   */
  regular: boolean;
  /** Frames a second of pictures that are not regular, where each is near its turn at a constant rate (steady-rate.ts). */
  steadyRate?: number;
  /** As for a VideoStream, but counted. */
  reorderedFrames?: number;
  /** Shifts that put a restarting or jumping clock on one line of time; start and end above are on that line. */
  shifts?: readonly Shift[];
  /** Number of restarts and jumps of the clock. */
  breaks?: number;
  /** Seconds of its pauses. */
  pauseSeconds?: number;
  /** Packets before the first keyframe, where the decoder may drop pictures at the beginning. */
  packetsBeforeKey?: number;
  /** True for one picture without a length (stills.ts); the times above are those of its clip. */
  isStill?: boolean;
}

export interface Scan {
  video: StreamScan | undefined;
  audio: StreamScan | undefined;
  /** Packets of each track by its index, also of unused ones. */
  packets?: ReadonlyMap<number, number>;
  /** End of the last packet of any track, as stored. */
  fileEndSeconds?: number;
  /** Position in the file where the last packet of any track ends. */
  fileEndByte?: number;
  /** True where the file ends in the middle of what its container has begun (ending.ts). */
  breaksOff?: boolean;
  /** Seconds of decoded sound, where that was measured. */
  decodedSeconds?: number;
}

type Json = Record<string, unknown>;

const text = (value: unknown): string => (typeof value === 'string' ? value : '');
const number = (value: unknown): number | undefined =>
  value === undefined || value === null || Number.isNaN(Number(value)) ? undefined : Number(value);
const object = (value: unknown): Json => (typeof value === 'object' && value !== null ? (value as Json) : {});
const list = (value: unknown): Json[] => (Array.isArray(value) ? value.map(object) : []);

/** Parses `num/den` or `num:den`; `fallback` where it is missing, zero or infinite. */
function ratio(value: unknown, fallback: Ratio): Ratio {
  const [num = 0, den = 0] = text(value).split(/[/:]/).map(Number);
  return num > 0 && den > 0 ? [num, den] : fallback;
}

function computeEnd(stream: Json): number | undefined {
  const duration = number(stream.duration);
  if (duration !== undefined) return (number(stream.start_time) ?? 0) + duration;
  return clockTime(object(stream.tags).DURATION);
}

/** Parses seconds from `hh:mm:ss.fraction`, in which Matroska's muxers note the end of a track. */
function clockTime(value: unknown): number | undefined {
  const [, hours, minutes, seconds] = /^(\d+):(\d\d):(\d\d(?:\.\d+)?)$/.exec(text(value)) ?? [];
  return seconds === undefined ? undefined : Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds);
}

function readRotation(stream: Json): number {
  const matrix = list(stream.side_data_list).find((data) => data.rotation !== undefined);
  const degrees = number(matrix?.rotation) ?? number(object(stream.tags).rotate) ?? 0;
  return (((Math.round(degrees / 90) * 90) % 360) + 360) % 360;
}

/** Versions of ffmpeg turn pictures differently, so a plain turn or mirror is done here. */
function readDisplay(stream: Json): Pick<VideoStream, 'isTransformed' | 'stretch' | 'orientation'> {
  const [matrix] = list(stream.side_data_list).flatMap((data) => readPlacement(text(data.displaymatrix)) ?? []);
  if (!matrix?.isTransformed) return {};
  const { orientation, stretch } = matrix;
  return { isTransformed: true, stretch, ...(orientation !== undefined && { orientation }) };
}

function readDolbyVision(stream: Json): VideoStream['dolbyVision'] {
  const record = list(stream.side_data_list).find((data) => data.dv_profile !== undefined);
  if (!record) return undefined;
  return {
    profile: number(record.dv_profile) ?? 0,
    compatibility: number(record.dv_bl_signal_compatibility_id) ?? 0,
  };
}

function videoStream(stream: Json): VideoStream {
  const dolbyVision = readDolbyVision(stream);
  const framerate = ratio(stream.avg_frame_rate, ratio(stream.r_frame_rate, [25, 1]));
  return {
    index: number(stream.index) ?? 0,
    codec: text(stream.codec_name),
    profile: text(stream.profile),
    tag: text(stream.codec_tag_string),
    ...(dolbyVision && { dolbyVision }),
    pixelFormat: text(stream.pix_fmt),
    width: number(stream.width) ?? 0,
    height: number(stream.height) ?? 0,
    sampleAspect: ratio(stream.sample_aspect_ratio, [1, 1]),
    rotation: readRotation(stream),
    ...readDisplay(stream),
    framerate,
    interlaced: ['tt', 'bb', 'tb', 'bt'].includes(text(stream.field_order)),
    reorderedFrames: number(stream.has_b_frames) ?? 0,
    colorSpace: text(stream.color_space),
    colorTransfer: text(stream.color_transfer),
    declaredStartSeconds: number(stream.start_time),
    declaredEndSeconds: computeEnd(stream),
    frames: number(stream.nb_frames),
  };
}

const audioStream = (stream: Json): AudioStream => ({
  index: number(stream.index) ?? 0,
  codec: text(stream.codec_name),
  profile: text(stream.profile),
  tag: text(stream.codec_tag_string),
  sampleRate: number(stream.sample_rate) ?? 0,
  channels: number(stream.channels) ?? 0,
  layout: text(stream.channel_layout),
  declaredStartSeconds: number(stream.start_time),
  declaredEndSeconds: computeEnd(stream),
  frames: number(stream.nb_frames),
});

/** Returns the codecs of tracks of which ffprobe knows no format of pixels or samples: it may have no decoder for them. */
export function listUnformatted(json: unknown): string[] {
  const isKnown = (stream: Json) => text(stream.codec_type === 'video' ? stream.pix_fmt : stream.sample_fmt) !== '';
  const tracks = list(object(json).streams).filter(
    ({ codec_type }) => codec_type === 'video' || codec_type === 'audio',
  );
  return [...new Set(tracks.flatMap((stream) => (isKnown(stream) ? [] : [text(stream.codec_name)])))].filter(Boolean);
}

/** Facts about the tracks that the header does not state. */
export interface TrackFacts {
  /** Codecs for which ffmpeg has no decoder. */
  undecodable?: ReadonlySet<string>;
  /** Tracks whose codec was hidden. */
  unopened?: readonly UnopenedTrack[];
  /** The owner's choice. */
  chosen?: ChosenTracks | undefined;
}

function readCandidate(stream: Json, programs: readonly Json[], { undecodable, unopened }: TrackFacts): Candidate {
  const index = number(stream.index) ?? 0;
  const flags = object(stream.disposition);
  const kind = stream.codec_type === 'video' ? 'video' : 'audio';
  const { language: written, title: called } = object(stream.tags);
  const title = text(called).trim().slice(0, MAX_TRACK_TITLE_CHARS).toWellFormed();
  const language = /^[a-z]{2,3}(?:-[A-Za-z0-9]+)*$/.test(text(written)) && written !== 'und' ? text(written) : '';
  const codec = text(stream.codec_name);
  const isKnown = codec !== '' && codec !== 'unknown' && codec !== 'none';
  const [width = 0, height = 0, channels = 0] = [stream.width, stream.height, stream.channels].map(number);
  const isMeasured = kind === 'video' ? width > 0 && height > 0 : channels > 0;
  const isDecodable = isKnown && undecodable?.has(codec) !== true;
  return {
    index,
    kind,
    codec: isKnown ? codec : (unopened?.find((track) => track.index === index)?.codec ?? readTag(stream)),
    ...(language !== '' && { language }),
    ...(title !== '' && { title }),
    ...(channels > 0 && { channels }),
    ...(!(isDecodable && isMeasured) && { isUnplayable: true }),
    ...(isDecodable && !isMeasured && { isUnmeasured: true }),
    programs: programs.flatMap((program, at) =>
      list(program.streams).some((member) => number(member.index) === index) ? [at] : [],
    ),
    isDefault: flags.default === 1,
    isSpecial: isSpecialSound(flags, title, language),
    pixels: width * height,
    bitrate: number(stream.bit_rate) ?? 0,
    sampleRate: number(stream.sample_rate) ?? 0,
    durationSeconds: computeEnd(stream),
  };
}

/** Returns the name of a track's sample entry, where that is one that people could know. */
function readTag(stream: Json): string {
  const tag = text(stream.codec_tag_string).trim();
  return /^[\w.-]{2,}$/.test(tag) ? tag : 'unknown';
}

const isEncryption = ({ side_data_type }: Json): boolean => text(side_data_type).startsWith('Encryption');

/** Ogg has its tags in its tracks; in other containers, these name the track alone. */
function readTags(format: Json, [first]: readonly Json[]): MediaTags | undefined {
  const tags = format.format_name === 'ogg' ? object(first).tags : undefined;
  return parseTags({ ...object(tags), ...object(format.tags) });
}

/** Parses the JSON of `ffprobe -show_programs -show_streams -show_format`. Cover art is no video. */
export function parseSource(json: unknown, facts: TrackFacts = {}): Source {
  const { streams, format, packets, programs } = object(json);
  const all = list(streams).filter(
    ({ codec_type, disposition }) =>
      (codec_type === 'video' && object(disposition).attached_pic !== 1) || codec_type === 'audio',
  );
  const candidates = all.map((stream) => readCandidate(stream, list(programs), facts));
  const choice = chooseTracks(candidates, facts.chosen);
  const find = (index: number) => all.find((stream) => number(stream.index) === index) ?? {};
  const [video, ...otherVideos] = choice.video.map((index) => videoStream(find(index)));
  const [audio, ...otherAudios] = choice.audio.map((index) => audioStream(find(index)));
  const tags = readTags(object(format), all);
  return {
    ...(tags && { tags }),
    format: text(object(format).format_name),
    startSeconds: number(object(format).start_time) ?? 0,
    // Matroska counts its duration from zero, wherever the first timestamp is.
    declaredEndSeconds: number(object(format).duration),
    sizeBytes: number(object(format).size) ?? 0,
    tracks: list(streams).length,
    isProtected:
      text(object(object(format).tags).ASF_Protection_Type) !== '' ||
      list(packets).some((packet) => list(packet.side_data_list).some(isEncryption)),
    video,
    audio: audio && choice.right !== undefined ? { ...audio, rightIndex: choice.right } : audio,
    others: { video: otherVideos, audio: otherAudios },
    declared: describeTracks(candidates, facts.chosen ? chooseTracks(candidates) : choice),
  };
}

function describeTracks(candidates: readonly Candidate[], { video, audio, right }: Choice): DeclaredTrack[] {
  const automatic = new Set([video[0], audio[0], right]);
  return candidates.map((track) => ({
    ...describeTrack(track),
    ...(automatic.has(track.index) && { isAutomatic: true }),
  }));
}

const describeTrack = (candidate: Candidate): DeclaredTrack => {
  const { index, kind, codec, language, title, channels, isUnplayable, isUnmeasured } = candidate;
  return {
    index,
    kind,
    codec,
    ...(language !== undefined && { language }),
    ...(title !== undefined && { title }),
    ...(channels !== undefined && { channels }),
    ...(isUnplayable && { isUnplayable }),
    ...(isUnmeasured && { isUnmeasured }),
  };
};

/** Containers that store times. For others, the reader derives times from the frame rate. */
const TIMED = /\b(mov|matroska|avi|flv|live_flv|mpegts|mpeg|asf|ogg|mxf|gxf|nut|rm|wtv)\b/;
export const keepsTime = ({ format }: Source): boolean => TIMED.test(format);

/**
 * Throws PrepareError media_has_no_video or media_has_no_audio when the source lacks the content of its type, media_unreadable when it
 * declares that and nothing of it can be read, and media_format_unsupported when it has that in a form that cannot be decoded.
 */
export function checkType(source: Source, type: MediaType): void {
  const unplayable = source[type] ? undefined : source.declared?.find(({ kind }) => kind === type);
  if (unplayable?.isUnmeasured) {
    const detail = `Its ${type} track (${unplayable.codec}) is empty, or damaged from its beginning on. Record or export it again.`;
    throw new PrepareError('media_unreadable', detail);
  }
  if (unplayable) {
    const codec = unplayable.codec === 'unknown' ? 'an unknown codec' : `the codec ${unplayable.codec}`;
    const advice = type === 'video' ? 'Export it as MP4 with H.264' : 'Export its audio as AAC or WAV';
    throw new PrepareError(
      'media_format_unsupported',
      `Its ${type} track uses ${codec}, which cannot be decoded. ${advice}, and upload that.`,
    );
  }
  if (type === 'video' && !source.video) throw new PrepareError('media_has_no_video');
  if (type === 'audio' && !source.audio) throw new PrepareError('media_has_no_audio');
}

/** Returns the declared tracks of a source whose owner has chosen none, as those play that are left of it. */
export function markPlayed({ declared = [], video, audio }: Source): DeclaredTrack[] {
  const played = new Set([video?.index, audio?.index, audio?.rightIndex]);
  return declared.map(({ isAutomatic: _, ...track }) => ({
    ...track,
    ...(played.has(track.index) && { isAutomatic: true }),
  }));
}

/** Throws PrepareError media_track_not_found where another track than a chosen one plays: it does not exist, or cannot be played. */
export function requireChosen(
  { video, audio, declared = [] }: Source,
  { type, tracks = {} }: { type: MediaType; tracks?: ChosenTracks | undefined },
): void {
  const listed = declared.map(({ isUnplayable, ...track }) => ({
    ...track,
    ...(isUnplayable && { unplayable: true }),
  }));
  const problem = findChoiceProblem(type, tracks, listed);
  if (problem !== undefined) throw new PrepareError('media_track_not_found', problem);
  const played = { video: video?.index, audio: audio?.index };
  for (const kind of type === 'video' ? (['video', 'audio'] as const) : (['audio'] as const)) {
    const index = tracks[kind];
    if (index === undefined || played[kind] === index) continue;
    throw new PrepareError('media_track_not_found', `Its ${kind} track ${index} is empty. Choose another track.`);
  }
  if (tracks.audioRight === undefined || audio?.rightIndex === tracks.audioRight) return;
  const pair = `${tracks.audio} and ${tracks.audioRight}`;
  const detail = `Its audio tracks ${pair} are not the sides of one recording: their lengths differ. Choose one of them.`;
  throw new PrepareError('media_track_not_found', detail);
}

/**
 * Throws PrepareError media_unreadable when nothing can be read or nothing is shown, or when the file was cut off: it
 * lacks content that its header describes, and ends well before its time. A wrong time alone proves nothing, since players
 * go by the content. A broken last frame, or a second of rounding in a long file, is no reason to refuse it.
 */
export function checkComplete(source: Source, scan: Scan): void {
  const scanned = [scan.video, scan.audio].filter((stream) => stream !== undefined);
  if (scanned.length === 0 || scanned.some((stream) => stream.packets === 0))
    throw new PrepareError('media_unreadable', 'It contains no video or audio that can be read.');
  if (scanned.some((stream) => stream.packets === stream.hidden))
    throw new PrepareError('media_unreadable', 'Its edit list hides all of a track. Export it again.');
  if (!lacksContent(source, scan)) return;
  const isMatroska = source.format.includes('matroska');
  const longest = scanned.reduce((a, b) => (a.endSeconds > b.endSeconds ? a : b));
  // Matroska declares one end for the whole file, which any track may reach.
  if (isMatroska && source.declaredEndSeconds !== undefined) {
    const told = [source.video, source.audio].some((track) => track?.declaredEndSeconds !== undefined);
    const found = Math.max(longest.endSeconds, told ? 0 : (scan.fileEndSeconds ?? 0));
    // Its tracks note their own ends in tags, which may have been copied from another file.
    if (endsAsDeclared(source.declaredEndSeconds, found, longest)) return;
    if (!told) throw cutOff(source.declaredEndSeconds, found);
  }
  const pairs = [
    [source.video?.declaredEndSeconds, scan.video],
    [source.audio?.declaredEndSeconds, scan.audio],
  ] as const;
  for (const [declared, stream] of pairs) {
    if (!stream || declared === undefined) continue;
    if (!endsAsDeclared(declared, stream.endSeconds, stream)) throw cutOff(declared, stream.endSeconds);
  }
}

/** Behind its packets, Matroska has an index and tags; more is content that cannot be read. */
const MOST_UNREAD = 0.1;

/** MP4 counts its frames, and Matroska its bytes. Other containers, and fragments of MP4, describe no more than they hold. */
function lacksContent({ format, video, audio, sizeBytes, declaredBytes = 0 }: Source, scan: Scan): boolean {
  const readBytes = format.includes('matroska') ? scan.fileEndByte : undefined;
  if (readBytes !== undefined && readBytes < (1 - MOST_UNREAD) * sizeBytes) return true;
  const lacks = (declared: number | undefined, stream: StreamScan | undefined) =>
    declared !== undefined && stream !== undefined && stream.packets < declared;
  return declaredBytes > sizeBytes || lacks(video?.frames, scan.video) || lacks(audio?.frames, scan.audio);
}

const endsAsDeclared = (declared: number, found: number, { largestStepSeconds }: StreamScan): boolean =>
  declared - found <= Math.max(0.5, 2 * largestStepSeconds, Math.min(5, declared / 100));

const cutOff = (declared: number, found: number) =>
  new PrepareError(
    'media_unreadable',
    `It ends after ${found.toFixed(1)} s of ${declared.toFixed(1)} s. Upload a complete copy.`,
  );
