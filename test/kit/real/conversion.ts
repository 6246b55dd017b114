/** Runs the conversion webhook of the operator on loopback, with a certificate of its own. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Registry } from 'prom-client';
import { Lifecycle } from '../../../src/lib/lifecycle.ts';
import { serveConversion } from '../../../src/operator/conversion/server.ts';
import { renewCertificate } from '../../../src/operator/crds/certificate.ts';
import { conversionMetrics } from '../../../src/operator/metrics/conversion.ts';
import { CONVERSION_PATH } from '../../../src/resources/common/names.ts';
import type { WebhookClientConfig } from '../../../src/resources/crd/crds.ts';
import { reserveFreePort } from '../../../tools/process/ports.ts';
import { silent } from './kube.ts';

const HOST = '127.0.0.1';

export interface Conversion {
  clientConfig: WebhookClientConfig;
  close(): Promise<void>;
  /** Serves again after `close`, at the same address. */
  reopen(): Promise<void>;
}

/** `dir` holds the certificate. */
export async function startConversion(dir: string): Promise<Conversion> {
  mkdirSync(dir, { recursive: true });
  const data = await renewCertificate({}, [HOST], new Date());
  for (const name of ['tls.crt', 'tls.key'] as const) writeFileSync(join(dir, name), data[name]);
  const port = await reserveFreePort();
  const metrics = conversionMetrics(new Registry());
  let lifecycle: Lifecycle;
  const reopen = async () => {
    lifecycle = new Lifecycle();
    await serveConversion({ host: HOST, port, certDir: dir }, lifecycle, { metrics, log: silent });
  };
  await reopen();
  return {
    clientConfig: {
      url: `https://${HOST}:${port}${CONVERSION_PATH}`,
      caBundle: Buffer.from(data['ca.crt']).toString('base64'),
    },
    close: () => lifecycle.stop(),
    reopen,
  };
}
