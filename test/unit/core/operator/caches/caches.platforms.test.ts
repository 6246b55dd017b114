/** Tests what is reconciled when only the view of a destination's viewers changes. */
import { expect, test } from 'vitest';
import { watchNamespaces } from '../../../../../src/core/kube/namespace-watch.ts';
import type { Kube } from '../../../../../src/core/kube/types.ts';
import { createCaches, watchCaches } from '../../../../../src/core/operator/caches/caches.ts';
import type { Destination } from '../../../../../src/core/resources/destination/resource.ts';
import { at, meta, NAMESPACE, NOW, stream } from '../../../../kit/make/operator.ts';
import { watched } from '../../../../kit/make/watched.ts';
import { silent } from '../../../../kit/real/kube.ts';

test('a view that is confirmed reads no Secret and concerns no stream; another one concerns its streams', () => {
  const caches = createCaches(watchNamespaces({} as Kube, [NAMESPACE], silent));
  let seen: string[] = [];
  const note = (kind: string) => (key: string) => void seen.push(`${kind} ${key}`);
  const ignore = () => undefined;
  watchCaches(caches, {
    stream: note('stream'),
    upload: ignore,
    playlist: ignore,
    destination: note('destination'),
    heldDestination: ignore,
    expiringDestination: (key, time) => void seen.push(`expires ${key} ${time?.toISOString()}`),
  });
  caches.streams.upsert(stream());
  const put = (one: Destination) => {
    seen = [];
    caches.destinations.upsert(one);
    return seen;
  };
  const expires = (seconds: number) => `expires ${NAMESPACE}/tv ${at(seconds).toISOString()}`;
  put(watched('tv', { status: 'True' }, NOW));
  expect(put(watched('tv', { status: 'True', since: NOW }, at(30)))).toEqual([expires(120)]);
  const ended = put(watched('tv', { status: 'False', reason: 'black', since: NOW }, at(60)));
  expect(ended).toEqual([expires(150), `stream ${NAMESPACE}/bunny`]);
  const renamed = { ...watched('tv', { status: 'True' }, at(90)), metadata: meta('tv', 2) };
  expect(put(renamed)).toEqual([`destination ${NAMESPACE}/tv`, `stream ${NAMESPACE}/bunny`]);
});
