/** How ffmpeg and ffprobe open a file that a stranger made. Pure: no I/O, no clock. */

/**
 * Containers that are opened at all. Formats that name other files or URLs (HLS, DASH, concat, image sequences) are not
 * among them: a playlist sent as an upload must not make ffmpeg read our disk or our network.
 */
const FORMATS = [
  ...['mov', 'matroska', 'avi', 'flv', 'live_flv', 'mpegts', 'mpeg', 'mpegvideo', 'm4v', 'h264', 'hevc', 'obu', 'ivf'],
  ...['asf', 'mxf', 'gxf', 'dv', 'nut', 'rm', 'gif', 'apng', 'mp3', 'aac', 'ac3', 'eac3', 'dts', 'flac', 'ogg', 'wav'],
  ...['png_pipe', 'jpeg_pipe', 'webp_pipe', 'bmp_pipe', 'tiff_pipe', 'jpegxl_pipe', 'j2k_pipe', 'qoi_pipe', 'ppm_pipe'],
  ...[
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
    'iff',
    'truehd',
    'mlp',
    'voc',
  ],
];

/**
 * The largest block of memory that a header may have allocated by a number that it claims. The index of the longest track that
 * is taken (media/limits.ts) has 12 million entries of 24 bytes.
 */
const MAX_BLOCK_BYTES = 2 ** 29;

/** Options before every `-i` that opens an upload. */
export const UNTRUSTED_INPUT = [
  ...['-protocol_whitelist', 'file,pipe', '-format_whitelist', FORMATS.join(',')],
  ...['-max_alloc', String(MAX_BLOCK_BYTES)],
];

/** The path as ffmpeg takes it without guessing a protocol from its first letters. */
export const inputPath = (path: string): string => `file:${path}`;
