/**
 * Measures how long a source's sound plays by decoding it. In some containers packets promise another length: a packet
 * of WMA holds several frames, APE counts blocks, and a chained Ogg restarts its time.
 */

import type { MediaLimits } from '../../../protocol/media-limits.ts';
import { PrepareError } from '../failure/failure.ts';
import { checkSeconds } from '../inspect/check-limits.ts';
import type { MediaTools } from '../inspect/ffprobe.ts';
import { keepsTime, type Scan, type Source } from '../inspect/source.ts';
import { eachLine, ToolError } from '../tools/tool.ts';
import { inputPath, UNTRUSTED_INPUT } from '../tools/untrusted-input.ts';
import { soundFilters } from './plan.ts';
import { PAUSE_MS } from './rewriter.ts';

/** A low rate is enough for counting, and cheaper. */
const RATE = 8000;

/**
 * Resolves with seconds: the decoded sound, and the pauses in its timestamps. Rejects with PrepareError
 * media_unreadable where nothing can be decoded, media_too_long or prepare_timeout, or with the signal's reason.
 */
export async function decodeSound(
  path: string,
  source: Source,
  scan: Scan,
  { tools, signal }: { tools: MediaTools; signal: AbortSignal },
  limits: MediaLimits,
): Promise<number> {
  const stop = new AbortController();
  const deadline = AbortSignal.timeout(limits.probeSeconds * 1000);
  const filters = soundFilters(scan.audio, source.audio, { rate: RATE, layout: 'mono', follows: false });
  const args = [
    ...['-v', 'error', '-hide_banner', '-nostdin', '-copyts', ...UNTRUSTED_INPUT, '-i', inputPath(path)],
    ...['-map', `0:${source.audio?.index}`, '-af', filters.join(',')],
    // The encoder and muxer are in the image's own ffmpeg (scripts/build-ffmpeg).
    ...['-c:a', 'pcm_s16le', '-f', 'framehash', '-hash', 'adler32', 'pipe:1'],
  ];
  const pauses = keepsTime(source);
  let start = Number.NaN;
  let samples = 0;
  const onLine = (line: string) => {
    if (line.startsWith('#')) return;
    const [, , pts = 0, duration = 0] = line.split(',').map(Number);
    if (Number.isNaN(start)) start = pts;
    const pause = pts - start - samples;
    if (pauses && pause > (PAUSE_MS / 1000) * RATE) samples += pause;
    samples += duration;
    checkSeconds(samples / RATE, source.sizeBytes, limits);
  };
  try {
    await eachLine(tools.ffmpeg, args, AbortSignal.any([signal, deadline, stop.signal]), onLine);
  } catch (error) {
    stop.abort(error);
    signal.throwIfAborted();
    if (error instanceof PrepareError) throw error;
    if (deadline.aborted) {
      const detail = `Its audio could not be decoded to its end within ${limits.probeSeconds} s. Upload a shorter file.`;
      throw new PrepareError('prepare_timeout', detail, { cause: error });
    }
    if (!(error instanceof ToolError) || error.killed) throw error;
  }
  if (samples > 0) return samples / RATE;
  throw new PrepareError('media_unreadable', 'Its audio cannot be decoded. Export it again, e.g. with AAC.');
}
