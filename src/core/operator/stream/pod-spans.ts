/**
 * Shows how a stream gets on air as two spans below the reconcile that made its pod: `pod start`, until the container runs, and `go live`,
 * from then on until a destination accepts media.
 */
import type { Pod } from '../../kube/core.ts';
import type { Reflector } from '../../kube/reflector.ts';
import type { Clock } from '../../lib/clock.ts';
import type { SpanAttributes } from '../../lib/span.ts';
import { isTracing, startSpan } from '../../lib/tracing/tracing.ts';
import { STREAM_LABEL } from '../../resources/common/names.ts';
import { readTraceparent } from '../../resources/common/trace.ts';
import { findReadySince } from '../pods/status.ts';

/** When the parts of a pod's start were over, as far as they are. */
interface Moments {
  createdAt: Date;
  runningAt?: Date;
  readyAt?: Date;
}

/**
 * Kubernetes writes times in whole seconds. The moment was within that second, and before it was seen: the later of the two ends keeps
 * spans in their order. Pure.
 */
export function refineTime(text: string, seenAt: Date): Date {
  const beginMs = Date.parse(text);
  return new Date(Math.max(beginMs, Math.min(beginMs + 999, seenAt.getTime())));
}

const findRunningSince = (pod: Pod): string | undefined =>
  pod.status?.containerStatuses?.find(({ restartCount }) => restartCount === 0)?.state?.running?.startedAt;

/** Adds what a pod shows to what was known of it. A pod that was live before is not watched again. Pure. */
export function followPod(pod: Pod, known: Moments | undefined, now: Date): Moments {
  const [running, ready] = [findRunningSince(pod), findReadySince(pod)];
  const { createdAt = refineTime(pod.metadata.creationTimestamp, now) } = known ?? {};
  const runningAt = known?.runningAt ?? (running === undefined ? undefined : refineTime(running, now));
  const readyAt = known?.readyAt ?? (ready === undefined ? undefined : refineTime(ready, now));
  return { createdAt, ...(runningAt && { runningAt }), ...(readyAt && { readyAt }) };
}

const describePod = ({ metadata, spec }: Pod): SpanAttributes => ({
  'k8s.namespace.name': metadata.namespace,
  'k8s.pod.name': metadata.name,
  'k8s.pod.uid': metadata.uid,
  'k8s.node.name': spec.nodeName,
  'loopstream.stream.name': metadata.labels?.[STREAM_LABEL],
});

function addSpan(name: string, pod: Pod, startTime: Date, endTime: Date): void {
  const traceparent = readTraceparent(pod) ?? '';
  startSpan(name, { parent: { traceparent }, attributes: describePod(pod), startTime })?.end(endTime);
}

/** Follows the pods from now on; moments before that get no span. */
export function tracePods(pods: Pick<Reflector<Pod>, 'onChange'>, clock: Clock): void {
  if (!isTracing()) return;
  const known = new Map<string, Moments>();
  pods.onChange((_key, current, previous) => {
    const pod = current ?? previous;
    if (!pod || readTraceparent(pod) === undefined) return;
    const { uid } = pod.metadata;
    if (!current) return void known.delete(uid);
    const now = clock.now();
    const before = known.get(uid) ?? (previous && followPod(previous, undefined, now));
    const after = followPod(current, before, now);
    known.set(uid, after);
    const { createdAt, runningAt, readyAt } = after;
    if (runningAt && !before?.runningAt) addSpan('pod start', current, createdAt, runningAt);
    if (runningAt && readyAt && !before?.readyAt) addSpan('go live', current, runningAt, readyAt);
  });
}
