/**
 * Issues the identities of the control plane: authorities, certificates and the service account key, under one
 * directory of mode 0700. They are made once, used again at later starts, and renewed before they expire.
 */
import { createPrivateKey, generateKeyPairSync, X509Certificate } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { type CertificateRequest, issue, type KeyPair } from './openssl.ts';

const AUTHORITY_DAYS = 3650;
const LEAF_DAYS = 365;
const RENEW_BEFORE_MS = 30 * 24 * 3600 * 1000;

/** A Kubernetes user, as a client certificate names it. */
export interface ClientIdentity {
  user: string;
  groups?: readonly string[];
}

export interface CertificateFiles {
  certFile: string;
  keyFile: string;
}

/** The authority that everything in the local cluster trusts, and what it has issued. */
export interface Certificates {
  /** PEM of the cluster's authority; also the file that holds it. */
  ca: string;
  caFile: string;
  /** etcd trusts an authority of its own: any client that it accepts may read everything. */
  etcdCaFile: string;
  etcd: CertificateFiles;
  etcdClient: CertificateFiles;
  apiserver: CertificateFiles;
  /** With this the API server calls nodes, e.g. for `kubectl logs`: CN=kube-apiserver-kubelet-client. */
  kubeletClient: CertificateFiles;
  /** Signs and checks service account tokens. */
  serviceAccountKeyFile: string;
  serviceAccountPublicKeyFile: string;
  admin: KeyPair;
  /** A client certificate for a user; made anew at each call and kept nowhere. */
  issueClient(identity: ClientIdentity): Promise<KeyPair>;
  /** A server certificate for IP addresses and DNS names, e.g. a node's; made anew at each call and kept nowhere. */
  issueServing(commonName: string, hosts: readonly string[]): Promise<KeyPair>;
}

export interface CertificatesOptions {
  dir: string;
  /** PATH, to find openssl. */
  env: Record<string, string | undefined>;
  now: Date;
  /** Further addresses that the API server answers at. */
  hosts?: readonly string[];
}

export const ADMIN: ClientIdentity = { user: 'loopstream:admin', groups: ['system:masters'] };

const SERVER_HOSTS = [
  '127.0.0.1',
  'localhost',
  'kubernetes',
  'kubernetes.default',
  'kubernetes.default.svc',
  'kubernetes.default.svc.cluster.local',
  // The first address of the service range, which Kubernetes gives to the API server's own Service.
  '10.96.0.1',
];

/** Certificates valid for 30 more days are kept, the others are made. Throws ConfigError when openssl cannot. */
export async function ensureCertificates(options: CertificatesOptions): Promise<Certificates> {
  const { dir, env, now } = options;
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  const ensure = async (name: string, request: Omit<CertificateRequest, 'days'>): Promise<KeyPair> => {
    const kept = readPair(dir, name);
    if (kept && isGood(kept, request, now)) return kept;
    const days = request.use === 'authority' ? AUTHORITY_DAYS : LEAF_DAYS;
    return writePair(dir, name, await issue({ ...request, days }, dir, env));
  };
  const [ca, etcdCa] = await Promise.all([
    ensure('ca', { commonName: 'loopstream-local', use: 'authority' }),
    ensure('etcd-ca', { commonName: 'loopstream-local-etcd', use: 'authority' }),
  ]);
  const client = ({ user, groups = [] }: ClientIdentity) =>
    ({ commonName: user, organizations: groups, use: 'client', issuer: ca }) as const;
  const server = [...new Set([...SERVER_HOSTS, ...(options.hosts ?? [])])];
  const kubeletClient = { user: 'kube-apiserver-kubelet-client', groups: ['system:masters'] };
  const [admin] = await Promise.all([
    ensure('admin', client(ADMIN)),
    ensure('apiserver', { commonName: 'kube-apiserver', use: 'server', hosts: server, issuer: ca }),
    ensure('kubelet-client', client(kubeletClient)),
    ensure('etcd', { commonName: 'etcd', use: 'server+client', hosts: ['127.0.0.1', 'localhost'], issuer: etcdCa }),
    ensure('etcd-client', { commonName: 'kube-apiserver', use: 'client', issuer: etcdCa }),
  ]);
  return {
    ca: ca.cert,
    caFile: join(dir, 'ca.crt'),
    etcdCaFile: join(dir, 'etcd-ca.crt'),
    etcd: files(dir, 'etcd'),
    etcdClient: files(dir, 'etcd-client'),
    apiserver: files(dir, 'apiserver'),
    kubeletClient: files(dir, 'kubelet-client'),
    ...ensureServiceAccountKey(dir),
    admin,
    issueClient: (identity) => issue({ ...client(identity), days: LEAF_DAYS }, dir, env),
    issueServing: (commonName, hosts) =>
      issue({ commonName, use: 'server', hosts, days: LEAF_DAYS, issuer: ca }, dir, env),
  };
}

