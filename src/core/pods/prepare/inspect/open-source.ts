/**
 * Opens a source: by its header, and by its first picture if that is its only content. Refuses a source that cannot be
 * played, with its name.
 */
import { open } from 'node:fs/promises';
import type { MediaLimits } from '../../../protocol/media-limits.ts';
import { type UploadWarning, warn } from '../../../resources/upload/warnings.ts';
import { PrepareError } from '../failure/failure.ts';
import { eachLine } from '../tools/tool.ts';
import { inputPath, UNTRUSTED_INPUT } from '../tools/untrusted-input.ts';
import { checkHeader, checkPicture } from './check-limits.ts';
import type { MediaTools } from './ffprobe.ts';
import { readDeclaredBytes } from './matroska.ts';
import { findIndex } from './movie-index.ts';
import { checkPlayable } from './playable.ts';
import { probe, probeFirstFrame } from './probe.ts';
import { HEAD_BYTES, nameFormat, pictureSize } from './sniff.ts';
import { checkType, type MediaType, type Source } from './source.ts';
import { hasAlpha } from './stills.ts';
import type { ChosenTracks } from './tracks.ts';

interface OpenOptions {
  tools: MediaTools;
  signal: AbortSignal;
  limits: MediaLimits;
  chosen?: ChosenTracks | undefined;
}

/**
 * Rejects with PrepareError media_unreadable, media_format_unsupported, media_encrypted, media_colors_unsupported,
 * media_has_no_video, media_has_no_audio or one of the limits, or with the signal's reason.
 */
export async function openSource(path: string, type: MediaType, options: OpenOptions): Promise<Source> {
  const { tools, signal, limits, chosen } = options;
  let source: Source;
  try {
    source = await probe(path, tools, signal, chosen);
    checkPlayable(source);
    checkType(source, type);
  } catch (error) {
    const refused =
      error instanceof PrepareError && /^media_(?:unreadable|format_unsupported|has_no_)/.test(error.code);
    const named = refused && (await nameRefusal(path, error, type, limits));
    throw named || error;
  }
  checkHeader(source, type, limits);
  if (type === 'video' && source.video && isPictureFile(source)) return turnUpright(path, source, options);
  return { ...source, declaredBytes: readDeclaredBytes(await readHead(path)) };
}

const isPictureFile = ({ format }: Source): boolean => format.endsWith('_pipe');

/** Replaces a refusal that says what the file is not by one that says what it is. */
async function nameRefusal(path: string, cause: unknown, type: MediaType, limits: MediaLimits) {
  const head = await readHead(path);
  const unknown = nameFormat(head);
  if (unknown) {
    const detail = `It is ${unknown.name}. ${unknown.advice}`;
    return new PrepareError(unknown.holdsNoMedia ? 'media_unreadable' : 'media_format_unsupported', detail, { cause });
  }
  if (head.every((byte) => byte === 0)) {
    const detail = head.length === 0 ? undefined : 'It begins with zeros alone: its content was never written.';
    return new PrepareError('media_empty', detail, { cause });
  }
  const index = await findIndex(path);
  if (index === 'missing') return new PrepareError('media_unfinished', undefined, { cause });
  if (index === 'cut') {
    const detail = 'It breaks off before its index. Upload a complete copy.';
    return new PrepareError('media_unreadable', detail, { cause });
  }
  const size = type === 'video' ? pictureSize(head) : undefined;
  if (size) checkPicture(size.width, size.height, limits);
  return isUnknown(cause) ? new PrepareError('media_unreadable', UNKNOWN_FILE, { cause }) : undefined;
}

const UNKNOWN_FILE =
  'It is damaged, or it is raw media without a header. Export it as MP4 with H.264 and AAC, or as WAV, and upload that.';

/** True for a refusal that says nothing of the file. */
const isUnknown = (cause: unknown): boolean =>
  cause instanceof PrepareError && cause.code === 'media_unreadable' && !cause.hasDetail;

/** Reads the first bytes of a file. */
export async function readHead(path: string): Promise<Buffer> {
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0);
    return buffer.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}

async function turnUpright(path: string, source: Source, { tools, signal }: OpenOptions): Promise<Source> {
  const { video } = source;
  const { orientation } = await probeFirstFrame({ path }, tools, signal);
  if (!video) return source;
  const rotation = orientation > 4 ? 90 : 0;
  return { ...source, video: { ...video, orientation, rotation } };
}

/** Number of pictures that are checked for transparency; one that fades in later is not reported. */
const ALPHA_FRAMES = 30;
/** Opaque pixels have at least this alpha of 255 after encoding. */
const OPAQUE = 250;

/** Returns a warning for pictures that are transparent somewhere; an alpha channel alone says little. */
export async function findTransparency(path: string, source: Source, options: OpenOptions): Promise<UploadWarning[]> {
  const { tools, signal, limits } = options;
  const { video } = source;
  if (!video || !hasAlpha(video)) return [];
  let least = 255;
  const filters = 'format=rgba,alphaextract,signalstats,metadata=print:key=lavfi.signalstats.YMIN:file=-';
  const args = [
    ...['-v', 'error', '-hide_banner', '-nostdin', ...UNTRUSTED_INPUT, '-max_pixels', String(limits.pixels)],
    ...['-i', inputPath(path), '-map', `0:${video.index}`, '-frames:v', String(ALPHA_FRAMES)],
    ...['-vf', filters, '-f', 'null', '-'],
  ];
  try {
    await eachLine(tools.ffmpeg, args, signal, (line) => {
      const [, value] = /YMIN=(\d+)/.exec(line) ?? [];
      least = Math.min(least, Number(value ?? 255));
    });
  } catch {
    // The rendition reports a file that cannot be decoded.
    signal.throwIfAborted();
  }
  return least < OPAQUE ? [warn('transparency_on_black')] : [];
}
