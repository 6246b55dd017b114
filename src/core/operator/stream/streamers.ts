/**
 * Talks to the pods of streams on air: accepts the reports that they push, asks those that are silent, and passes on skips. The
 * reports are kept here for the next reconcile of their stream; a pod that does not answer changes nothing. Meanwhile kubelet's probes say
 * whether it is live.
 */

import { Agent, request } from 'undici';
import type { Pod } from '../../kube/core.ts';
import { shortenAtRandom } from '../../lib/backoff.ts';
import { sleep } from '../../lib/clock.ts';
import { isSameJson } from '../../lib/json-equal.ts';
import type { Lifecycle } from '../../lib/lifecycle.ts';
import { readBounded } from '../../lib/read-bounded.ts';
import { type ReleaseRequest, readSkipAnswer, type SkipRequest } from '../../protocol/commands.ts';
import { readStats, type StreamerReport } from '../../protocol/report.ts';
import {
  COMPONENT_LABEL,
  RELEASE_PATH,
  SKIP_PATH,
  STOP_PATH,
  STREAM_LABEL,
  STREAMER_PORT,
} from '../../resources/common/names.ts';
import type { Caches } from '../caches/caches.ts';
import { countRestarts, findAddress, findAddressToAsk, findReadySince } from '../pods/status.ts';
import { joinKey } from '../runtime/controller.ts';
import { isSameReport, type PodClock, type PodReport, toClock, toPodReport } from './pod-report.ts';
import type { Skip } from './program.ts';
import type { ReportResult } from './report-result.ts';
import { compareWithSight, type Sight } from './sessions.ts';

const TIMEOUT_MS = 1_000;
/** The pod answers once the next item begins, and times out a little sooner than this. */
const SKIP_TIMEOUT_MS = 4_000;
const MAX_BYTES = 256 * 1024;
/** Questions under way at the same time. */
const AT_ONCE = 16;
/** An operator that begins to lead knows no report. It asks all pods one after the other, 200 a second. */
const SPACING_MS = 5;
/** A report that a pod pushed before a command reached it arrives within this time, or never. */
const ON_ITS_WAY_MS = 2_000;

export interface FollowOptions {
  /** Time after the last report or question of a pod until the operator asks it. */
  silentMs: number;
}

/** A pod that pushes should have pushed another report by then: it does so every five minutes. */
const SILENT_MS = 450_000;
/** Where no pod has an address for its reports. */
const WITHOUT_REPORTS_MS = 15_000;

export const pickFollowOptions = ({ reportsUrl }: { reportsUrl: string | undefined }): FollowOptions => ({
  silentMs: reportsUrl === undefined ? WITHOUT_REPORTS_MS : SILENT_MS,
});

export interface Streamers {
  /** The last report of a pod, by its UID. */
  report(podUid: string): PodReport | undefined;
  /** Accepts a report that a pod has pushed; false when this operator follows no pods. */
  accept(pod: Pod, pushed: StreamerReport): boolean;
  /** Asks for the next item; undefined when the pod could not go on to it (yet). */
  skip(podUid: string, address: string, token: string, skip: Skip): Promise<PodClock | undefined>;
  /** Commands a pod to publish, so that it need not wait for its files. */
  release(pod: Pod, token: string): Promise<void>;
  /**
   * Commands a pod to stop publishing, once. A pod that has answered ends soon, and the next pod would wait for a
   * repeated command to time out.
   */
  stop(pod: Pod, token: string): Promise<void>;
  /** Whether a pod has answered to stop. */
  hasStopped(pod: Pod): boolean;
  /** Asks the pods until the lifecycle stops; `enqueue` is called with a stream's key when its report has changed. */
  follow(pods: Caches['pods'], enqueue: (streamKey: string) => void, options: FollowOptions): void;
}

interface PodState {
  report: PodReport | undefined;
  nextMs: number;
  /** Rises with each skip: what was asked before it is out of date. */
  skips: number;
  /** When the pod was last commanded (monotonic). */
  commandedMs: number;
  /** The restarts of its container when that answered to stop. A restarted container needs another command. */
  stoppedRestarts?: number;
  /** The spell since its last comparison (sessions.ts). */
  sight?: Sight | undefined;
}

const withoutHold = ({ held: _, ...rest }: PodReport): PodReport => rest;
const withoutLive = ({ live: _, ...rest }: PodReport): PodReport => rest;

