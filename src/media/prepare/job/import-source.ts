/**
 * Imports one source: fetches it from a link or joins its uploaded pieces, reads it to its end, describes it, and only
 * then puts it into storage. Until then it is a file on a local disk, and the program that reads it sees nothing else.
 */
import { createReadStream, createWriteStream } from 'node:fs';
import { tmpdir } from 'node:os';
import { pipeline } from 'node:stream/promises';
import type { MediaInfo } from '../../../resources/upload/spec.ts';
import { mergeWarnings, type UploadWarning } from '../../../resources/upload/warnings.ts';
import { deletePieces } from '../../storage/pieces.ts';
import { withScratchFile } from '../../storage/scratch.ts';
import type { Storage } from '../../storage/storage.ts';
import { examine } from '../inspect/examine.ts';
import { findTransparency, openSource } from '../inspect/open-source.ts';
import { describeMedia } from '../inspect/probe.ts';
import { describeWarnings } from '../inspect/warnings.ts';
import { type Fetched, type FetchOptions, fetchInto } from '../link/fetch.ts';
import { decodeSound } from '../transcode/decode-sound.ts';
import { hasSource, joinInto, listKeys } from './join-upload.ts';
import type { JobContext } from './make-rendition.ts';
import type { PrepareTask } from './task.ts';

type ImportTask = Extract<PrepareTask, { action: 'import' }>;
export type ImportLimits = Pick<
  FetchOptions,
  'allowPrivateLinks' | 'maxBytes' | 'timeoutSeconds' | 'minBytesPerSecond'
>;

const BUFFER_BYTES = 2 ** 20;

export interface Imported {
  media: MediaInfo;
  warnings: UploadWarning[];
}

/** Rejects with PrepareError, StorageError or the signal's reason; the source is then not in storage. */
export function importSource(task: ImportTask, context: JobContext, limits: ImportLimits): Promise<Imported> {
  const { storage, tools, signal, inputDir = tmpdir() } = context;
  const { maxDurationSeconds = context.limits.durationSeconds } = task;
  const media = { ...context.limits, durationSeconds: Math.min(context.limits.durationSeconds, maxDurationSeconds) };
  return withScratchFile(inputDir, async (path) => {
    const fetched = await bring(task, path, context, limits);
    const options = { tools, signal, limits: media };
    const header = await openSource(path, task.type, options);
    const { source, scan } = await examine(path, header, task.type, tools, signal, { limits: media });
    // The description includes tracks that are not played.
    const pictures = task.type === 'audio' ? header.video : undefined;
    const decodedSeconds = task.type === 'audio' ? await decodeSound(path, source, scan, context, media) : undefined;
    const measured = { ...scan, ...(decodedSeconds !== undefined && { decodedSeconds }) };
    const transparency = task.type === 'video' ? await findTransparency(path, source, options) : [];
    const isThere = 'sent' in task && (await hasSource(storage, task.sourceKey, fetched.sizeBytes));
    if (!isThere) {
      await storage.write(task.sourceKey, createReadStream(path, { highWaterMark: BUFFER_BYTES }), signal);
    }
    // A failure above may be retried, so the pieces stay until here; from here on they are useless.
    if ('sent' in task) for (const key of listKeys(task.sent)) await deletePieces(storage, key);
    return {
      media: { ...fetched, ...describeMedia({ ...source, video: source.video ?? pictures }, measured) },
      warnings: mergeWarnings(describeWarnings(source, measured, task.type), transparency),
    };
  });
}

/** Presents a file as something to write to like storage; the key is ignored. */
const fileSink = (path: string): Pick<Storage, 'write'> => ({
  write: (_key, body, signal) => pipeline(body, createWriteStream(path), { ...(signal && { signal }) }),
});

function bring(task: ImportTask, path: string, context: JobContext, limits: ImportLimits): Promise<Fetched> {
  const { storage, signal, log, onProgress } = context;
  const sink = fileSink(path);
  if ('sent' in task) return joinInto(sink, storage, task.sourceKey, task.sent, { signal, onProgress });
  const maxBytes = Math.min(limits.maxBytes, task.maxBytes ?? limits.maxBytes);
  return fetchInto(sink, task.sourceKey, task.url, {
    ...limits,
    maxBytes,
    signal,
    log,
    ...(onProgress && { onProgress }),
  });
}
