/** Makes one rendition of a source, unless it exists already. Streams play its first chunks while the rest is made. */
import { text } from 'node:stream/consumers';
import { isDeepStrictEqual } from 'node:util';
import type { Logger } from '../../../lib/log.ts';
import type { MediaLimits } from '../../../protocol/media-limits.ts';
import type { PreparedPart, PrepareProgress, PrepareTask } from '../../../protocol/task.ts';
import { parseProfile } from '../../../resources/stream/profile.ts';
import { PREVIEW_PROFILE, PREVIEW_SECONDS, type RenditionStatus } from '../../../resources/upload/spec.ts';
import { type UploadWarning, warn } from '../../../resources/upload/warnings.ts';
import { BrokenPromiseError, FormatChangeError } from '../../rendition/frame-times.ts';
import {
  AUDIO_SAMPLE_RATE,
  chunkKey,
  indexKey,
  parseIndex,
  planKey,
  RANGE_CHUNKS,
  type RenditionIndex,
  type RenditionIndexV1,
  SAMPLES_PER_FRAME,
} from '../../rendition/index.ts';
import type { Storage } from '../../storage/storage.ts';
import { PrepareError } from '../failure/failure.ts';
import { longestFor } from '../inspect/check-limits.ts';
import { examine } from '../inspect/examine.ts';
import type { MediaTools } from '../inspect/ffprobe.ts';
import { keepsTime, requireChosen, type Source } from '../inspect/source.ts';
import { SourceFile } from '../inspect/source-file.ts';
import { PreparedReport } from '../steps/prepared-report.ts';
import { eachLine } from '../tools/tool.ts';
import { listChunks } from '../transcode/chunk-writer.ts';
import { describeMended, needsMending, readMended } from '../transcode/mend.ts';
import { canEncodeInParts, cutParts, PART_SECONDS } from '../transcode/part-plan.ts';
import { readPartsPlan } from '../transcode/part-plan-object.ts';
import { makeParts, makeRangeParts } from '../transcode/parts.ts';
import {
  assumedScan,
  isHdr,
  matchFramerate,
  maxBytes,
  type Plan,
  type PlanInput,
  planRendition,
  remuxArgs,
} from '../transcode/plan.ts';
import { remux } from '../transcode/remux.ts';
import { RenditionOutput } from '../transcode/rendition-output.ts';
import { isBroken, type Most, type TranscodeOptions, transcode } from '../transcode/transcode.ts';
import type { Arrival } from './arrival.ts';
import { withSource } from './with-source.ts';

type RenditionTask = Extract<PrepareTask, { action: 'rendition' }>;
type RangeTask = Extract<PrepareTask, { action: 'range' }>;

/** A rendition to make. */
export interface Target extends Pick<RenditionTask, 'type' | 'profile' | 'renditionKey' | 'tracks'> {
  /** True where chunks under its key may be of another content: only a chunk with the same bytes is kept. */
  keepsSameOnly?: boolean;
  /** True where the source is read to its end anyway, as by an import. */
  isRead?: boolean;
}

export interface JobContext {
  storage: Storage;
  tools: MediaTools;
  /** Local directory for the files that tools read. */
  inputDir?: string | undefined;
  signal: AbortSignal;
  log: Logger;
  /** Limits of the media. */
  limits: MediaLimits;
  /** True where every streamer that may play a rendition takes any frame rate (OWN_RATE_VERSION). */
  ownRates?: boolean;
  onProgress?: (fraction: number) => void;
  /** Called with the seconds of a rendition, from its beginning on, that can be played. */
  onPrepared?: (part: PreparedPart) => void;
  /** Called with the number of ranges of a rendition that other Jobs may make; undefined when there is nothing to share any more. */
  onRanges?: (ranges: number | undefined) => void;
  /** The profile that a stream waits for, once the operator has named one to an import. */
  asked?: Promise<string>;
  /** Called when an import begins to make the rendition of a profile. */
  onBegun?: (profile: string) => void;
  /** Called once the source of an import is in storage, before anything else of it is deleted. */
  keepRecord?: (imported: NonNullable<PrepareProgress['imported']>) => Promise<void>;
  /** Called when an import has stored its source and still makes its rendition. */
  onImported?: (imported: NonNullable<PrepareProgress['imported']>) => void;
}

