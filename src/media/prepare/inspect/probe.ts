/** Asks ffprobe about a file: once by its header, once by every packet in it. */
import type { MediaInfo } from '../../../resources/upload/spec.ts';
import { DEFAULT_LIMITS, type MediaLimits } from '../../limits.ts';
import { BrokenPromiseError } from '../../rendition/frame-times.ts';
import { PictureOrder } from '../../rendition/picture-order.ts';
import { PrepareError } from '../failure.ts';
import { eachLine, type MediaTool, ToolError } from '../tools/tool.ts';
import { inputPath, UNTRUSTED_INPUT } from '../tools/untrusted-input.ts';
import { checkPackets, checkTrack } from './check-limits.ts';
import { computeExtent } from './extent.ts';
import { type JoinedTrack, joinTracks, PacketClock } from './join-clocks.ts';
import { parseSource, type Scan, SETTLED_PACKETS, type Source, type StreamScan } from './source.ts';

export interface MediaTools {
  ffmpeg: MediaTool;
  ffprobe: MediaTool;
}

const HEADER_TIMEOUT_MS = 120_000;
/** The answer about 256 tracks takes a quarter of this. */
const MAX_HEADER_CHARS = 2 ** 20;
/** Fields that source.ts reads. Tags are the file's own words, of any length, and only these are needed. */
const HEADER_ENTRIES = [
  'stream=index,codec_name,codec_type,codec_tag_string,profile,pix_fmt,width,height,sample_aspect_ratio,avg_frame_rate,r_frame_rate,' +
    'field_order,has_b_frames,color_space,color_transfer,start_time,duration,nb_frames,sample_rate,channels',
  'stream_disposition=default,attached_pic',
  'stream_tags=rotate,DURATION',
  'stream_side_data=rotation,dv_profile,dv_bl_signal_compatibility_id',
  'format=format_name,start_time,duration,size',
  'format_tags=ASF_Protection_Type',
  // In an encrypted MP4, the first packets show the original names of the tracks.
  'packet_side_data=side_data_type',
].join(':');

/** Reads the header. Rejects with PrepareError media_unreadable when this is no media, or the signal's reason. */
export async function probe(path: string, tools: MediaTools, signal: AbortSignal): Promise<Source> {
  const lines: string[] = [];
  let chars = 0;
  const args = ['-show_entries', HEADER_ENTRIES, '-read_intervals', '%+#16', '-of', 'json', '-i', inputPath(path)];
  await readLines(tools, args, { signal, deadline: AbortSignal.timeout(HEADER_TIMEOUT_MS) }, (line) => {
    chars += line.length;
    if (chars > MAX_HEADER_CHARS)
      throw new PrepareError(
        'media_too_complex',
        'Its header describes too many tracks. Export it with one video track and one audio track.',
      );
    lines.push(line);
  });
  return parseSource(JSON.parse(lines.join('\n')));
}

/**
 * Decodes the first picture. `orientation` is Exif's number, 1 by default. Rejects with PrepareError media_unreadable
 * when there is no picture, or with the signal's reason.
 */
export async function probeFirstFrame(
  path: string,
  tools: MediaTools,
  signal: AbortSignal,
): Promise<{ orientation: number }> {
  const lines: string[] = [];
  const args = ['-read_intervals', '%+#1', '-show_entries', 'frame=media_type:frame_tags=Orientation', '-of', 'json'];
  const deadline = AbortSignal.timeout(HEADER_TIMEOUT_MS);
  await readLines(tools, [...args, '-i', inputPath(path)], { signal, deadline }, (line) => lines.push(line));
  const { frames = [] } = JSON.parse(lines.join('\n'));
  const [frame] = frames as { tags?: { Orientation?: string } }[];
  if (!frame)
    throw new PrepareError('media_unreadable', 'Its picture cannot be decoded. Export it again as JPEG or PNG.');
  const orientation = Number(frame.tags?.Orientation ?? 1);
  return { orientation: orientation >= 1 && orientation <= 8 ? orientation : 1 };
}

/** Runs ffprobe. The process has ended when this rejects, also with an error of `onLine`. */
async function readLines(
  tools: MediaTools,
  args: string[],
  { signal, deadline }: { signal: AbortSignal; deadline: AbortSignal },
  onLine: (line: string) => void,
): Promise<void> {
  const stop = new AbortController();
  const either = AbortSignal.any([signal, deadline, stop.signal]);
  try {
    await eachLine(tools.ffprobe, ['-v', 'error', ...UNTRUSTED_INPUT, ...args], either, onLine);
  } catch (error) {
    stop.abort(error);
    throw unreadable(error, signal);
  }
}

