/** Tests the certificate of the conversion webhook: when it is kept, when it is renewed, and that clients trust it all the time. */
import { X509Certificate } from 'node:crypto';
import { expect, test } from 'vitest';
import { renewCertificate, renewLeafOnly } from '../../../../src/operator/crds/certificate.ts';

const DAY_MS = 86_400_000;
const NOW = new Date('2026-06-01T12:00:00Z');
const inDays = (days: number) => new Date(NOW.getTime() + days * DAY_MS);
const HOST = 'loopstream-conversion.loopstream.svc';

const splitPem = (text: string) => text.split(/(?=-----BEGIN)/).map((pem) => new X509Certificate(pem));

test('a new one is of an authority of ten years, lasts a year, and is for the name of the Service', async () => {
  const data = await renewCertificate({}, [HOST], NOW);
  const [authority, leaf] = [new X509Certificate(data['ca.crt']), new X509Certificate(data['tls.crt'])];
  expect(authority.ca).toBe(true);
  expect(leaf.ca).toBe(false);
  expect(leaf.verify(authority.publicKey)).toBe(true);
  expect(leaf.checkIssued(authority)).toBe(true);
  expect(leaf.checkHost(HOST)).toBe(HOST);
  expect(leaf.checkHost('another.loopstream.svc')).toBeUndefined();
  expect(Date.parse(leaf.validTo)).toBe(inDays(365).getTime());
  expect(Date.parse(authority.validTo)).toBe(inDays(3650).getTime());
});

test('it is kept for half of its time; then it is renewed by the same authority', async () => {
  const data = await renewCertificate({}, [HOST], NOW);
  expect(await renewCertificate(data, [HOST], inDays(180))).toBe(data);
  const renewed = await renewCertificate(data, [HOST], inDays(184));
  expect(renewed['ca.crt']).toBe(data['ca.crt']);
  expect(renewed['tls.crt']).not.toBe(data['tls.crt']);
  expect(new X509Certificate(renewed['tls.crt']).verify(new X509Certificate(data['ca.crt']).publicKey)).toBe(true);
});

test.each([
  ['another name', (data: object) => data, ['another.loopstream.svc']],
  ['a key of another certificate', (data: object) => ({ ...data, 'tls.key': 'none' }), [HOST]],
  ['a certificate that is cut', (data: object) => ({ ...data, 'tls.crt': '' }), [HOST]],
])('%s: it is made again', async (_, change, hosts) => {
  const data = await renewCertificate({}, [HOST], NOW);
  const renewed = await renewCertificate(change(data), hosts, NOW);
  expect(renewed['ca.crt']).toBe(data['ca.crt']);
  expect(new X509Certificate(renewed['tls.crt']).checkHost(hosts[0] ?? '')).toBeDefined();
});

test('a new authority is trusted beside the one before, whose certificate is still served', async () => {
  const data = await renewCertificate({}, [HOST], NOW);
  const later = await renewCertificate(data, [HOST], inDays(1830));
  const [current, before] = splitPem(later['ca.crt']);
  expect(before?.fingerprint256).toBe(new X509Certificate(data['ca.crt']).fingerprint256);
  expect(new X509Certificate(later['tls.crt']).verify(current?.publicKey ?? before?.publicKey ?? ({} as never))).toBe(
    true,
  );
  const [, previous, oldest] = splitPem((await renewCertificate(later, [HOST], inDays(3700)))['ca.crt']);
  expect(previous?.fingerprint256).toBe(current?.fingerprint256);
  expect(oldest).toBeUndefined();
});

test('without rights on the definitions, the authority stays however old it is, and none is made', async () => {
  const data = await renewCertificate({}, [HOST], NOW);
  const later = await renewLeafOnly(data, [HOST], inDays(1830));
  expect(later?.['ca.crt']).toBe(data['ca.crt']);
  expect(later?.['tls.crt']).not.toBe(data['tls.crt']);
  expect(await renewLeafOnly({}, [HOST], NOW)).toBeUndefined();
});
