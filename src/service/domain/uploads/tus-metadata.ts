/**
 * Reads what tus metadata says of an upload: its kind, name, tracks and labels. Clients differ in the kind: ours sends VIDEO, AUDIO or
 * IMAGE, Uppy a MIME type in `type` and `filetype`, and others only a file name.
 * Pure: no I/O, no clock.
 */

import {
  findLabelNameProblem,
  findLabelValueProblem,
  type Labels,
  MAX_LABELS,
} from '../../../core/resources/common/labels.ts';
import { MAX_TRACK_INDEX, UPLOAD_TYPES, type UploadSpec } from '../../../core/resources/upload/spec.ts';
import { validationFailed } from '../../lib/errors.ts';

type Kind = UploadSpec['track'];
export type Metadata = Readonly<Record<string, string | null>>;

/** Keys of clients in order of precedence, case-insensitive. */
const TYPE_KEYS = ['type', 'filetype', 'mimetype', 'contenttype'];
const NAME_KEYS = ['filename', 'name', 'relativepath'];

/** Media types of containers below `application/`, from IANA, browsers and `file`. */
const CONTAINERS =
  /^application\/(mp4|mxf|gxf|ogg|mp2t|x-matroska|vnd\.ms-asf|vnd\.rn-realmedia(-vbr)?|x-mpegts|x-flash-video)$/;

/** Extensions of files with only sound; a format with both has its usual kind. */
const SOUND = new Set(
  (
    'aa3 aac ac3 adts adx aif aifc aiff alac amr ape au awb caf dff dsf dts dtshd eac3 ec3 f4a flac gsm ircam it m2a m4a m4b ' +
    'm4r mka mlp mod mogg mp1 mp2 mp3 mpa mpc oga ogg oma opus pcm qcp ra rf64 s3m sf snd spx tak thd tta voc vqf w64 wav ' +
    'wave weba wma wv xm'
  ).split(' '),
);
/** Extensions of films, of elementary streams, and of pictures. */
const PICTURES = new Set(
  (
    '264 265 3g2 3gp 3gpp amv apng asf av1 avi avif avs bik bmp cavs dav divx dv dvr-ms evo f4v flc fli flv gif gxf h264 h265 ' +
    'heic heif hevc ismv ivf jfif jpe jpeg jpg jxl k3g lrv m1v m2p m2t m2ts m2v m4v mjpeg mjpg mk3d mkv mov mp4 mp4v mpe ' +
    'mpeg mpg mpv mts mxf nsv nut obu ogm ogv ogx png psp qt rm rmvb roq skm smk swf tif tiff tod trp ts tts vc1 vob vp8 vp9 ' +
    'vro webm webp wm wmv wtv xvid y4m'
  ).split(' '),
);

function readValues(metadata: Metadata, keys: readonly string[]): string[] {
  const byKey = new Map(
    Object.entries(metadata).map(([key, value]) => [key.toLowerCase().replaceAll(/[-_]/g, ''), value]),
  );
  return keys.flatMap((key) => byKey.get(key)?.trim() || []);
}

function classifyWord(word: string): Kind | undefined {
  const kind = word.toLowerCase();
  return UPLOAD_TYPES.find((type) => type === kind);
}

function classifyMediaType(text: string): Kind | undefined {
  const essence = (text.split(';', 1)[0] ?? '').trim().toLowerCase();
  if (essence.startsWith('audio/')) return 'audio';
  return /^(video|image)\//.test(essence) || CONTAINERS.test(essence) ? 'video' : undefined;
}

function classifyFileName(name: string): Kind | undefined {
  const extension = /\.([^./\\]+)$/.exec(name)?.[1]?.toLowerCase() ?? '';
  if (SOUND.has(extension)) return 'audio';
  return PICTURES.has(extension) ? 'video' : undefined;
}

/** The word takes precedence over a MIME type, and that over the file extension. Returns undefined if there is none. */
export function readKind(metadata: Metadata): Kind | undefined {
  const types = readValues(metadata, TYPE_KEYS);
  const names = readValues(metadata, NAME_KEYS);
  for (const kind of [...types.map(classifyWord), ...types.map(classifyMediaType), ...names.map(classifyFileName)])
    if (kind) return kind;
  return undefined;
}

/** Keys of tracks, as clients send them. */
const TRACK_KEYS = { video: 'videoTrack', audio: 'audioTrack', audioRight: 'audioRightTrack' } as const;

/**
 * Returns the tracks that are to be played; undefined without a choice. Throws `validation_failed` for a value that is no index of
 * a track.
 */
export function readTracks(metadata: Metadata): UploadSpec['tracks'] {
  const tracks: NonNullable<UploadSpec['tracks']> = {};
  for (const kind of Object.keys(TRACK_KEYS) as (keyof typeof TRACK_KEYS)[]) {
    const key = TRACK_KEYS[kind];
    const [value] = readValues(metadata, [key.toLowerCase()]);
    if (value === undefined) continue;
    const index = /^\d{1,5}$/.test(value) ? Number(value) : Number.NaN;
    if (!(index <= MAX_TRACK_INDEX))
      throw validationFailed([{ path: `/Upload-Metadata/${key}`, message: 'must be the index of a track, such as 1' }]);
    tracks[kind] = index;
  }
  return Object.keys(tracks).length > 0 ? tracks : undefined;
}

/** Returns the display name; `name` takes precedence over `filename`. */
export const readName = (metadata: Metadata): string =>
  readValues(metadata, ['name', 'filename', 'relativepath'])[0] ?? '';

const refuseLabels = (message: string) => validationFailed([{ path: '/Upload-Metadata/labels', message }]);

/** Reads `team=news`. Throws `validation_failed`. */
function readPair(text: string): [name: string, value: string] {
  const equals = text.indexOf('=');
  if (equals === -1) throw refuseLabels('must be labels such as team=news,env=prod');
  const [name, value] = [text.slice(0, equals).trim(), text.slice(equals + 1).trim()];
  const nameProblem = findLabelNameProblem(name);
  if (nameProblem !== undefined) throw refuseLabels(`has the label ${name.slice(0, 80)}, which ${nameProblem}`);
  const valueProblem = findLabelValueProblem(value);
  if (valueProblem !== undefined) throw refuseLabels(`has the value ${value.slice(0, 80)}, which ${valueProblem}`);
  return [name, value];
}

/** Returns the labels, written as for `kubectl label` with commas between them. Throws `validation_failed`. */
export function readGivenLabels(metadata: Metadata): Labels | undefined {
  const [text] = readValues(metadata, ['labels']);
  if (text === undefined) return undefined;
  const pairs = text.split(',').map(readPair);
  const labels = new Map(pairs);
  if (labels.size < pairs.length) throw refuseLabels('must name each label once');
  if (labels.size > MAX_LABELS) throw refuseLabels(`must be at most ${MAX_LABELS} labels`);
  return Object.fromEntries(labels);
}