/** A kubeconfig with the certificates in it, so that the one file is all a client needs: a secret. Pure. */
export function kubeconfigYaml(url: string, ca: string, user: string, { cert, key }: KeyPair): string {
  const base64 = (pem: string) => Buffer.from(pem).toString('base64');
  return stringify(
    {
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [{ name: 'loopstream', cluster: { server: url, 'certificate-authority-data': base64(ca) } }],
      users: [{ name: user, user: { 'client-certificate-data': base64(cert), 'client-key-data': base64(key) } }],
      contexts: [{ name: 'loopstream', context: { cluster: 'loopstream', user, namespace: 'loopstream' } }],
      'current-context': 'loopstream',
    },
    { lineWidth: 0 },
  );
}

/** Writes a file whole or not at all, readable by its owner only. */
export function writePrivateFile(path: string, content: string): void {
  writeFileSync(`${path}.tmp`, content, { mode: 0o600 });
  renameSync(`${path}.tmp`, path);
}

/** Whether a certificate fits its key, its issuer, its hosts and its time; a pair cut by a crash fits nothing. */
function isGood({ cert, key }: KeyPair, request: Omit<CertificateRequest, 'days'>, now: Date): boolean {
  try {
    const x509 = new X509Certificate(cert);
    const issuer = request.issuer ? new X509Certificate(request.issuer.cert) : x509;
    return (
      Date.parse(x509.validTo) - now.getTime() > RENEW_BEFORE_MS &&
      x509.checkPrivateKey(createPrivateKey(key)) &&
      x509.verify(issuer.publicKey) &&
      (request.hosts ?? []).every((host) => (isIP(host) ? x509.checkIP(host) : x509.checkHost(host)) !== undefined)
    );
  } catch {
    return false;
  }
}

function ensureServiceAccountKey(dir: string) {
  const serviceAccountKeyFile = join(dir, 'service-account.key');
  const serviceAccountPublicKeyFile = join(dir, 'service-account.pub');
  if (!existsSync(serviceAccountKeyFile) || !existsSync(serviceAccountPublicKeyFile)) {
    const { privateKey, publicKey } = generateKeyPairSync('ec', {
      namedCurve: 'P-256',
      privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
      publicKeyEncoding: { type: 'spki', format: 'pem' },
    });
    writePrivateFile(serviceAccountKeyFile, privateKey);
    writePrivateFile(serviceAccountPublicKeyFile, publicKey);
  }
  return { serviceAccountKeyFile, serviceAccountPublicKeyFile };
}

const files = (dir: string, name: string): CertificateFiles => ({
  certFile: join(dir, `${name}.crt`),
  keyFile: join(dir, `${name}.key`),
});

function readPair(dir: string, name: string): KeyPair | undefined {
  const { certFile, keyFile } = files(dir, name);
  try {
    return { cert: readFileSync(certFile, 'utf8'), key: readFileSync(keyFile, 'utf8') };
  } catch {
    return undefined;
  }
}

function writePair(dir: string, name: string, pair: KeyPair): KeyPair {
  const { certFile, keyFile } = files(dir, name);
  writePrivateFile(keyFile, pair.key);
  writePrivateFile(certFile, pair.cert);
  return pair;
}
