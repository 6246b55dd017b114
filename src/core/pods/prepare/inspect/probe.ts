/** Asks ffprobe about a file: once by its header, once by every packet in it. */

import { DEFAULT_LIMITS, type MediaLimits } from '../../../protocol/media-limits.ts';
import type { MediaInfo } from '../../../resources/upload/spec.ts';
import { PictureOrder } from '../../rendition/picture-order.ts';
import { PrepareError } from '../failure/failure.ts';
import { eachLine, ToolError } from '../tools/tool.ts';
import type { Patch } from '../tools/untrusted-input.ts';
import { checkPackets, checkTrack, type TrackCounts } from './check-limits.ts';
import { computeExtent } from './extent.ts';
import { type MediaTools, readLines, readPackets, type Seen, type Within } from './ffprobe.ts';
import { findCodecName } from './hide-codec.ts';
import { joinTracks } from './join-clocks.ts';
import type { MovieTrack } from './movie-tables.ts';
import type { Packet } from './packet.ts';
import { openMovie } from './read-movie.ts';
import { listUnformatted, parseSource, type Scan, type Source, type StreamScan } from './source.ts';
import { SONG_TAGS } from './tags.ts';
import { Tally } from './tally.ts';
import { type ChosenTracks, listTracks, SPECIAL_FLAGS } from './tracks.ts';
import { parseUnopened, refuseUnopened, type UnopenedTrack } from './unopened.ts';

const HEADER_TIMEOUT_MS = 120_000;
/** The answer about 256 tracks takes a quarter of this. */
const MAX_HEADER_CHARS = 2 ** 20;
/** Tags are the file's own words, of any length; a longer line of one is left out. Many of a track must leave room for other tracks. */
const MAX_TAG_CHARS = 1000;
const MAX_SONG_TAG_CHARS = 400;
const LONG_TAG = /^(\s*"(?:title|language|rotate|DURATION)": )".*"(,?)$/;
// linear-time: the names are our own, and the rest is that of LONG_TAG.
const LONG_SONG_TAG = new RegExp(`^(\\s*"(?:${SONG_TAGS.join('|')})": )".*"(,?)$`, 'i');
/** One track may lie this much before the other in a file. */
const APART_SECONDS = 2;
/** Fields that source.ts reads. */
const HEADER_ENTRIES = [
  'stream=index,codec_name,codec_type,codec_tag_string,profile,pix_fmt,width,height,sample_aspect_ratio,avg_frame_rate,r_frame_rate,' +
    'field_order,has_b_frames,color_space,color_transfer,start_time,duration,nb_frames,bit_rate,sample_fmt,sample_rate,' +
    'channels,channel_layout',
  `stream_disposition=default,attached_pic,${SPECIAL_FLAGS.join(',')}`,
  `stream_tags=rotate,DURATION,language,title,${SONG_TAGS.join(',')}`,
  'program=nb_streams',
  'program_stream=index',
  'stream_side_data=rotation,displaymatrix,dv_profile,dv_bl_signal_compatibility_id',
  'format=format_name,start_time,duration,size',
  `format_tags=ASF_Protection_Type,title,${SONG_TAGS.join(',')}`,
  // In an encrypted MP4, the first packets show the original names of the tracks.
  'packet_side_data=side_data_type',
].join(':');

/** Files with more tracks that ffprobe cannot open are refused. */
const MAX_HIDDEN_TRACKS = 64;

/**
 * Reads the header. A track that ffprobe cannot open is hidden from it, and counts as unplayable. Rejects with PrepareError media_unreadable
 * when this is no media, media_format_unsupported where such a track cannot be hidden, or with the signal's reason.
 */
export async function probe(
  path: string,
  tools: MediaTools,
  signal: AbortSignal,
  chosen?: ChosenTracks,
): Promise<Source> {
  const deadline = AbortSignal.timeout(HEADER_TIMEOUT_MS);
  const unopened: UnopenedTrack[] = [];
  const patches: Patch[] = [];
  for (;;) {
    try {
      const json = await readHeader({ path, patches }, tools, { signal, deadline });
      const undecodable = await findUndecodable(listUnformatted(json), tools, signal);
      const source = parseSource(json, { undecodable, unopened, chosen });
      return patches.length === 0 ? source : { ...source, patches };
    } catch (error) {
      const track = findUnopened(error);
      if (!track) throw error;
      const isNew = unopened.length < MAX_HIDDEN_TRACKS && unopened.every(({ index }) => index !== track.index);
      const patch = isNew && (await findCodecName(path, track.index));
      if (!patch) throw refuseUnopened(track, error);
      unopened.push(track);
      patches.push(patch);
    }
  }
}

/** Returns the track at which ffprobe gave up; undefined where it failed for another reason. */
function findUnopened(error: unknown): UnopenedTrack | undefined {
  const cause = error instanceof PrepareError ? error.cause : undefined;
  return cause instanceof ToolError ? parseUnopened(cause.stderr) : undefined;
}

