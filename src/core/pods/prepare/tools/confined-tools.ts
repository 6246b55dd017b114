/** Confines ffmpeg, ffprobe and draw-text of this machine for strangers' files. */

import type { Logger } from '../../../lib/log.ts';
import type { DecoderConfig } from '../../../protocol/environment.ts';
import { confine } from '../../confinement/confine.ts';
import type { MediaTool } from './tool.ts';

/** More private memory than any sound file needs; the container's own limit is lower. */
const MEMORY_BYTES = 8 * 2 ** 30;
/** Four days of one processor: more than the longest Job may take on several. */
const CPU_SECONDS = 4 * 86_400;

/** More than a text needs, many times over. */
const DRAWING = { memoryBytes: 2 ** 30, cpuSeconds: 120 };

export type ConfinedTools = Record<'ffmpeg' | 'ffprobe' | 'drawText', MediaTool>;

/** Returns the confined tools of this machine. */
export function confinedTools(
  { ffmpeg, ffprobe, drawText, confine: mode }: Pick<DecoderConfig, 'ffmpeg' | 'ffprobe' | 'drawText' | 'confine'>,
  log: Logger,
): ConfinedTools {
  const limits = { memoryBytes: MEMORY_BYTES, cpuSeconds: CPU_SECONDS };
  return {
    ffmpeg: confine(ffmpeg, mode, log, limits),
    ffprobe: confine(ffprobe, mode, log, limits),
    drawText: confine(drawText, mode, log, DRAWING),
  };
}
