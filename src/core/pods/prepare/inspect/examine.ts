/** Reads a source to its end, and decides which of its tracks are played. */
import { PrepareError } from '../failure/failure.ts';
import { breaksOff } from './ending.ts';
import type { MediaTools } from './ffprobe.ts';
import { probeFirstFrame, type ScanOptions, scanPackets } from './probe.ts';
import { checkComplete, type EmptyTrack, type MediaType, type Scan, type Source, type StreamScan } from './source.ts';
import { holdStill } from './stills.ts';

export interface Examined {
  /** The source without the tracks that are not played. */
  source: Source;
  scan: Scan;
}

/**
 * Resolves with the tracks that a rendition of this type plays. A declared track without packets counts as absent, and
 * the next track of its kind plays in its place. Rejects as scanPackets() and checkComplete() do, and with PrepareError
 * media_has_no_video or media_has_no_audio where all tracks that the type needs are empty.
 */
export async function examine(
  path: string,
  header: Source,
  type: MediaType,
  tools: MediaTools,
  signal: AbortSignal,
  options: ScanOptions = {},
): Promise<Examined> {
  const wanted = type === 'video' ? header : { ...header, video: undefined };
  let source: Source = wanted;
  let scan = await scanPackets(path, source, tools, signal, options);
  const chosen = withoutEmpty(wanted, scan, type);
  if (chosen !== wanted) {
    const another = chosen.video !== wanted.video || chosen.audio !== wanted.audio;
    const isRead = !another || (absentOrSame(wanted.video, chosen.video) && absentOrSame(wanted.audio, chosen.audio));
    source = chosen;
    scan = isRead ? only(scan, source) : await scanPackets(path, source, tools, signal, options);
  }
  source = withSides(source, scan);
  if (options.seconds === undefined) checkComplete(source, scan);
  if (!options.isOutline) scan = { ...scan, video: await startShown(path, source, scan, tools, signal) };
  if (!options.isOutline && (await breaksOff(path, source))) scan = { ...scan, breaksOff: true };
  return { source, scan: holdStill(source, scan) };
}

/** A picture that waits for a keyframe leaves the decoder within as many packets. */
const REORDERED_PACKETS = 32;
/** A decoder that shows nothing until a keyframe is not asked about more than this. */
const MAX_LEADING_PACKETS = 1000;

/** Lets the pictures begin with the first one that comes out of the decoder. */
async function startShown(
  path: string,
  source: Source,
  { video }: Scan,
  tools: MediaTools,
  signal: AbortSignal,
): Promise<StreamScan | undefined> {
  if (!source.video || video?.packetsBeforeKey === undefined) return video;
  const { index } = source.video;
  const packets = Math.min(video.packetsBeforeKey, MAX_LEADING_PACKETS) + REORDERED_PACKETS;
  const file = { path, patches: source.patches };
  const { seconds } = await probeFirstFrame(file, tools, signal, { index, packets }).catch((error: unknown) => {
    // The rendition reports pictures that cannot be decoded.
    if (error instanceof PrepareError) return { seconds: Number.NaN };
    throw error;
  });
  const isInside = seconds > video.startSeconds && seconds < video.endSeconds;
  return isInside ? { ...video, startSeconds: seconds } : video;
}

/** The packets of two tracks of one recording differ by less than this part. */
const SIDE_PACKETS = 0.02;

/** Takes two mono tracks for the sides of one recording only where they are as long. */
function withSides(source: Source, { packets }: Scan): Source {
  const { audio } = source;
  if (audio?.rightIndex === undefined) return source;
  const left = packets?.get(audio.index) ?? 0;
  const right = packets?.get(audio.rightIndex) ?? 0;
  const isPair = right > 0 && Math.abs(left - right) <= Math.max(1, SIDE_PACKETS * left);
  return isPair ? source : { ...source, audio: { ...audio, rightIndex: undefined } };
}

const absentOrSame = (before: unknown, after: unknown): boolean => after === undefined || after === before;

const only = (scan: Scan, { video, audio }: Source): Scan => ({
  ...scan,
  video: video && scan.video,
  audio: audio && scan.audio,
});

function withoutEmpty(source: Source, { packets }: Scan, type: MediaType): Source {
  const holds = (track: { index: number } | undefined) => track !== undefined && (packets?.get(track.index) ?? 0) > 0;
  const empty: EmptyTrack[] = [];
  if (source.video && !holds(source.video)) empty.push('video');
  if (source.audio && !holds(source.audio)) empty.push('audio');
  if (empty.length === 0) return source;
  const { video: videos = [], audio: audios = [] } = source.others ?? {};
  const video = empty.includes('video') ? videos.find(holds) : source.video;
  const audio = empty.includes('audio') ? audios.find(holds) : source.audio;
  // A file without any packets is broken, and says nothing about its tracks.
  if (video || audio) {
    if (type === 'video' && !video)
      throw new PrepareError('media_has_no_video', 'Its video track is empty, and it contains only audio.');
    if (type === 'audio' && !audio) throw new PrepareError('media_has_no_audio', 'Its audio track is empty.');
  }
  return { ...source, video, audio, empty };
}
