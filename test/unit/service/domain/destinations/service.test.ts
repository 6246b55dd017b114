/** Tests what the service writes to the Secrets of a destination, which it never reads. */
import { describe, expect, test } from 'vitest';
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

/** As a merge patch does: null removes a field. */
function mergeSpec(before: Destination['spec'], patch: object = {}): Destination['spec'] {
  const merged = Object.entries({ ...before, ...patch }).flatMap(([field, value]): [string, unknown][] => {
    if (field !== 'platform' || value === null) return value === null ? [] : [[field, value]];
    const given = Object.entries({ ...before.platform, ...(value as object) });
    return [[field, Object.fromEntries(given.filter(([, one]) => one !== null))]];
  });
  return Object.fromEntries(merged) as Destination['spec'];
}

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
    delete: async ({ metadata: { name } }: Destination) => stored.delete(name),
    release: async () => undefined,
    get: (_: string, id: string) => stored.get(id),
    page: (_: string, __: object, show: (one: Destination) => unknown) => [...stored.values()].map(show),
    patch: async ({ metadata: { name } }: Destination, patch: Partial<Destination>) => {
      const before = stored.get(name) as Destination;
      const after = {
        ...before,
        metadata: {
          ...before.metadata,
          ...patch.metadata,
          annotations: { ...before.metadata.annotations, ...patch.metadata?.annotations },
        },
        spec: mergeSpec(before.spec, patch.spec),
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
    streams: { referring: () => [] },
    quotas,
    allowPrivate: false,
    allowPrivateWatch: false,
  };
  const service = createDestinationService(deps as unknown as DestinationServiceDeps);
  /** Makes the next request another try of an earlier one. */
  const retry = (id: number) => {
    nextId = id;
  };
  return { secrets, stored, service, retry };
}

const SECRET = { rtmpUrl: INPUT.rtmpUrl, rtmpKey: INPUT.rtmpKey };

test('the Secret of a new destination has its URL and key, and nothing else', async () => {
  const { secrets, service } = place();
  const { id } = await service.create('ada', INPUT);
  expect(secrets.get(id)).toEqual(SECRET);
});

test('a least bitrate is the destination’s own until null takes it away; a change of it alone leaves the Secret, and no stream its address', async () => {
  const { secrets, stored, service } = place();
  const { id } = await service.create('ada', { ...INPUT, leastBitrateKbps: 3000 });
  expect(service.get('ada', id)).toMatchObject({ leastBitrateKbps: 3000 });
  const none = await service.update('ada', id, { leastBitrateKbps: 0 });
  expect(none).toMatchObject({ leastBitrateKbps: 0, takesOffAir: false, streamIDs: [] });
  expect(stored.get(id)?.metadata.annotations).toEqual({});
  expect(await service.update('ada', id, { name: 'Renamed' })).toMatchObject({ leastBitrateKbps: 0 });
  expect(await service.update('ada', id, { leastBitrateKbps: null })).toMatchObject({ leastBitrateKbps: null });
  expect(stored.get(id)?.spec).not.toHaveProperty('leastBitrateKbps');
  for (const leastBitrateKbps of [null, -1])
    expect((await service.create('ada', { ...INPUT, leastBitrateKbps })).leastBitrateKbps).toBeNull();
  await service.update('ada', id, { leastBitrateKbps: 50_000 });
  expect(await service.update('ada', id, { leastBitrateKbps: -1 })).toMatchObject({ leastBitrateKbps: null });
  expect(secrets.get(id)).toEqual(SECRET);
});

test('a change of a destination leaves alone what else its Secret has: the release before this one reads it', async () => {
  const { secrets, service } = place();
  const { id } = await service.create('ada', INPUT);
  secrets.set(id, { ...SECRET, controlKey: 'of-the-release-before' });
  const updated = await service.update('ada', id, { rtmpUrl: 'rtmp://other.example/app', rtmpKey: 'another-key' });
  expect(secrets.get(id)).toEqual({
    rtmpUrl: 'rtmp://other.example/app',
    rtmpKey: 'another-key',
    controlKey: 'of-the-release-before',
  });
  const answers = JSON.stringify([updated, service.get('ada', id), service.list('ada', {})]);
  expect(answers).toContain(id);
  expect(answers).not.toMatch(/controlKey|of-the-release-before/);
});

test('another try of the request that created a destination leaves its Secret as it is', async () => {
  const { secrets, service, retry } = place();
  const { id } = await service.create('ada', INPUT);
  retry(0);
  expect((await service.create('ada', INPUT)).id).toBe(id);
  expect(secrets.get(id)).toEqual(SECRET);
});

test('a Secret that somebody deleted is made again', async () => {
  const { secrets, service } = place();
  const { id } = await service.create('ada', INPUT);
  secrets.delete(id);
  await service.update('ada', id, { rtmpUrl: INPUT.rtmpUrl, rtmpKey: INPUT.rtmpKey });
  expect(secrets.get(id)).toEqual(SECRET);
});

