/** Tests which destinations are read more often since a stream holds them. */
import { expect, test } from 'vitest';
import { watchNamespaces } from '../../../../../src/core/kube/namespace-watch.ts';
import type { Kube } from '../../../../../src/core/kube/types.ts';
import { createCaches, watchCaches } from '../../../../../src/core/operator/caches/caches.ts';
import type { Phase } from '../../../../../src/core/resources/stream/spec.ts';
import { NAMESPACE, stream } from '../../../../kit/make/operator.ts';
import { silent } from '../../../../kit/real/kube.ts';

test('a destination is due when a stream begins to hold it, and not for the start itself', () => {
  const caches = createCaches(watchNamespaces({} as Kube, [NAMESPACE], silent));
  const [atOnce, due]: [string[], string[]] = [[], []];
  const ignore = () => undefined;
  watchCaches(caches, {
    stream: ignore,
    upload: ignore,
    playlist: ignore,
    destination: (key) => atOnce.push(key),
    heldDestination: (key) => due.push(key),
    expiringDestination: ignore,
  });
  const put = (phase: Phase) => caches.streams.upsert(stream({}, { status: { phase } }));
  put('idle');
  expect(due).toEqual([]);
  for (const phase of ['starting', 'live', 'reconnecting', 'stopped'] as const) put(phase);
  expect(due).toEqual([`${NAMESPACE}/tv`]);
  put('starting');
  expect(due).toEqual([`${NAMESPACE}/tv`, `${NAMESPACE}/tv`]);
  expect(atOnce).toEqual([]);
});