export interface ScanOptions {
  /** Frame rate of the wanted rendition; decides StreamScan.regular. */
  framerate?: number;
  limits?: MediaLimits;
  /** Reads only this much of the beginning. */
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
  const { format, video, audio, sizeBytes } = source;
  const frameSeconds = video ? video.framerate[1] / video.framerate[0] : 0;
  const tallies = {
    video: video && new Tally(format, { rate: framerate, order: new PictureOrder(framerate), frameSeconds }),
    audio: audio && new Tally(format, { rate: audio.sampleRate / 1024, frameSeconds: 0 }),
  };
  const pixels = (video?.width ?? 0) * (video?.height ?? 0);
  const packets = new Map<number, number>();
  let ordinal = 0;
  let fileEndSeconds = 0;
  let fileEndByte = 0;
  const onLine = (line: string) => {
    const packet = fields(line);
    const index = Number(packet.stream_index ?? -1);
    packets.set(index, (packets.get(index) ?? 0) + 1);
    checkPackets(++ordinal, limits);
    fileEndSeconds = Math.max(fileEndSeconds, Number(packet.pts_time) + (Number(packet.duration_time) || 0) || 0);
    fileEndByte = Math.max(fileEndByte, Number(packet.pos) + Number(packet.size) || 0);
    const kind = index === video?.index ? 'video' : index === audio?.index ? 'audio' : undefined;
    const tally = kind && tallies[kind];
    if (!tally) return;
    tally.add(packet, ordinal);
    checkTrack({ ...tally.seen(), pixels: kind === 'video' ? pixels : 0 }, sizeBytes, limits);
  };
  const entries = 'packet=stream_index,pts_time,dts_time,duration_time,size,pos,flags';
  const beginning = seconds === undefined ? [] : ['-read_intervals', `%+${seconds}`];
  const tables = isOutline ? ['-fflags', '+noparse'] : [];
  const args = [...beginning, ...tables, '-show_entries', entries, '-of', 'compact=p=0', '-i', inputPath(path)];
  try {
    await readLines(tools, args, { signal, deadline }, onLine);
  } catch (error) {
    if (!deadline.aborted || signal.aborted) throw error;
    const detail = `It could not be read to its end within ${limits.probeSeconds} s. Upload a shorter file.`;
    throw new PrepareError('prepare_timeout', detail, { cause: error });
  }
  const [pictures, sound] = joinTracks(format, [tallies.video?.clock, tallies.audio?.clock]);
  const scan = {
    video: pictures && tallies.video?.result(pictures),
    audio: sound && tallies.audio?.result(sound),
    packets,
    fileEndSeconds,
    fileEndByte,
  };
  for (const [kind, stream] of [['video', scan.video] as const, ['audio', scan.audio] as const]) {
    if (!stream) continue;
    const seconds = secondsFrom(stream, scan);
    const gapSeconds = stream.largestStepSeconds;
    checkTrack(
      { packets: stream.packets, seconds, gapSeconds, pixels: kind === 'video' ? pixels : 0 },
      sizeBytes,
      limits,
    );
  }
  return scan;
}

/** Returns the time from the start of the earlier track to the end of this one. */
const secondsFrom = ({ endSeconds, startSeconds }: StreamScan, { video, audio }: Scan): number =>
  Math.max(
    0,
    endSeconds - Math.min(startSeconds, video?.startSeconds ?? startSeconds, audio?.startSeconds ?? startSeconds),
  );

const fields = (line: string): Record<string, string> =>
  Object.fromEntries(line.split('|').map((pair) => pair.split('=', 2) as [string, string]));

/** A regular stream has `rate` packets a second. All of them are keyframes, or they are in the order of pictures. */
interface TallyOptions {
  rate: number;
  order?: PictureOrder;
  /** Duration of a packet that does not state one. */
  frameSeconds: number;
}

/** Adds up the packets of one stream. */
class Tally {
  readonly clock: PacketClock;
  readonly #options: TallyOptions;
  #packets = 0;
  #hidden = 0;
  #bytes = 0;
  #regular = true;
  #last: number | undefined;
  #largestStepSeconds = 0;
  #lastKeySeconds: number | undefined;
  #largestGopSeconds = 0;
  #settledSeconds: number | undefined;
  /** Time of the first packet: an edit list may hide it and others. */
  #origin = Number.POSITIVE_INFINITY;

