/**
 * Puts a source whose clock restarts or jumps on one line of time, packet by packet and in the container that it has, so
 * that its pictures can be copied. Encoded tracks get the same line from the filters of plan.ts.
 */
import { startTool, type ToolInput } from '../tools/tool.ts';
import { inputPath, UNTRUSTED_INPUT } from '../tools/untrusted-input.ts';
import { joinTimes, type PlanInput } from './plan.ts';
import { type TranscodeOptions, toPrepareError } from './transcode.ts';

/** True where the clock of the pictures must be mended before they are copied. */
export const needsMending = ({ scan }: PlanInput): boolean => (scan.video?.shifts?.length ?? 0) > 0;

/** Describes the mended source, which is read from stdin. */
export function describeMended(input: PlanInput): PlanInput {
  const { source, scan } = input;
  const { video, audio } = scan;
  return {
    ...input,
    isArriving: true,
    source: {
      ...source,
      video: source.video && { ...source.video, index: 0 },
      audio: source.audio && {
        ...source.audio,
        index: 1,
        ...(source.audio.rightIndex !== undefined && { rightIndex: 2 }),
      },
    },
    scan: { ...scan, video: video && { ...video, shifts: [] }, audio: audio && { ...audio, shifts: [] } },
  };
}

/** Yields the mended source. Throws PrepareError prepare_failed, or the signal's reason. */
export async function* readMended(
  input: PlanInput,
  ffmpeg: TranscodeOptions['ffmpeg'],
  signal: AbortSignal,
): ToolInput {
  try {
    const { stdout, done } = startTool(ffmpeg, mendArgs(input), signal);
    yield* stdout as AsyncIterable<Buffer>;
    await done;
  } catch (error) {
    signal.throwIfAborted();
    throw toPrepareError(error);
  }
}

function mendArgs({ path, source, scan }: PlanInput): string[] {
  const track = (kind: 'video' | 'audio') => {
    const shifts = scan[kind]?.shifts;
    const own = kind === 'video' ? 'v' : 'a';
    const times = shifts && `setts=pts='${joinTimes('PTS', shifts)}':dts='${joinTimes('DTS', shifts)}'`;
    const right = kind === 'audio' ? source.audio?.rightIndex : undefined;
    const maps = [source[kind]?.index, ...(right === undefined ? [] : [right])].flatMap((index) => [
      '-map',
      `0:${index}`,
    ]);
    return [...maps, ...(times ? [`-bsf:${own}`, times] : [])];
  };
  // setts takes the input's unit of time for the output's, which is the same in the same container.
  const container = source.format.includes('flv')
    ? ['-f', 'flv', '-flvflags', 'no_duration_filesize']
    : ['-f', 'mpegts', '-mpegts_copyts', '1', '-muxdelay', '0', '-muxpreload', '0'];
  return [
    ...['-v', 'error', '-hide_banner', '-nostdin', '-copyts', ...UNTRUSTED_INPUT, '-i', inputPath(path)],
    ...[...track('video'), ...(source.audio ? track('audio') : []), '-c', 'copy', '-sn', '-dn'],
    ...['-map_metadata', '-1', '-avoid_negative_ts', 'disabled', '-flush_packets', '0', ...container, 'pipe:1'],
  ];
}
