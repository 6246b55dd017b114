/**
 * Signs requests to endpoints as Standard Webhooks has it (https://www.standardwebhooks.com). Secrets are derived, so the database and
 * its backups hold none. While a secret is replaced, the previous one signs as well.
 */
import { createHmac } from 'node:crypto';
import { Webhook } from 'standardwebhooks';

/** `secret`: of this installation. Returns `whsec_…`, for ever the same for an endpoint and a version. */
export const deriveSecret = (secret: string, endpointId: string, version: number): string =>
  `whsec_${createHmac('sha256', secret).update(`endpoint ${endpointId} ${version}`).digest('base64')}`;

export interface Signed {
  id: string;
  /** Time of the attempt. */
  at: Date;
  body: string;
}

/** Returns the headers of a request, signed with each of the secrets, the newest first. */
export const signHeaders = (secrets: readonly string[], { id, at, body }: Signed): Record<string, string> => ({
  'webhook-id': id,
  'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
  'webhook-signature': secrets.map((secret) => new Webhook(secret).sign(id, at, body)).join(' '),
});
