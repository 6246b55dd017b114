/** Migrates objects that an earlier checkout has stored as v1alpha1, with a webhook of its own on loopback. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Registry } from 'prom-client';
import type { Kube } from '../../src/kube/types.ts';
import { Lifecycle } from '../../src/lib/lifecycle.ts';
import type { Logger } from '../../src/lib/log.ts';
import { serveConversion } from '../../src/operator/conversion/server.ts';
import { renewCertificate } from '../../src/operator/crds/certificate.ts';
import { conversionMetrics } from '../../src/operator/metrics/conversion.ts';
import { CONVERSION_PATH } from '../../src/resources/common/names.ts';
import type { WebhookClientConfig } from '../../src/resources/crd/crds.ts';
import { applyCrds } from '../../src/resources/crd/install.ts';
import { migrateStorage } from '../../src/resources/crd/migrate.ts';

const HOST = '127.0.0.1';

/** Serves the webhook on loopback, with a certificate of its own in a new directory below `dir`. */
async function startWebhook(lifecycle: Lifecycle, dir: string, log: Logger): Promise<WebhookClientConfig> {
  const certDir = await mkdtemp(join(dir, 'conversion-'));
  lifecycle.defer('certificate', () => rm(certDir, { recursive: true, force: true }));
  const data = await renewCertificate({}, [HOST], new Date());
  for (const name of ['tls.crt', 'tls.key'] as const) await writeFile(join(certDir, name), data[name], { mode: 0o600 });
  const metrics = conversionMetrics(new Registry());
  const port = await serveConversion({ host: HOST, port: 0, certDir }, lifecycle, { metrics, log });
  const caBundle = Buffer.from(data['ca.crt']).toString('base64');
  return { url: `https://${HOST}:${port}${CONVERSION_PATH}`, caBundle };
}

/** Resolves when every object is stored as v1beta1, and v1beta1 alone is served. `dir` is for a key, which is removed again. */
export async function migrateStoredObjects(kube: Kube, { dir, log }: { dir: string; log: Logger }): Promise<void> {
  const lifecycle = new Lifecycle(log);
  try {
    await applyCrds(kube, { storage: 'v1alpha1', alpha: { clientConfig: await startWebhook(lifecycle, dir, log) } });
    await migrateStorage(kube, { to: 'v1beta1', settleMs: 0 });
    await applyCrds(kube);
  } finally {
    await lifecycle.stop();
  }
}