/** `openInput`: the source, where ffmpeg reads no file. */
type MakeContext = JobContext & Pick<TranscodeOptions, 'openInput'>;

export interface Rendered {
  rendition: RenditionStatus;
  warnings: UploadWarning[];
}

/**
 * Rejects with PrepareError, StorageError or the signal's reason; then the rendition is not complete, but chunks of it may be
 * there, and the next attempt keeps them.
 */
export async function makeRendition(task: RenditionTask, context: JobContext): Promise<Rendered> {
  const made = await readIndex(task, context.storage);
  if (made) {
    context.log.info({ storageKey: task.renditionKey }, 'the rendition was made before');
    return ready(task, made);
  }
  const index = await withSource(context.storage, task, (path) => make(task, openFile(task, path, context), context));
  return completeRendition(task, index, context.storage);
}

/**
 * Makes the parts of a range that are missing, by the plan of the Job that makes the whole; that Job writes the index. Resolves with the
 * number of parts that it has made: 0 where there is no plan, or no plan any more. Rejects with StorageError or the signal's reason.
 */
export async function makeRange(task: RangeTask, range: number, context: JobContext): Promise<number> {
  const { storage, tools, signal, log } = context;
  const { renditionKey, profile } = task;
  const plan = (await readIndex(task, storage)) ? undefined : await readPartsPlan(storage, renditionKey);
  if (!plan) return 0;
  const { input, videoFrames, keptFrames } = plan;
  const parts = cutParts(videoFrames, input.framerate, keptFrames).slice(
    range * RANGE_CHUNKS,
    (range + 1) * RANGE_CHUNKS,
  );
  if (parts.length === 0) return 0;
  const work = { storage, renditionKey, profile, videoFrames, ffmpeg: tools.ffmpeg, signal, log };
  try {
    return await withSource(storage, task, (path) => makeRangeParts({ ...work, input: { ...input, path } }, parts));
  } catch (error) {
    if (!isBroken(error)) throw error;
    log.warn({ err: error, range }, 'a part cannot be encoded; the Job that makes the whole decides what to do');
    return 0;
  }
}

/** Writes the index, which comes last: it says that the rendition is complete. Rejects with StorageError. */
export async function completeRendition(target: Target, index: RenditionIndex, storage: Storage): Promise<Rendered> {
  await storage.write(indexKey(target.renditionKey), Buffer.from(JSON.stringify(index)));
  await storage.delete(planKey(target.renditionKey));
  return ready(target, index);
}

const ready = ({ profile, renditionKey }: Target, index: RenditionIndex | RenditionIndexV1): Rendered => ({
  rendition: {
    profile,
    state: 'ready',
    key: renditionKey,
    durationSeconds: index.durationSeconds,
    bitrateKbps: index.bitrateKbps,
  },
  warnings: index.warnings ?? [],
});

/** Returns the index of a complete rendition, also of one that an earlier release made. */
async function readIndex(
  { renditionKey, profile, type }: Omit<RenditionTask, 'action'>,
  storage: Storage,
): Promise<RenditionIndex | RenditionIndexV1 | undefined> {
  const key = indexKey(renditionKey);
  if (!(await storage.head(key))) return undefined;
  const json = await text(await storage.read(key));
  const index = parseIndex(json);
  if (index?.profile !== profile || (index.video !== undefined) !== (type === 'video')) return undefined;
  if (index.version === 1) return (await storage.head(renditionKey))?.sizeBytes === index.sizeBytes ? index : undefined;
  const there = new Set<string>();
  for await (const { key } of listChunks(storage, renditionKey)) there.add(key);
  for (const chunk of index.chunks) {
    const key = chunkKey(renditionKey, chunk, index.version);
    // A listing may be old.
    if (!there.has(key) && !(await storage.head(key))) return undefined;
  }
  return index;
}

/** The plan decides a preview's size, so its quality here has no meaning. */
const PREVIEW: Pick<PlanInput, 'quality' | 'framerate'> = { quality: '720p', framerate: 30 };

function readProfile({ profile }: Target): typeof PREVIEW {
  const known = profile === PREVIEW_PROFILE ? PREVIEW : parseProfile(profile);
  if (!known) throw new PrepareError('prepare_failed', `The profile ${profile} does not exist.`);
  return known;
}

