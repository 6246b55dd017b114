/**
 * Names a track at which ffprobe gave up. ffprobe opens a decoder for every track, and ends without a result where one of them takes no
 * form of its codec, such as xHE-AAC in a track of AAC. Pure: no I/O, no clock.
 */
import { PrepareError } from '../failure/failure.ts';

/** MPEG-4 audio object types that people know by another name (ISO/IEC 14496-3, table 1.17). */
const OBJECT_TYPES: Readonly<Record<string, string>> = { 42: 'xHE-AAC (USAC)' };

export interface UnopenedTrack {
  index: number;
  kind: 'video' | 'audio' | undefined;
  /** Undefined where ffprobe does not name it. */
  codec: string | undefined;
}

/** Finds the track in the warnings that ffprobe has written to stderr. */
export function parseUnopened(stderr: string): UnopenedTrack | undefined {
  const found = /(?:^\[([\w.-]{1,32}) @ 0x[0-9a-f]+\] [^\n]*\n)?^Could not open codec for input stream (\d{1,5})$/m;
  const [, decoder, index] = found.exec(stderr) ?? [];
  if (index === undefined) return undefined;
  // linear-time: startTool() keeps the last 4096 characters.
  const [, kind, codec] =
    new RegExp(`parameters for stream ${index} \\((Video|Audio): ([\\w.-]{1,32})`).exec(stderr) ?? [];
  // Other tracks may have such a message, too.
  const [, objectType = ''] = decoder === 'aac' ? (/Audio object type (\d{1,3}) is not/.exec(stderr) ?? []) : [];
  return {
    index: Number(index),
    kind: kind === 'Video' ? 'video' : kind === 'Audio' || objectType !== '' ? 'audio' : undefined,
    codec: OBJECT_TYPES[objectType] ?? codec ?? decoder,
  };
}

/** Returns a refusal that names the track. */
export function refuseUnopened({ index, kind, codec }: UnopenedTrack, cause: unknown): PrepareError {
  const what = codec ?? 'a form of its codec';
  const advice = kind === 'audio' ? 'Export its audio as AAC-LC or WAV' : 'Export it as MP4 with H.264 and AAC-LC';
  const detail = `Its ${kind ? `${kind} ` : ''}track ${index} uses ${what}, which cannot be decoded. ${advice}, or leave that track out.`;
  return new PrepareError('media_format_unsupported', detail, { cause });
}
