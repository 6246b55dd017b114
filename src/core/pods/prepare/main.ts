/**
 * Runs the prepare Job: one task from the environment, one result in the file that Kubernetes reads when the container
 * ends.
 */
import { writeFile } from 'node:fs/promises';
import { systemClock } from '../../lib/clock.ts';
import type { Lifecycle } from '../../lib/lifecycle.ts';
import type { Logger } from '../../lib/log.ts';
import { startWatchdog } from '../../lib/watchdog.ts';
import type { PrepareConfig } from '../../protocol/environment.ts';
import { type RecordsTask, readRecordsTask } from '../../protocol/records.ts';
import {
  type PreparedPart,
  type PrepareProgress,
  type PrepareResult,
  type PrepareTask,
  readTask,
} from '../../protocol/task.ts';
import { ConfigError } from '../../settings/settings.ts';
import { openStorage } from '../storage/open.ts';
import { StorageError } from '../storage/storage.ts';
import { PrepareError } from './failure/failure.ts';
import { fitResult } from './inspect/tracks.ts';
import { makeRange } from './job/make-range.ts';
import { makeRendition } from './job/make-rendition.ts';
import { progressLog } from './job/progress-log.ts';
import { serveProgress } from './job/progress-server.ts';
import { replaceRecord, requireOwner, takeUpSource } from './job/records.ts';
import type { JobContext } from './steps/context.ts';
import { confinedTools } from './tools/confined-tools.ts';
import { openKeeper } from './tools/keeper.ts';
import { ToolError } from './tools/tool.ts';

const DONE = 0;
const TRY_AGAIN = 1;
/** The watchdog has ended the process (EX_SOFTWARE of sysexits.h). */
const ENDLESS = 70;
/** The CRD takes no longer message, and the result stays far below the 4096 bytes at which Kubernetes cuts. */
const MAX_MESSAGE_CHARS = 512;
/** Kubernetes cuts at 4096, and the result has the name of its action beside. */
const MAX_RESULT_BYTES = 4000;

/**
 * Runs `runPrepare` under a watchdog: an endless step ends the process with status 70 and the result `isEndless`. Jobs
 * have no liveness probe.
 */
export async function runPrepareJob(config: PrepareConfig, lifecycle: Lifecycle, log: Logger): Promise<number> {
  const { message, code } = new PrepareError('media_too_complex', 'One step of reading it never came to an end.');
  const result: PrepareResult = { action: 'failed', error: { code, message }, isEndless: true };
  const lastWords = { file: config.resultFile, text: JSON.stringify(result) };
  lifecycle.defer('watchdog', startWatchdog({ seconds: config.stepSeconds, exitCode: ENDLESS, lastWords }, log));
  return await runPrepare(config, lifecycle, log);
}

/**
 * Does the task and writes PrepareResult to `config.resultFile`. Resolves with the exit code: 0 when the task is done
 * or can never be, 1 when a retry may help (also after SIGTERM). Throws ConfigError when the task is invalid.
 */
export async function runPrepare(config: PrepareConfig, lifecycle: Lifecycle, log: Logger): Promise<number> {
  const read = readTask(config.task);
  if (!read.ok) throw new ConfigError(`LOOPSTREAM_TASK is not a task of prepare, from ${read.failure.path || '/'} on.`);
  const task = read.message;
  // ffmpeg must end and the temporary files must go before the process ends.
  const { promise: settled, resolve: settle } = Promise.withResolvers<void>();
  lifecycle.exitStatus = TRY_AGAIN;
  lifecycle.defer('prepare', () => settled);
  const startedAt = performance.now();
  try {
    const { storageUrl, storageCredentials: credentials, inputDir } = config;
    const context: JobContext = {
      storage: await openStorage(storageUrl, { credentials, inputDir }),
      tools: await openTools(task, config, lifecycle, log),
      inputDir,
      signal: lifecycle.signal,
      log,
      limits: config.mediaLimits,
      ownRates: config.ownRates,
      ...(await tellProgress(task, config, lifecycle, log)),
    };
    // Such a Job mounts parts of the storage, which exist since the import.
    if (task.action !== 'rendition' && task.action !== 'range') await context.storage.ensureLayout?.();
    const result = await perform(task, context, config, findRecordsTask(config));
    await writeFile(config.resultFile, JSON.stringify(result));
    log.info({ action: task.action, seconds: Math.round(performance.now() - startedAt) / 1000 }, 'done');
    return DONE;
  } catch (error) {
    if (lifecycle.signal.aborted) {
      log.info({ action: task.action }, 'stopped before the end');
      return TRY_AGAIN;
    }
    const { code, message, again, retryAfterSeconds } = explain(error);
    log.warn({ action: task.action, code, again, retryAfterSeconds, err: error, stderr: readStderr(error) }, message);
    const result: PrepareResult = {
      action: 'failed',
      error: { code, message: message.slice(0, MAX_MESSAGE_CHARS).toWellFormed() },
      ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
    };
    await writeFile(config.resultFile, JSON.stringify(result));
    return again ? TRY_AGAIN : DONE;
  } finally {
    settle();
  }
}

