/** Checks webhooks as they arrive at a receiver (https://www.standardwebhooks.com). */
import { Webhook, WebhookVerificationError } from 'standardwebhooks';
import type { AccountEvent } from '../domain/events/record.ts';

/** The clocks of sender and receiver may differ by so much. */
const TOLERANCE_SECONDS = 300;

/** Messages that are no events: the code that confirms an endpoint, and a test. */
export type EndpointMessage =
  | { type: 'endpoint.verification'; timestamp: string; data: { endpointID: string; code: string } }
  | { type: 'endpoint.test'; timestamp: string; data: { endpointID: string } };
export type WebhookMessage = AccountEvent | EndpointMessage;

/** A request that is not to be trusted. */
export class WebhookError extends Error {
  override readonly name = 'WebhookError';
  readonly code: 'headers_missing' | 'timestamp_off' | 'signature_wrong';
  constructor(code: WebhookError['code'], message: string) {
    super(message);
    this.code = code;
  }
}

/** Headers of a request, as fetch, Node and frameworks have them. */
export type WebhookHeaders =
  | { get(name: string): string | null }
  | Readonly<Record<string, string | readonly string[] | undefined>>;

const isFetched = (headers: WebhookHeaders): headers is { get(name: string): string | null } =>
  typeof headers.get === 'function';

function readHeader(headers: WebhookHeaders, name: string): string {
  if (isFetched(headers)) return headers.get(name) ?? '';
  const found = Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1];
  return typeof found === 'string' ? found : (found?.[0] ?? '');
}

/**
 * Returns the message of a request, once its signature is checked with the endpoint's secret (`client.endpoints.secret`). `body` is
 * the text as it arrived: parsed and written again, it is another one. Throws WebhookError. The same message may come again: drop an
 * `id` that you know.
 */
export function verifyWebhook(body: string, headers: WebhookHeaders, secret: string): WebhookMessage {
  const names = ['webhook-id', 'webhook-timestamp', 'webhook-signature'] as const;
  const given = Object.fromEntries(names.map((name) => [name, readHeader(headers, name)]));
  const missing = names.filter((name) => !given[name]);
  if (missing.length > 0)
    throw new WebhookError('headers_missing', `The request lacks the headers of a webhook: ${missing.join(', ')}.`);
  const offSeconds = Date.now() / 1000 - Number(given['webhook-timestamp']);
  if (!(Math.abs(offSeconds) <= TOLERANCE_SECONDS))
    throw new WebhookError(
      'timestamp_off',
      `The request is of a time that is ${Math.round(Math.abs(offSeconds) / 60)} minutes ${offSeconds > 0 ? 'before' : 'after'} the clock of this ` +
        'machine. Either it is sent again by a stranger, or one of the clocks is wrong: let them follow a time server (NTP).',
    );
  try {
    return new Webhook(secret).verify(body, given as Record<string, string>) as WebhookMessage;
  } catch (error) {
    if (!(error instanceof WebhookVerificationError)) throw error;
    throw new WebhookError(
      'signature_wrong',
      'The signature does not fit. Compare the secret with that of the endpoint, and give the body as it arrived.',
    );
  }
}
