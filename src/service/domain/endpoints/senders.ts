/** Sends a message to an endpoint, in the way of its kind. */

import type { DeliveryAttempt } from './outcome.ts';
import type { Post } from './post.ts';
import type { EndpointKind } from './record.ts';
import { deriveSecret, signHeaders } from './signing.ts';
import type { EndpointRow } from './store.ts';

export interface Message {
  id: string;
  /** Time of the attempt, by the database's clock. */
  at: Date;
  /** An event, or what people are told. */
  body: unknown;
}

/** Never rejects. */
export type EndpointSender = (
  endpoint: EndpointRow,
  message: Message,
  signal?: AbortSignal,
) => Promise<DeliveryAttempt>;
export type EndpointSenders = Readonly<Partial<Record<EndpointKind, EndpointSender>>>;

/** The secrets that requests are signed with now, the newest first. */
export function listSecrets(
  secret: string,
  { id, secretVersion, previousSecretUntil }: EndpointRow,
  now: Date,
): string[] {
  const isOverlap = previousSecretUntil !== null && previousSecretUntil > now;
  const versions = isOverlap ? [secretVersion, secretVersion - 1] : [secretVersion];
  return versions.map((version) => deriveSecret(secret, id, version));
}

/** Events go out as JSON, signed. `secret`: of this installation. */
export const webhookSender =
  (post: Post, secret: string): EndpointSender =>
  (endpoint, { id, at, body }, signal) => {
    const text = JSON.stringify(body);
    const headers = {
      'content-type': 'application/json',
      'user-agent': 'loopstream-webhooks/1',
      ...signHeaders(listSecrets(secret, endpoint, at), { id, at, body: text }),
    };
    return post({ url: endpoint.target, method: 'POST', headers, body: text }, signal);
  };
