/** Estimates how long the credit of accounts lasts, and writes the condition of their streams (credit.ts). */

import type { EventRecorder } from '../../../core/kube/events.ts';
import { type Kube, KubeError } from '../../../core/kube/types.ts';
import { type Clock, systemClock } from '../../../core/lib/clock.ts';
import { forEachConcurrently } from '../../../core/lib/pool.ts';
import { findCondition } from '../../../core/resources/common/conditions.ts';
import { API_VERSION, CREDIT_CONDITION, FIELD_MANAGER_CREDIT } from '../../../core/resources/common/names.ts';
import { LOOPSTREAMS, type LoopStream } from '../../../core/resources/stream/resource.ts';
import type { Db } from '../../db/pool.ts';
import { tell } from '../../domain/events/store.ts';
import { findAccount } from './accounts.ts';
import { buildCondition, type CreditVerdict, isSameCondition, judgeCredit } from './credit.ts';
import { describeLow, findCreditNews, toSubject } from './credit-news.ts';
import type { AccountCredit, Estimates } from './estimate.ts';
import * as store from './store.ts';
import { findMissing } from './stream-marks.ts';

export interface CreditConditionsDeps {
  db: Db;
  kube: Kube;
  events: EventRecorder;
  estimates: Estimates;
  graceSeconds: number;
  /** Receives each written stream, so that it is read before the watch delivers it. */
  seen: (stream: LoopStream) => void;
  clock?: Clock;
}

/** The credit of an account, and what was decided of it. */
interface Judged extends AccountCredit {
  accountId: string;
  verdict: CreditVerdict;
}

export type CreditConditions = ReturnType<typeof createCreditConditions>;

export function createCreditConditions(deps: CreditConditionsDeps) {
  const { db, kube, events, estimates, graceSeconds, seen, clock = systemClock } = deps;

  async function applyCondition(stream: LoopStream, verdict: CreditVerdict, now: Date): Promise<void> {
    const { metadata, status } = stream;
    // It stays off air until it can be counted.
    if (metadata.deletionTimestamp || findMissing(stream)) return;
    const condition = buildCondition(stream, verdict, graceSeconds, now);
    if (isSameCondition(findCondition(status?.conditions, CREDIT_CONDITION), condition)) return;
    const { name, namespace = '', uid } = metadata;
    const patch = {
      apiVersion: API_VERSION,
      kind: LOOPSTREAMS.kind,
      metadata: { name, namespace, uid },
      status: { conditions: [condition] },
    };
    try {
      const options = { fieldManager: FIELD_MANAGER_CREDIT, subresource: 'status' } as const;
      seen(await kube.apply(LOOPSTREAMS, namespace, patch, options));
    } catch (error) {
      // It was deleted.
      if (!(error instanceof KubeError && (error.reason === 'NotFound' || error.reason === 'Conflict'))) throw error;
    }
  }

  function warn(streams: readonly LoopStream[], hours: number): void {
    const message = describeLow(hours);
    for (const stream of streams)
      if (stream.status?.phase === 'live') events.event(stream, { type: 'Warning', reason: 'CreditLow', message });
  }

  /** Accounts are locked in the order of their ids, as by others. */
  async function writeCredit(changed: readonly Judged[], now: Date): Promise<void> {
    const sorted = changed.toSorted((a, b) => (a.accountId < b.accountId ? -1 : 1));
    await db.transaction().execute(async (trx) => {
      await store.writeCredit(
        trx,
        sorted.map(({ accountId, verdict }) => ({ accountId, ...verdict })),
      );
      for (const { accountId, verdict, ...account } of sorted)
        if (verdict.warn !== undefined || verdict.exhaustedAt !== undefined)
          await tell(trx, toSubject(accountId), ({ mark }) =>
            findCreditNews(accountId, account, verdict, { mark, now }),
          );
    });
  }

  const judgeOne = ({ credit, estimate }: AccountCredit, now: Date) => judgeCredit(credit, estimate, graceSeconds, now);

  return {
    /** Writes the conditions of all streams of these accounts, sends warnings, and stores the state. */
    async update(streams: ReadonlyMap<string, readonly LoopStream[]>, signal: AbortSignal): Promise<void> {
      if (streams.size === 0) return;
      const found = await estimates.estimates(streams);
      const now = clock.now();
      const judged = [...found].map(([accountId, estimate]) => ({
        accountId,
        ...estimate,
        verdict: judgeOne(estimate, now),
      }));
      for (const { accountId, verdict } of judged)
        if (verdict.warn !== undefined) warn(streams.get(accountId) ?? [], verdict.warn);
      // A process killed before the state is stored repeats the event, which Kubernetes counts as the same one.
      await events.flush();
      const changed = judged.filter(
        ({ credit, verdict }) =>
          credit.exhaustedAt?.getTime() !== verdict.exhaustedAt?.getTime() ||
          credit.warnedHours !== verdict.warnedHours,
      );
      if (changed.length > 0) await writeCredit(changed, now);
      const all = judged.flatMap(({ accountId, verdict }) =>
        (streams.get(accountId) ?? []).map((stream) => ({ stream, verdict })),
      );
      await forEachConcurrently(all, ({ stream, verdict }) => applyCondition(stream, verdict, now), signal);
    },

    /** The same for one stream that has said nothing yet, at once; `all` are those of its account. */
    async begin(stream: LoopStream, all: readonly LoopStream[]): Promise<void> {
      const accountId = findAccount(stream);
      if (accountId === undefined) return;
      const estimate = (await estimates.estimates(new Map([[accountId, all]]))).get(accountId);
      const now = clock.now();
      if (estimate) await applyCondition(stream, judgeOne(estimate, now), now);
    },
  };
}
