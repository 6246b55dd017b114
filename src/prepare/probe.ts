/** Asks ffprobe what a file holds: once by its header, once by every packet in it. */
import type { MediaInfo } from '../uploads/spec.ts';
import { PrepareError } from './failure.ts';
import { checkPackets, checkTrack } from './limits.ts';
import { DEFAULT_LIMITS, type MediaLimits } from './media-limits.ts';
import { parseSource, type Scan, type Source, type StreamScan } from './source.ts';
import { eachLine, type Tool, ToolError } from './tool.ts';
import { inputPath, UNTRUSTED_INPUT } from './untrusted.ts';

export interface Tools {
  ffmpeg: Tool;
  ffprobe: Tool;
}

const HEADER_TIMEOUT_MS = 120_000;
/** What is asked of 256 tracks takes a quarter of this. */
const MAX_HEADER_CHARS = 2 ** 20;
/** All that source.ts reads. Tags are the file's own words, of any length, and only this one of them is wanted. */
const HEADER_ENTRIES = [
  'stream=index,codec_name,codec_type,profile,pix_fmt,width,height,sample_aspect_ratio,avg_frame_rate,r_frame_rate,' +
    'field_order,has_b_frames,color_space,color_transfer,start_time,duration,nb_frames,sample_rate,channels',
  'stream_disposition=default,attached_pic',
  'stream_tags=rotate',
  'stream_side_data=rotation',
  'format=format_name,start_time,duration,size',
].join(':');

/** Reads the header. Rejects with PrepareError media_unreadable when this is no media, or the signal's reason. */
export async function probe(path: string, tools: Tools, signal: AbortSignal): Promise<Source> {
  const lines: string[] = [];
  let chars = 0;
  const args = ['-show_entries', HEADER_ENTRIES, '-of', 'json', '-i', inputPath(path)];
  await readLines(tools, args, { signal, deadline: AbortSignal.timeout(HEADER_TIMEOUT_MS) }, (line) => {
    chars += line.length;
    if (chars > MAX_HEADER_CHARS) throw new PrepareError('media_too_complex', 'Its header describes too many tracks.');
    lines.push(line);
  });
  return parseSource(JSON.parse(lines.join('\n')));
}

/** Runs ffprobe; it has been killed by the time that this rejects, be it with what `onLine` throws. */
async function readLines(
  tools: Tools,
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
  /** Of the profile that a rendition is wanted for; decides StreamScan.regular. */
  framerate?: number;
  limits?: MediaLimits;
}

/**
 * Reads every packet of the source's video and audio stream without decoding them, and stops at the first that is beyond a
 * limit. Rejects with PrepareError media_unreadable, media_too_long, media_too_complex or prepare_timeout, or with the
 * signal's reason.
 */
export async function scanPackets(
  path: string,
  source: Source,
  tools: Tools,
  signal: AbortSignal,
  { framerate = 0, limits = DEFAULT_LIMITS }: ScanOptions = {},
): Promise<Scan> {
  const deadline = AbortSignal.timeout(limits.probeSeconds * 1000);
  const video = source.video && new Tally(source, framerate, 2 * framerate);
  const audio = source.audio && new Tally(source, source.audio.sampleRate / 1024, 1);
  const pixels = (source.video?.width ?? 0) * (source.video?.height ?? 0);
  let packets = 0;
  const entries = 'packet=stream_index,pts_time,dts_time,duration_time,size,flags';
  const onLine = (line: string) => {
    const packet = fields(line);
    const index = Number(packet.stream_index ?? -1);
    checkPackets(++packets, limits);
    const tally = index === source.video?.index ? video : index === source.audio?.index ? audio : undefined;
    if (!tally) return;
    tally.add(packet);
    checkTrack({ ...tally.seen(), pixels: tally === video ? pixels : 0 }, source.sizeBytes, limits);
  };
  const args = ['-show_entries', entries, '-of', 'compact=p=0', '-i', inputPath(path)];
  try {
    await readLines(tools, args, { signal, deadline }, onLine);
  } catch (error) {
    if (!deadline.aborted || signal.aborted) throw error;
    const detail = `It could not be read to its end within ${limits.probeSeconds} s.`;
    throw new PrepareError('prepare_timeout', detail, { cause: error });
  }
  return { video: video?.result(), audio: audio?.result() };
}

