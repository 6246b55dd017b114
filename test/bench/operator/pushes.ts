/**
 * Pushes reports for the pods of kwok, as each streamer does (src/core/pods/streamer/control/reporter.ts): when the pod is on air, and every five
 * minutes from then on; with the control token of its stream. One watch reads the Secrets, so that they cost kube-apiserver next to nothing.
 */
import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { PODS, SECRETS, type Secret } from '../../../src/core/kube/core.ts';
import type { Kube } from '../../../src/core/kube/types.ts';
import { kubeTime } from '../../../src/core/lib/clock.ts';
import { afterPush, NOTHING_PUSHED, type PushState } from '../../../src/core/pods/streamer/control/push-plan.ts';
import type { Program } from '../../../src/core/protocol/program.ts';
import type { StreamerReport } from '../../../src/core/protocol/report.ts';
import { readPodProgram } from '../../../src/core/protocol/to-streamer.ts';
import {
  CONTROL_TOKEN_KEY,
  PUBLISHER_KEY,
  REPORTS_PATH,
  STREAM_LABEL,
} from '../../../src/core/resources/common/names.ts';
import { NAMESPACE } from '../../../tools/local/rights.ts';
import { until } from '../../kit/wait.ts';
import { watchAll } from './objects.ts';

/** Of a rendition of 4.3 Mbit/s. */
const BYTES_PER_SECOND = 540_000;
const ACCEPTED = 204;

interface Sender {
  podUid: string;
  program: Program;
  sinceMs: number;
  state: PushState;
  timer?: NodeJS.Timeout;
}

export interface Pushes {
  /** Sends to another operator from now on. */
  sendTo(url: string): void;
  /** Resolves when the pods of `count` streams have pushed. */
  reached(count: number): Promise<void>;
  /** Returns the reports since the last call: those that the operator accepted, and the others. */
  take(): { accepted: number; refused: number };
  stop(): void;
}

function buildReport({ program, sinceMs }: Sender): StreamerReport {
  const nowMs = Date.now();
  const onAirSeconds = Math.round((nowMs - sinceMs) / 100) / 10;
  return {
    live: true,
    held: false,
    playable: true,
    clock: { video: { version: program.version, epoch: program.epoch }, audio: null },
    brokenItems: [],
    preparationBehind: { count: 0, item: null, since: null },
    runs: [{ run: 1, startedAt: kubeTime(new Date(sinceMs)), lastAt: kubeTime(new Date(nowMs)), onAirSeconds }],
    interruption: null,
    destinations: program.destinations.map((name) => ({
      name,
      connected: true,
      bytesSent: Math.round(onAirSeconds * BYTES_PER_SECOND),
      reconnects: 0,
      lastError: null,
      dropped: 0,
    })),
  };
}

/** Returns the status of the answer. */
async function post(url: string, token: string, sender: Sender): Promise<number> {
  const body = JSON.stringify(buildReport(sender));
  const headers = {
    authorization: `Bearer ${token}`,
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
  };
  // An agent of its own: no two streams share a connection. The operator closes it after some seconds.
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const sent = request(new URL(`${REPORTS_PATH}/${sender.podUid}`, url), { method: 'POST', agent, headers }).end(body);
  const [response] = await once(sent, 'response');
  // A kept connection may break off later.
  sent.on('error', () => {});
  response.resume();
  return response.statusCode;
}

const readKey = ({ data }: Secret, key: string): string => Buffer.from(data?.[key] ?? '', 'base64').toString();

/** Begins to push for all streams, those that are made later too. */
export async function startPushes(kube: Kube, firstUrl: string): Promise<Pushes> {
  const [pods, secrets] = [await watchAll(kube, PODS, NAMESPACE), await watchAll(kube, SECRETS, NAMESPACE)];
  /** Control tokens by the UIDs of the pods that may publish. */
  const tokens = new Map<string, string>();
  const senders = new Map<string, Sender>();
  const begun = new Set<string>();
  let url = firstUrl;
  let counts = { accepted: 0, refused: 0 };

  const push = async (sender: Sender): Promise<void> => {
    const token = tokens.get(sender.podUid);
    if (token === undefined) return;
    const isAccepted = (await post(url, token, sender).catch(() => 0)) === ACCEPTED;
    if (isAccepted) counts.accepted++;
    else counts.refused++;
    if (!senders.has(sender.podUid)) return;
    if (isAccepted) begun.add(sender.podUid);
    const now = performance.now();
    sender.state = afterPush(sender.state, { change: '', isAccepted }, now, Math.random());
    const dueMs = isAccepted ? sender.state.heartbeatMs : sender.state.notBeforeMs;
    sender.timer = setTimeout(() => void push(sender), dueMs - now);
  };

  const forget = (podUid: string): void => {
    clearTimeout(senders.get(podUid)?.timer);
    senders.delete(podUid);
    begun.delete(podUid);
  };

  pods.onChange(
    (_key, pod, previous) => {
      const podUid = (pod ?? previous)?.metadata.uid ?? '';
      if (!pod) return forget(podUid);
      const program = readPodProgram(pod);
      const isOnAir = pod.metadata.labels?.[STREAM_LABEL] !== undefined && pod.status?.phase === 'Running';
      if (!isOnAir || !program || senders.has(podUid)) return;
      const sinceMs = Date.parse(pod.status?.startTime ?? pod.metadata.creationTimestamp);
      const sender = { podUid, program, sinceMs, state: NOTHING_PUSHED };
      senders.set(podUid, sender);
      void push(sender);
    },
    { replay: true },
  );
  secrets.onChange(
    (_key, secret, previous) => {
      const named = secret ?? previous;
      const podUid = named ? readKey(named, PUBLISHER_KEY) : '';
      // Not the Secret of a stream, or nobody may publish yet.
      if (podUid === '') return;
      if (!secret) return void tokens.delete(podUid);
      const isNew = !tokens.has(podUid);
      tokens.set(podUid, readKey(secret, CONTROL_TOKEN_KEY));
      const sender = senders.get(podUid);
      if (isNew && sender) void push(sender);
    },
    { replay: true },
  );

  return {
    sendTo(next) {
      url = next;
    },
    reached: async (count) => void (await until('all pods push', () => begun.size >= count, 120_000)),
    take() {
      const taken = counts;
      counts = { accepted: 0, refused: 0 };
      return taken;
    },
    stop() {
      for (const watched of [pods, secrets]) watched.stop();
      for (const podUid of [...senders.keys()]) forget(podUid);
    },
  };
}
