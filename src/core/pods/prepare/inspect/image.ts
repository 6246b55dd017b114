/**
 * Examines an image: a still picture that is drawn over what streams play. Accepts the formats that people draw logos and covers in,
 * and refuses all others by name.
 */
import { MAX_IMAGE_PIXELS, type MediaInfo } from '../../../resources/upload/spec.ts';
import { PrepareError } from '../failure/failure.ts';
import { readHead } from './open-source.ts';
import { probeFirstFrame } from './probe.ts';
import { isImage, nameFormat } from './sniff.ts';
import { SourceFile, type SourceFileOptions } from './source-file.ts';

type ImageOptions = Omit<SourceFileOptions, 'type' | 'chosen'>;

/**
 * Opens the file of an image. Rejects with PrepareError media_format_unsupported where it is none by its first bytes: what libraries
 * would make of other files is nobody's wish, and a drawing in SVG may name further files.
 */
export async function openImage(path: string, options: ImageOptions): Promise<SourceFile> {
  const head = await readHead(path);
  if (head.length === 0) throw new PrepareError('media_empty');
  if (!isImage(head)) {
    const { name, advice } = nameFormat(head) ?? { name: 'no PNG, JPEG, WebP or GIF picture', advice: ADVICE };
    throw new PrepareError('media_format_unsupported', `It is ${name}. ${advice}`);
  }
  return new SourceFile(path, { ...options, type: 'video', limits: { ...options.limits, pixels: MAX_IMAGE_PIXELS } });
}

const BROKEN = 'Its picture cannot be decoded. Export it again as PNG or JPEG, and upload that.';

/** Throws the sentence about pictures in place of that about films. */
function explain(error: unknown): never {
  if (!(error instanceof PrepareError) || error.code !== 'media_unreadable') throw error;
  throw new PrepareError('media_unreadable', BROKEN, { cause: error });
}

const ADVICE = 'Export it as PNG or JPEG, and upload that. Upload a film as a video.';

/** Proves that the first picture can be decoded, and describes it. Rejects as openSource() and probeFirstFrame() do. */
export async function describeImage(
  file: SourceFile,
  { tools, signal }: Pick<ImageOptions, 'tools' | 'signal'>,
): Promise<Omit<MediaInfo, 'sha256' | 'sizeBytes'>> {
  const { video } = await file.openHeader().catch(explain);
  await probeFirstFrame({ path: file.path }, tools, signal).catch(explain);
  if (!video) throw new PrepareError('media_unreadable', BROKEN);
  const { codec, width, height } = video;
  // An image has no time, and neither have the pictures of an animation behind the first one.
  return { durationSeconds: 0, video: { codec, width, height, framerate: 0 } };
}