/** Resolves with ffprobe's JSON. */
async function readHeader(file: Seen, tools: MediaTools, within: Within): Promise<unknown> {
  const lines: string[] = [];
  let chars = 0;
  // A warning names the track that cannot be opened.
  const args = ['-v', 'warning', '-show_entries', HEADER_ENTRIES, '-read_intervals', '%+#16', '-of', 'json'];
  await readLines(file, tools, args, within, (line) => {
    const kept = leaveOutLong(line);
    chars += kept.length;
    if (chars > MAX_HEADER_CHARS)
      throw new PrepareError(
        'media_too_complex',
        'Its header describes too many tracks. Export it with one video track and one audio track.',
      );
    lines.push(kept);
  });
  return JSON.parse(lines.join('\n'));
}

function leaveOutLong(line: string): string {
  if (line.length <= MAX_SONG_TAG_CHARS) return line;
  const plain = line.replace(LONG_SONG_TAG, '$1""$2');
  return plain.length > MAX_TAG_CHARS ? plain.replace(LONG_TAG, '$1""$2') : plain;
}

/** Returns those of these codecs for which ffmpeg has no decoder. */
async function findUndecodable(
  codecs: readonly string[],
  tools: MediaTools,
  signal: AbortSignal,
): Promise<Set<string>> {
  const undecodable = new Set<string>();
  if (codecs.length === 0) return undecodable;
  await eachLine(tools.ffmpeg, ['-hide_banner', '-v', 'error', '-codecs'], signal, (line) => {
    const [, flag, codec] = /^ ([D.])\S{5} (\S+)/.exec(line) ?? [];
    if (flag === '.' && codec !== undefined && codecs.includes(codec)) undecodable.add(codec);
  });
  return undecodable;
}

export interface FirstFrame {
  /** Exif's number, 1 by default. */
  orientation: number;
  /** Its time as stored; NaN where it has none. */
  seconds: number;
}

/**
 * Decodes the first packets of a track, and returns the first picture that comes out of them. Rejects with PrepareError
 * media_unreadable when none does, or with the signal's reason.
 */
export async function probeFirstFrame(
  file: Seen,
  tools: MediaTools,
  signal: AbortSignal,
  { index, packets = 1 }: { index?: number; packets?: number } = {},
): Promise<FirstFrame> {
  const lines: string[] = [];
  const args = [
    ...(index === undefined ? [] : ['-select_streams', String(index)]),
    ...['-read_intervals', `%+#${packets}`, '-of', 'json'],
    ...['-show_entries', 'frame=media_type,best_effort_timestamp_time:frame_tags=Orientation'],
  ];
  const deadline = AbortSignal.timeout(HEADER_TIMEOUT_MS);
  await readLines(file, tools, args, { signal, deadline }, (line) => lines.push(line));
  const { frames = [] } = JSON.parse(lines.join('\n'));
  const [frame] = frames as { best_effort_timestamp_time?: string; tags?: { Orientation?: string } }[];
  if (!frame)
    throw new PrepareError('media_unreadable', 'Its picture cannot be decoded. Export it again as JPEG or PNG.');
  const orientation = Number(frame.tags?.Orientation ?? 1);
  return {
    orientation: orientation >= 1 && orientation <= 8 ? orientation : 1,
    seconds: Number(frame.best_effort_timestamp_time ?? Number.NaN),
  };
}

export interface ScanOptions {
  /** Frame rate of the wanted rendition; decides StreamScan.regular. */
  framerate?: number;
  limits?: MediaLimits;
  /** Reads only this much of the beginning, on the line of time that joins a clock which jumps. */
  seconds?: number;
  /** The packets are described by tables, and their content is missing: nothing can be read in it. */
  isOutline?: boolean;
}

/**
 * Reads every packet of the source's video and audio stream without decoding them, and stops at the first one beyond a
 * limit. Rejects with PrepareError media_unreadable, media_too_long, media_too_complex or prepare_timeout, or with the
 * signal's reason.
 */
export async function scanPackets(
  path: string,
  source: Source,
  tools: MediaTools,
  signal: AbortSignal,
  { framerate = 0, limits = DEFAULT_LIMITS, seconds, isOutline = false }: ScanOptions = {},
): Promise<Scan> {
  const deadline = AbortSignal.timeout(limits.probeSeconds * 1000);
  const counter = new PacketCounter(source, framerate, limits);
  const options = isOutline ? ['-fflags', '+noparse'] : [];
  const movie = seconds === undefined ? await openMovie(path, source, { tools, signal, deadline, options }) : undefined;
  if (movie) {
    counter.addUnread(movie.tracks);
    movie.each((packet) => counter.add(packet));
    return counter.result();
  }
  // ffprobe would end its reading by the stored times, and so where a clock jumps.
  const enough = new AbortController();
  const within = { signal: AbortSignal.any([signal, enough.signal]), deadline };
  try {
    await readPackets({ path, patches: source.patches }, tools, options, within, (packet) => {
      if (enough.signal.aborted) return;
      counter.add(packet);
      if (seconds !== undefined && counter.seconds >= seconds + APART_SECONDS) enough.abort();
    });
  } catch (error) {
    if (enough.signal.aborted && !signal.aborted) return counter.result();
    if (!deadline.aborted || signal.aborted) throw error;
    const detail = `It could not be read to its end within ${limits.probeSeconds} s. Upload a shorter file.`;
    throw new PrepareError('prepare_timeout', detail, { cause: error });
  }
  return counter.result();
}