/** Opens a source that a rendition is made of; throws PrepareError where the profile does not exist. */
export function openFile(target: Target, path: string, context: JobContext, isOutline = false): SourceFile {
  const { tools, signal, limits } = context;
  const { framerate } = readProfile(target);
  const findFramerate = (source: Source) => matchFramerate(source, framerate);
  return new SourceFile(path, {
    type: target.type,
    chosen: target.tracks,
    tools,
    signal,
    limits,
    findFramerate,
    isOutline,
  });
}

/** Writes the chunks of a rendition. Rejects as makeRendition() does. */
export async function make(target: Target, file: SourceFile, context: JobContext): Promise<RenditionIndex> {
  // The import has checked the source, but perhaps under other limits.
  const source = await file.openHeader();
  requireChosen(source, target);
  if (target.profile === PREVIEW_PROFILE) return makePreview(source, file.path, target, context);
  const copied = await copyAtOnce(file, target, context);
  return copied ?? makeInTwoWays(await planInput(target, file, context), target, context);
}

/** A rendition that was made of a source before all of it had arrived. */
export interface EarlyRendition {
  index: RenditionIndex;
  /** Whether the source is what its tables said. */
  holds: (file: SourceFile) => Promise<boolean>;
}

/**
 * Writes the chunks of a rendition while its source arrives. `outlined` has the packets of the whole (fast-start.ts), so a copy is begun only
 * where all of it fits, and no chunk waits for the rest. Rejects as makeRendition() does, and with the error of the arrival.
 */
export async function makeEarly(
  target: Target,
  outlined: SourceFile,
  arrival: Pick<Arrival, 'follow'>,
  context: JobContext,
): Promise<EarlyRendition> {
  const input: PlanInput = { ...(await planInput(target, outlined, context)), isArriving: true, allowCopy: true };
  const early = { ...context, openInput: (signal: AbortSignal) => arrival.follow(signal) };
  const index = await makeInTwoWays(input, target, early);
  // A copy has been proven on its way, so only times and counts are left: those that a plan to encode is made of.
  const holds = async (file: SourceFile): Promise<boolean> => {
    const { source, scan } = await file.examine();
    const plans = [input, { ...input, source, scan }].map((one) => planRendition({ ...one, allowCopy: false }));
    return isDeepStrictEqual(plans[0], plans[1]) && scan.video?.packets === input.scan.video?.packets;
  };
  return { index, holds };
}

/** Describes how a source that has been read becomes the rendition. */
async function planInput(target: Target, file: SourceFile, context: JobContext): Promise<PlanInput> {
  const { tools, signal, limits } = context;
  const { path } = file;
  const examined = await file.examine();
  requireChosen(examined.source, target);
  const canTonemap = await tonemaps(examined.source, tools, signal);
  const { type } = target;
  const about = { path, ...examined, type, ...readProfile(target), maxPixels: limits.pixels, canTonemap };
  return { ...about, allowCopy: true, ownRates: context.ownRates ?? false };
}

/** Copies what fits; where that breaks a promise, everything is encoded. */
async function makeInTwoWays(input: PlanInput, target: Target, context: MakeContext): Promise<RenditionIndex> {
  const mends = needsMending(input) && planRendition(input).video === 'copy';
  const openInput = (signal: AbortSignal) => readMended(input, context.tools.ffmpeg, signal);
  try {
    return await (mends
      ? makeBy(describeMended(input), target, { ...context, openInput })
      : makeBy(input, target, context));
  } catch (error) {
    if (!(error instanceof Retry)) throw error;
    const index = await makeBy({ ...input, allowCopy: false }, target, context);
    if (!(error.cause instanceof FormatChangeError)) return index;
    return { ...index, warnings: [...(index.warnings ?? []), warn('media_changes')] };
  }
}

/** The import has read the source to its end, and a preview copies nothing. So only the beginning is read first. */
async function makePreview(header: Source, path: string, task: Target, context: JobContext): Promise<RenditionIndex> {
  const { tools, signal, limits } = context;
  const seconds = PREVIEW_SECONDS;
  const examined = await examine(path, header, task.type, tools, signal, { limits, seconds });
  requireChosen(examined.source, task);
  const canTonemap = await tonemaps(header, tools, signal);
  const only = { previewSeconds: seconds, maxPixels: limits.pixels, allowCopy: false };
  return makeBy({ path, ...examined, type: task.type, ...PREVIEW, canTonemap, ...only }, task, context);
}

