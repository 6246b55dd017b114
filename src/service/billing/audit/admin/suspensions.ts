/**
 * Keeps the list of suspended accounts for the API server. Every server reads it again and again; while the database is
 * away the last known list holds.
 *
 * `spec.suspend`, which the API has no other use for, keeps their streams off air. A mark tells later which streams to
 * resume: a stream suspended with kubectl stays suspended.
 */

import type { Stored } from '../../../../core/kube/types.ts';
import { sleep } from '../../../../core/lib/clock.ts';
import type { Logger } from '../../../../core/lib/log.ts';
import { ACCOUNT_LABEL, SUSPENDED_ANNOTATION } from '../../../../core/resources/common/names.ts';
import type { LoopStream } from '../../../../core/resources/stream/resource.ts';
import type { Db } from '../../../db/pool.ts';
import { listLocked } from './store.ts';

/** Between two looks: how soon after the command an account is locked. */
const LOOK_MS = 2_000;

export interface SuspensionDeps {
  db: Db;
  /** All streams there are; throws or is empty while they have not been read. */
  streams: () => readonly Stored<LoopStream>[];
  patch: (stream: Stored<LoopStream>, patch: unknown) => Promise<unknown>;
  log: Logger;
  lookMs?: number;
}

/** Returns the patch of a stream, if it needs one. Pure. */
export function suspensionPatch({ metadata, spec }: LoopStream, isLocked: boolean): object | undefined {
  const isMarked = metadata.annotations?.[SUSPENDED_ANNOTATION] !== undefined;
  if (metadata.deletionTimestamp !== undefined) return undefined;
  if (isLocked && spec.suspend !== true)
    return { metadata: { annotations: { [SUSPENDED_ANNOTATION]: 'true' } }, spec: { suspend: true } };
  if (!isLocked && isMarked)
    return { metadata: { annotations: { [SUSPENDED_ANNOTATION]: null } }, spec: { suspend: null } };
  return undefined;
}

export function createSuspensions({ db, streams, patch, log, lookMs = LOOK_MS }: SuspensionDeps) {
  const stopping = new AbortController();
  let locked: ReadonlySet<string> = new Set();
  let running: Promise<void> | undefined;

  async function refresh(): Promise<void> {
    locked = new Set(await listLocked(db));
    for (const stream of streams()) {
      const change = suspensionPatch(stream, locked.has(stream.metadata.labels?.[ACCOUNT_LABEL] ?? ''));
      if (change === undefined || stopping.signal.aborted) continue;
      const { name } = stream.metadata;
      // Another server may be first, or the stream deleted: the next run sees.
      await patch(stream, change).catch((err) =>
        log.warn({ err, stream: name }, 'a stream could not be suspended or resumed'),
      );
    }
  }

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      await refresh().catch((err) => log.warn({ err }, 'the suspended accounts could not be read'));
      await sleep(lookMs, stopping.signal).catch(() => undefined);
    }
  }

  return {
    isSuspended: (accountId: string): boolean => locked.has(accountId),

    /** Repeats the check until `stop`. */
    start(): void {
      running ??= run();
    },

    async stop(): Promise<void> {
      stopping.abort();
      await running;
    },
  };
}