/** Records what is done, for the log and the progress server. */
async function tellProgress(task: PrepareTask, { host, port }: PrepareConfig, lifecycle: Lifecycle, log: Logger) {
  const done: PrepareProgress = { progress: 0 };
  const asked = Promise.withResolvers<string>();
  if (task.action === 'import' && task.profile !== undefined) asked.resolve(task.profile);
  if (host !== undefined) {
    try {
      const server = await serveProgress(host, port, () => done, asked.resolve);
      lifecycle.defer('progress', server.close);
    } catch (error) {
      // Without the server nobody sees the progress, but the work goes on.
      log.warn({ err: error }, 'the progress cannot be served');
    }
  }
  const toLog = progressLog(task.action, log, systemClock);
  return {
    asked: asked.promise,
    onBegun(profile: string) {
      done.profile = profile;
    },
    onProgress(fraction: number) {
      done.progress = Math.min(1, Math.max(0, fraction));
      toLog(fraction);
    },
    onPrepared(part: PreparedPart) {
      done.prepared = part;
    },
    onRanges(ranges: number | undefined) {
      if (ranges === undefined) delete done.ranges;
      else done.ranges = ranges;
    },
    onPoster(isMaking: boolean) {
      done.makesPoster = isMaking;
    },
    onImported(imported: NonNullable<PrepareProgress['imported']>) {
      done.imported = imported;
    },
  };
}

/** Opens the tools of the container beside this one, if there is one; else this machine's own. */
async function openTools({ action }: PrepareTask, config: PrepareConfig, lifecycle: Lifecycle, log: Logger) {
  // A sweep opens no media.
  if (config.decoderSocket === undefined || action === 'sweep') return confinedTools(config, log);
  const keeper = await openKeeper(config.decoderSocket);
  lifecycle.defer('decoder', keeper.close);
  return { ffmpeg: keeper.tool('ffmpeg'), ffprobe: keeper.tool('ffprobe'), drawText: keeper.tool('drawText') };
}

function findRecordsTask({ records }: PrepareConfig): RecordsTask | undefined {
  if (records === undefined) return undefined;
  const read = readRecordsTask(records);
  if (read.ok) return read.message;
  throw new ConfigError('LOOPSTREAM_RECORDS does not say what the operator tells of records.');
}

async function perform(
  task: PrepareTask,
  context: JobContext,
  config: PrepareConfig,
  records: RecordsTask | undefined,
): Promise<PrepareResult> {
  if (task.action === 'range')
    return { action: 'range', chunks: await makeRange(task, config.completionIndex + 1, context) };
  if (task.action === 'rendition') return { action: 'rendition', ...(await makeRendition(task, context)) };
  if (task.action === 'sweep') {
    if (records) await requireOwner(context.storage, records.installation);
    const { sweep } = await import('./job/sweep.ts');
    return await sweep(task, { ...context, records }, systemClock.now());
  }
  if (records) await requireOwner(context.storage, records.installation);
  const found = await takeUpSource(task, records, context);
  if (found) return { action: 'import', ...fitResult(found, MAX_RESULT_BYTES) };
  // Only an import needs the HTTP client.
  const { importSource } = await import('./job/import-source.ts');
  const { upload } = records ?? {};
  const keepRecord: JobContext['keepRecord'] =
    upload && ((imported) => replaceRecord(context.storage, { ...upload, ...imported, sourceKey: task.sourceKey }));
  const imported = await importSource(
    task,
    { ...context, ...(keepRecord && { keepRecord }) },
    {
      allowPrivateLinks: config.allowPrivateLinks,
      maxBytes: config.maxSourceBytes,
      timeoutSeconds: config.fetchTimeoutSeconds,
      minBytesPerSecond: config.minFetchBytesPerSecond,
    },
  );
  return { action: 'import', ...fitResult(imported, MAX_RESULT_BYTES) };
}

/** Converts any error to one of the upload's codes. An unknown error may be temporary. */
function explain(error: unknown): PrepareError {
  if (error instanceof PrepareError) return error;
  const cause = { cause: error };
  if (error instanceof StorageError && error.code === 'full') return new PrepareError('storage_full', undefined, cause);
  if (error instanceof StorageError && error.code === 'not_found') {
    return new PrepareError('prepare_failed', 'Its source is no longer in the media storage.', cause);
  }
  // The storage's message says what to do, e.g. to create the bucket, in a sentence without secrets.
  if (error instanceof StorageError)
    return new PrepareError('prepare_failed', error.message, { ...cause, again: true });
  return new PrepareError('prepare_failed', undefined, { ...cause, again: true });
}

/** Returns ffmpeg's own words, for the log alone. */
function readStderr(error: unknown): string | undefined {
  if (error instanceof ToolError) return error.stderr;
  return error instanceof Error ? readStderr(error.cause) : undefined;
}
