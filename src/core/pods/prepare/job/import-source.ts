/**
 * Imports one source: fetches it from a link or joins its uploaded pieces, reads it to its end and describes it. Until then it
 * is a file on a local disk, and the program that reads it sees nothing else. It goes into storage while it arrives, and becomes visible
 * there once it has proved playable.
 */
import { tmpdir } from 'node:os';
import type { PrepareTask } from '../../../protocol/task.ts';
import { parseProfile } from '../../../resources/stream/profile.ts';
import { posterKey } from '../../../resources/upload/poster.ts';
import { type MediaInfo, type RenditionStatus, renditionKey } from '../../../resources/upload/spec.ts';
import { mergeWarnings, type UploadWarning } from '../../../resources/upload/warnings.ts';
import { withScratchFile } from '../../storage/scratch.ts';
import { PrepareError } from '../failure/failure.ts';
import { describeImage, openImage } from '../inspect/image.ts';
import { findTransparency } from '../inspect/open-source.ts';
import { describeMedia } from '../inspect/probe.ts';
import { type MediaType, markPlayed } from '../inspect/source.ts';
import { SourceFile } from '../inspect/source-file.ts';
import { mendTags } from '../inspect/tags.ts';
import { describeWarnings } from '../inspect/warnings.ts';
import { type Fetched, type FetchOptions, fetchInto, type Sink } from '../link/fetch.ts';
import type { JobContext } from '../steps/context.ts';
import { decodeSound } from '../transcode/decode-sound.ts';
import { Arrival } from './arrival.ts';
import { ImportRendition } from './import-rendition.ts';
import { deleteSent, hasSource, joinInto } from './join-upload.ts';
import { PosterWork } from './poster-work.ts';
import { SourceStore } from './source-store.ts';

type ImportTask = Extract<PrepareTask, { action: 'import' }>;
export type ImportLimits = Pick<
  FetchOptions,
  'allowPrivateLinks' | 'maxBytes' | 'timeoutSeconds' | 'minBytesPerSecond' | 'windowSeconds'
>;

export interface Imported {
  media: MediaInfo;
  warnings: UploadWarning[];
  /** The rendition of the task, where it could be made. */
  rendition?: RenditionStatus;
  /** True where the poster is in storage. */
  poster?: boolean;
}

/** Rejects with PrepareError, StorageError or the signal's reason; the source is then not in storage. */
export function importSource(task: ImportTask, context: JobContext, limits: ImportLimits): Promise<Imported> {
  const { inputDir = tmpdir() } = context;
  const { maxDurationSeconds = context.limits.durationSeconds } = task;
  const media = { ...context.limits, durationSeconds: Math.min(context.limits.durationSeconds, maxDurationSeconds) };
  const limited = { ...context, limits: media };
  return withScratchFile(inputDir, async (path) => {
    const arrival = new Arrival(path);
    const aside = new Aside(task, arrival, limited);
    const poster = new PosterWork(findPosterKey(task), limited);
    try {
      const imported = await bringIn(task, arrival, limited, limits, { aside, poster });
      const rendition = aside.end();
      context.onImported?.(imported);
      const [made, hasPoster] = await Promise.all([rendition?.finish(), poster.finish()]);
      const found = { ...imported, ...(hasPoster && { poster: true }) };
      if (!made) return found;
      const warnings = mergeWarnings(imported.warnings, made.warnings);
      return { ...found, warnings, rendition: made.rendition };
    } catch (error) {
      await poster.cancel();
      const isFinal = error instanceof PrepareError && !error.again && error.retryAfterSeconds === undefined;
      await aside.end()?.cancel(isFinal);
      throw error;
    }
  });
}

const findPosterKey = ({ type, renditions, tracks }: ImportTask): string | undefined =>
  renditions && posterKey(renditions.content, type, renditions.scope, tracks);

/** The rendition that is made beside the import, from the time at which a stream waits for one. */
class Aside {
  rendition: ImportRendition | undefined;
  #isOver = false;

