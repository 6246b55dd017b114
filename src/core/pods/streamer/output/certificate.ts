/** Explains a fault of a server's certificate to people. */
import type { TLSSocket } from 'node:tls';

/** Undefined when a trusted authority issued the certificate for this host. */
export function certificateFault(socket: TLSSocket, host: string): string | undefined {
  if (socket.authorized) return undefined;
  const fault = String(socket.authorizationError as unknown);
  const certificate = socket.getPeerCertificate();
  switch (fault) {
    case 'CERT_HAS_EXPIRED':
      return `the certificate expired on ${certificate.valid_to}`;
    case 'CERT_NOT_YET_VALID':
      return `the certificate is not valid before ${certificate.valid_from}`;
    case 'ERR_TLS_CERT_ALTNAME_INVALID':
      return `the certificate is for ${certificate.subjectaltname ?? 'no host'}, not for ${host}`;
    case 'DEPTH_ZERO_SELF_SIGNED_CERT':
    case 'SELF_SIGNED_CERT_IN_CHAIN':
    case 'UNABLE_TO_GET_ISSUER_CERT':
    case 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY':
    case 'UNABLE_TO_VERIFY_LEAF_SIGNATURE':
      return 'the certificate was issued by an authority that is not trusted';
    default:
      return fault;
  }
}
