/** Tests the conversion webhook over real TLS: its certificate, its limits and its metrics. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Registry } from 'prom-client';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { Lifecycle } from '../../../../src/lib/lifecycle.ts';
import { serveConversion } from '../../../../src/operator/conversion/server.ts';
import { type CertificateData, renewCertificate } from '../../../../src/operator/crds/certificate.ts';
import { conversionMetrics } from '../../../../src/operator/metrics/conversion.ts';
import { silent } from '../../../kit/real/kube.ts';
import { until } from '../../../kit/wait.ts';

const MEBI = 2 ** 20;

let certDir = '';
let lifecycle: Lifecycle;
let registry: Registry;
beforeEach(() => {
  certDir = mkdtempSync(join(tmpdir(), 'loopstream-webhook-'));
  lifecycle = new Lifecycle();
  registry = new Registry();
});
afterEach(async () => {
  await lifecycle.stop();
  rmSync(certDir, { recursive: true, force: true });
});

async function makeCertificate(): Promise<CertificateData> {
  const data = await renewCertificate({}, ['127.0.0.1'], new Date());
  writeFileSync(join(certDir, 'tls.key'), data['tls.key']);
  writeFileSync(join(certDir, 'tls.crt'), data['tls.crt']);
  return data;
}
const serve = () =>
  serveConversion({ host: '127.0.0.1', port: 0, certDir }, lifecycle, {
    metrics: conversionMetrics(registry),
    log: silent,
    lookMs: 10,
  });

/** A request on a connection of its own. */
function post(port: number, ca: string, body: string, path = '/convert', method = 'POST') {
  return new Promise<{ status: number; body: { message?: string; response?: unknown } }>((resolve, reject) => {
    const options = { host: '127.0.0.1', port, path, method, ca, agent: new Agent({ keepAlive: false }) };
    const call = request(options, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (part: string) => {
        text += part;
      });
      response.on('end', () => resolve({ status: response.statusCode ?? 0, body: JSON.parse(text) }));
    });
    call.on('error', reject);
    call.end(body);
  });
}
const review = (kind = 'Upload') =>
  JSON.stringify({
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'ConversionReview',
    request: {
      uid: 'a',
      desiredAPIVersion: 'loopstream.dev/v1beta1',
      objects: [{ apiVersion: 'loopstream.dev/v1alpha1', kind, metadata: { name: 'a' }, spec: { type: 'video' } }],
    },
  });

test('it listens before there is a certificate, and takes up each new one without a restart', async () => {
  const port = await serve();
  await expect(post(port, '', review())).rejects.toThrow();
  for (const _ of [1, 2]) {
    const { 'ca.crt': ca } = await makeCertificate();
    const answer = await until('the certificate is served', () => post(port, ca, review()).catch(() => undefined));
    expect(answer.status).toBe(200);
    expect(answer.body.response).toMatchObject({ result: { status: 'Success' } });
  }
  // Half of a change, and what is none, leave the last certificate in place.
  const { 'ca.crt': ca } = await makeCertificate();
  await until('the last one', () => post(port, ca, review()).catch(() => undefined));
  writeFileSync(join(certDir, 'tls.crt'), 'no certificate');
  expect((await post(port, ca, review())).status).toBe(200);
  const gauge = 'loopstream_conversion_certificate_expiry_timestamp_seconds';
  const [{ value = 0 } = {}] = (await registry.getSingleMetric(gauge)?.get())?.values ?? [];
  expect(value - Date.now() / 1000).toBeGreaterThan(360 * 86_400);
});

test('it answers reviews alone, of a bounded size, and counts each answer by its result', async () => {
  const { 'ca.crt': ca } = await makeCertificate();
  const port = await serve();
  expect((await post(port, ca, review())).status).toBe(200);
  expect((await post(port, ca, review('Pod'))).body.response).toMatchObject({ result: { status: 'Failed' } });
  expect((await post(port, ca, '{')).status).toBe(400);
  expect((await post(port, ca, '{}')).body.message).toMatch(/not a ConversionReview/);
  expect((await post(port, ca, review(), '/other')).status).toBe(404);
  expect((await post(port, ca, '', '/convert', 'GET')).status).toBe(405);
  // The connection may be closed before all of it is sent.
  const large = await post(port, ca, ' '.repeat(33 * MEBI)).catch(() => ({ status: 413 }));
  expect(large.status).toBe(413);
  expect((await post(port, ca, `${review()}${' '.repeat(30 * MEBI)}`)).status).toBe(200);
  const text = await registry.metrics();
  for (const line of ['{result="success"} 2', '{result="failed"} 1', '{result="refused"} 5'])
    expect(text).toContain(`loopstream_conversion_seconds_count${line}`);
});
