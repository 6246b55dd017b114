/**
 * Asks the pods that publish to destinations with a platform how each output is, every ten seconds and when their stream changes. No other pod
 * is asked. A pod that does not answer changes nothing: its stream's status says whether it is live.
 */
import { Agent, request } from 'undici';
import type { Kube } from '../kube/types.ts';
import { type Clock, sleep } from '../lib/clock.ts';
import { isSameJson } from '../lib/json-equal.ts';
import { forEachConcurrently } from '../lib/pool.ts';
import { readBounded } from '../lib/read-bounded.ts';
import { findSecretText } from '../operator/stream/find-secret.ts';
import { readStats, type StreamerStats } from '../protocol/report.ts';
import { VIEW_KEY_KEY, VIEW_KEY_SECRET } from '../resources/common/names.ts';
import type { LoopStream } from '../resources/stream/resource.ts';
import { viewToken } from '../resources/stream/view-token.ts';

const EVERY_MS = 10_000;
/** Until a pod is asked that is due. */
const ROUND_MS = 500;
const TIMEOUT_MS = 2_000;
const MAX_BYTES = 256 * 1024;
const AT_ONCE = 8;
/** A key changes only with its namespace. */
const KEY_MS = 60_000;

/** Derives the tokens that read the pods of streams, from the key that the operator has made in each namespace. */
export function createViewTokens(kube: Kube, clock: Clock) {
  const keys = new Map<string, { key: Promise<string | undefined>; readMs: number }>();
  /** Undefined without a key: pods of such an operator require none. */
  return async ({ metadata: { namespace = '', uid } }: LoopStream): Promise<string | undefined> => {
    const nowMs = clock.monotonicMs();
    let known = keys.get(namespace);
    if (!known || nowMs - known.readMs >= KEY_MS) {
      known = { key: findSecretText(kube, namespace, VIEW_KEY_SECRET, VIEW_KEY_KEY), readMs: nowMs };
      keys.set(namespace, known);
      known.key.catch(() => keys.delete(namespace));
    }
    const key = await known.key;
    return key === undefined ? undefined : viewToken(key, uid);
  };
}

export interface Publisher {
  podUid: string;
  podUrl: string;
  stream: LoopStream;
}

/** A pod's answer, as far as it is about its outputs. */
export interface PodOutputs {
  destinations: readonly Pick<StreamerStats['destinations'][number], 'name' | 'connected' | 'connectedSince'>[];
}

export interface PodStats {
  find: (podUid: string) => PodOutputs | undefined;
  /** Asks the pod of a stream soon, e.g. because the stream has changed. */
  hurry: (podUid: string) => void;
  /** Resolves when nothing is asked any more, after the signal has aborted. */
  follow: (options: PodQuestions) => Promise<void>;
}

export interface PodQuestions {
  signal: AbortSignal;
  /** The pods to ask now. */
  list: () => readonly Publisher[];
  /** An answer of the pod of this stream differs from the one before. */
  onChange: (stream: LoopStream) => void;
  everyMs?: number;
}

export function createPodStats(clock: Clock, findToken: (stream: LoopStream) => Promise<string | undefined>): PodStats {
  const answers = new Map<string, { outputs: PodOutputs | undefined; askedMs: number }>();

  const ask = async (
    { podUrl, stream }: Publisher,
    agent: Agent,
    signal: AbortSignal,
  ): Promise<PodOutputs | undefined> => {
    try {
      const token = await findToken(stream);
      const { statusCode, body } = await request(`${podUrl}/stats`, {
        dispatcher: agent,
        signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
        headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
      });
      const text = await readBounded(body, MAX_BYTES);
      const read = statusCode === 200 ? readStats(JSON.parse(text)) : undefined;
      // Bytes that only grow are no change.
      return read?.ok ? { destinations: read.message.destinations.map(pickState) } : undefined;
    } catch {
      return undefined;
    }
  };

  const lookAt = async (publisher: Publisher, agent: Agent, { signal, onChange }: PodQuestions): Promise<void> => {
    const known = answers.get(publisher.podUid);
    answers.set(publisher.podUid, { outputs: known?.outputs, askedMs: clock.monotonicMs() });
    const outputs = await ask(publisher, agent, signal);
    const entry = answers.get(publisher.podUid);
    if (!outputs || !entry || isSameJson(outputs, known?.outputs)) return;
    entry.outputs = outputs;
    onChange(publisher.stream);
  };

  return {
    find: (podUid) => answers.get(podUid)?.outputs,
    hurry(podUid) {
      const known = answers.get(podUid);
      if (known) known.askedMs = Number.NEGATIVE_INFINITY;
    },
    async follow(options) {
      const { signal, list, everyMs = EVERY_MS } = options;
      const agent = new Agent({ connect: { timeout: TIMEOUT_MS }, keepAliveTimeout: TIMEOUT_MS });
      while (!signal.aborted) {
        const publishers = list();
        const uids = new Set(publishers.map(({ podUid }) => podUid));
        for (const uid of answers.keys()) if (!uids.has(uid)) answers.delete(uid);
        const due = publishers.filter(
          ({ podUid }) => clock.monotonicMs() - (answers.get(podUid)?.askedMs ?? Number.NEGATIVE_INFINITY) >= everyMs,
        );
        await forEachConcurrently(due, (one) => lookAt(one, agent, options), signal, AT_ONCE).catch(() => undefined);
        await sleep(ROUND_MS, signal).catch(() => undefined);
      }
      await agent.destroy();
    },
  };
}

const pickState = ({ name, connected, connectedSince }: StreamerStats['destinations'][number]) => ({
  name,
  connected,
  ...(connectedSince !== undefined && { connectedSince }),
});
