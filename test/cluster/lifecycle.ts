/**
 * Tests the end of a release, and its replacement by the other Helm. Streams on air stay there meanwhile, and the next release takes them
 * over. cluster.test.ts tests installing, upgrading and rolling back by Helm 4.
 */
import { describe, expect, test } from 'vitest';
import { NAMESPACE, SERVICE } from '../kit/real/cluster/release.ts';
import { createStream, expectInvisible, type Scene, seconds, waitUntilReady } from '../kit/real/cluster/scene.ts';
import type { WatchedStream } from '../kit/real/cluster/stream.ts';
import { until } from '../kit/wait.ts';

/** The release's objects in Kubernetes; a migration removes its own Secret. */
const KINDS = 'deployments,services,configmaps,serviceaccounts,roles,rolebindings,poddisruptionbudgets,secrets,jobs';
const OURS = ['-l', 'app.kubernetes.io/instance=loopstream'];
const CREDENTIALS = 'credentials';

export function lifecycleTests(getContext: () => { scene: Scene; stream: WatchedStream }): void {
  describe('a stream on air survives the change of releases', () => {
    const listLeftovers = async () => {
      const { release } = getContext().scene;
      const found = await Promise.all([
        release.service('get', KINDS, ...OURS, '-o', 'name'),
        release.inside('get', KINDS, ...OURS, '-o', 'name'),
      ]);
      return found.join('\n').split('\n').filter(Boolean);
    };
    const image = async () => {
      const path = 'jsonpath={.spec.template.spec.containers[0].image}';
      return (await getContext().scene.release.service('get', 'deployment/loopstream-operator', '-o', path))
        .split(':')
        .at(-1);
    };

    test('Helm 4 uninstalls it: definitions and streams are kept', async () => {
      const { scene, stream } = getContext();
      const { inside, kubectl, helms } = scene.release;
      expect((await listLeftovers()).length).toBeGreaterThan(5);
      await expectInvisible(scene, stream, 'helm uninstall (Helm 4), the stream goes on', helms.four.uninstall);
      expect(await listLeftovers()).toEqual([]);
      expect(await inside('get', `loopstream/${stream.id}`, '-o', 'jsonpath={.status.phase}')).toBe('live');
      expect((await kubectl(['get', 'crds', '-o', 'name'])).match(/loopstream\.dev/g)).toHaveLength(5);
    });

    test('Helm 3 takes over no definitions of another release, and those that this one has left; it finds the stream on air', async () => {
      const { scene, stream } = getContext();
      const { service, kubectl, helms, values, credentials } = scene.release;
      await expect(helms.three.install(values('1'), 'default')).rejects.toThrow(
        /CustomResourceDefinition "\w+\.loopstream\.dev".*cannot be imported/,
      );
      const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: CREDENTIALS }, stringData: credentials };
      await kubectl(['-n', SERVICE, 'apply', '-f', '-'], [secret]);
      const tag = (await stream.pod()).spec.containers[0]?.image.split(':').at(-1) ?? '';
      await expectInvisible(scene, stream, 'helm install (Helm 3) beside the stream', () =>
        helms.three.install(fromSecret(values(tag))),
      );
      expect(await image()).toBe(tag);
      // The API answers from the database of the earlier release.
      const keys = ['node', '/app/dist/app/main.js', 'keys', '--email', 'sre@example.org'];
      expect(await service('exec', 'deployment/loopstream-api', '--', ...keys)).toMatch(/^lsk_/);
    });

    test('Helm 3 upgrades it and rolls it back', async () => {
      const { scene, stream } = getContext();
      const { inside, helms, values } = scene.release;
      const tag = (await image()) ?? '';
      const other = tag === '1' ? '2' : '1';
      await helms.three.upgrade(fromSecret(values(other)));
      expect(await image()).toBe(other);
      await helms.three.rollback();
      expect(await image()).toBe(tag);
      // The rolled-back operator manages the stream.
      await inside('scale', `loopstream/${stream.id}`, '--replicas=0');
      await inside('wait', `loopstream/${stream.id}`, '--for=jsonpath={.status.phase}=stopped', '--timeout=150s');
      await inside('scale', `loopstream/${stream.id}`, '--replicas=1');
      await isLive(scene, stream.id);
    });

    test('the namespace of its streams goes in two minutes, with one on air', async () => {
      const { scene } = getContext();
      await deleteNamespaces(scene, [NAMESPACE]);
    });

    test('uninstalled with a stream on air, both namespaces go in two minutes', async () => {
      const { scene } = getContext();
      const { inside, call, findService, helms, values, urls } = scene.release;
      await findService();
      await helms.three.upgrade(fromSecret(values((await image()) ?? '')));
      const link = { type: 'VIDEO', url: urls.film };
      const { body } = await call<{ objectID: string }>('POST', '/uploads/from-link', link);
      const id = await createStream(scene, 'after-the-namespace', body.objectID, urls.watched);
      await waitUntilReady(scene, id);
      await call('POST', `/streams/${id}/start?wait=60`);
      await isLive(scene, id);
      await helms.three.uninstall();
      expect(await listLeftovers()).toEqual([]);
      expect(await inside('get', `loopstream/${id}`, '-o', 'jsonpath={.status.phase}')).toBe('live');
      await deleteNamespaces(scene, [NAMESPACE, SERVICE]);
    });
  });
}

const isLive = ({ release }: Scene, id: string) =>
  release.inside('wait', `loopstream/${id}`, '--for=jsonpath={.status.phase}=live', '--timeout=150s');

/** Deletes them within two minutes; the receiver gets nothing afterwards. */
async function deleteNamespaces({ release, outside, results }: Scene, names: string[]): Promise<void> {
  const from = performance.now();
  await release.kubectl(['delete', 'namespace', ...names, '--timeout=120s']);
  const gone = performance.now();
  results.add(`kubectl delete namespace ${names.join(' ')}, with a stream on air`, seconds(gone - from), '');
  await until('it has been silent for five seconds', () => performance.now() - gone > 5000);
  expect(outside.meter.silence(gone).currentMs).toBeGreaterThan(4000);
}

/** Uses credentials from a foreign Secret, and one API server: the availability of two is independent of the Helm. */
const fromSecret = (values: Record<string, unknown>) => ({
  ...values,
  api: { replicas: 1, auth: { existingSecret: CREDENTIALS, existingSecretKey: 'auth' } },
  database: { existingSecret: CREDENTIALS, existingSecretKey: 'url' },
});
