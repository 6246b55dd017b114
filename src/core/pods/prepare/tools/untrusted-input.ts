/** Defines how ffmpeg and ffprobe open a stranger's file. Pure: no I/O, no clock. */

/**
 * The only containers that are opened. Formats that name other files or URLs (HLS, DASH, concat, image sequences) are
 * missing: a playlist sent as an upload must not make ffmpeg read our disk or our network.
 */
const FORMATS = [
  ...['mov', 'matroska', 'avi', 'flv', 'live_flv', 'mpegts', 'mpeg', 'mpegvideo', 'm4v', 'h264', 'hevc', 'obu', 'ivf'],
  ...['asf', 'mxf', 'gxf', 'dv', 'nut', 'rm', 'gif', 'apng', 'mp3', 'aac', 'ac3', 'eac3', 'dts', 'flac', 'ogg', 'wav'],
  ...['png_pipe', 'jpeg_pipe', 'webp_pipe', 'bmp_pipe', 'tiff_pipe', 'jpegxl_pipe', 'j2k_pipe', 'qoi_pipe', 'ppm_pipe'],
  // Recorders of television and of security cameras, and raw streams. Each reads its own file alone.
  ...['wtv', 'ty', 'pva', 'lxf', 'dhav', 'yuv4mpegpipe', 'loas', 'vc1', 'cavsvideo', 'dnxhd', 'h261', 'h263'],
  ...[
    'mpjpeg',
    'oma',
    'qcp',
    'xwma',
    'w64',
    'aiff',
    'au',
    'caf',
    'amr',
    'ape',
    'wv',
    'tta',
    'mpc',
    'mpc8',
    'tak',
    'dsf',
  ],
  ...['iff', 'truehd', 'mlp', 'voc'],
];

/**
 * The largest block of memory that a number in a header may allocate. The index of the longest allowed track
 * (protocol/media-limits.ts) has 12 million entries of 24 bytes.
 */
const MAX_BLOCK_BYTES = 2 ** 29;

/** Options before every `-i` that opens an upload. */
export const UNTRUSTED_INPUT = [
  ...['-protocol_whitelist', 'file,pipe', '-format_whitelist', FORMATS.join(',')],
  ...['-max_alloc', String(MAX_BLOCK_BYTES)],
];

/** Writes the path so that ffmpeg does not guess a protocol from its first letters. */
export const inputPath = (path: string): string => `file:${path}`;

/** Bytes of a file that are read from another place of it. */
export interface Patch {
  at: number;
  length: number;
  from: number;
}

/** ffmpeg has no way to write it in the path of a part. */
const SEPARATOR = '|';
const PART_PATH = ',,:file:';
/** The end of a part that reaches to the end of the file. */
const OPEN_END = 0;

/** Returns the arguments that open an upload. Patches, in any order, need no copy of it: ffmpeg joins the file of its parts. */
export function openInput(path: string, patches: readonly Patch[] = []): string[] {
  if (patches.length === 0 || path.includes(SEPARATOR)) return [...UNTRUSTED_INPUT, '-i', inputPath(path)];
  const writePart = (start: number, end: number) => `subfile,,start,${start},end,${end}${PART_PATH}${path}`;
  const parts: string[] = [];
  let done = 0;
  for (const { at, length, from } of patches.toSorted((a, b) => a.at - b.at)) {
    parts.push(writePart(done, at), writePart(from, from + length));
    done = at + length;
  }
  const list = [...parts, writePart(done, OPEN_END)].join(SEPARATOR);
  return [...UNTRUSTED_INPUT, '-protocol_whitelist', 'file,concat,subfile', '-i', `concat:${list}`];
}

/** Returns the path in an argument that names an input; undefined for one without a file. */
export function findInputPath(input: string): string | undefined {
  if (input.startsWith('file:')) return input.slice('file:'.length);
  if (!input.startsWith('concat:')) return undefined;
  return input.slice(input.lastIndexOf(PART_PATH) + PART_PATH.length);
}
