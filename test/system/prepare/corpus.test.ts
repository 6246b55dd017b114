/**
 * Tests media files of other projects, many of them odd on purpose. Each becomes a rendition as long as ffmpeg's decoded output, or is
 * refused with a code where ffmpeg decodes nothing.
 */
import { execFile } from 'node:child_process';
import { basename } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, expect, test } from 'vitest';
import { PrepareError } from '../../../src/core/pods/prepare/failure/failure.ts';
import { importMedia } from '../../kit/make/imports.ts';
import { room } from '../../kit/make/prepare.ts';
import { rendition } from '../../kit/make/rendition.ts';
import { ensureCorpus } from './corpus/files.ts';

const run = promisify(execFile);
const TOLERANCE_SECONDS = 0.02;
/** A rendition has whole AAC frames, and the last one is padded. */
const FRAME_SECONDS = 1024 / 48_000;
const PARALLEL = 2;

let files: string[];
beforeAll(async () => {
  files = await ensureCorpus();
});

/** Returns the seconds of sound that ffmpeg decodes, whatever the container says. */
async function decodedSeconds(path: string): Promise<number> {
  const args = ['-v', 'quiet', '-i', path, '-map', '0:a:0', '-ac', '1', '-ar', '48000', '-f', 's16le', '-'];
  const options = { encoding: 'buffer', maxBuffer: 2 ** 28 } as const;
  const { stdout } = await run('ffmpeg', args, options).catch((error: { stdout: Buffer }) => error);
  return stdout.length / 2 / 48_000;
}

const isAsLong = (seconds: number, decoded: number, more = 0) =>
  seconds >= decoded - TOLERANCE_SECONDS && seconds <= decoded + Math.max(more, TOLERANCE_SECONDS);

/** Returns the fault in the outcome of a file; undefined for none. */
async function findFault(path: string): Promise<string | undefined> {
  const decoded = await decodedSeconds(path);
  await using place = await room();
  try {
    const { durationSeconds: told } = await importMedia(path, { type: 'audio' });
    const { index } = await rendition(place, path, 'audio');
    const made = index.durationSeconds;
    if (isAsLong(told, decoded) && isAsLong(made, decoded, FRAME_SECONDS)) return undefined;
    return `${made.toFixed(3)} s, told ${told.toFixed(3)} s, decoded ${decoded.toFixed(3)} s`;
  } catch (error) {
    if (!(error instanceof PrepareError)) throw error;
    return decoded === 0 && error.code.startsWith('media_')
      ? undefined
      : `${error.code}, decoded ${decoded.toFixed(3)} s`;
  }
}

/** Each of some 150 files takes several processes, and other tests run beside them. */
const PATIENCE_MS = 600_000;

test(
  'every file lasts as long as it is decoded, to 20 ms, or is refused where nothing can be',
  async () => {
    const waiting = [...files];
    const faults: Record<string, string> = {};
    const work = async () => {
      for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
        const fault = await findFault(path);
        if (fault !== undefined) faults[basename(path)] = fault;
      }
    };
    await Promise.all(Array.from({ length: PARALLEL }, work));
    expect(files.length).toBeGreaterThan(140);
    expect(faults).toEqual({});
  },
  PATIENCE_MS,
);
