/**
 * Names a file that ffmpeg cannot open by its first bytes, so that a refusal says what the file is and what to do with
 * it.
 * Pure: no I/O, no clock.
 */

/** This much of a file is enough: a JPEG may have a preview of 64 KiB before its size. */
export const HEAD_BYTES = 2 ** 18;

export interface UnknownFormat {
  /** Name with its article, e.g. "a PDF document". */
  name: string;
  /** A whole sentence. */
  advice: string;
  /** A page or a list of addresses, in place of a file. */
  holdsNoMedia: boolean;
}

const AS_PICTURE = 'Export it as JPEG or PNG, and upload that.';
const AS_VIDEO = 'Export it as MP4 with H.264, and upload that.';
const UNPACK = 'Unpack it, and upload the video or audio files in it one by one.';
const HEIC =
  'Export it as JPEG or PNG, and upload that. An iPhone takes JPEG photos with Settings > Camera > Formats > Most Compatible.';

const startsWith =
  (...beginnings: string[]) =>
  (head: string): boolean =>
    beginnings.some((beginning) => head.startsWith(beginning));
const brand =
  (...brands: string[]) =>
  (head: string): boolean =>
    head.slice(4, 8) === 'ftyp' && brands.includes(head.slice(8, 12));
/** Text may begin with a byte order mark, blanks and comments. */
const markup = (pattern: RegExp) => (head: string) =>
  pattern.test(head.replace(/^(?:\u00ef\u00bb\u00bf)?\s*(?:<\?xml[^>]*>\s*|<!--[\s\S]*?-->\s*)*/, ''));

/** The parts of `multipart/x-mixed-replace`, in a form that ffmpeg does not read. */
const isCameraStream = (head: string): boolean =>
  /^\s{0,9}--/.test(head) && /content-type: ?image\/jpe?g/i.test(head.slice(0, 1000));

