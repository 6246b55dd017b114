/**
 * Runs billing's work on streams as jobs that look at all of them again and again, and at once where somebody waits. A
 * new stream waits for its condition of credit, and a deleted one for its count.
 */

import { createQueue, type WorkQueue } from '../../../core/kube/queue.ts';
import type { Reflector } from '../../../core/kube/reflector.ts';
import type { KubeObject } from '../../../core/kube/types.ts';
import type { Logger } from '../../../core/lib/log.ts';
import { forEachConcurrently } from '../../../core/lib/pool.ts';
import { findCondition } from '../../../core/resources/common/conditions.ts';
import { CREDIT_CONDITION } from '../../../core/resources/common/names.ts';
import type { LoopStream } from '../../../core/resources/stream/resource.ts';
import type { LoopStreamSpec, LoopStreamStatus } from '../../../core/resources/stream/spec.ts';
import type { BillingJob } from '../ledger/jobs.ts';
import { findAccount } from './accounts.ts';
import type { CreditConditions } from './credit-conditions.ts';
import type { Meter } from './meter.ts';
import { findAcknowledgeable } from './session-charges.ts';
import { findMissing, isOver, type StreamMarks } from './stream-marks.ts';

/** Index of the streams that an account has. */
export const BY_ACCOUNT = 'account';
export const byAccountIndex = { [BY_ACCOUNT]: (stream: LoopStream) => [findAccount(stream) ?? []].flat() };

const WORKERS = 8;
/** A deletion that waits for a last pod is retried when that ends; this interval covers all other causes. */
const BACKOFF = { baseMs: 250, maxMs: 30_000 };

/** With the index BY_ACCOUNT. */
export type StreamCache = Reflector<KubeObject<LoopStreamSpec, LoopStreamStatus>>;

export interface WorkDeps {
  streams: StreamCache;
  meter: Meter;
  books: StreamMarks;
  credits: CreditConditions;
  /** Resolves when what the streams were seen to play is written down. */
  settled: () => Promise<void>;
  everyMs: number;
  log: Logger;
}

/** By the account; what nobody pays for is left out. */
export function byAccount(streams: readonly LoopStream[]): Map<string, LoopStream[]> {
  const found = new Map<string, LoopStream[]>();
  for (const stream of streams) {
    const accountId = findAccount(stream);
    if (accountId === undefined) continue;
    const owned = found.get(accountId);
    if (owned) owned.push(stream);
    else found.set(accountId, [stream]);
  }
  return found;
}

/** Counts all sessions, and acknowledges them in Kubernetes. */
export function meterJob({ streams, meter, books, settled, everyMs }: WorkDeps): BillingJob {
  return {
    name: 'meter',
    everyMs,
    async run(signal) {
      await settled();
      const all = streams.list();
      await meter.count(all, signal);
      const done = all.filter(
        (stream) =>
          (findAccount(stream) === undefined || meter.isCounted(stream)) &&
          findAcknowledgeable(stream.status?.sessions ?? [], stream.status?.acknowledgedSession) !== undefined,
      );
      await forEachConcurrently(done, (stream) => books.acknowledge(stream), signal);
    },
  };
}

/** Looks at the credit of all accounts that have streams. */
export const creditJob = ({ streams, credits, everyMs }: WorkDeps): BillingJob => ({
  name: 'credit',
  everyMs,
  run: (signal) => credits.update(byAccount(streams.list()), signal),
});

const isNew = (stream: LoopStream): boolean =>
  findAccount(stream) !== undefined &&
  stream.metadata.deletionTimestamp === undefined &&
  (findMissing(stream) !== undefined || findCondition(stream.status?.conditions, CREDIT_CONDITION) === undefined);

/** Does at once what somebody waits for; every process of billing does it, as each may be done twice. */
export function watchStreams(
  { streams, meter, books, credits, settled, log }: WorkDeps,
  signal: AbortSignal,
): WorkQueue {
  const processStream = async (key: string): Promise<void> => {
    const [namespace = '', name = ''] = key.split('/');
    const stream = streams.get(namespace, name);
    if (!stream) return;
    if (isOver(stream)) {
      await settled();
      await meter.count([stream], signal);
      if (findAccount(stream) === undefined || meter.isCounted(stream)) await books.release(stream);
    } else if (isNew(stream) && (await books.take(stream))) {
      const taken = streams.get(namespace, name);
      if (taken) await credits.begin(taken, streams.byIndex(BY_ACCOUNT, findAccount(taken) ?? ''));
    }
  };
  const queue = createQueue({
    workers: WORKERS,
    process: processStream,
    backoff: BACKOFF,
    log: log.child({ job: 'streams' }),
  });
  streams.onChange(
    (key, stream) => {
      if (stream && (isOver(stream) || isNew(stream))) queue.add(key);
    },
    { replay: true },
  );
  return queue;
}