test.each([
  ['of the current Secret', { secretVersion: '7' }, true],
  ['of another one', { secretVersion: '6' }, false],
  ['of a release that did not say', {}, false],
  ['that did not run', { secretVersion: '7', code: 'not_run' }, false],
])('the last test %s is shown: %o, %s', async (_, more, isShown) => {
  const { service, stored } = place();
  const { id } = await service.create('ann', INPUT);
  const made = stored.get(id) as Destination;
  const passed = { id: 'x', ok: true, stage: 'publish' as const, message: 'It took it.', tookMs: 5 };
  const test = { ...passed, finishedAt: '2026-06-01T12:00:00Z', ...more };
  stored.set(id, { ...made, status: { ...made.status, secretVersion: '7', test } as never });
  const { lastTest } = service.get('ann', id);
  if (!isShown) return expect(lastTest).toBeNull();
  const { id: _id, ...shown } = passed;
  expect(lastTest).toEqual({ ...shown, code: null, finishedAt: '2026-06-01T12:00:00Z' });
});

describe('the token of a platform', () => {
  const TOKEN = '1//0-a-refresh-token';
  const platform = { kind: 'youtube', policy: 'Repair', refreshToken: TOKEN } as const;
  const place1 = async () => {
    const made = place();
    const { id } = await made.service.create('ada', { ...INPUT, platform });
    return { ...made, id, tokens: () => made.secrets.get(`${id}-platform`) };
  };

  test('lives in a Secret of its own, and is shown by nothing', async () => {
    const { secrets, stored, service, id, tokens } = await place1();
    expect(tokens()).toEqual({ refreshToken: TOKEN });
    expect(secrets.get(id)).toEqual(SECRET);
    expect(stored.get(id)?.spec.platform).toEqual({ kind: 'youtube', policy: 'Repair', secretName: `${id}-platform` });
    const shown = [service.get('ada', id), service.list('ada', {})];
    expect(shown[0]).toMatchObject({ platform: { kind: 'youtube', policy: 'Repair', videoId: null, hasToken: true } });
    expect(JSON.stringify([shown, ...stored.values()])).not.toContain(TOKEN);
  });

  test('stays over edits that give none, and streams on air are not published again', async () => {
    const { service, stored, id, tokens } = await place1();
    const { platform: next } = await service.update('ada', id, {
      platform: { kind: 'youtube', videoId: 'aqz-KE-bpKQ' },
    });
    expect(next).toMatchObject({ policy: 'Observe', videoId: 'aqz-KE-bpKQ', hasToken: true });
    await service.update('ada', id, { name: 'Another name' });
    expect(tokens()).toEqual({ refreshToken: TOKEN });
    const version = stored.get(id)?.metadata.annotations;
    await service.update('ada', id, { platform: { ...platform, refreshToken: 'another-token' } });
    expect(tokens()).toEqual({ refreshToken: 'another-token' });
    expect(stored.get(id)?.metadata.annotations).not.toEqual(version);
  });

  test.each([
    ['an empty one', { kind: 'youtube', videoId: 'aqz-KE-bpKQ', refreshToken: '' }],
    ['another kind', { kind: 'twitch', channel: 'name' }],
    ['the kind none', { kind: 'none' }],
    ['null', null],
  ] as const)('is deleted by %s', async (_, next) => {
    const { service, id, tokens } = await place1();
    const { platform: shown } = await service.update('ada', id, { platform: next });
    expect(shown?.hasToken ?? false).toBe(false);
    expect(tokens()).toBeUndefined();
  });

  test('is deleted with its destination', async () => {
    const { service, id, secrets } = await place1();
    await service.delete('ada', id);
    expect([...secrets]).toEqual([]);
  });
});

describe('a stalled repair', () => {
  const stalled = { phase: 'stalled', inserts: [], stalled: 'limit' };
  const checkedAt = '2026-06-01T12:00:00Z';

  test('goes on when somebody asks for it, once', async () => {
    const { service, stored } = place();
    const platform = { kind: 'youtube', policy: 'Repair', refreshToken: 'a-token' } as const;
    const { id } = await service.create('ann', { ...INPUT, platform });
    const resume = () => service.resumeRepair('ann', id);
    await expect(resume()).rejects.toMatchObject({ code: 'repair_not_stalled' });
    const made = stored.get(id) as Destination;
    const status = { ...made.status, platform: { checkedAt, expiresAt: checkedAt, repair: stalled } };
    stored.set(id, { ...made, status: status as never });
    expect(service.get('ann', id).platformLive?.repairStalled).toBe(true);
    expect((await resume()).platformLive?.repairStalled).toBe(false);
    expect(stored.get(id)?.metadata.annotations?.['loopstream.dev/retry']).toMatch(/^20\S+Z try-/);
    await expect(resume()).rejects.toMatchObject({ code: 'repair_not_stalled' });
  });
});
