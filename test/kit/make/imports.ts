/** Imports local files by the real code, with limits of the test's own. */
import { readFile } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { type Imported, importSource } from '../../../src/core/pods/prepare/job/import-source.ts';
import type { Storage } from '../../../src/core/pods/storage/storage.ts';
import { DEFAULT_LIMITS, type MediaLimits } from '../../../src/core/protocol/media-limits.ts';
import type { MediaInfo, UploadSpec } from '../../../src/core/resources/upload/spec.ts';
import { quiet, room } from './prepare.ts';

interface ImportOptions {
  type?: UploadSpec['track'];
  limits?: Partial<MediaLimits>;
  maxDurationSeconds?: number;
  ffprobe?: string;
  /** Where the poster goes; none is made without it. */
  renditions?: { content: string };
}

/** Imports bytes, or the file of this name; rejects as importSource() does. */
export const importMedia = async (file: Buffer | string, options: ImportOptions = {}): Promise<MediaInfo> =>
  (await importWhole(file, options)).media;

/** Imports a file and returns the warnings too. */
export async function importWhole(file: Buffer | string, options: ImportOptions = {}): Promise<Imported> {
  await using place = await room();
  return await importInto(place.storage, file, options);
}

/** Imports a file into a storage, where what is made of it can be read. */
export async function importInto(
  storage: Storage,
  file: Buffer | string,
  { type = 'video', limits, maxDurationSeconds, renditions, ffprobe = 'ffprobe' }: ImportOptions = {},
): Promise<Imported> {
  const content = typeof file === 'string' ? await readFile(file) : file;
  const sourceKey = 'sources/x';
  await storage.write(sourceKey, Readable.from([content]));
  const task = { action: 'import' as const, type, sourceKey, sent: { key: 'incoming/x', sizeBytes: content.length } };
  const more = { ...(maxDurationSeconds !== undefined && { maxDurationSeconds }), ...(renditions && { renditions }) };
  return await importSource(
    { ...task, ...more },
    {
      storage,
      log: quiet,
      signal: new AbortController().signal,
      tools: { ffmpeg: 'ffmpeg', ffprobe, drawText: 'draw-text' },
      limits: { ...DEFAULT_LIMITS, ...limits },
    },
    { allowPrivateLinks: false, maxBytes: 1, timeoutSeconds: 60, minBytesPerSecond: 0 },
  );
}
