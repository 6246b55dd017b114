/**
 * Applies the rules of endpoints for people to what happens, at every API server. The rows of the database are the queue: an event and the
 * end of a wait make one due.
 */
import type { Lifecycle } from '../../../../core/lib/lifecycle.ts';
import type { Logger } from '../../../../core/lib/log.ts';
import { runWhenDue } from '../../../db/due.ts';
import type { NotificationHandlers } from '../../../db/listen.ts';
import type { Db } from '../../../db/pool.ts';
import type { AccountEventType } from '../../events/record.ts';
import { type AlertOutcome, applyAlertRule } from './rule.ts';
import { applyNext, type DueAlert, findNextDueMs } from './store.ts';

const WORKERS = 4;

/** Types that come to people only if they are named: all is well, or a message about the stream has the same cause. */
export const QUIET_TYPES: readonly AccountEventType[] = [
  'stream.live',
  'stream.stopped',
  'upload.ready',
  'playlist.published',
  'destination.rejected',
  'platform.live',
];

export const decide = ({ state, events, types, hasAllTypes, rule, now }: DueAlert): AlertOutcome =>
  applyAlertRule(state, events, now, {
    rule,
    types: hasAllTypes ? types.filter((type) => !QUIET_TYPES.includes(type)) : types,
  });

/** Runs until the process stops. */
export function startAlerts({ db, log }: { db: Db; log: Logger }, lifecycle: Lifecycle): NotificationHandlers {
  const { signal } = lifecycle;

  const tryToDecide = (due: DueAlert): AlertOutcome | undefined => {
    try {
      return decide(due);
    } catch (err) {
      log.error({ err }, 'the rule of messages to people failed for an object; it is retried');
      return undefined;
    }
  };

  async function applyAll(): Promise<void> {
    while (!signal.aborted && (await applyNext(db, tryToDecide)));
  }

  async function begin(): Promise<boolean> {
    await Promise.all(Array.from({ length: WORKERS }, applyAll));
    return false;
  }

  const onError = (err: unknown) =>
    log.warn({ err }, 'rules of messages to people could not be applied; it is retried');
  const { ended, handlers } = runWhenDue({ begin, findNextDueMs: () => findNextDueMs(db), onError }, signal);
  lifecycle.defer('messages to people', () => ended);
  return handlers;
}
