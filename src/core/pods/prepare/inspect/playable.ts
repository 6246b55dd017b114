/**
 * Refuses a source that ffmpeg opens but nobody could watch: encrypted tracks, and colours that would come out wrong.
 * Pure: no I/O, no clock.
 */
import { PrepareError } from '../failure/failure.ts';
import type { Source, VideoStream } from './source.ts';

/** Sample entries of encrypted tracks: ISO/IEC 23001-7 (encv, enca), and the iTunes Store's (drmi, drms). */
const ENCRYPTED_TAGS = new Set(['encv', 'enca', 'drmi', 'drms']);

/** ffmpeg gives a fourth channel to a JPEG of four colours, and no alpha to a TIFF of them. */
const isCmyk = ({ codec, pixelFormat }: VideoStream): boolean =>
  (codec === 'mjpeg' && /^(?:gbrap|yuva)/.test(pixelFormat)) || (codec === 'tiff' && pixelFormat === 'rgb0');

/**
 * Profile 5, and others whose pictures claim no compatibility: their IPT-PQ-c2 colours come out green and violet when
 * they are taken for YCbCr.
 */
const isDolbyVisionAlone = ({ dolbyVision }: VideoStream): boolean =>
  dolbyVision !== undefined && (dolbyVision.profile === 5 || dolbyVision.compatibility === 0);

/** Throws PrepareError media_encrypted or media_colors_unsupported. */
export function checkPlayable({ video, audio, declared = [], isProtected }: Source): void {
  const lacks = declared.filter(({ kind }) => !(kind === 'video' ? video : audio));
  const tags = [video?.tag, audio?.tag, ...lacks.map(({ codec }) => codec)];
  const encrypted = tags.some((tag) => ENCRYPTED_TAGS.has(tag ?? ''));
  if (encrypted || isProtected) throw new PrepareError('media_encrypted');
  if (!video) return;
  if (isDolbyVisionAlone(video))
    throw new PrepareError(
      'media_colors_unsupported',
      `It is Dolby Vision profile ${video.dolbyVision?.profile}. Export it as HDR10, HLG or SDR, ` +
        'e.g. as Dolby Vision profile 8 or as MP4 with H.264, and upload that.',
    );
  if (isCmyk(video))
    throw new PrepareError(
      'media_colors_unsupported',
      'It uses CMYK, the colours of print. Export it as JPEG or PNG in sRGB, and upload that.',
    );
}
