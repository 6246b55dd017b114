/** Asks ffprobe what a file holds: once by its header, once by every packet in it. */
import type { MediaInfo } from '../uploads/spec.ts';
import { PrepareError } from './failure.ts';
import { parseSource, type Scan, type Source, type StreamScan } from './source.ts';
import { eachLine, ToolError } from './tool.ts';
import { inputPath, UNTRUSTED_INPUT } from './untrusted.ts';

export interface Tools {
  ffmpeg: string;
  ffprobe: string;
}

const HEADER_TIMEOUT_MS = 120_000;

/** Reads the header. Rejects with PrepareError media_unreadable when this is no media, or the signal's reason. */
export async function probe(path: string, tools: Tools, signal: AbortSignal): Promise<Source> {
  const lines: string[] = [];
  const deadline = AbortSignal.timeout(HEADER_TIMEOUT_MS);
  try {
    await eachLine(
      tools.ffprobe,
      ['-v', 'error', ...UNTRUSTED_INPUT, '-show_streams', '-show_format', '-of', 'json', '-i', inputPath(path)],
      AbortSignal.any([signal, deadline]),
      (line) => lines.push(line),
    );
  } catch (error) {
    throw unreadable(error, signal);
  }
  return parseSource(JSON.parse(lines.join('\n')));
}

/**
 * Reads every packet of the source's video and audio stream without decoding them. `framerate`, of the profile that a
 * rendition is wanted for, decides StreamScan.regular.
 */
export async function scanPackets(
  path: string,
  source: Source,
  tools: Tools,
  signal: AbortSignal,
  framerate = 0,
): Promise<Scan> {
  const video = source.video && new Tally(framerate, 2 * framerate);
  const audio = source.audio && new Tally(source.audio.sampleRate / 1024, 1);
  const entries = 'packet=stream_index,pts_time,dts_time,duration_time,size,flags';
  const onLine = (line: string) => {
    const packet = fields(line);
    const index = Number(packet.stream_index ?? -1);
    if (index === source.video?.index) video?.add(packet);
    if (index === source.audio?.index) audio?.add(packet);
  };
  try {
    const show = ['-show_entries', entries, '-of', 'compact=p=0'];
    await eachLine(tools.ffprobe, ['-v', 'error', ...UNTRUSTED_INPUT, ...show, '-i', inputPath(path)], signal, onLine);
  } catch (error) {
    throw unreadable(error, signal);
  }
  return { video: video?.result(), audio: audio?.result() };
}

const fields = (line: string): Record<string, string> =>
  Object.fromEntries(line.split('|').map((pair) => pair.split('=', 2) as [string, string]));

/** Adds up the packets of one stream. */
class Tally {
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
  constructor(rate: number, keyInterval: number) {
    this.#rate = rate;
    this.#keyInterval = keyInterval;
  }

  add(packet: Record<string, string>): void {
    const scan = this.#scan;
    const dts = Number(packet.dts_time ?? packet.pts_time);
    // A stream without timestamps of its own (raw, some AVI) has the decoding ones.
    const pts = Number.isNaN(Number(packet.pts_time)) ? dts : Number(packet.pts_time);
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
      scan.endSeconds = Math.max(scan.endSeconds, pts + (Number(packet.duration_time) || 0));
    }
    // Containers keep times in milliseconds at worst.
    const onTime = Math.abs(pts - this.#origin - number / this.#rate) < 0.0015;
    scan.regular &&= onTime && dts === pts && isKey === (number % this.#keyInterval === 0);
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
