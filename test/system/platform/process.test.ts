/**
 * Tests the role `platform` as a process of its own, with the rights of manifests/rbac.yaml and a stand-in for Twitch: it is killed, started
 * again, and shows no secret.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { createKube } from '../../../src/core/kube/client.ts';
import { CONFIG_MAPS } from '../../../src/core/kube/core.ts';
import type { Kube } from '../../../src/core/kube/types.ts';
import { readPlatformView } from '../../../src/core/resources/destination/platform.ts';
import { DESTINATIONS } from '../../../src/core/resources/destination/resource.ts';
import { applyRights, NAMESPACE, serviceAccountUser } from '../../../tools/local/rights.ts';
import { startHelix } from '../../kit/fake/helix.ts';
import { type PlatformProcess, startPlatformProcess } from '../../kit/system/platform-process.ts';
import {
  aroundPlatformTests,
  cluster,
  createLiveStream,
  createWatched,
  findPlatformLive,
  kube,
  readDestination,
} from '../../kit/system/platform-system.ts';
import { tempDir } from '../../kit/temp-dir.ts';
import { until } from '../../kit/wait.ts';

aroundPlatformTests(NAMESPACE, { alone: true });

const SECRET = 'hidden-client-secret';
let helix: Awaited<ReturnType<typeof startHelix>>;
let account: Kube;
let settings: Record<string, string>;
const running: PlatformProcess[] = [];

beforeAll(async () => {
  await applyRights(kube);
  const kubeconfig = await cluster.kubeconfigFor('platform', { user: serviceAccountUser('loopstream-platform') });
  account = createKube({ kubeconfig });
  await until('the rights are in force', () =>
    account.list(DESTINATIONS, { namespace: NAMESPACE }).then(
      () => true,
      () => false,
    ),
  );
  helix = await startHelix({ nowMs: Date.now, clientSecret: SECRET });
  helix.addUser('77', 'bunny');
  const secretFile = join(tempDir(), 'secret');
  writeFileSync(secretFile, `${SECRET}\n`);
  settings = {
    KUBECONFIG: kubeconfig,
    LOOPSTREAM_NAMESPACE: NAMESPACE,
    LOOPSTREAM_LOG_LEVEL: 'trace',
    LOOPSTREAM_TWITCH_CLIENT_ID: 'client',
    LOOPSTREAM_TWITCH_CLIENT_SECRET_FILE: secretFile,
    LOOPSTREAM_TWITCH_API_URL: `${helix.url}/helix`,
    LOOPSTREAM_TWITCH_TOKEN_URL: `${helix.url}/oauth2/token`,
  };
});
afterAll(async () => {
  await account?.close();
  await helix?.stop();
});
afterEach(async () => {
  for (const one of running.splice(0)) {
    one.signal('SIGKILL');
    await one.ended;
  }
});

async function start(): Promise<PlatformProcess> {
  const started = await startPlatformProcess(settings);
  running.push(started);
  return started;
}
const waitForReason = (name: string, reason: string) =>
  until(`${name} is ${reason}`, async () => {
    const found = await readDestination(NAMESPACE, name);
    return findPlatformLive(found)?.reason === reason && found;
  });

test('it sees a broadcast with the rights that it has, is killed, and the next one goes on without a word', async () => {
  const first = await start();
  await until('it leads', () => first.logs().includes('leads and looks'));
  // Nothing is asked of a platform that no destination names.
  expect(helix.calls).toEqual([]);
  helix.start('77', 12);
  await createWatched(NAMESPACE, 'twitch', { kind: 'twitch', policy: 'Observe', channel: 'bunny' });
  await createLiveStream(NAMESPACE, 'bunny', { destinations: ['twitch'], podIP: '10.9.9.9' });
  const seen = await waitForReason('twitch', 'Seen');
  expect(readPlatformView(seen, new Date())).toMatchObject({ status: 'True', viewers: 12 });

  first.signal('SIGKILL');
  await first.ended;
  const left = await readDestination(NAMESPACE, 'twitch');
  const expiresMs = Date.parse(left.status?.platform?.expiresAt ?? '');
  expect(readPlatformView(left, new Date(expiresMs))).toMatchObject({ status: 'Unknown', reason: 'not_checked' });

  const since = findPlatformLive(left)?.lastTransitionTime;
  const second = await start();
  await until(
    'it leads when the lease of the dead one is over',
    () => second.logs().includes('leads and looks'),
    60_000,
  );
  const again = await until('it confirms what is seen', async () => {
    const found = await readDestination(NAMESPACE, 'twitch');
    return found.status?.platform?.checkedAt !== left.status?.platform?.checkedAt && found;
  });
  const { status, lastTransitionTime } = findPlatformLive(again) ?? {};
  expect({ status, lastTransitionTime }).toEqual({ status: 'True', lastTransitionTime: since });

  second.signal('SIGTERM');
  expect(await second.ended).toBe(0);
  for (const one of [first, second]) expect(one.logs()).not.toContain('"status":403');
});

test('its secrets are in no log, no metric and no list of processes', async () => {
  const process = await start();
  await until('it has asked with its secret', async () => {
    await until('it leads', () => process.logs().includes('leads and looks'), 60_000);
    return helix.calls.length > 0;
  });
  const metrics = await (await fetch(`${process.opsUrl}/metrics`)).text();
  for (const text of [process.logs(), metrics, process.commandLine()]) {
    expect(text.length).toBeGreaterThan(0);
    expect(text).not.toMatch(/hidden-client-secret|app-token-/);
  }
});

test('a setting that names no file ends it with a sentence', async () => {
  const failing = startPlatformProcess({ ...settings, LOOPSTREAM_TWITCH_CLIENT_SECRET_FILE: '/nowhere' });
  await expect(failing).rejects.toThrow('The file in LOOPSTREAM_TWITCH_CLIENT_SECRET_FILE cannot be read (ENOENT).');
});

test('its account keeps the shared counters in the namespace of the installation, and no other ConfigMap', async () => {
  const name = 'loopstream-platform';
  await account.create(CONFIG_MAPS, NAMESPACE, { metadata: { name }, data: { units: '1' } } as never);
  const patched = await account.mergePatch(CONFIG_MAPS, NAMESPACE, name, { data: { units: '2' } });
  expect(patched.data).toEqual({ units: '2' });
  await expect(account.get(CONFIG_MAPS, NAMESPACE, 'kube-root-ca.crt')).rejects.toMatchObject({ status: 403 });
});
