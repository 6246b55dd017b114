import { expect, test } from 'vitest';
import {
  describeEvent,
  EVENT_GROUPS,
  type EventGroup,
  findPage,
  listGroupTypes,
} from '../../../../../src/dashboard/features/notifications/eventText.ts';
import { exampleEvent } from '../../../../../src/service/domain/events/operations.ts';
import {
  type AccountEvent,
  EVENT_OBJECTS,
  EVENT_TYPE_NAMES,
  RECORDED_TYPES,
} from '../../../../../src/service/domain/events/record.ts';
import { isPagePath } from '../../../../../src/service/lib/page-paths.ts';

const { data } = exampleEvent;

test('each event is a sentence with the name as people gave it', () => {
  expect(describeEvent(exampleEvent)).toEqual({ title: '“Lofi radio” is off air', tone: 'bad', fact: undefined });
  for (const type of EVENT_TYPE_NAMES) expect(describeEvent({ type, data }).title).not.toMatch(/[._]/);
  const type = 'stream.not_known_yet' as AccountEvent['type'];
  expect(describeEvent({ type, data }).title).toBe('“Lofi radio”: Stream not known yet');
});

test('a fact that the title lacks is told', () => {
  const tell = (own: Partial<typeof data>) =>
    describeEvent({ type: 'stream.recovered', data: { ...data, ...own } }).fact;
  expect(tell({ offAirSeconds: 195 })).toBe('It was off air for 3 minutes.');
  expect(tell({ version: 4 })).toBe('That is version 4.');
  expect(tell({ hoursLeft: 1 })).toBe('It lasts for less than an hour at the current rate.');
});

test.each(EVENT_OBJECTS)('an event of the object %s leads to a page', (object) => {
  const { to = '', params } = findPage({ object, objectID: 'one' });
  expect(isPagePath(to.replace('$id', (params as { id: string } | undefined)?.id ?? ''))).toBe(true);
});

test('each type that is recorded is in one group', () => {
  const groups = (Object.keys(EVENT_GROUPS) as EventGroup[]).filter((group) => group !== 'all');
  expect(listGroupTypes('all')).toEqual(RECORDED_TYPES);
  expect(groups.flatMap(listGroupTypes).toSorted()).toEqual(RECORDED_TYPES.toSorted());
});
