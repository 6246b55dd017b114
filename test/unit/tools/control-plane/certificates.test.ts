import { X509Certificate } from 'node:crypto';
import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { type Certificates, ensureCertificates, kubeconfigYaml } from '../../../../tools/control-plane/certificates.ts';
import { requestConfig } from '../../../../tools/control-plane/openssl.ts';
import { tempDir } from '../../../kit/temp-dir.ts';

const DAY_MS = 24 * 3600 * 1000;
let dir = '';

beforeEach(() => {
  dir = join(tempDir(), 'pki');
});

const ensure = (now = new Date(), hosts: string[] = []): Promise<Certificates> =>
  ensureCertificates({ dir, env: process.env, now, hosts });
const contents = async (): Promise<Record<string, string>> =>
  Object.fromEntries(
    await Promise.all((await readdir(dir)).map(async (name) => [name, await readFile(join(dir, name), 'utf8')])),
  );
const changed = (a: Record<string, string>, b: Record<string, string>) =>
  Object.keys(b)
    .filter((name) => name.endsWith('.crt') && a[name] !== b[name])
    .sort();

describe('ensureCertificates', () => {
  test('makes files that only the owner can read, and uses them again', async () => {
    await ensure();
    const first = await contents();
    for (const name of Object.keys(first)) expect((await stat(join(dir, name))).mode & 0o777).toBe(0o600);
    expect((await stat(dir)).mode & 0o777).toBe(0o700);
    await ensure();
    expect(await contents()).toEqual(first);
  });

  test('renews certificates 30 days before they end, and keeps the authority', async () => {
    await ensure();
    const first = await contents();
    await ensure(new Date(Date.now() + 334 * DAY_MS));
    expect(changed(first, await contents())).toEqual([]);
    await ensure(new Date(Date.now() + 336 * DAY_MS));
    expect(changed(first, await contents())).toEqual([
      'admin.crt',
      'apiserver.crt',
      'etcd-client.crt',
      'etcd.crt',
      'kubelet-client.crt',
    ]);
  });

  test('a new authority means new certificates below it', async () => {
    await ensure();
    const first = await contents();
    await writeFile(join(dir, 'ca.key'), first['ca.key']?.slice(0, 40) ?? '');
    await ensure();
    expect(changed(first, await contents())).toEqual(['admin.crt', 'apiserver.crt', 'ca.crt', 'kubelet-client.crt']);
  });

  test('renews the API server’s certificate for a further address', async () => {
    await ensure();
    const first = await contents();
    const { apiserver } = await ensure(new Date(), ['192.0.2.7']);
    expect(changed(first, await contents())).toEqual(['apiserver.crt']);
    const certificate = new X509Certificate(await readFile(apiserver.certFile));
    for (const host of ['127.0.0.1', '10.96.0.1', '192.0.2.7']) expect(certificate.checkIP(host)).toBe(host);
    expect(certificate.checkHost('kubernetes.default.svc')).toBeDefined();
    expect(certificate.ca).toBe(false);
  });

  test('issues users with their groups and servers with their addresses, neither good for the other', async () => {
    const certificates = await ensure();
    const authority = new X509Certificate(certificates.ca);
    const client = await certificates.issueClient({ user: 'system:node:local', groups: ['system:nodes', 'second'] });
    const user = new X509Certificate(client.cert);
    expect(user.subject).toBe('O=system:nodes\nO=second\nCN=system:node:local');
    expect(user.verify(authority.publicKey)).toBe(true);
    expect(user.keyUsage).toEqual(['1.3.6.1.5.5.7.3.2']);
    const server = new X509Certificate((await certificates.issueServing('node', ['127.16.0.1', 'node.local'])).cert);
    expect(server.subjectAltName).toBe('IP Address:127.16.0.1, DNS:node.local');
    expect(server.keyUsage).toEqual(['1.3.6.1.5.5.7.3.1']);
    expect((await readdir(dir)).filter((name) => name.startsWith('.issue'))).toEqual([]);
  });

  test('etcd trusts none of the users', async () => {
    const { etcdCaFile, admin } = await ensure();
    expect(new X509Certificate(admin.cert).verify(new X509Certificate(await readFile(etcdCaFile)).publicKey)).toBe(
      false,
    );
  });
});

test('a name that would mean something else in the request is refused', () => {
  for (const commonName of ['', 'a\nCN = system:masters', 'a = b', '$ENV', 'a,b'])
    expect(() => requestConfig({ commonName, use: 'client', days: 1 })).toThrow(
      'contains a character that a certificate cannot have',
    );
});

test('a kubeconfig holds all that a client needs', () => {
  const yaml = kubeconfigYaml('https://127.0.0.1:1', 'CA', 'someone', { cert: 'CERT', key: 'KEY' });
  for (const text of ['server: https://127.0.0.1:1', 'current-context: loopstream', `client-key-data: ${btoa('KEY')}`])
    expect(yaml).toContain(text);
});
