/** Finds out what a rendition can be made of: the second step. */
import { PREVIEW_PROFILE, PREVIEW_SECONDS } from '../../../resources/upload/spec.ts';
import { type Examined, examine } from '../inspect/examine.ts';
import { requireChosen, type Source } from '../inspect/source.ts';
import type { SourceFile } from '../inspect/source-file.ts';
import { eachLine } from '../tools/tool.ts';
import { assumedScan, isHdr, matchFramerate, type PlanInput } from '../transcode/plan.ts';
import type { TranscodeOptions } from '../transcode/transcode.ts';
import type { JobContext, Target } from './context.ts';
import { readProfile } from './open.ts';

export interface Facts extends Pick<TranscodeOptions, 'openInput'> {
  input: PlanInput;
  /** Set for facts by the word of the header. */
  assumption?: Assumption;
}

interface Assumption {
  /** Reads the source to its end, where that tells sooner than a copy whether the header is right. */
  examine?: (signal: AbortSignal) => Promise<Examined>;
}

/** ffprobe reads a smaller source no sooner than it is copied. */
const PROVEN_BYTES = 2 ** 28;

/**
 * Yields what is known of the source, the cheapest facts first: by the word of its header, where that describes every packet, and then by
 * every packet. Throws as openSource() and examine() reject.
 */
export async function* examineInTurn(target: Target, file: SourceFile, context: JobContext): AsyncGenerator<Facts> {
  // The import has checked the source, but perhaps under other limits.
  const header = await file.openHeader();
  requireChosen(header, target);
  if (target.profile === PREVIEW_PROFILE) {
    yield { input: await examineBeginning(target, header, file.path, context) };
    return;
  }
  const assumed = assumeFacts(target, header, file, context);
  if (assumed) yield assumed;
  yield { input: await examineWhole(target, file, context) };
}

/** Describes a source that has been read to its end, or its outline. Rejects as examine() does. */
export async function examineWhole(target: Target, file: SourceFile, context: JobContext): Promise<PlanInput> {
  const { tools, signal, limits, ownRates = false } = context;
  const examined = await file.examine();
  requireChosen(examined.source, target);
  return {
    path: file.path,
    ...examined,
    type: target.type,
    ...readProfile(target),
    maxPixels: limits.pixels,
    canTonemap: await canTonemap(examined.source, tools.ffmpeg, signal),
    allowCopy: true,
    ownRates,
  };
}

/** The import has read the source to its end, and a preview copies nothing. So only the beginning is read. */
async function examineBeginning(target: Target, header: Source, path: string, context: JobContext): Promise<PlanInput> {
  const { tools, signal, limits } = context;
  const { type } = target;
  const examined = await examine(path, header, type, tools, signal, { limits, seconds: PREVIEW_SECONDS });
  requireChosen(examined.source, target);
  return {
    path,
    ...examined,
    type,
    ...readProfile(target),
    previewSeconds: PREVIEW_SECONDS,
    maxPixels: limits.pixels,
    canTonemap: await canTonemap(header, tools.ffmpeg, signal),
    allowCopy: false,
  };
}

/** Undefined where the header does not say enough. A large source is read while it is copied, so that its first chunks can be played sooner. */
function assumeFacts(
  { type, isRead, ...target }: Target,
  source: Source,
  file: SourceFile,
  { limits }: JobContext,
): Facts | undefined {
  const profile = readProfile({ type, ...target });
  const scan = assumedScan(source, matchFramerate(source, profile.framerate));
  if (!scan || type !== 'video') return undefined;
  const isProven = isRead || source.sizeBytes > PROVEN_BYTES;
  return {
    input: {
      ...{ path: file.path, source, scan, type, ...profile },
      ...{ maxPixels: limits.pixels, canTonemap: false, allowCopy: true },
    },
    assumption: isProven ? { examine: (signal) => file.examine(signal) } : {},
  };
}

/** Asks ffmpeg only where it matters: whether it can turn HDR into SDR. */
async function canTonemap(
  { video }: Source,
  ffmpeg: JobContext['tools']['ffmpeg'],
  signal: AbortSignal,
): Promise<boolean> {
  if (!video || !isHdr(video)) return false;
  const filters = new Set<string>();
  await eachLine(ffmpeg, ['-hide_banner', '-v', 'error', '-filters'], signal, (line) => {
    filters.add(line.trim().split(/\s+/)[1] ?? '');
  });
  return filters.has('zscale') && filters.has('tonemap');
}