  constructor(task: ImportTask, arrival: Arrival, context: JobContext) {
    const { type, renditions, tracks } = task;
    void context.asked?.then((profile) => {
      if (this.#isOver || !renditions || type === 'image' || !parseProfile(profile)) return;
      const key = renditionKey(renditions.content, type, profile, renditions.scope, tracks);
      // An earlier try may have fetched another file from the same link.
      const target = {
        type,
        profile,
        renditionKey: key,
        ...(tracks && { tracks }),
        keepsSameOnly: 'url' in task,
        isRead: true,
      };
      this.rendition = new ImportRendition(target, arrival, context);
      context.onBegun?.(profile);
    });
  }

  /** From now on no rendition begins. Returns the one that has. */
  end(): ImportRendition | undefined {
    this.#isOver = true;
    return this.rendition;
  }
}

/** Fetches the source, reads it to its end and stores it. */
async function bringIn(
  task: ImportTask,
  arrival: Arrival,
  context: JobContext,
  limits: ImportLimits,
  { aside, poster }: { aside: Aside; poster: PosterWork },
): Promise<Imported> {
  const { storage } = context;
  const { path } = arrival;
  const isThere = 'sent' in task && (await hasSource(storage, task.sourceKey, task.sent.sizeBytes));
  const storing = isThere ? undefined : await SourceStore.begin(task.sourceKey, arrival, context);
  try {
    const fetched = await bring(task, arrival, context, limits);
    const { warnings, ...tracks } = await examine(task, path, context, { aside, poster });
    await storing?.commit();
    const media = { ...fetched, ...tracks };
    await context.keepRecord?.({ media, warnings });
    // A failure above may be retried, so the pieces stay until here; from here on they are useless.
    if ('sent' in task) await deleteSent(storage, task.sent);
    return { media, warnings };
  } finally {
    await storing?.end();
  }
}

/** Reads the file to its end, and begins its poster. Rejects with PrepareError or the signal's reason. */
async function examine(
  { type, tracks }: ImportTask,
  path: string,
  context: JobContext,
  { aside, poster }: { aside: Aside; poster: PosterWork },
): Promise<Omit<MediaInfo, 'sha256' | 'sizeBytes'> & { warnings: UploadWarning[] }> {
  if (type === 'image') {
    const file = await openImage(path, context);
    poster.begin(file);
    return { ...(await describeImage(file, context)), warnings: [] };
  }
  const file = aside.rendition?.begin() ?? new SourceFile(path, { type, chosen: tracks, ...context });
  poster.begin(file);
  return await describe({ type, tracks }, file, context);
}

async function describe(
  { type, tracks }: { type: MediaType; tracks: ImportTask['tracks'] },
  file: SourceFile,
  context: JobContext,
) {
  const { path } = file;
  const { limits } = context;
  const header = await file.openHeader();
  const { source, scan } = await file.examine();
  // A track that was empty has another one in its place.
  const declared = tracks ? (source.declared ?? []) : markPlayed(source);
  // The description includes tracks that are not played.
  const pictures = type === 'audio' ? header.video : undefined;
  const decodedSeconds = type === 'audio' ? await decodeSound(path, source, scan, context, limits) : undefined;
  const measured = { ...scan, ...(decodedSeconds !== undefined && { decodedSeconds }) };
  const tags = await mendTags(path, source.format, source.tags);
  const transparency = type === 'video' ? await findTransparency(path, source, context) : [];
  return {
    ...describeMedia({ ...source, video: source.video ?? pictures, declared, tags }, measured),
    warnings: mergeWarnings(describeWarnings(source, measured, type), transparency),
  };
}

function bring(task: ImportTask, arrival: Arrival, context: JobContext, limits: ImportLimits): Promise<Fetched> {
  const { storage, signal, log, onProgress } = context;
  const sink: Sink = (bytes, within) => arrival.write(bytes, within);
  if ('sent' in task) {
    arrival.totalBytes = task.sent.sizeBytes;
    return joinInto(sink, storage, task.sourceKey, task.sent, {
      ...{ signal, onProgress, minBytesPerSecond: limits.minBytesPerSecond, windowSeconds: limits.windowSeconds },
    });
  }
  const maxBytes = Math.min(limits.maxBytes, task.maxBytes ?? limits.maxBytes);
  return fetchInto(sink, task.url, {
    ...limits,
    maxBytes,
    onSize: (bytes) => {
      arrival.totalBytes = bytes;
    },
    signal,
    log,
    ...(onProgress && { onProgress }),
  });
}