/** Counts the packets of a source, and holds them to the limits. */
class PacketCounter {
  readonly #source: Source;
  readonly #limits: MediaLimits;
  readonly #tallies: { video: Tally | undefined; audio: Tally | undefined };
  readonly #about: Record<'video' | 'audio', { pixels: number; sizeBytes: number }>;
  readonly #packets = new Map<number, number>();
  #ordinal = 0;
  #fileEndSeconds = 0;
  #fileEndByte = 0;

  constructor(source: Source, framerate: number, limits: MediaLimits) {
    const { format, video, audio } = source;
    const frameSeconds = video ? video.framerate[1] / video.framerate[0] : 0;
    this.#source = source;
    this.#limits = limits;
    const { sizeBytes } = source;
    const pixels = (video?.width ?? 0) * (video?.height ?? 0);
    this.#about = { video: { pixels, sizeBytes }, audio: { pixels: 0, sizeBytes } };
    this.#tallies = {
      video: video && new Tally(format, { rate: framerate, order: new PictureOrder(framerate), frameSeconds }),
      audio: audio && new Tally(format, { rate: audio.sampleRate / 1024, frameSeconds: 0 }),
    };
  }

  /** Throws PrepareError media_too_long or media_too_complex. */
  add(packet: Packet): void {
    const { index, pts, duration, byte, sizeBytes } = packet;
    this.#packets.set(index, (this.#packets.get(index) ?? 0) + 1);
    checkPackets(++this.#ordinal, this.#limits);
    this.#fileEndSeconds = Math.max(this.#fileEndSeconds, pts + (duration || 0) || 0);
    this.#fileEndByte = Math.max(this.#fileEndByte, byte + sizeBytes || 0);
    const { video, audio } = this.#source;
    const kind = index === video?.index ? 'video' : index === audio?.index ? 'audio' : undefined;
    const tally = kind && this.#tallies[kind];
    if (!tally) return;
    tally.add(packet, this.#ordinal);
    this.#check(kind, tally);
  }

  /** Adds the packets of the tracks that are not played, at once. Throws PrepareError media_too_complex. */
  addUnread(tracks: readonly MovieTrack[]): void {
    const { video, audio } = this.#source;
    for (const { index, packets, endByte } of tracks) {
      if (index === video?.index || index === audio?.index) continue;
      this.#packets.set(index, packets);
      this.#ordinal += packets;
      checkPackets(this.#ordinal, this.#limits);
      this.#fileEndByte = Math.max(this.#fileEndByte, endByte);
    }
  }

  #check(kind: 'video' | 'audio', seen: TrackCounts): void {
    checkTrack(seen, this.#about[kind], this.#limits);
  }

  /** Seconds of the longest track so far, without the time that its clock jumps over. */
  get seconds(): number {
    const { video, audio } = this.#tallies;
    return Math.max(video?.seconds ?? 0, audio?.seconds ?? 0);
  }

  /** Throws as add() does. */
  result(): Scan {
    const { video, audio } = this.#tallies;
    const [pictures, sound] = joinTracks(this.#source.format, [video?.clock, audio?.clock]);
    const scan = {
      video: pictures && video?.result(pictures),
      audio: sound && audio?.result(sound),
      packets: this.#packets,
      fileEndSeconds: this.#fileEndSeconds,
      fileEndByte: this.#fileEndByte,
    };
    for (const kind of ['video', 'audio'] as const) {
      const stream = scan[kind];
      if (!stream) continue;
      const { packets, largestStepSeconds: gapSeconds } = stream;
      this.#check(kind, { packets, seconds: secondsFrom(stream, scan), gapSeconds });
    }
    return scan;
  }
}

/** Returns the time from the start of the earlier track to the end of this one. */
const secondsFrom = ({ endSeconds, startSeconds }: StreamScan, { video, audio }: Scan): number =>
  Math.max(
    0,
    endSeconds - Math.min(startSeconds, video?.startSeconds ?? startSeconds, audio?.startSeconds ?? startSeconds),
  );

/** Describes a source for the Upload's status. */
export function describeMedia(source: Source, scan: Scan): Omit<MediaInfo, 'sha256' | 'sizeBytes'> {
  const round = (value: number) => Math.round(value * 1000) / 1000;
  const { video, audio, declared = [], tags } = source;
  return {
    durationSeconds: round(computeExtent(scan).seconds),
    ...(video && {
      video: {
        codec: video.codec,
        width: video.width,
        height: video.height,
        framerate: round(video.framerate[0] / video.framerate[1]),
      },
    }),
    ...(audio && { audio: { codec: audio.codec, sampleRate: audio.sampleRate, channels: audio.channels } }),
    ...listTracks(declared),
    ...(tags && { tags }),
  };
}
