/** Issues X.509 certificates with the openssl command (3.0 or newer): Node can read certificates but not make them. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import { join } from 'node:path';
import { ConfigError } from '../../src/core/settings/settings.ts';
import { run } from '../process/run.ts';

/** PEM texts. */
export interface KeyPair {
  cert: string;
  key: string;
}

export interface CertificateRequest {
  /** The user's name, for Kubernetes. */
  commonName: string;
  /** The user's groups, for Kubernetes. */
  organizations?: readonly string[];
  use: 'authority' | 'server' | 'client' | 'server+client';
  /** DNS names and IP addresses that a server answers at. */
  hosts?: readonly string[];
  days: number;
  /** Signed by itself without one. */
  issuer?: KeyPair;
}

/** Makes a P-256 key and its certificate. The key only ever exists in `workDir`, in a directory of mode 0700, and in the answer. */
export async function issue(
  request: CertificateRequest,
  workDir: string,
  env: Record<string, string | undefined>,
): Promise<KeyPair> {
  const dir = await mkdtemp(join(workDir, '.issue-'));
  const file = (name: string) => join(dir, name);
  try {
    await writeFile(file('request.cnf'), requestConfig(request));
    const args = ['req', '-x509', '-config', file('request.cnf'), '-days', String(request.days), '-sha256', '-noenc'];
    args.push('-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-keyout', file('key'), '-out', file('cert'));
    if (request.issuer) {
      await writeFile(file('ca.crt'), request.issuer.cert);
      await writeFile(file('ca.key'), request.issuer.key, { mode: 0o600 });
      args.push('-CA', file('ca.crt'), '-CAkey', file('ca.key'));
    }
    const { ok, stderr } = await run('openssl', args, { env: { PATH: env.PATH } });
    if (!ok) {
      const why = stderr.trim().split('\n').at(-1) ?? '';
      throw new ConfigError(`openssl could not create a certificate (${why}). It must be version 3.0 or newer.`);
    }
    return { cert: await readFile(file('cert'), 'utf8'), key: await readFile(file('key'), 'utf8') };
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

const KEY_USAGE = {
  authority: ['basicConstraints = critical, CA:TRUE', 'keyUsage = critical, keyCertSign, cRLSign'],
  server: [
    'basicConstraints = critical, CA:FALSE',
    'keyUsage = critical, digitalSignature',
    'extendedKeyUsage = serverAuth',
  ],
  client: [
    'basicConstraints = critical, CA:FALSE',
    'keyUsage = critical, digitalSignature',
    'extendedKeyUsage = clientAuth',
  ],
  'server+client': [
    'basicConstraints = critical, CA:FALSE',
    'keyUsage = critical, digitalSignature',
    'extendedKeyUsage = serverAuth, clientAuth',
  ],
};

/** A whole configuration of our own, so that what the system's openssl.cnf adds by default plays no part. Pure. */
export function requestConfig({ commonName, organizations = [], use, hosts = [] }: CertificateRequest): string {
  for (const text of [commonName, ...organizations, ...hosts]) {
    // Everything else could mean something in this file format; Kubernetes' own users and groups keep within this.
    if (!/^[\w.:@-]+$/.test(text)) throw new Error(`"${text}" contains a character that a certificate cannot have.`);
  }
  const names = hosts.map((host) => `${isIP(host) ? 'IP' : 'DNS'}:${host}`);
  return [
    '[req]',
    'prompt = no',
    'distinguished_name = subject',
    'x509_extensions = extensions',
    '[subject]',
    ...organizations.map((name, index) => `${index}.O = ${name}`),
    `CN = ${commonName}`,
    '[extensions]',
    ...KEY_USAGE[use],
    'subjectKeyIdentifier = hash',
    ...(names.length > 0 ? [`subjectAltName = ${names.join(', ')}`] : []),
    '',
  ].join('\n');
}