/** A smaller source is copied sooner than it is read by ffprobe. */
const PROVEN_BYTES = 2 ** 28;

/**
 * Copies a source that fits by its header, without reading it before: the rewriter proves each promise. A large one is read
 * meanwhile, so that its first chunks can be played before the last one is copied. Undefined when the source does not fit, or
 * when the header was wrong.
 */
async function copyAtOnce(file: SourceFile, task: Target, context: JobContext): Promise<RenditionIndex | undefined> {
  const { type } = task;
  const profile = readProfile(task);
  const source = await file.openHeader();
  const scan = assumedScan(source, matchFramerate(source, profile.framerate));
  if (!scan || type !== 'video') return undefined;
  const about = { path: file.path, source, scan, type, ...profile };
  const assumed = { ...about, maxPixels: context.limits.pixels, canTonemap: false, allowCopy: true };
  const copies = (plan: Plan) => plan.video === 'copy' && plan.audio === 'copy';
  if (!copies(planRendition(assumed))) return undefined;
  const hasFrames = (frames: number | undefined) => frames === source.video?.frames;
  const prove = async (signal: AbortSignal) => {
    const examined = await file.examine(signal);
    return hasFrames(examined.scan.video?.packets) && copies(planRendition({ ...assumed, ...examined }));
  };
  const holds = ({ video }: RenditionIndex) => hasFrames(video?.frames);
  try {
    return await makeBy(assumed, task, context, {
      holds,
      ...((task.isRead || source.sizeBytes > PROVEN_BYTES) && { prove }),
    });
  } catch (error) {
    if (!(error instanceof Retry)) throw error;
    return undefined;
  }
}

/**
 * Clocks are rounded, so a source may give a little more than it promises. In some containers sound decodes to more
 * than its packets promise, so sound alone may last as long as its bytes may.
 */
function limitOutput(input: PlanInput, promised: number, limits: MediaLimits): Most {
  const { type, source, previewSeconds } = input;
  const whole = type === 'video' ? promised : Math.max(promised, longestFor(limits, source.sizeBytes));
  const most = Math.min(whole, previewSeconds ?? whole);
  const seconds = most + Math.max(30, most / 20);
  return { seconds, bytes: maxBytes(input, seconds) };
}

/** True for a copy that broke a promise, or a broken copy: encoding everything may work. */
class Retry extends Error {}

/** A scan that was taken from the header. */
interface Assumption {
  /** Tells from the result whether the scan was right. */
  holds: (made: RenditionIndex) => boolean;
  /** Reads the source, to tell the same sooner. */
  prove?: (signal: AbortSignal) => Promise<boolean>;
}