const fields = (line: string): Record<string, string> =>
  Object.fromEntries(line.split('|').map((pair) => pair.split('=', 2) as [string, string]));

/** Containers whose clocks may jump: ffmpeg goes on where it was when one does so by more than this. */
const JUMPING = /\b(mpegts|mpeg|ogg|live_flv)\b/;
const JUMP_SECONDS = 10;

/** Adds up the packets of one stream. */
class Tally {
  readonly #source: Source;
  readonly #jumps: boolean;
  /** What has been added to the times of a clock that jumped. */
  #shift = 0;
  /** When the next packet is to be decoded. */
  #next = Number.NaN;
  readonly #rate: number;
  readonly #keyInterval: number;
  readonly #scan: StreamScan = {
    packets: 0,
    hidden: 0,
    startSeconds: Number.POSITIVE_INFINITY,
    endSeconds: Number.NEGATIVE_INFINITY,
    largestStepSeconds: 0,
    bytes: 0,
    regular: true,
  };
  #last: number | undefined;
  /** The first packet's time: an edit list may keep it, and others, from being shown. */
  #origin = Number.POSITIVE_INFINITY;

  /** A regular stream has `rate` packets a second and a keyframe every `keyInterval` packets, no others. */
  constructor(source: Source, rate: number, keyInterval: number) {
    this.#source = source;
    this.#jumps = JUMPING.test(source.format);
    this.#rate = rate;
    this.#keyInterval = keyInterval;
  }

  add(packet: Record<string, string>): void {
    const scan = this.#scan;
    const duration = Number(packet.duration_time) || 0;
    const dts = this.#follow(Number(packet.dts_time ?? packet.pts_time), duration);
    // A stream without timestamps of its own (raw, some AVI) has the decoding ones.
    const shown = Number(packet.pts_time) + this.#shift;
    const pts = Number.isNaN(shown) ? dts : shown;
    scan.bytes += Number(packet.size ?? 0);
    const isKey = packet.flags?.includes('K') === true;
    const number = scan.packets++;
    if (Number.isNaN(pts)) {
      scan.regular = false;
      return;
    }
    if (this.#last !== undefined) scan.largestStepSeconds = Math.max(scan.largestStepSeconds, pts - this.#last);
    this.#last = pts;
    this.#origin = Math.min(this.#origin, pts);
    // What is only there to be decoded is no part of the source's length.
    if (packet.flags?.includes('D')) scan.hidden++;
    else {
      scan.startSeconds = Math.min(scan.startSeconds, pts);
      scan.endSeconds = Math.max(scan.endSeconds, pts + duration);
    }
    // Containers keep times in milliseconds at worst.
    const onTime = Math.abs(pts - this.#origin - number / this.#rate) < 0.0015;
    scan.regular &&= onTime && dts === pts && isKey === (number % this.#keyInterval === 0);
  }

  /** The decoding time as ffmpeg goes on with it. */
  #follow(dts: number, duration: number): number {
    const here = dts + this.#shift;
    const jump = here - this.#next;
    if (this.#jumps && Math.abs(jump) > JUMP_SECONDS) this.#shift -= jump;
    if (!Number.isNaN(here)) this.#next = dts + this.#shift + duration;
    return dts + this.#shift;
  }

  /** What checkTrack() asks. */
  seen() {
    const { packets, endSeconds, startSeconds, largestStepSeconds } = this.#scan;
    const seconds = Math.max(0, endSeconds - Math.min(startSeconds, this.#source.startSeconds));
    return { packets, seconds, gapSeconds: largestStepSeconds };
  }

  result(): StreamScan {
    return this.#scan.startSeconds === Number.POSITIVE_INFINITY
      ? { ...this.#scan, startSeconds: 0, endSeconds: 0 }
      : this.#scan;
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

/** What the Upload's status says about a source. */
export function describeMedia(source: Source, scan: Scan): Omit<MediaInfo, 'sha256' | 'sizeBytes'> {
  const length = (stream?: StreamScan) => (stream ? Math.max(0, stream.endSeconds - stream.startSeconds) : 0);
  const round = (value: number) => Math.round(value * 1000) / 1000;
  const { video, audio } = source;
  return {
    durationSeconds: round(length(scan.video ?? scan.audio)),
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
