/**
 * Attacks through messages to people: nobody is written to who has not agreed, whichever accounts ask for it, and no template reaches what
 * its user could not reach. The strangers share one local system, whose mailbox shows every mail.
 */
import { beforeAll, describe, expect, test } from 'vitest';
import type { Endpoint } from '../../src/service/client/index.ts';
import { openMailbox } from '../kit/make/account.ts';
import { makeStrangers, type Stranger } from '../kit/system/strangers.ts';

let mallory: Stranger;
let accomplice: Stranger;

beforeAll(async () => {
  ({ mallory, accomplice } = await makeStrangers());
});

/** Nobody has an account with it. */
const VICTIM = `victim-${process.pid}@example.com`;
const list = (stranger: Stranger) => stranger.call('GET', '/endpoints?limit=100');

describe('a mailbox of somebody else', () => {
  test('gets three codes in an hour at most, from all accounts and spellings together, and never a message', async () => {
    const mails = openMailbox(mallory.facts.mailUrl ?? '');
    const spellings = [VICTIM, VICTIM.toUpperCase(), VICTIM.replace('@', '+a@'), VICTIM.replace('@', '+b@')];
    for (const stranger of [mallory, accomplice])
      for (const address of spellings) {
        const { status, body } = await stranger.call('POST', '/endpoints', { kind: 'mail', address });
        expect([status, (body as Endpoint).state]).toEqual([201, 'unverified']);
        const again = await stranger.call('POST', `/endpoints/${body.id}/verify`, {});
        expect([200, 429]).toContain(again.status);
        expect((await stranger.call('POST', `/endpoints/${body.id}/test`)).body.code).toBe('endpoint_not_active');
      }
    // A mail has the domain in lower case.
    const written = new Set(spellings.map((address) => address.replace(/@.*/, '@example.com')));
    const counts = await Promise.all([...written].map((address) => mails.count(address)));
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(3);
  });

  test.each(['"NAME"', '"N\\AME"', 'NAME(a)', 'a<NAME', 'b,NAME', 'NAME\u0000'])(
    'has no further spellings, such as %s, with a budget for each',
    async (spelling) => {
      const address = VICTIM.replace(/.*(?=@)/, spelling);
      const { status, body } = await mallory.call('POST', '/endpoints', { kind: 'mail', address });
      expect([status, body.code]).toEqual([422, 'validation_failed']);
    },
  );

  test('cannot be confirmed by guessing its code', async () => {
    const { body } = await mallory.call('POST', '/endpoints', { kind: 'mail', address: `guessed-${VICTIM}` });
    for (let guess = 0; guess < 20; guess += 1) {
      const code = String(guess).padStart(8, '0');
      expect((await mallory.call('POST', `/endpoints/${body.id}/verify`, { code })).body.code).toBe(
        'endpoint_code_wrong',
      );
    }
    const { body: found } = await list(mallory);
    expect(found.data.find(({ id }: Endpoint) => id === body.id)).toMatchObject({ state: 'unverified' });
  });
});

describe('a template', () => {
  const create = (more: object) => mallory.call('POST', '/endpoints', { kind: 'template', ...more });

  test.each([
    ['lets a name choose the receiver', { url: 'https://{{name}}/', template: { body: '{{text}}' } }],
    ['lets a name choose the port', { url: 'https://example.com:{{name}}/', template: { body: '{{text}}' } }],
    ['lets a name choose the user', { url: 'https://{{name}}@example.com/', template: { body: '{{text}}' } }],
    [
      'names another host',
      {
        url: 'https://example.com/',
        template: { body: '{{text}}', headers: [{ name: 'Host', value: 'victim.example' }] },
      },
    ],
    [
      'begins another request',
      {
        url: 'https://example.com/',
        template: { body: '{{text}}', headers: [{ name: 'Content-Length', value: '0' }] },
      },
    ],
    [
      'splits a header',
      { url: 'https://example.com/', template: { body: '{{text}}', headers: [{ name: 'a', value: 'b\r\nc: d' }] } },
    ],
    [
      'looks like a signed webhook',
      {
        url: 'https://example.com/',
        template: { body: '{{text}}', headers: [{ name: 'webhook-signature', value: 'v1,a' }] },
      },
    ],
    ['is of another scheme', { url: 'file:///etc/passwd', template: { body: '{{text}}' } }],
  ])('that %s is refused with the field and the remedy', async (_, more) => {
    const { status, body } = await create(more);
    expect([status, body.code]).toEqual([422, 'validation_failed']);
    expect(JSON.stringify(body)).toMatch(/\/(url|template)/);
  });

  test('has to be confirmed again once its body names another receiver', async () => {
    const to = (chat: string) => ({ body: `{"chat_id": "${chat}", "text": "{{text}}"}` });
    const made = { kind: 'template', url: 'https://example.invalid/send', template: to('own') };
    const { body } = await accomplice.call('POST', '/endpoints', made);
    const changed = await accomplice.call('PATCH', `/endpoints/${body.id}`, { template: to('victim') });
    expect(changed.body).toMatchObject({ state: 'unverified' });
  });
});
