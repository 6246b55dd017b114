/** Tests that a receiver trusts what loopstream has sent, and nothing else. */
import { Webhook } from 'standardwebhooks';
import { describe, expect, test } from 'vitest';
import { verifyWebhook, WebhookError } from '../../../../src/service/client/index.ts';
import { deriveSecret, signHeaders } from '../../../../src/service/domain/endpoints/signing.ts';

const secret = deriveSecret('a secret of this installation', 'end-1', 1);
const body = JSON.stringify({ type: 'stream.off_air', id: 'evt_1' });
const sign = (more: { at?: Date; secrets?: string[] } = {}) =>
  signHeaders(more.secrets ?? [secret], { id: 'evt_1', at: more.at ?? new Date(), body });
const findCode = (work: () => unknown): string => {
  try {
    work();
  } catch (error) {
    return error instanceof WebhookError ? error.code : String(error);
  }
  return 'trusted';
};
const minutesAgo = (minutes: number) => new Date(Date.now() - minutes * 60_000);

describe('a request', () => {
  test('is trusted with the headers of fetch, of Node and in any case, also while its secret is replaced', () => {
    const headers = sign();
    const upper = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toUpperCase(), [value]]));
    for (const given of [headers, new Headers(headers), upper])
      expect(verifyWebhook(body, given, secret)).toEqual(JSON.parse(body));
    const next = deriveSecret('a secret of this installation', 'end-1', 2);
    for (const one of [secret, next])
      expect(findCode(() => verifyWebhook(body, sign({ secrets: [next, secret] }), one))).toBe('trusted');
    expect(new Webhook(secret).verify(body, headers)).toEqual(JSON.parse(body));
  });

  test.each([
    ['of another secret', 'signature_wrong', () => verifyWebhook(body, sign(), deriveSecret('other', 'end-1', 1))],
    ['with another body', 'signature_wrong', () => verifyWebhook(`${body} `, sign(), secret)],
    ['with another id', 'signature_wrong', () => verifyWebhook(body, { ...sign(), 'webhook-id': 'evt_2' }, secret)],
    ['without headers', 'headers_missing', () => verifyWebhook(body, {}, secret)],
    ['of ten minutes ago', 'timestamp_off', () => verifyWebhook(body, sign({ at: minutesAgo(10) }), secret)],
    ['of ten minutes later', 'timestamp_off', () => verifyWebhook(body, sign({ at: minutesAgo(-10) }), secret)],
    ['of no time', 'timestamp_off', () => verifyWebhook(body, { ...sign(), 'webhook-timestamp': 'soon' }, secret)],
  ])('%s is not', (_name, code, work) => {
    expect(findCode(work)).toBe(code);
  });
});