const isStreamer = ({ metadata }: Pod): boolean =>
  metadata.labels?.[COMPONENT_LABEL] === 'streamer' && metadata.labels[STREAM_LABEL] !== undefined;

export interface StreamersOptions {
  /** Returns the token that a pod wants with each question. */
  findToken?: (pod: Pod) => Promise<string>;
  count?: (result: ReportResult) => void;
}

export function createStreamers(lifecycle: Lifecycle, options: StreamersOptions = {}): Streamers {
  const { findToken, count } = options;
  const agent = new Agent({ connect: { timeout: TIMEOUT_MS }, keepAliveTimeout: TIMEOUT_MS });
  const pods = new Map<string, PodState>();
  const findState = (uid: string, nextMs = 0): PodState => {
    const found = pods.get(uid) ?? { report: undefined, nextMs, skips: 0, commandedMs: Number.NEGATIVE_INFINITY };
    pods.set(uid, found);
    return found;
  };
  /** No pod is due before this moment, so that a round looks at none of thousands that push. */
  let soonestMs = Number.NEGATIVE_INFINITY;
  const plan = (entry: PodState, nextMs: number): void => {
    entry.nextMs = nextMs;
    soonestMs = Math.min(soonestMs, nextMs);
  };
  let following: { enqueue: (streamKey: string) => void; options: FollowOptions } | undefined;
  let running: Promise<void> | undefined;
  lifecycle.defer('streams on air', async () => {
    await agent.destroy();
    await running;
  });

  /** The answer's JSON; undefined when it is another status, too long, too late or none. */
  const ask = async (url: string, timeoutMs: number, options: { method?: 'POST'; token?: string; body?: unknown }) => {
    const { method = 'GET', token, body } = options;
    const signal = AbortSignal.any([lifecycle.signal, AbortSignal.timeout(timeoutMs)]);
    try {
      const answer = await request(url, {
        dispatcher: agent,
        method,
        signal,
        headers: token === undefined ? {} : { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: body === undefined ? null : JSON.stringify(body),
      });
      const text = await readBounded(answer.body, MAX_BYTES);
      return answer.statusCode === 200 ? (JSON.parse(text) as unknown) : undefined;
    } catch {
      return undefined;
    }
  };

  /** Keeps a report, and has its stream reconciled if it says something new. */
  const keep = (pod: Pod, entry: PodState, report: PodReport): void => {
    const seconds = report.runs.reduce((sum, { onAirSeconds }) => sum + onAirSeconds, 0);
    const seen = { readySince: findReadySince(pod), seconds, atMs: performance.now() };
    const { sight, isTooLittle = entry.report?.reportsTooLittle } = compareWithSight(entry.sight, seen);
    entry.sight = sight;
    if (isTooLittle) report.reportsTooLittle = true;
    const isNew = !isSameReport(report, entry.report);
    entry.report = report;
    if (isNew) following?.enqueue(joinKey(pod.metadata.namespace, pod.metadata.labels?.[STREAM_LABEL] ?? ''));
  };

  /** Up to a fifth sooner, so that streams that were started together are not asked in the same second for ever. */
  const computeNextMs = (waitMs: number): number => performance.now() + shortenAtRandom(waitMs);

  const visit = async (pod: Pod, address: string, { silentMs }: FollowOptions) => {
    const entry = findState(pod.metadata.uid);
    const { skips, report: before } = entry;
    const token = await findToken?.(pod).catch(() => undefined);
    const url = `http://${address}:${STREAMER_PORT}/stats`;
    const stats = readStats(await ask(url, TIMEOUT_MS, token === undefined ? {} : { token }));
    // A report that was pushed since the question is newer than the answer, which may also be of the time before a skip.
    if (entry.report !== before || entry.skips !== skips) return;
    plan(entry, computeNextMs(silentMs));
    if (!stats.ok) return;
    count?.('asked');
    keep(pod, entry, toPodReport(stats.message, stats.message.pushes));
  };

  /** Resolves to whether the pod has carried it out. */
  const postCommand = async (pod: Pod, path: string, token: string, body: unknown): Promise<boolean> => {
    const address = findAddress(pod);
    if (address === undefined) return false;
    const url = `http://${address}:${STREAMER_PORT}${path}`;
    const isDone = (await ask(url, TIMEOUT_MS, { method: 'POST', token, body })) !== undefined;
    const entry = pods.get(pod.metadata.uid);
    if (!entry) return isDone;
    // Its last report is out of date.
    const report = entry.report && withoutHold(entry.report);
    const commanded = { ...entry, report, commandedMs: performance.now() };
    pods.set(pod.metadata.uid, commanded);
    plan(commanded, 0);
    return isDone;
  };

  const hasStopped = (pod: Pod): boolean => pods.get(pod.metadata.uid)?.stoppedRestarts === countRestarts(pod);

  return {
    async release(pod, token) {
      const request: ReleaseRequest = { podUID: pod.metadata.uid };
      await postCommand(pod, RELEASE_PATH, token, request);
    },
    async stop(pod, token) {
      if (hasStopped(pod)) return;
      const restarts = countRestarts(pod);
      if (await postCommand(pod, STOP_PATH, token, {})) findState(pod.metadata.uid).stoppedRestarts = restarts;
    },
    hasStopped,
    report: (podUid) => pods.get(podUid)?.report,
    accept(pod, pushed) {
      if (!following) return false;
      const report = toPodReport(pushed, true);
      const entry = findState(pod.metadata.uid);
      // The report may be older than a command or a skip. The pod is then asked at once.
      const contradicts = report.held || !isSameJson(report.clock, entry.report?.clock ?? report.clock);
      const mayBeOld = contradicts && performance.now() - entry.commandedMs < ON_ITS_WAY_MS;
      plan(entry, mayBeOld ? 0 : computeNextMs(following.options.silentMs));
      if (!mayBeOld) keep(pod, entry, report);
      return true;
    },
    async skip(podUid, address, token, { id, track }) {
      const entry = findState(podUid);
      const body: SkipRequest = { id, track };
      const url = `http://${address}:${STREAMER_PORT}${SKIP_PATH}`;
      const answer = await ask(url, SKIP_TIMEOUT_MS, { method: 'POST', token, body });
      entry.skips++;
      entry.commandedMs = performance.now();
      const read = readSkipAnswer(answer);
      if (!read.ok) return undefined;
      const clock = toClock(read.message.clock);
      if (entry.report) entry.report = { ...entry.report, clock };
      return clock;
    },
    follow(cache, enqueue, options) {
      following = { enqueue, options };
      // Kubelet has seen something since the last report, so that rules. A pod that would have reported it is asked.
      cache.onChange((_key, pod, previous) => {
        if (!pod) return void pods.delete(previous?.metadata.uid ?? '');
        const entry = pods.get(pod.metadata.uid);
        // It may have an address now.
        soonestMs = Math.min(soonestMs, entry?.nextMs ?? Number.NEGATIVE_INFINITY);
        const readySince = findReadySince(pod);
        if (entry?.report?.live === undefined || readySince === (previous && findReadySince(previous))) return;
        if (entry.report.live !== (readySince !== undefined)) plan(entry, 0);
        entry.report = withoutLive(entry.report);
      });
      let isFirst = true;
      const round = async () => {
        const now = performance.now();
        if (now < soonestMs) return;
        soonestMs = Number.POSITIVE_INFINITY;
        const found = cache.list().filter(isStreamer);
        const known = new Set(found.map(({ metadata }) => metadata.uid));
        for (const uid of pods.keys()) if (!known.has(uid)) pods.delete(uid);
        const due = found.flatMap((pod, index) => {
          // A pod that was made since then pushes its first report by itself.
          const entry = findState(pod.metadata.uid, now + (isFirst ? index * SPACING_MS : options.silentMs));
          const address = findAddressToAsk([pod]);
          if (address === undefined) return [];
          if (entry.nextMs <= now) return [{ pod, address }];
          soonestMs = Math.min(soonestMs, entry.nextMs);
          return [];
        });
        isFirst = false;
        const worker = async () => {
          for (let next = due.shift(); next && !lifecycle.signal.aborted; next = due.shift()) {
            // It may have pushed since the round began.
            if (findState(next.pod.metadata.uid).nextMs <= now) await visit(next.pod, next.address, options);
          }
        };
        await Promise.all(Array.from({ length: Math.min(AT_ONCE, due.length) }, worker));
      };
      const run = async () => {
        while (!lifecycle.signal.aborted) {
          await sleep(Math.min(options.silentMs, TIMEOUT_MS), lifecycle.signal);
          await round();
        }
      };
      // It ends only by the signal: ask() rejects for nothing.
      running = run().catch(() => undefined);
    },
  };
}
