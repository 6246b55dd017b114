/**
 * Records Kubernetes Events, as `kubectl describe` shows them. Recording one never blocks and never throws. Warnings are
 * sent before other events. Surplus events are dropped and counted. Equal messages about the same object are one Event
 * whose count rises. Its name is derived from them, so that this holds across restarts too.
 */
import { createHash } from 'node:crypto';
import { type Clock, kubeTime, systemClock } from '../lib/clock.ts';
import type { Logger } from '../lib/log.ts';
import { EVENTS, type KubeEvent } from './core.ts';
import { type Kube, KubeError, type KubeObject } from './types.ts';

/**
 * Maximum number of events of each type that wait to be sent; further ones are dropped. Ten thousand objects may start or
 * fail at once, with an event each; one that waits takes about 1 KB.
 */
const MAX_WAITING = 20_000;
/** Names whose last written count is known. */
const MAX_COUNTS = 1_000;
/** Burst and refill of each object's rate limit: a flapping stream must not drown the others. */
const BURST = 25;
const REFILL_MS = 10_000;
const MAX_BUCKETS = 10_000;
const MAX_MESSAGE = 1_024;
const MAX_NAME = 253;

export const EVENT_TYPES = ['Warning', 'Normal'] as const;
export type EventType = (typeof EVENT_TYPES)[number];

export interface EventInput {
  type: EventType;
  /** CamelCase, at most 128 characters, e.g. StreamLive. */
  reason: string;
  /** For humans. No secrets: every reader of the namespace sees it. */
  message: string;
  /** The action that was tried, e.g. CreatePod. */
  action?: string;
}

export interface EventRecorder {
  event(object: KubeObject, input: EventInput): void;
  /** Resolves when every event recorded until now was sent or given up. */
  flush(): Promise<void>;
  /** Events not written because there were too many or the API server refused them. */
  readonly dropped: number;
}

interface Pending {
  event: KubeEvent;
  /** How often it happened since it was last written. */
  times: number;
}

function build(object: KubeObject, input: EventInput, component: string, time: string): KubeEvent {
  const { name, namespace, uid, resourceVersion } = object.metadata;
  const message = input.message.slice(0, MAX_MESSAGE);
  const identity = [component, object.kind, uid, input.type, input.reason, message].join('\0');
  const hash = createHash('sha256').update(identity).digest('hex').slice(0, 16);
  return {
    apiVersion: 'v1',
    kind: 'Event',
    // Events about cluster-scoped objects live in `default`; the API server refuses them elsewhere.
    metadata: { name: `${name.slice(0, MAX_NAME - hash.length - 1)}.${hash}`, namespace: namespace ?? 'default' },
    involvedObject: {
      ...(object.apiVersion ? { apiVersion: object.apiVersion } : {}),
      ...(object.kind ? { kind: object.kind } : {}),
      ...(namespace ? { namespace } : {}),
      name,
      ...(uid ? { uid } : {}),
      ...(resourceVersion ? { resourceVersion } : {}),
    },
    type: input.type,
    reason: input.reason,
    message,
    ...(input.action ? { action: input.action } : {}),
    firstTimestamp: time,
    lastTimestamp: time,
    source: { component },
    reportingComponent: component,
  } as KubeEvent;
}

/** A token bucket for each object; the oldest is forgotten when there are too many. */
function createLimiter(clock: Clock): (uid: string) => boolean {
  const buckets = new Map<string, { tokens: number; at: number }>();
  return (uid) => {
    const now = clock.monotonicMs();
    const before = buckets.get(uid) ?? { tokens: BURST, at: now };
    const tokens = Math.min(BURST, before.tokens + (now - before.at) / REFILL_MS);
    buckets.delete(uid);
    buckets.set(uid, { tokens: tokens >= 1 ? tokens - 1 : tokens, at: now });
    const [oldest] = buckets.keys();
    if (buckets.size > MAX_BUCKETS && oldest !== undefined) buckets.delete(oldest);
    return tokens >= 1;
  };
}

export function createEventRecorder(
  kube: Kube,
  options: { component: string; log?: Logger; clock?: Clock; onDrop?: (type: EventType) => void },
): EventRecorder {
  const { component, log, clock = systemClock, onDrop } = options;
  const waiting: Record<EventType, Map<string, Pending>> = { Warning: new Map(), Normal: new Map() };
  const allowed = createLimiter(clock);
  let sending: Promise<void> | undefined;
  let dropped = 0;
  const drop = (type: EventType): void => {
    dropped++;
    onDrop?.(type);
  };

  /** Counts of this recorder's last writes: a node may write events and not read them. */
  const counts = new Map<string, number>();
  const remember = (key: string, count: number): void => {
    counts.delete(key);
    counts.set(key, count);
    const [oldest] = counts.keys();
    if (counts.size > MAX_COUNTS && oldest !== undefined) counts.delete(oldest);
  };

  const countBefore = async (namespace: string, name: string): Promise<number> => {
    try {
      return (await kube.get(EVENTS, namespace, name)).count ?? 1;
    } catch (error) {
      if (!(error instanceof KubeError) || error.reason !== 'Forbidden') throw error;
      return counts.get(`${namespace}/${name}`) ?? 1;
    }
  };

  /** Raises the count of the Event, or creates it: also when it has expired in between (events live for an hour). */
  const write = async ({ event, times }: Pending): Promise<void> => {
    const { name, namespace = 'default' } = event.metadata;
    try {
      await kube.create(EVENTS, namespace, { ...event, count: times });
      remember(`${namespace}/${name}`, times);
    } catch (error) {
      if (!(error instanceof KubeError) || error.reason !== 'AlreadyExists') throw error;
      const count = (await countBefore(namespace, name)) + times;
      await kube.mergePatch(EVENTS, namespace, name, { count, lastTimestamp: event.lastTimestamp });
      remember(`${namespace}/${name}`, count);
    }
  };

  const takeNext = (): [type: EventType, key: string, pending: Pending] | undefined => {
    for (const type of EVENT_TYPES) {
      for (const [key, pending] of waiting[type]) {
        waiting[type].delete(key);
        return [type, key, pending];
      }
    }
    return undefined;
  };

  /** One at a time: the recorder must not compete with the work that it reports on. */
  const send = async (): Promise<void> => {
    for (let next = takeNext(); next; next = takeNext()) {
      const [type, key, pending] = next;
      try {
        await write(pending);
      } catch (err) {
        drop(type);
        log?.warn({ err, event: key, reason: pending.event.reason }, 'an event could not be written');
      }
    }
    sending = undefined;
  };

  return {
    event(object, input) {
      const { type } = input;
      try {
        const event = build(object, input, component, kubeTime(clock.now()));
        const key = `${event.metadata.namespace}/${event.metadata.name}`;
        const before = waiting[type].get(key);
        if (before) {
          before.times++;
          before.event.lastTimestamp = event.lastTimestamp as string;
          return;
        }
        if (waiting[type].size >= MAX_WAITING || !allowed(object.metadata.uid ?? key)) return drop(type);
        waiting[type].set(key, { event, times: 1 });
        sending ??= Promise.resolve().then(send);
      } catch (err) {
        drop(type);
        log?.error({ err }, 'an event could not be created');
      }
    },
    async flush() {
      while (sending) await sending;
    },
    get dropped() {
      return dropped;
    },
  };
}