/** The first matching row wins. Heads are Latin-1 text. */
const FORMATS: readonly (readonly [
  test: (head: string) => boolean,
  name: string,
  advice: string,
  content?: 'holds no media',
])[] = [
  [brand('heic', 'heix', 'heim', 'heis', 'hevc', 'hevx', 'mif1', 'msf1'), 'a HEIC picture', HEIC],
  [brand('avif', 'avis'), 'an AVIF picture that cannot be decoded', AS_PICTURE],
  [startsWith('\u00ff\n', '\0\0\0\fJXL '), 'a JPEG XL picture', AS_PICTURE],
  [brand('crx '), 'a raw camera photo', AS_PICTURE],
  [
    (head) => head.startsWith('RIFF') && head.slice(8, 12) === 'WEBP' && head.slice(0, 4096).includes('ANIM'),
    'an animated WebP picture',
    'Save it as an animated GIF or APNG, or as MP4, and upload that.',
  ],
  [markup(/^<(?:!DOCTYPE\s+svg|svg)/i), 'an SVG drawing', AS_PICTURE],
  [
    markup(/^<(?:!DOCTYPE\s+html|html|head|body)/i),
    'a web page',
    'Save the video or audio file itself, and upload that.',
    'holds no media',
  ],
  [
    markup(/^(?:#EXTM3U|\[playlist\]|<(?:MPD|asx|playlist|smil)\b)/i),
    'a list of addresses, and contains no media',
    'Save the stream that it refers to as one file, and upload that.',
    'holds no media',
  ],
  [startsWith('8BPS'), 'a Photoshop document', AS_PICTURE],
  [startsWith('%PDF'), 'a PDF document', AS_PICTURE],
  [startsWith('%!PS'), 'a PostScript document', AS_PICTURE],
  [startsWith('\0\0\u0001\0'), 'an icon', AS_PICTURE],
  [startsWith('\0\0\u0002\0', '\0\0\n\0'), 'a Targa picture', AS_PICTURE],
  [
    startsWith('SDPX', 'XPDS', '8BPB', '#?RADIANCE', '#?RGBE', 'DDS ', 'SIMPLE  ='),
    'a picture of a rare format',
    AS_PICTURE,
  ],
  [
    startsWith('v/1\u0001', '\u0001\u00da', 'Y\u00a6j\u0095', '\n\u0005\u0001'),
    'a picture of a rare format',
    AS_PICTURE,
  ],
  [startsWith('FUJIFILM', 'FOVb', 'IIRO', 'IIRS', 'MMOR', 'IIU\0'), 'a raw camera photo', AS_PICTURE],
  [startsWith('FWS', 'CWS', 'ZWS'), 'a Flash animation', AS_VIDEO],
  [startsWith('\u0084\u0010\u00ff\u00ff\u00ff\u00ff', 'FILM\0', 'BIK', 'SMK', 'KB2'), 'a video of a game', AS_VIDEO],
  // ffmpeg gives its pictures a millionth of a second each.
  [startsWith('BBCD'), 'a raw Dirac stream, which states no times', AS_VIDEO],
  [isCameraStream, 'a stream of JPEG pictures, as a camera sends it', AS_VIDEO],
  [
    (head) => startsWith('WEBVTT', '[Script Info]')(head) || /^\d{1,9}\r?\n[\d:,]{1,20} --> /.test(head),
    'a file of subtitles, which contains no media',
    'Choose the video that it belongs to.',
  ],
  [
    startsWith('d8:announce', 'd7:comment', 'd10:created'),
    'a torrent, which contains no media',
    'Choose the file that it loads.',
  ],
  [startsWith('MThd'), 'a MIDI file, which contains notes and no audio', 'Export it as MP3 or WAV, and upload that.'],
  [startsWith('{\\rtf', '\u00d0\u00cf\u0011\u00e0'), 'an office document', 'Export it as a video, and upload that.'],
  [
    (head) => head.startsWith('PK') && /word\/|ppt\/|xl\/|mimetypeapplication\/vnd\.oasis/.test(head),
    'an office document',
    'Export it as a video, and upload that.',
  ],
  [
    startsWith('PK\u0003\u0004', 'PK\u0005\u0006', 'Rar!', '7z\u00bc\u00af', '\u001f\u008b', 'BZh', '\u00fd7zXZ'),
    'an archive',
    UNPACK,
  ],
  [(head) => head.slice(257, 262) === 'ustar', 'an archive', UNPACK],
  [startsWith('MZ', '\u007fELF'), 'a program', 'Choose a video or audio file.'],
  [startsWith('SQLite format 3'), 'a database', 'Choose a video or audio file.'],
];

/** Names the format, if these bytes show it. */
export function nameFormat(head: Buffer): UnknownFormat | undefined {
  const text = head.toString('latin1');
  const [, name, advice, content] = FORMATS.find(([test]) => test(text)) ?? [];
  if (name === undefined || advice === undefined) return undefined;
  return { name, advice, holdsNoMedia: content !== undefined };
}

/** Whether these bytes begin a PNG, JPEG, GIF or WebP picture. */
export const isImage = (head: Buffer): boolean =>
  startsWith('\u0089PNG\r\n\u001a\n', '\u00ff\u00d8\u00ff', 'GIF87a', 'GIF89a')(head.toString('latin1', 0, 8)) ||
  /^RIFF.{4}WEBP/s.test(head.toString('latin1', 0, 12));

/** Reads width and height from the header of a PNG or JPEG; a decoder may refuse the file for its size. */
export function pictureSize(head: Buffer): { width: number; height: number } | undefined {
  if (head.length >= 24 && head.toString('latin1', 1, 4) === 'PNG')
    return { width: head.readUInt32BE(16), height: head.readUInt32BE(20) };
  if (head.length < 4 || head.readUInt16BE(0) !== 0xffd8) return undefined;
  // ITU-T T.81 B.1.1.3: segments with their lengths; those of the size are SOF0 to SOF15, without DHT, JPG and DAC.
  for (let at = 2; at + 9 <= head.length && head[at] === 0xff; at += 2 + head.readUInt16BE(at + 2)) {
    const marker = head[at + 1] ?? 0;
    if (marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker))
      return { height: head.readUInt16BE(at + 5), width: head.readUInt16BE(at + 7) };
  }
  return undefined;
}