  constructor(format: string, options: TallyOptions) {
    this.clock = new PacketClock(format);
    this.#options = options;
  }

  add(packet: Record<string, string>, ordinal: number): void {
    const { frameSeconds } = this.#options;
    const duration = Number(packet.duration_time) || frameSeconds;
    const dts = Number(packet.dts_time);
    // A stream without timestamps of its own (raw, some AVI) has decoding timestamps.
    const pts = Number.isNaN(Number(packet.pts_time)) ? dts : Number(packet.pts_time);
    this.#bytes += Number(packet.size ?? 0);
    const isKey = packet.flags?.includes('K') === true;
    const number = this.#packets++;
    if (Number.isNaN(pts)) {
      this.#regular = false;
      return;
    }
    this.#origin = Math.min(this.#origin, pts);
    // Packets that are only decoded do not count for the source's length.
    const shown = packet.flags?.includes('D') !== true;
    if (!shown) this.#hidden++;
    const byte = Number.isNaN(Number(packet.pos)) ? undefined : Number(packet.pos);
    const pieces = this.clock.pieces.length;
    this.clock.add({ dts, pts, duration, byte, shown, ordinal });
    if (this.#last !== undefined && pieces === this.clock.pieces.length)
      this.#largestStepSeconds = Math.max(this.#largestStepSeconds, pts - this.#last);
    this.#last = pts;
    if (number === SETTLED_PACKETS) this.#settledSeconds = pts;
    this.#largestGopSeconds = Math.max(this.#largestGopSeconds, pts - (this.#lastKeySeconds ?? pts));
    if (isKey) this.#lastKeySeconds = pts;
    this.#regular &&= this.#isRegular(number, pts - this.#origin, isKey);
  }

  #isRegular(number: number, seconds: number, isKey: boolean): boolean {
    const { rate, order } = this.#options;
    const slot = order ? Math.round(seconds * rate) : number;
    // Containers store times in milliseconds at worst.
    if (Math.abs(seconds - slot / rate) >= 0.0015) return false;
    return order ? isOrdered(() => order.add(slot, isKey)) : isKey;
  }

  /** Returns the counts for checkTrack(). */
  seen() {
    return { packets: this.#packets, seconds: this.clock.seconds, gapSeconds: this.#largestStepSeconds };
  }

  result({ startSeconds, endSeconds, shifts, breaks, largestStepSeconds, pauseSeconds }: JoinedTrack): StreamScan {
    const { order, frameSeconds } = this.#options;
    const regular = this.#regular && (!order || isOrdered(() => order.end()));
    return {
      packets: this.#packets,
      hidden: this.#hidden,
      startSeconds,
      // Without timestamps the decoder shows one packet after the other.
      endSeconds: this.clock.pieces.length > 0 ? endSeconds : this.#packets * frameSeconds,
      largestStepSeconds: Math.max(this.#largestStepSeconds, largestStepSeconds),
      largestGopSeconds: this.#largestGopSeconds,
      ...(this.#settledSeconds !== undefined && { settledSeconds: this.#settledSeconds }),
      bytes: this.#bytes,
      regular,
      ...(regular && order && { reorderedFrames: order.delayFrames }),
      ...(pauseSeconds > 0 && { pauseSeconds }),
      ...(breaks > 0 && { breaks }),
      ...(shifts.length > 0 && { shifts }),
    };
  }
}

function isOrdered(prove: () => unknown): boolean {
  try {
    prove();
    return true;
  } catch (error) {
    if (error instanceof BrokenPromiseError) return false;
    throw error;
  }
}

/** A program that was killed or could not be started says nothing about the file. */
function unreadable(error: unknown, signal: AbortSignal): unknown {
  if (signal.aborted) return signal.reason;
  if (error instanceof PrepareError) return error;
  return error instanceof ToolError && error.killed
    ? error
    : new PrepareError('media_unreadable', '', { cause: error });
}

/** Describes a source for the Upload's status. */
export function describeMedia(source: Source, scan: Scan): Omit<MediaInfo, 'sha256' | 'sizeBytes'> {
  const round = (value: number) => Math.round(value * 1000) / 1000;
  const { video, audio } = source;
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
  };
}
