/** Tests how often Secrets of destinations are read. */
import { expect, test } from 'vitest';
import { watchNamespaces } from '../../../../../src/core/kube/namespace-watch.ts';
import type { Kube } from '../../../../../src/core/kube/types.ts';
import { createCaches } from '../../../../../src/core/operator/caches/caches.ts';
import { createPace } from '../../../../../src/core/operator/destination/pace.ts';
import type { Phase } from '../../../../../src/core/resources/stream/spec.ts';
import { NAMESPACE, stream } from '../../../../kit/make/operator.ts';
import { silent } from '../../../../kit/real/kube.ts';

function createStreams(count: number, phase: Phase) {
  const caches = createCaches(watchNamespaces({} as Kube, [NAMESPACE], silent));
  const { metadata, ...like } = stream({}, { status: { phase } });
  for (let n = 0; n < count; n++) caches.streams.upsert({ ...like, metadata: { ...metadata, name: `stream-${n}` } });
  return caches;
}

test('on air they are read within a minute', () => {
  expect(createPace(createStreams(200, 'live'))('onAir')).toBeLessThanOrEqual(50_000);
});

test('thousands on air share ten reads a second', () => {
  expect(createPace(createStreams(3_000, 'live'))('onAir')).toBe(300_000);
});

test('streams that are off air take no reads from those on air', () => {
  const pace = createPace(createStreams(3_000, 'stopped'));
  expect(pace('onAir')).toBeLessThan(pace('used'));
  expect(pace('used')).toBeLessThan(pace('unused'));
});
