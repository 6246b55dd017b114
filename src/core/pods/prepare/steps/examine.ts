/** Finds out what a rendition can be made of: the second step. */
import { PREVIEW_PROFILE, PREVIEW_SECONDS } from '../../../resources/upload/spec.ts';
import { type Examined, examine } from '../inspect/examine.ts';
import { requireChosen, type Source } from '../inspect/source.ts';
import { eachLine } from '../tools/tool.ts';
import { assumedScan, isHdr, matchFramerate, type PlanInput } from '../transcode/plan.ts';
import type { TranscodeOptions } from '../transcode/transcode.ts';
import type { JobContext } from './context.ts';
import type { Opened } from './open.ts';

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
export async function* examineInTurn(opened: Opened, context: JobContext): AsyncGenerator<Facts> {
  const { file, target } = opened;
  // The import has checked the source, but perhaps under other limits.
  const header = await file.openHeader();
  requireChosen(header, target);
  if (target.profile === PREVIEW_PROFILE) {
    yield await examineBeginning(opened, header, context);
    return;
  }
  const assumed = opened.shape.overlays?.length ? undefined : assumeFacts(opened, header, context);
  if (assumed) yield assumed;
  yield await examineWhole(opened, context);
}

/** Reads the source, or its outline, to its end. Rejects as examine() does. */
export async function examineWhole(opened: Opened, context: JobContext): Promise<Facts> {
  const input = await describe(opened, await opened.file.examine(), context);
  return { input: { ...input, ownRates: context.ownRates ?? false } };
}

/** The import has read the source to its end, and a preview copies nothing. So only the beginning is read. */
async function examineBeginning(opened: Opened, header: Source, context: JobContext): Promise<Facts> {
  const { tools, signal, limits } = context;
  const { file, target } = opened;
  const seconds = PREVIEW_SECONDS;
  const examined = await examine(file.path, header, target.type, tools, signal, { limits, seconds });
  const input = await describe(opened, examined, context);
  return { input: { ...input, previewSeconds: seconds, allowCopy: false } };
}

async function describe(
  { file, target, shape }: Opened,
  examined: Examined,
  { tools, signal, limits }: JobContext,
): Promise<PlanInput> {
  requireChosen(examined.source, target);
  const canTonemap = await tonemaps(examined.source, tools.ffmpeg, signal);
  const { type } = target;
  return { path: file.path, ...examined, type, ...shape, maxPixels: limits.pixels, canTonemap, allowCopy: true };
}

/** Undefined where the header does not say enough. A large source is read while it is copied, so that its first chunks can be played sooner. */
function assumeFacts({ file, target, shape }: Opened, source: Source, { limits }: JobContext): Facts | undefined {
  const { type, isRead = false } = target;
  const scan = assumedScan(source, matchFramerate(source, shape.framerate));
  if (!scan || type !== 'video') return undefined;
  const isProven = isRead || source.sizeBytes > PROVEN_BYTES;
  const about = { path: file.path, source, scan, type, ...shape };
  return {
    input: { ...about, maxPixels: limits.pixels, canTonemap: false, allowCopy: true },
    assumption: isProven ? { examine: (signal) => file.examine(signal) } : {},
  };
}

/** Asks ffmpeg only where it matters: whether it can turn HDR into SDR. */
export async function tonemaps(
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
