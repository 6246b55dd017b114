/**
 * Makes the certificate of the conversion webhook and the authority that signs it. One Secret keeps both, and the operator mounts
 * the certificate alone. The authority lasts ten years, so that a new certificate changes nothing that kube-apiserver trusts.
 */
import { createPrivateKey, KeyObject, X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import {
  BasicConstraintsExtension,
  ExtendedKeyUsage,
  ExtendedKeyUsageExtension,
  KeyUsageFlags,
  KeyUsagesExtension,
  SubjectAlternativeNameExtension,
  X509CertificateGenerator,
} from '@peculiar/x509';

const DAY_MS = 86_400_000;
const AUTHORITY_MS = 3650 * DAY_MS;
const LEAF_MS = 365 * DAY_MS;
/** Clocks of a cluster differ by less. */
const BEFORE_MS = 3600_000;
const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const;
const AUTHORITY_NAME = 'CN=loopstream conversion webhook authority';

/** The data of the Secret: PEM texts. */
export interface CertificateData {
  /** The authority that signs, and below it one that did so before. */
  'ca.crt': string;
  'ca.key': string;
  'tls.crt': string;
  'tls.key': string;
}

/** Splits a file of certificates. */
const splitPem = (text: string): string[] =>
  // linear-time: the file is our own, of two certificates.
  text.match(/-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----\n?/g) ?? [];

/** Whether more than half of the time of a certificate is left. */
function isFresh({ validFrom, validTo }: X509Certificate, now: Date): boolean {
  const [from, to] = [Date.parse(validFrom), Date.parse(validTo)];
  return from <= now.getTime() && to - now.getTime() > (to - from) / 2;
}

/** The authority, if it is whole; it may be too old. */
function readAuthority(data: Partial<CertificateData>): X509Certificate | undefined {
  try {
    const authority = new X509Certificate(data['ca.crt'] ?? '');
    return authority.checkPrivateKey(createPrivateKey(data['ca.key'] ?? '')) ? authority : undefined;
  } catch {
    return undefined;
  }
}

/** Whether the certificate is one of this authority, for these names, for half of its time or more. */
function hasLeaf(data: Partial<CertificateData>, hosts: readonly string[], now: Date): boolean {
  try {
    const leaf = new X509Certificate(data['tls.crt'] ?? '');
    return (
      isFresh(leaf, now) &&
      leaf.checkPrivateKey(createPrivateKey(data['tls.key'] ?? '')) &&
      leaf.verify(new X509Certificate(data['ca.crt'] ?? '').publicKey) &&
      hosts.every((host) => (isIP(host) ? leaf.checkIP(host) : leaf.checkHost(host)) !== undefined)
    );
  } catch {
    return false;
  }
}

const exportKey = (key: CryptoKey): string => KeyObject.from(key).export({ type: 'pkcs8', format: 'pem' }).toString();
const createKeys = () => crypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify']);
/** RFC 5280: a positive number of at most 20 bytes. */
const createSerial = () => `01${Buffer.from(crypto.getRandomValues(new Uint8Array(15))).toString('hex')}`;

async function createAuthority(
  before: string | undefined,
  now: Date,
): Promise<Pick<CertificateData, 'ca.crt' | 'ca.key'>> {
  const keys = await createKeys();
  const certificate = await X509CertificateGenerator.createSelfSigned(
    {
      serialNumber: createSerial(),
      name: AUTHORITY_NAME,
      notBefore: new Date(now.getTime() - BEFORE_MS),
      notAfter: new Date(now.getTime() + AUTHORITY_MS),
      signingAlgorithm: ALGORITHM,
      keys,
      extensions: [
        new BasicConstraintsExtension(true, 0, true),
        new KeyUsagesExtension(KeyUsageFlags.keyCertSign | KeyUsageFlags.cRLSign, true),
      ],
    },
    crypto,
  );
  // Operators serve a certificate of the authority before until kubelet has brought them the new Secret.
  const [previous = ''] = splitPem(before ?? '');
  return { 'ca.crt': `${certificate.toString('pem')}\n${previous}`, 'ca.key': exportKey(keys.privateKey) };
}

async function createLeaf(
  authority: Pick<CertificateData, 'ca.crt' | 'ca.key'>,
  hosts: readonly string[],
  now: Date,
): Promise<Pick<CertificateData, 'tls.crt' | 'tls.key'>> {
  const keys = await createKeys();
  const der = createPrivateKey(authority['ca.key']).export({ type: 'pkcs8', format: 'der' });
  const certificate = await X509CertificateGenerator.create(
    {
      serialNumber: createSerial(),
      // A name of a Service may be longer than the 64 characters that a common name may have.
      subject: 'CN=loopstream conversion webhook',
      issuer: AUTHORITY_NAME,
      notBefore: new Date(now.getTime() - BEFORE_MS),
      notAfter: new Date(now.getTime() + LEAF_MS),
      signingAlgorithm: ALGORITHM,
      publicKey: keys.publicKey,
      signingKey: await crypto.subtle.importKey('pkcs8', der, ALGORITHM, false, ['sign']),
      extensions: [
        new BasicConstraintsExtension(false, undefined, true),
        new KeyUsagesExtension(KeyUsageFlags.digitalSignature, true),
        new ExtendedKeyUsageExtension([ExtendedKeyUsage.serverAuth]),
        new SubjectAlternativeNameExtension(
          hosts.map((value) => ({ type: isIP(value) ? ('ip' as const) : ('dns' as const), value })),
        ),
      ],
    },
    crypto,
  );
  return { 'tls.crt': `${certificate.toString('pem')}\n`, 'tls.key': exportKey(keys.privateKey) };
}

/**
 * Returns what the Secret must hold, for a server with these DNS names or IP addresses: `data` itself where all of it is good, otherwise
 * with a new certificate. The authority is new where it is missing, or half of its time is over.
 */
export async function renewCertificate(
  data: Partial<CertificateData>,
  hosts: readonly string[],
  now: Date,
): Promise<CertificateData> {
  const authority = readAuthority(data);
  if (authority && isFresh(authority, now)) return renewLeaf(data as CertificateData, hosts, now);
  const made = await createAuthority(data['ca.crt'], now);
  return { ...made, ...(await createLeaf(made, hosts, now)) };
}

/** As `renewCertificate`, with the authority that is there: undefined where it is missing. */
export async function renewLeafOnly(
  data: Partial<CertificateData>,
  hosts: readonly string[],
  now: Date,
): Promise<CertificateData | undefined> {
  return readAuthority(data) && renewLeaf(data as CertificateData, hosts, now);
}

async function renewLeaf(data: CertificateData, hosts: readonly string[], now: Date): Promise<CertificateData> {
  if (hasLeaf(data, hosts, now)) return data;
  return { 'ca.crt': data['ca.crt'], 'ca.key': data['ca.key'], ...(await createLeaf(data, hosts, now)) };
}
