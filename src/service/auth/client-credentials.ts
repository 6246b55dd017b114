/**
 * Reads the credentials of a client from a request to the token or revocation endpoint (RFC 6749, section 2.3). Pure:
 * no I/O, no clock.
 */

export interface ClientCredentials {
  clientId: string;
  secret: string | undefined;
  method: 'none' | 'client_secret_basic' | 'client_secret_post';
}

/** RFC 6749, section 2.3.1: both parts are form-encoded within the Basic scheme. */
function readBasic(authorization: string): ClientCredentials | undefined {
  const encoded = /^basic +([\w+/=-]+)$/i.exec(authorization)?.[1];
  const pair = encoded === undefined ? '' : Buffer.from(encoded, 'base64').toString();
  const colon = pair.indexOf(':');
  if (colon <= 0) return undefined;
  try {
    const [clientId = '', secret = ''] = [pair.slice(0, colon), pair.slice(colon + 1)].map((part) =>
      decodeURIComponent(part.replaceAll('+', ' ')),
    );
    return { clientId, secret, method: 'client_secret_basic' };
  } catch {
    return undefined;
  }
}

/** Undefined where the request names no client, names it twice, or is not to be understood. */
export function readClientCredentials(
  fields: URLSearchParams,
  authorization: string | undefined,
): ClientCredentials | undefined {
  const [ids, secrets] = [fields.getAll('client_id').filter(Boolean), fields.getAll('client_secret').filter(Boolean)];
  if (ids.length > 1 || secrets.length > 1 || fields.has('client_assertion')) return undefined;
  const [clientId, secret] = [ids[0], secrets[0]];
  if (authorization) {
    const basic = readBasic(authorization);
    const isOne = secret === undefined && (clientId === undefined || clientId === basic?.clientId);
    return isOne ? basic : undefined;
  }
  if (clientId === undefined) return undefined;
  return { clientId, secret, method: secret === undefined ? 'none' : 'client_secret_post' };
}