/** With an assumption the source takes the short way (remux.ts) where it can. */
async function makeBy(
  input: PlanInput,
  task: Target,
  context: MakeContext,
  assumption?: Assumption,
): Promise<RenditionIndex> {
  const { storage, tools, signal, log, onProgress, onPrepared, openInput } = context;
  const plan = planRendition(input);
  const framerate = task.type === 'video' ? plan.framerate : undefined;
  log.info({ video: plan.video, audio: plan.audio, durationSeconds: plan.durationSeconds }, 'making the rendition');
  const rate = framerate ?? AUDIO_SAMPLE_RATE / SAMPLES_PER_FRAME;
  // Pictures, or AAC frames of sound alone.
  const expectedFrames = plan.videoFrames ?? Math.max(1, Math.round(plan.durationSeconds * rate));
  const playable = (frames: number, bytes: number | undefined) => ({
    seconds: frames / rate,
    ...(bytes !== undefined && { bytes }),
  });
  const { renditionKey, profile, keepsSameOnly = false } = task;
  let isFallback = false;
  if (canEncodeInParts(input, plan)) {
    const report = new PreparedReport(expectedFrames / rate, onPrepared);
    const work = { storage, renditionKey, profile, keepsSameOnly, input, videoFrames: expectedFrames };
    const reports = {
      onMade: (frames: number) => report.noteMade(frames / rate),
      onPrepared: (frames: number, bytes: number | undefined) => report.report(playable(frames, bytes)),
      onRanges: context.onRanges,
      ...(onProgress && { onProgress }),
    };
    const made = await makeParts({ ...work, ...reports, ffmpeg: tools.ffmpeg, signal, log }).catch((error: unknown) => {
      if (!isBroken(error)) throw error;
      log.warn({ err: error }, 'the rendition cannot be encoded in parts; one encoder makes it');
      context.onRanges?.(undefined);
    });
    if (made) return made;
    await storage.delete(planKey(renditionKey));
    isFallback = true;
  }
  const report = new PreparedReport(expectedFrames / rate, onPrepared);
  report.noteMade(0);
  const output = new RenditionOutput({
    storage,
    renditionKey,
    // Streams may be playing parts: they are of this source, and keep their places.
    keepsSameOnly: keepsSameOnly && !isFallback,
    ...(isFallback && { chunkSeconds: PART_SECONDS }),
    profile,
    framerate,
    expectedFrames,
    provisional: assumption !== undefined,
    onPrepared: (frames, bytes) => report.report(playable(frames, bytes)),
  });
  const over = new AbortController();
  const stop = AbortSignal.any([signal, over.signal]);
  // A source that cannot be proved has its chunks approved at the end.
  const proved = assumption
    ?.prove?.(stop)
    .then((isRight) => (isRight ? output.approve() : undefined))
    .catch(() => undefined);
  try {
    const { durationSeconds: seconds } = plan;
    const onFraction = (fraction: number) => {
      report.noteMade(fraction * seconds);
      onProgress?.(fraction);
    };
    const most = limitOutput(input, seconds, context.limits);
    const pauses = keepsTime(input.source);
    const { videoFrames, delayFrames, isCounted } = plan;
    const mending = { sound: plan.audio !== 'copy', pauses, videoFrames, delayFrames, isCounted };
    const warnings: UploadWarning[] = [];
    const onDamage = () => warnings.push(warn('part_replaced'));
    const reading = { ffmpeg: tools.ffmpeg, signal, log, openInput, onProgress: onFraction, onDamage };
    const options = { ...reading, framerate, seconds, most, mending };
    // ffmpeg rounds the times of reordered pictures otherwise than a rendition promises.
    const short = assumption && delayFrames === 0;
    const made = short ? await remux(remuxArgs(input), output, options) : await transcode(plan.args, output, options);
    if (assumption?.holds(made) === false) throw new BrokenPromiseError('the media differs from its header');
    await output.approve();
    return warnings.length > 0 ? { ...made, warnings } : made;
  } catch (error) {
    over.abort();
    await proved;
    await output.stop();
    const judged = judgeFailure(error, plan);
    if (!(judged instanceof Retry)) throw judged;
    // Chunks that can be played already are right, each by itself: where they fit, only the rest is encoded.
    log.info({ reason: judged.message }, 'the copy is not a valid rendition; encoding instead');
    await output.dropUnlisted();
    throw judged;
  } finally {
    over.abort();
    await proved;
  }
}

/** Returns what to throw: a copy that is no rendition is tried again, and an encoded one cannot be mended. */
function judgeFailure(error: unknown, { video, audio }: Plan): unknown {
  if (!isBroken(error)) return error;
  if (video === 'copy' || audio === 'copy') return new Retry(error.message, { cause: error });
  if (error instanceof PrepareError) return error;
  const detail = `The rendition is not valid: ${error.message}. Export the file again, and import that.`;
  return new PrepareError('prepare_failed', detail, { cause: error });
}

/** Asks ffmpeg only where it matters: whether it can turn HDR into SDR. */
async function tonemaps(source: Source, tools: MediaTools, signal: AbortSignal): Promise<boolean> {
  if (!source.video || !isHdr(source.video)) return false;
  const filters = new Set<string>();
  await eachLine(tools.ffmpeg, ['-hide_banner', '-v', 'error', '-filters'], signal, (line) => {
    filters.add(line.trim().split(/\s+/)[1] ?? '');
  });
  return filters.has('zscale') && filters.has('tonemap');
}
