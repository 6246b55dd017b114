import { expect, test } from 'vitest';
import { DELIVERY_ERRORS } from '../../../../../src/core/lib/codes/deliveries.ts';
import {
  describeChoice,
  describeState,
  findAnswerFix,
  nameType,
} from '../../../../../src/dashboard/features/notifications/text.ts';
import { EVENT_TYPE_NAMES } from '../../../../../src/service/domain/events/record.ts';

const rule = { offAirSeconds: 30, flappingCount: 3, flappingSeconds: 600 };

test('an endpoint says in a line what it is told', () => {
  expect(describeChoice({ kind: 'mail', types: [], objectIDs: [], rule })).toBe(
    'Important events, after 30 seconds off air',
  );
  expect(describeChoice({ kind: 'webhook', types: ['stream.live'], objectIDs: ['a', 'b'], rule: null })).toBe(
    '1 kind of event of 2 streams',
  );
  expect(describeChoice({ kind: 'mail', types: [], objectIDs: [], rule: { ...rule, offAirSeconds: 0 } })).toContain(
    'as soon as',
  );
});

test('a state where nothing is sent says why', () => {
  expect(describeState({ state: 'active', disabledCode: null }).meaning).toBeUndefined();
  expect(describeState({ state: 'unverified', disabledCode: null }).meaning).toContain('confirmed');
  expect(describeState({ state: 'disabled', disabledCode: 'gone' }).meaning).toContain('410');
  expect(describeState({ state: 'disabled', disabledCode: 'by_request' }).meaning).toContain('off');
});

test('types and the ways on are in words of the page, without names of fields', () => {
  for (const type of EVENT_TYPE_NAMES) expect(nameType(type)).not.toMatch(/[._]/);
  expect(nameType('stream.not_known_yet')).toBe('Stream not known yet');
  for (const [code, { fix }] of Object.entries(DELIVERY_ERRORS))
    expect(findAnswerFix({ code, fix })).not.toContain('`');
});
