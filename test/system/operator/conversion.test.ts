/** Tests an operator whose own caches need its webhook, as after an upgrade: objects are stored in a version that it does not read. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createKube } from '../../../src/kube/client.ts';
import { NAMESPACES } from '../../../src/kube/core.ts';
import type { Kube } from '../../../src/kube/types.ts';
import { Lifecycle } from '../../../src/lib/lifecycle.ts';
import { renewCertificate } from '../../../src/operator/crds/certificate.ts';
import { runOperator } from '../../../src/operator/main.ts';
import { operatorConfig } from '../../../src/operator/runtime/settings.ts';
import { applyCrds } from '../../../src/resources/crd/install.ts';
import { DESTINATIONS } from '../../../src/resources/destination/resource.ts';
import { reserveFreePort } from '../../../tools/process/ports.ts';
import { readStoredObjects } from '../../kit/real/etcd.ts';
import { silent } from '../../kit/real/kube.ts';
import { startSmallKubernetes, type TestKubernetes } from '../../kit/real/kubernetes.ts';
import { until } from '../../kit/wait.ts';

const NAMESPACE = 'tv';

let kubernetes: TestKubernetes;
let kube: Kube;
const lifecycle = new Lifecycle();
beforeAll(async () => {
  kubernetes = await startSmallKubernetes();
  kube = createKube({ kubeconfig: kubernetes.kubeconfig });
  await kube.create(NAMESPACES, '', { metadata: { name: NAMESPACE }, spec: {} });
});
afterAll(async () => {
  await lifecycle.stop();
  await kube?.close();
  await kubernetes?.stop();
});

test('it becomes ready, since it answers kube-apiserver before it asks, and counts its answers', async () => {
  const [certDir, port] = [join(kubernetes.stateDir, 'webhook'), await reserveFreePort()];
  mkdirSync(certDir);
  const data = await renewCertificate({}, ['127.0.0.1'], new Date());
  for (const name of ['tls.crt', 'tls.key'] as const) writeFileSync(join(certDir, name), data[name]);
  const caBundle = Buffer.from(data['ca.crt']).toString('base64');
  const clientConfig = { url: `https://127.0.0.1:${port}/convert`, caBundle };
  await applyCrds(kube, { storage: 'v1alpha1', alpha: { clientConfig } });
  const old = { ...DESTINATIONS, version: 'v1alpha1' };
  await kube.create(old, NAMESPACE, {
    apiVersion: 'loopstream.dev/v1alpha1',
    kind: 'Destination',
    metadata: { name: 'stored' },
    spec: { secretName: 'missing' },
  });

  const config = operatorConfig({
    KUBECONFIG: kubernetes.kubeconfig,
    LOOPSTREAM_NAMESPACE: NAMESPACE,
    LOOPSTREAM_IMAGE: 'loopstream:1',
    LOOPSTREAM_STORAGE_VOLUME: JSON.stringify({ persistentVolumeClaim: { claimName: 'media' } }),
    LOOPSTREAM_LEADER_ELECTION: 'false',
    LOOPSTREAM_OPS_HOST: '127.0.0.1',
    LOOPSTREAM_OPS_PORT: '0',
    LOOPSTREAM_CONVERSION_HOST: '127.0.0.1',
    LOOPSTREAM_CONVERSION_PORT: String(port),
    LOOPSTREAM_CONVERSION_CERT_DIR: certDir,
  });
  const { opsPort, conversionPort } = await runOperator(config, lifecycle, silent);
  expect(conversionPort).toBe(port);
  // It writes the status of an object that it could not have read without the webhook.
  await until(
    'the status is written',
    async () => (await kube.get(DESTINATIONS, NAMESPACE, 'stored')).status?.observedGeneration === 1,
  );
  expect((await readStoredObjects(kubernetes)).map(({ apiVersion }) => apiVersion)).toEqual([
    'loopstream.dev/v1alpha1',
  ]);
  const metrics = await (await fetch(`http://127.0.0.1:${opsPort}/metrics`)).text();
  expect(Number(/loopstream_conversion_seconds_count\{result="success"\} (\d+)/.exec(metrics)?.[1])).toBeGreaterThan(0);
  expect(metrics).toContain('loopstream_conversion_seconds_count{result="failed"} 0');
  expect(metrics).toMatch(/^loopstream_conversion_certificate_expiry_timestamp_seconds \d+$/m);
});
