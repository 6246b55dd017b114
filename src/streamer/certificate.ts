/**
 * What is wrong with a server's certificate, in words for people: a transport refuses one that has expired, one for another
 * host and one of an unknown authority with the same sentence. Loaded when one was refused, for TLS weighs more than a stream.
 */
import { readFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import { connect, type PeerCertificate } from 'node:tls';

const TIMEOUT_MS = 5000;

/** Undefined when nothing is found that could be said; never rejects. */
export async function certificateFault(host: string, port: number, caFile?: string): Promise<string | undefined> {
  const ca = caFile === undefined ? undefined : await readFile(caFile).catch(() => undefined);
  if (caFile !== undefined && ca === undefined) return 'the file of trusted authorities cannot be read';
  return new Promise((resolve) => {
    // The transport has refused the server already, and nothing is sent here: what is wrong shows only after the handshake.
    const socket = connect({
      ...{ host, port, rejectUnauthorized: false },
      ...(ca && { ca }),
      ...(isIP(host) === 0 && { servername: host }),
    });
    const done = (fault: string | undefined) => {
      socket.destroy();
      resolve(fault);
    };
    socket.setTimeout(TIMEOUT_MS, () => done(undefined));
    socket.once('error', () => done(undefined));
    socket.once('secureConnect', () => {
      const fault = socket.authorizationError as unknown;
      done(fault ? describe(String(fault), socket.getPeerCertificate(), host) : undefined);
    });
  });
}

function describe(fault: string, certificate: PeerCertificate, host: string): string {
  switch (fault) {
    case 'CERT_HAS_EXPIRED':
      return `the certificate expired on ${certificate.valid_to}`;
    case 'CERT_NOT_YET_VALID':
      return `the certificate is valid from ${certificate.valid_from} on`;
    case 'ERR_TLS_CERT_ALTNAME_INVALID':
      return `the certificate is for ${certificate.subjectaltname ?? 'no host'}, not for ${host}`;
    case 'DEPTH_ZERO_SELF_SIGNED_CERT':
    case 'SELF_SIGNED_CERT_IN_CHAIN':
    case 'UNABLE_TO_GET_ISSUER_CERT':
    case 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY':
    case 'UNABLE_TO_VERIFY_LEAF_SIGNATURE':
      return 'the certificate was issued by an authority that is not trusted here';
    default:
      return fault;
  }
}
