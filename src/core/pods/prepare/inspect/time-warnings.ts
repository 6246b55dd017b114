/** Warns about the time of a source: held, filled, joined or left-out parts. Pure: no I/O, no clock. */
import { type UploadWarning, warn } from '../../../resources/upload/warnings.ts';
import { computeExtent } from './extent.ts';
import type { MediaType, Scan, Source } from './source.ts';
import type { DeclaredTrack } from './tracks.ts';

export type TimeRule = (source: Source, scan: Scan, type: MediaType) => UploadWarning | undefined;

/** Shorter silence is not noticed. */
const NOTICED_SECONDS = 0.5;

const written = (seconds: number): string => `${seconds.toFixed(1)} s`;

const pictureHeld: TimeRule = (_source, scan) => {
  const { heldBeforeSeconds, heldAfterSeconds } = computeExtent(scan);
  const held = [
    ...(heldBeforeSeconds > 0 ? [`the first frame for ${written(heldBeforeSeconds)} at the beginning`] : []),
    ...(heldAfterSeconds > 0 ? [`the last frame for ${written(heldAfterSeconds)} at the end`] : []),
  ];
  return held.length > 0 ? warn('picture_held', `The upload holds ${held.join(' and ')}.`) : undefined;
};

/** Returns the seconds in which neither of two tracks has anything. */
const emptySeconds = ({ video, audio }: Scan): number =>
  video && audio ? Math.min(video.pauseSeconds ?? 0, audio.pauseSeconds ?? 0) : 0;

const silenceAdded: TimeRule = (_source, scan, type) => {
  const { video, audio } = scan;
  if (!audio) return undefined;
  const before = video ? Math.max(0, audio.startSeconds - video.startSeconds) : 0;
  const after = video ? Math.max(0, video.endSeconds - audio.endSeconds) : 0;
  const silence = before + after + (audio.pauseSeconds ?? 0) - emptySeconds(scan);
  if (silence < NOTICED_SECONDS || (type === 'audio' && scan.decodedSeconds === undefined)) return undefined;
  return warn('silence_added', `The silence lasts ${written(silence)} in total.`);
};

const gapFilled: TimeRule = (_source, scan) => {
  const seconds = emptySeconds(scan);
  return seconds < NOTICED_SECONDS ? undefined : warn('gap_filled', `The gap lasts ${written(seconds)} in total.`);
};

const timeRestarts: TimeRule = (_source, { video, audio }) => {
  const breaks = Math.max(video?.breaks ?? 0, audio?.breaks ?? 0);
  if (breaks === 0) return undefined;
  return warn('time_restarts', breaks === 1 ? 'The file has two parts.' : `The file has ${breaks + 1} parts.`);
};

/** A transport stream says what its tracks hold, and only their packets say more. */
export const isUnmeasuredAndEmpty = ({ index, isUnmeasured }: DeclaredTrack, { packets }: Scan): boolean =>
  isUnmeasured === true && packets !== undefined && !packets.get(index);

const trackEmpty: TimeRule = ({ empty = [], declared = [] }, scan, type) => {
  const kinds = declared
    .filter((track) => isUnmeasuredAndEmpty(track, scan) && (type === 'video' || track.kind === 'audio'))
    .map(({ kind }) => kind);
  const all = [...new Set([...empty, ...kinds])];
  if (all.length === 0) return undefined;
  const tracks = all.map((kind) => `${kind} track`).join(' and the ');
  return warn('track_empty', `The ${tracks} ${all.length === 1 ? 'is' : 'are'} empty.`);
};

/** Containers with one index, or one chain of elements: what follows a break of it, or another file, is not found. */
const ENDS_EARLY = /\b(mov|flv|matroska)\b/;
/** Notes of cameras take far less, and an index has its size for each packet. */
const UNREAD_SHARE = 0.4;
const INDEX_BYTES = { file: 16_384, packet: 64 };

const fileShortened: TimeRule = ({ format, sizeBytes }, scan) => {
  const { fileEndByte, packets } = scan;
  if (scan.breaksOff) return warn('file_shortened', `It breaks off after ${written(computeExtent(scan).seconds)}.`);
  if (!fileEndByte || !ENDS_EARLY.test(format)) return undefined;
  const all = [...(packets?.values() ?? [])].reduce((sum, count) => sum + count, 0);
  const unread = sizeBytes - fileEndByte - INDEX_BYTES.file - INDEX_BYTES.packet * all;
  if (unread < UNREAD_SHARE * sizeBytes) return undefined;
  const percent = Math.round((100 * unread) / sizeBytes);
  return warn('file_shortened', `About ${percent} % of its bytes are behind the last frame that can be read.`);
};

export const TIME_RULES: readonly TimeRule[] = [
  pictureHeld,
  silenceAdded,
  gapFilled,
  timeRestarts,
  trackEmpty,
  fileShortened,
];
