/**
 * Talks to the pods of streams on air: asks each from time to time for its report, and passes on skips. The
 * reports are kept here for the next reconcile of their stream; a pod that does not answer changes nothing.
 */
import { Agent, request } from 'undici';
import type { Pod } from '../../kube/core.ts';
import { sleep } from '../../lib/clock.ts';
import type { Lifecycle } from '../../lib/lifecycle.ts';
import {
  COMPONENT_LABEL,
  RELEASE_PATH,
  SKIP_PATH,
  STOP_PATH,
  STREAM_LABEL,
  STREAMER_PORT,
} from '../../resources/common/names.ts';
import { readPodProgram } from '../../resources/stream/program.ts';
import type { Caches } from '../caches/caches.ts';
import { findAddress, findAddressToAsk, findReadySince } from '../pods/status.ts';
import { joinKey } from '../runtime/controller.ts';
import { isSameReport, type PodReport, parseClock, parsePodReport, type StreamClock } from './pod-report.ts';
import { isBehind, type Skip } from './program.ts';
import { compareWithSight, type Sight } from './sessions.ts';

const TIMEOUT_MS = 1_000;
/** The pod answers when the next item has begun; it gives up a little sooner than this. */
const SKIP_TIMEOUT_MS = 4_000;
const MAX_BYTES = 256 * 1024;
/** Questions under way at the same time. */
const AT_ONCE = 16;

export interface FollowOptions {
  /** Between two questions to the same pod. */
  everyMs: number;
  /** The same while it has a new program that it has not taken up: where it stands then is worth writing down soon. */
  behindMs: number;
}

export const FOLLOW: FollowOptions = { everyMs: 15_000, behindMs: 3_000 };

export interface Streamers {
  /** The last report of a pod, by its UID. */
  report(podUid: string): PodReport | undefined;
  /** Asks for the next item; undefined when the pod could not go on to it (yet). */
  skip(podUid: string, address: string, token: string, skip: Skip): Promise<StreamClock | undefined>;
  /** Tells a pod that it may publish, so that it need not wait for its files; and that it must not any more. */
  release(pod: Pod, token: string): Promise<void>;
  stop(pod: Pod, token: string): Promise<void>;
  /** Asks the pods until the lifecycle stops; `enqueue` is called with a stream's key when its report has changed. */
  follow(pods: Caches['pods'], enqueue: (streamKey: string) => void, options: FollowOptions): void;
}

interface PodState {
  report: PodReport | undefined;
  nextMs: number;
  /** Rises with each skip: what was asked before it is out of date. */
  skips: number;
  /** The spell since its last comparison (sessions.ts). */
  sight?: Sight | undefined;
}

const withoutHold = ({ held: _, ...rest }: PodReport): PodReport => rest;

const isStreamer = ({ metadata }: Pod): boolean =>
  metadata.labels?.[COMPONENT_LABEL] === 'streamer' && metadata.labels[STREAM_LABEL] !== undefined;

/** `findViewToken`: the token that a pod wants with each question; a pod of an older release ignores it. */
export function createStreamers(lifecycle: Lifecycle, findViewToken?: (pod: Pod) => Promise<string>): Streamers {
  const agent = new Agent({ connect: { timeout: TIMEOUT_MS }, keepAliveTimeout: TIMEOUT_MS });
  const pods = new Map<string, PodState>();
  const findState = (uid: string): PodState => {
    const found = pods.get(uid) ?? { report: undefined, nextMs: 0, skips: 0 };
    pods.set(uid, found);
    return found;
  };
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
      let text = '';
      for await (const chunk of answer.body) {
        text += chunk;
        if (text.length > MAX_BYTES) return undefined;
      }
      return answer.statusCode === 200 ? (JSON.parse(text) as unknown) : undefined;
    } catch {
      return undefined;
    }
  };

  const visit = async (pod: Pod, address: string, options: FollowOptions, enqueue: (streamKey: string) => void) => {
    const entry = findState(pod.metadata.uid);
    const { skips } = entry;
    const token = await findViewToken?.(pod).catch(() => undefined);
    const shown = token === undefined ? {} : { token };
    const report = parsePodReport(await ask(`http://${address}:${STREAMER_PORT}/stats`, TIMEOUT_MS, shown));
    const program = readPodProgram(pod);
    const soon = report && program && isBehind(program, report);
    // Up to a fifth sooner, so that streams that were started together are not asked in the same second for ever.
    entry.nextMs = performance.now() + (soon ? options.behindMs : options.everyMs) * (1 - Math.random() / 5);
    if (!report || entry.skips !== skips) return;
    const seconds = report.runs.reduce((sum, { onAirSeconds }) => sum + onAirSeconds, 0);
    const seen = { readySince: findReadySince(pod), seconds, atMs: performance.now() };
    const { sight, isTooLittle = entry.report?.reportsTooLittle } = compareWithSight(entry.sight, seen);
    entry.sight = sight;
    if (isTooLittle) report.reportsTooLittle = true;
    const known = isSameReport(report, entry.report);
    entry.report = report;
    if (known) return;
    enqueue(joinKey(pod.metadata.namespace, pod.metadata.labels?.[STREAM_LABEL] ?? ''));
  };

  const postCommand = async (pod: Pod, path: string, token: string, body: unknown): Promise<void> => {
    const address = findAddress(pod);
    if (address === undefined) return;
    await ask(`http://${address}:${STREAMER_PORT}${path}`, TIMEOUT_MS, { method: 'POST', token, body });
    const entry = pods.get(pod.metadata.uid);
    // Its last report is out of date.
    if (entry) pods.set(pod.metadata.uid, { ...entry, report: entry.report && withoutHold(entry.report), nextMs: 0 });
  };

  return {
    release: (pod, token) => postCommand(pod, RELEASE_PATH, token, { podUID: pod.metadata.uid }),
    stop: (pod, token) => postCommand(pod, STOP_PATH, token, {}),
    report: (podUid) => pods.get(podUid)?.report,
    async skip(podUid, address, token, { id, track }) {
      const entry = findState(podUid);
      const answer = await ask(`http://${address}:${STREAMER_PORT}${SKIP_PATH}`, SKIP_TIMEOUT_MS, {
        method: 'POST',
        token,
        body: { id, track },
      });
      entry.skips++;
      if (typeof answer !== 'object' || answer === null || !('clock' in answer)) return undefined;
      const clock = parseClock(answer.clock);
      if (entry.report) entry.report = { ...entry.report, clock };
      return clock;
    },
    follow(cache, enqueue, options) {
      const round = async () => {
        const now = performance.now();
        const found = cache.list().filter(isStreamer);
        const known = new Set(found.map(({ metadata }) => metadata.uid));
        for (const uid of pods.keys()) if (!known.has(uid)) pods.delete(uid);
        const due = found.flatMap((pod) => {
          const address = findAddressToAsk([pod]);
          return address !== undefined && findState(pod.metadata.uid).nextMs <= now ? [{ pod, address }] : [];
        });
        const worker = async () => {
          for (let next = due.shift(); next && !lifecycle.signal.aborted; next = due.shift()) {
            await visit(next.pod, next.address, options, enqueue);
          }
        };
        await Promise.all(Array.from({ length: Math.min(AT_ONCE, due.length) }, worker));
      };
      const run = async () => {
        while (!lifecycle.signal.aborted) {
          await sleep(Math.min(options.everyMs, options.behindMs, TIMEOUT_MS), lifecycle.signal);
          await round();
        }
      };
      // It ends only by the signal: ask() rejects for nothing.
      running = run().catch(() => undefined);
    },
  };
}
