import { Value } from 'typebox/value';
import { expect, test } from 'vitest';
import {
  buildCreate,
  findChanges,
  findMistakes,
  parseHeaders,
  readValues,
  toFormErrors,
} from '../../../../../src/dashboard/features/notifications/formValues.ts';
import { exampleEndpoint } from '../../../../../src/service/domain/endpoints/operations.ts';
import {
  DEFAULT_RULE,
  ENDPOINT_KINDS,
  type Endpoint,
  EndpointCreate,
  EndpointUpdate,
} from '../../../../../src/service/domain/endpoints/record.ts';

const fresh = { ...readValues(undefined, 'ada@example.com'), url: ' <https://example.com/hooks> ' };

test.each(ENDPOINT_KINDS)('a new endpoint of the kind %s is as the API takes it', (kind) => {
  const created = buildCreate({ ...fresh, kind });
  expect(Value.Check(EndpointCreate, created), JSON.stringify(created)).toBe(true);
  expect(created).toMatchObject(
    kind === 'mail' ? { address: 'ada@example.com' } : { url: 'https://example.com/hooks' },
  );
  // Each of these belongs to some kinds alone.
  expect('rule' in created).toBe(kind !== 'webhook');
  expect('template' in created).toBe(kind === 'template');
  expect('address' in created).toBe(kind === 'mail');
});

const mailbox: Endpoint = { ...exampleEndpoint, kind: 'mail', target: 'ada@example.com', rule: { ...DEFAULT_RULE } };

test.each([
  ['a webhook', exampleEndpoint],
  ['a mailbox', mailbox],
  ['a request of one’s own', { ...exampleEndpoint, kind: 'template', types: [], rule: { ...DEFAULT_RULE } }],
] satisfies [string, Endpoint][])('saving %s without a change sends nothing', (_name, before) => {
  expect(findChanges(readValues(before, 'somebody@example.com'), before)).toEqual({});
});

test('what was changed is sent, and null stands for all', () => {
  const values = readValues(mailbox, '');
  const changed = findChanges(
    { ...values, name: 'Night', address: 'bob@example.com', choosesTypes: false, offAirSeconds: 0 },
    mailbox,
  );
  expect(changed).toEqual({ name: 'Night', address: 'bob@example.com', types: [], rule: { offAirSeconds: 0 } });
  expect(Value.Check(EndpointUpdate, changed)).toBe(true);
});

test('an address is asked for where none is known, and headers are lines', () => {
  expect(findMistakes(true).url('', { ...fresh, kind: 'webhook' })).toBe('Enter the address.');
  expect(findMistakes(false).url('', { ...fresh, kind: 'webhook' })).toBeNull();
  expect(findMistakes(true).url('javascript:alert(1)', { ...fresh, kind: 'slack' })).toContain('https://');
  expect(parseHeaders('Title: {{title}}\n\nAuthorization:Bearer a:b\r\n')).toEqual([
    { name: 'Title', value: '{{title}}' },
    { name: 'Authorization', value: 'Bearer a:b' },
  ]);
  expect(parseHeaders('no header')).toBeUndefined();
  expect(parseHeaders('two words: value')).toBeUndefined();
});

test('a complaint about a part of a request stands at the field of that part', () => {
  expect(toFormErrors({ 'template/headers': 'Is wrong.', url: 'Is wrong too.' })).toEqual({
    headers: 'Is wrong.',
    url: 'Is wrong too.',
  });
});

test('an endpoint for people does not ask for items that start, whatever was chosen while it was a webhook', () => {
  const chosen = { ...fresh, choosesTypes: true, types: ['stream.live', 'item.started'] };
  expect(buildCreate({ ...chosen, kind: 'webhook' }).types).toEqual(['stream.live', 'item.started']);
  expect(buildCreate({ ...chosen, kind: 'slack' }).types).toEqual(['stream.live']);
});
