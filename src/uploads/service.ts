/** Uploads: asked for here, fetched and prepared by Jobs that the operator starts. */
import type { Connection, PageArgs } from '../account/connection.ts';
import type { Owned } from '../account/owned.ts';
import { AppError, validationFailed } from '../errors.ts';
import type { LoopStream, Playlist, Upload as Resource } from '../kube/resources.ts';
import { brokenRule, LINK } from '../sentences.ts';
import type { Upload, UploadFromLink } from './record.ts';

export type UploadService = ReturnType<typeof createUploadService>;

export interface UploadServiceDeps {
  uploads: Owned<Resource>;
  /** Both with the index `upload`. */
  streams: Owned<LoopStream>;
  playlists: Owned<Playlist>;
}

const show = ({ metadata, spec, status }: Resource): Upload => ({
  objectID: metadata.name,
  type: spec.type === 'audio' ? 'AUDIO' : 'VIDEO',
  name: spec.displayName ?? metadata.name,
  state: status?.state ?? 'importing',
  progress: status?.progress ?? 0,
  sizeBytes: status?.media?.sizeBytes ?? null,
  durationSeconds: status?.media?.durationSeconds ?? null,
  video: status?.media?.video ?? null,
  audio: status?.media?.audio ?? null,
  error: status?.error ?? null,
  createdAt: metadata.creationTimestamp,
});

/** Why a link cannot be imported, as far as its text tells; where it leads is found out by the Job. */
const linkProblem = (text: string): string | undefined =>
  brokenRule(LINK, text) ?? (URL.canParse(text) ? undefined : 'is not a URL, e.g. https://example.com/video.mp4');

/** The file's name out of a link, for people; undefined when it has none. */
function nameOf(url: string): string | undefined {
  const last = new URL(url).pathname.split('/').at(-1) ?? '';
  try {
    // Control characters may hide behind percent signs.
    const name = decodeURIComponent(last)
      .replace(/\p{Cc}/gu, '')
      .slice(0, 200);
    return name.isWellFormed() && name !== '' ? name : undefined;
  } catch {
    return undefined;
  }
}

export function createUploadService({ uploads, streams, playlists }: UploadServiceDeps) {
  return {
    async fromLink(accountId: string, { type, url, name }: UploadFromLink): Promise<Upload> {
      const problem = linkProblem(url);
      if (problem) throw validationFailed([{ path: '/url', message: problem }]);
      const displayName = name ?? nameOf(url);
      const made = await uploads.create(accountId, () => ({
        ...(displayName === undefined ? {} : { displayName }),
        type: type === 'AUDIO' ? 'audio' : 'video',
        source: { url },
      }));
      return show(made);
    },

    /** `where` is asked of each as clients see it. */
    list: (accountId: string, args: PageArgs, where?: (it: Upload) => boolean): Connection<Upload> =>
      uploads.page(accountId, args, show, where && ((upload) => where(show(upload)))),

    get: (accountId: string, id: string): Upload => show(uploads.get(accountId, id)),

    async delete(accountId: string, id: string): Promise<void> {
      const upload = uploads.get(accountId, id);
      const ids = (objects: { metadata: { name: string } }[]) => objects.map(({ metadata }) => metadata.name);
      const streamIDs = ids(streams.referring(accountId, 'upload', id));
      const playlistIDs = ids(playlists.referring(accountId, 'upload', id));
      if (streamIDs.length + playlistIDs.length > 0) {
        const detail = `This upload is played by ${[...streamIDs, ...playlistIDs].join(', ')}.`;
        throw new AppError('upload_in_use', detail, { extras: { streamIDs, playlistIDs } });
      }
      await uploads.delete(upload);
    },
  };
}
