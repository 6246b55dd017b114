/** Runs ffprobe on a stranger's file, and reads the packets that it lists. */
import { PrepareError } from '../failure/failure.ts';
import { eachLine, type MediaTool, ToolError } from '../tools/tool.ts';
import { openInput, type Patch } from '../tools/untrusted-input.ts';
import type { Packet } from './packet.ts';

export interface MediaTools {
  ffmpeg: MediaTool;
  ffprobe: MediaTool;
}

/** A file as ffprobe is to see it. */
export interface Seen {
  path: string;
  /** They hide the tracks that ffprobe cannot open (unopened.ts). */
  patches?: readonly Patch[] | undefined;
}

export interface Within {
  signal: AbortSignal;
  deadline: AbortSignal;
}

/** Runs ffprobe. The process has ended when this rejects, also with an error of `onLine`. */
export async function readLines(
  { path, patches }: Seen,
  tools: MediaTools,
  args: string[],
  { signal, deadline }: Within,
  onLine: (line: string) => void,
): Promise<void> {
  const stop = new AbortController();
  const either = AbortSignal.any([signal, deadline, stop.signal]);
  const all = ['-v', 'error', ...args, ...openInput(path, patches)];
  try {
    await eachLine(tools.ffprobe, all, either, onLine);
  } catch (error) {
    stop.abort(error);
    throw unreadable(error, signal);
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

const PACKET_ENTRIES = 'packet=stream_index,pts_time,dts_time,duration_time,size,pos,flags';

/** Reads packets without decoding them. `options` are ffprobe's, before the file. Rejects as readLines() does. */
export const readPackets = (
  file: Seen,
  tools: MediaTools,
  options: string[],
  within: Within,
  onPacket: (packet: Packet) => void,
): Promise<void> =>
  readLines(file, tools, [...options, '-show_entries', PACKET_ENTRIES, '-of', 'compact=p=0'], within, (line) => {
    // Side data of a packet ends with an empty line.
    if (line !== '') onPacket(parsePacket(line));
  });

function parsePacket(line: string): Packet {
  const fields: Record<string, string> = Object.fromEntries(
    line.split('|').map((pair) => pair.split('=', 2) as [string, string]),
  );
  return {
    index: Number(fields.stream_index ?? -1),
    pts: Number(fields.pts_time),
    dts: Number(fields.dts_time),
    duration: Number(fields.duration_time),
    sizeBytes: Number(fields.size),
    byte: Number(fields.pos),
    isKey: fields.flags?.includes('K') === true,
    isHidden: fields.flags?.includes('D') === true,
  };
}
