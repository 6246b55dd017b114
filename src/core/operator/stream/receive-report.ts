/**
 * Receives a report that a stream's pod pushes: finds the pod, checks that the sender has the control token of the pod's stream, and bounds
 * how often a pod reports. So a pod that was taken over can report on its own stream alone, and no more often than the operator
 * would have asked it.
 */
import { type Clock, systemClock } from '../../lib/clock.ts';
import { admit } from '../../lib/rate.ts';
import { readReport } from '../../protocol/report.ts';
import { REPORT_RATE } from '../../protocol/report-rate.ts';
import { STREAM_LABEL } from '../../resources/common/names.ts';
import { BY_UID, type Caches } from '../caches/caches.ts';
import { isOwnedBy } from '../pods/security.ts';
import type { ControlTokens } from './control-token.ts';
import type { PushResult } from './report-result.ts';
import type { Streamers } from './streamers.ts';

/** A pod keeps to the rate by its own clock; some of its reports are late, and come closer together. */
const RATE = { ...REPORT_RATE, burst: 2 * REPORT_RATE.burst };

export interface PushedReport {
  podUid: string;
  token: string;
  /** Resolves to the JSON of the body; undefined when it is too long or not JSON. Called only for a pod that may report. */
  readBody: () => Promise<unknown>;
}

export type ReceiveReport = (pushed: PushedReport) => Promise<PushResult>;

export function createReportReceiver(
  { streams, pods }: Pick<Caches, 'streams' | 'pods'>,
  tokens: Pick<ControlTokens, 'check'>,
  streamers: Pick<Streamers, 'accept'>,
  clock: Clock = systemClock,
): ReceiveReport {
  /** Of `admit`, for each pod; those that have passed are as good as missing. */
  const paidUntilMs = new Map<string, number>();
  const isWithinRate = (podUid: string): boolean => {
    const nowMs = clock.monotonicMs();
    const paid = admit(RATE, paidUntilMs.get(podUid) ?? Number.NEGATIVE_INFINITY, nowMs);
    if (paid !== undefined) paidUntilMs.set(podUid, paid);
    return paid !== undefined;
  };
  pods.onChange((_key, current, previous) => !current && previous && paidUntilMs.delete(previous.metadata.uid));

  return async ({ podUid, token, readBody }) => {
    const [pod] = pods.byIndex(BY_UID, podUid);
    const stream = pod && streams.get(pod.metadata.namespace ?? '', pod.metadata.labels?.[STREAM_LABEL] ?? '');
    if (!pod || !stream || !isOwnedBy(pod, stream)) return 'unknown_pod';
    if (!(await tokens.check(stream, pod, token))) return 'wrong_token';
    if (!isWithinRate(podUid)) return 'too_many';
    const read = readReport(await readBody());
    return read.ok && streamers.accept(pod, read.message) ? 'accepted' : 'invalid';
  };
}
