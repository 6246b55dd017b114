/** Names the poster of an upload: one small picture of it, for lists. Pure: no I/O, no clock. */
import { importContent, type TrackChoice, type UPLOAD_TYPES, type UploadSpec, type UploadStatus } from './spec.ts';

/** A JPEG picture is no larger, in bytes. */
export const MAX_POSTER_BYTES = 30_000;
export const POSTER_MEDIA_TYPE = 'image/jpeg';

/** The first bytes of each JPEG picture (ITU-T T.81, B.1.1.3): the start of the image, and that of a marker. */
const JPEG_START = Buffer.from([0xff, 0xd8, 0xff]);

/** Whether bytes are a small JPEG, as a Job makes it. A Job that was taken over may have written others. */
export const isPoster = (bytes: Buffer): boolean =>
  bytes.length <= MAX_POSTER_BYTES && bytes.subarray(0, JPEG_START.length).equals(JPEG_START);

type Type = (typeof UPLOAD_TYPES)[number];

/** The end of a poster's key: sound alone shows the picture of the file, whatever is chosen. */
const nameFile = (type: Type, tracks: TrackChoice = {}): string =>
  `${type}-poster${type === 'video' && tracks.video !== undefined ? `-v${tracks.video}` : ''}.jpg`;

/** Storage key of a poster: beside the renditions of the same content (renditionKey), which it is deleted like. */
export const posterKey = (content: string, type: Type, scope?: string, tracks?: TrackChoice): string =>
  `renditions/${scope === undefined ? '' : `${scope}/`}${content}/${nameFile(type, tracks)}`;

const KEY = /^renditions\/(?:[0-9a-f]{24}\/)?([^/]+)\/((?:video|audio|image)-poster(?:-v\d+)?\.jpg)$/;

interface Owner {
  metadata: { uid: string };
  spec: Pick<UploadSpec, 'track' | 'tracks'>;
  status?: Pick<UploadStatus, 'poster' | 'media'>;
}

/** The key of an upload's poster; undefined where there is none, or the status names that of other content. */
export function findPoster({ metadata, status }: Owner): string | undefined {
  const content = KEY.exec(status?.poster ?? '')?.[1];
  const isOwn = content !== undefined && [importContent(metadata.uid), status?.media?.sha256].includes(content);
  return isOwn ? status?.poster : undefined;
}

/** Whether an upload has no poster, or one of another track than the chosen one. */
export function lacksPoster(upload: Owner): boolean {
  const name = KEY.exec(findPoster(upload) ?? '')?.[2];
  return name !== nameFile(upload.spec.track, upload.spec.tracks);
}
