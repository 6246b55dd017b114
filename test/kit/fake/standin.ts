/**
 * Makes each stream's status match its spec at once and lets deleted streams go, in the operator's place, for tests of the API that need no pods.
 */
import { createReflector } from '../../../src/core/kube/reflector.ts';
import { createLogger } from '../../../src/core/lib/log.ts';
import { LOOPSTREAMS, type LoopStream } from '../../../src/core/resources/stream/resource.ts';
import type { LoopStreamSpec, Phase } from '../../../src/core/resources/stream/spec.ts';
import { NAMESPACE } from '../../../tools/local/rights.ts';
import type { FalseCondition, TestApi } from '../system/api.ts';

/** Follows all streams until the signal aborts. `listProblems` returns the reasons why a stream is not ready; none by default. */
export async function standIn(
  api: TestApi,
  signal: AbortSignal,
  listProblems: (spec: LoopStreamSpec) => Promise<FalseCondition[]> = async () => [],
): Promise<void> {
  const log = createLogger('stand-in', 'silent');
  const streams = createReflector(api.kube, LOOPSTREAMS, { namespace: NAMESPACE, log });
  const follow = async ({ metadata, spec, status }: LoopStream) => {
    // Another change may have come first, or the test be over by now and the object gone.
    if (metadata.deletionTimestamp !== undefined) return api.release(metadata.name).catch(() => undefined);
    if (status?.observedGeneration === metadata.generation) return;
    const { startAt, recurrence } = spec.schedule ?? {};
    const wanted: Phase = startAt || recurrence ? 'scheduled' : 'live';
    const phase: Phase = spec.replicas === 1 ? wanted : 'stopped';
    const problems = await listProblems(spec).catch(() => []);
    await api.observe(metadata.name, { phase }, problems).catch(() => undefined);
  };
  streams.onChange((_key, current) => void (current && follow(current)), { replay: true });
  streams.start(signal);
  await streams.synced;
}
