/**
 * Imports one source: fetches it from a link or joins its uploaded pieces, reads it to its end and describes it. Until then it
 * is a file on a local disk, and the program that reads it sees nothing else. Its copy in storage is written meanwhile, and
 * becomes visible once the file has proved playable.
 */
import { createReadStream, createWriteStream } from 'node:fs';
import { tmpdir } from 'node:os';
import { Readable } from 'node:stream';
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
    const isThere = 'sent' in task && (await hasSource(storage, task.sourceKey, fetched.sizeBytes));
    const described = describe(task.type, path, { tools, signal, limits: media });
    const body = isThere ? undefined : Readable.from(readHeldBack(path, described), { objectMode: false });
    const stored = body && storage.write(task.sourceKey, body, signal);
    // A refusal of the file makes its copy fail too, and is the reason to name.
    const [description, copy] = await Promise.allSettled([described, stored]);
    if (description.status === 'rejected') throw description.reason;
    if (copy.status === 'rejected') throw copy.reason;
    // A failure above may be retried, so the pieces stay until here; from here on they are useless.
    if ('sent' in task) for (const key of listKeys(task.sent)) await deletePieces(storage, key);
    const { warnings, ...tracks } = description.value;
    return { media: { ...fetched, ...tracks }, warnings };
  });
}

/** Reads the file to its end. Rejects with PrepareError or the signal's reason. */
async function describe(
  type: ImportTask['type'],
  path: string,
  options: Pick<JobContext, 'tools' | 'signal' | 'limits'>,
) {
  const { tools, signal, limits } = options;
  const header = await openSource(path, type, options);
  const { source, scan } = await examine(path, header, type, tools, signal, { limits });
  // The description includes tracks that are not played.
  const pictures = type === 'audio' ? header.video : undefined;
  const decodedSeconds = type === 'audio' ? await decodeSound(path, source, scan, options, limits) : undefined;
  const measured = { ...scan, ...(decodedSeconds !== undefined && { decodedSeconds }) };
  const transparency = type === 'video' ? await findTransparency(path, source, options) : [];
  return {
    ...describeMedia({ ...source, video: source.video ?? pictures }, measured),
    warnings: mergeWarnings(describeWarnings(source, measured, type), transparency),
  };
}

/** Yields the file, its last piece only after `approved`: an object in storage is not visible before its body has ended. */
async function* readHeldBack(path: string, approved: Promise<unknown>): AsyncGenerator<Buffer> {
  let last: Buffer | undefined;
  for await (const piece of createReadStream(path, { highWaterMark: BUFFER_BYTES }) as AsyncIterable<Buffer>) {
    if (last) yield last;
    last = piece;
  }
  await approved;
  if (last) yield last;
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
