/** Tests the last words of a pod: its warnings, and which destinations do not accept the stream now. */
import { expect, test } from 'vitest';
import { findRefusals, parseLog } from '../../../../../src/core/kubectl/diagnose/words.ts';

const line = (level: number, msg: string, more = {}) =>
  JSON.stringify({ level, time: '2026-01-01T00:00:00.123Z', role: 'streamer', ...more, msg });
const refused = (name: string, code = 'publish_rejected') =>
  line(40, 'The destination rejected the stream.', { destination: name, code });
const accepted = (name: string, more = { event: 'destination_accepted' }) =>
  line(30, 'in whatever words', { destination: name, ...more });

test('warnings and errors are kept, and a crash that is no JSON', () => {
  const words = parseLog(
    [line(30, 'on air'), line(50, 'no item can be played'), 'FATAL ERROR: heap out of memory', '', 'null'].join('\n'),
  );
  expect(words.map(({ message }) => message)).toEqual(['no item can be played', 'FATAL ERROR: heap out of memory']);
});

test('a destination that accepts again is no refusal', () => {
  const words = parseLog([refused('a'), refused('b'), accepted('a'), refused('c', 'dns_failed')].join('\n'));
  expect(findRefusals(words).map(({ destination, code }) => [destination, code])).toEqual([
    ['b', 'publish_rejected'],
    ['c', 'dns_failed'],
  ]);
});

test('a pod of a release without events says the same by its level, and no other event is an acceptance', () => {
  const ofBefore =
    '{"level":30,"time":"2026-01-01T00:00:00.123Z","role":"streamer","destination":"a","msg":"the destination accepts the stream"}';
  expect(findRefusals(parseLog([refused('a'), ofBefore].join('\n')))).toEqual([]);
  const renewed = accepted('a', { event: 'connection_renewed' });
  expect(findRefusals(parseLog([refused('a'), renewed].join('\n')))).toHaveLength(1);
});
