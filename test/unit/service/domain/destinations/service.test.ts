/** Tests what the service writes to the Secret of a destination, which it never reads. */
import { expect, test } from 'vitest';
import type { Secret } from '../../../../../src/core/kube/core.ts';
import { type Kube, KubeError, type Resource } from '../../../../../src/core/kube/types.ts';
import type { Destination } from '../../../../../src/core/resources/destination/resource.ts';
import { createSecretStore } from '../../../../../src/service/domain/destinations/secret-store.ts';
import {
  createDestinationService,
  type DestinationServiceDeps,
} from '../../../../../src/service/domain/destinations/service.ts';
import { meta } from '../../../../kit/make/operator.ts';

const INPUT = { name: 'TV', rtmpUrl: 'rtmp://live.example/app', rtmpKey: 'abcd-efgh-1234' };

/** An account without destinations. `secrets` has the text of each Secret that was written. */
function place() {
  const secrets = new Map<string, Record<string, string>>();
  const stored = new Map<string, Destination>();
  const change = (name: string, { stringData = {} }: Partial<Secret>) => {
    const before = secrets.get(name);
    if (!before) throw new KubeError(404, 'NotFound', 'There is no Secret.');
    secrets.set(name, { ...before, ...stringData });
  };
  const kube = {
    create: async (_: Resource, __: string, { metadata: { name }, stringData = {} }: Secret) => {
      if (secrets.has(name)) throw new KubeError(409, 'AlreadyExists', 'There is one.');
      secrets.set(name, stringData);
    },
    mergePatch: async (_: Resource, __: string, name: string, patch: Partial<Secret>) => change(name, patch),
    delete: async (_: Resource, __: string, name: string) => secrets.delete(name),
  };
  let nextId = 0;
  const destinations = {
    admit: async () => undefined,
    create: async (_: string, spec: (id: string) => Destination['spec']) => {
      const name = `dst-${nextId++}`;
      const made = stored.get(name) ?? { metadata: meta(name), spec: spec(name) };
      stored.set(name, made);
      return made;
    },
    get: (_: string, id: string) => stored.get(id),
    page: (_: string, __: object, show: (one: Destination) => unknown) => [...stored.values()].map(show),
    patch: async ({ metadata: { name } }: Destination, patch: Partial<Destination>) => {
      const before = stored.get(name) as Destination;
      const after = {
        ...before,
        spec: { ...before.spec, ...patch.spec },
        ...(patch.status && { status: { ...before.status, ...patch.status } }),
      };
      stored.set(name, after);
      return after;
    },
  };
  const quotas = { make: (_: string, __: string, ___: object, make: () => unknown) => make() };
  const deps = {
    secrets: createSecretStore(kube as unknown as Kube),
    destinations,
    streams: {},
    quotas,
    allowPrivate: false,
  };
  const service = createDestinationService(deps as unknown as DestinationServiceDeps);
  /** Makes the next request another try of an earlier one. */
  const retry = (id: number) => {
    nextId = id;
  };
  return { secrets, service, retry, findKey: (id: string) => secrets.get(id)?.controlKey ?? '' };
}

test('the Secret of each new destination has a control key of its own', async () => {
  const { secrets, service, findKey } = place();
  const made = [await service.create('ada', INPUT), await service.create('ada', INPUT)];
  const keys = made.map(({ id }) => findKey(id));
  for (const key of keys) expect(key).toMatch(/^[\w-]{43}$/);
  expect(new Set(keys).size).toBe(2);
  expect(secrets.get(made[0]?.id ?? '')).toMatchObject({ rtmpUrl: INPUT.rtmpUrl, rtmpKey: INPUT.rtmpKey });
});

test('no answer shows a control key', async () => {
  const { service, findKey } = place();
  const created = await service.create('ada', INPUT);
  const { id } = created;
  const updated = await service.update('ada', id, { name: 'Other', rtmpKey: 'another-key' });
  const answers = JSON.stringify([created, updated, service.get('ada', id), service.list('ada', {})]);
  expect(answers).toContain(id);
  expect(answers).not.toContain(findKey(id));
  expect(answers).not.toContain('controlKey');
});

test('a change of a destination leaves its control key alone', async () => {
  const { secrets, service, findKey } = place();
  const { id } = await service.create('ada', INPUT);
  const before = findKey(id);
  await service.update('ada', id, { rtmpUrl: 'rtmp://other.example/app', rtmpKey: 'another-key' });
  await service.update('ada', id, { name: 'Other' });
  expect(secrets.get(id)).toMatchObject({ rtmpUrl: 'rtmp://other.example/app', rtmpKey: 'another-key' });
  expect(findKey(id)).toBe(before);
});

test('another try of the request that created a destination leaves its control key alone', async () => {
  const { service, findKey, retry } = place();
  const { id } = await service.create('ada', INPUT);
  const before = findKey(id);
  retry(0);
  expect((await service.create('ada', INPUT)).id).toBe(id);
  expect(findKey(id)).toBe(before);
});

test('a Secret that somebody deleted is made again with a control key', async () => {
  const { secrets, service, findKey } = place();
  const { id } = await service.create('ada', INPUT);
  const before = findKey(id);
  secrets.delete(id);
  await service.update('ada', id, { rtmpUrl: INPUT.rtmpUrl, rtmpKey: INPUT.rtmpKey });
  expect(findKey(id)).toMatch(/^[\w-]{43}$/);
  expect(findKey(id)).not.toBe(before);
});
