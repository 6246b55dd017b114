import { expect, test } from 'vitest';
import { layOut } from '../../../../../src/core/kubectl/shell/table.ts';
import {
  buildColumns,
  countResting,
  describeState,
  type StreamState,
} from '../../../../../src/core/kubectl/streams/rows.ts';
import type { LoopStream } from '../../../../../src/core/resources/stream/resource.ts';
import type { Phase } from '../../../../../src/core/resources/stream/spec.ts';

const NOW = new Date('2030-01-01T00:00:00Z');
const stream = (displayName?: string): LoopStream =>
  ({
    metadata: { name: 'str-01m8jesvkcbh7kryr6578h84ny', namespace: 'tv' },
    spec: {
      displayName,
      quality: '720p',
      framerate: 30,
      destinationNames: ['dst-01m8je2ns0000000000000000'],
      uploadName: 'u',
    },
    status: { phase: 'live', canStart: true, destinationSummary: 'My channel' },
  }) as unknown as LoopStream;
const lay = (rows: StreamState[], width?: number) => {
  const columns = buildColumns({
    allNamespaces: false,
    titled: true,
    watched: rows.some(({ onAirForViewers }) => onAirForViewers !== null),
    wide: false,
    now: () => NOW,
    paint: (_, text) => text,
  });
  const { header, line } = layOut(columns, rows, width);
  return [header, ...rows.map(line)].join('\n');
};

test('a stream and its destinations are shown by the names that people gave them', () => {
  const text = lay([describeState(stream('Evenings')), describeState(stream())]);
  const [header, titled, untitled] = text.split('\n').map((line) => line.split(/ {3,}/));
  expect(header?.slice(0, 3)).toEqual(['NAME', 'TITLE', 'STATE']);
  expect(titled?.slice(0, 3)).toEqual(['str-01m8jesvkcbh7kryr6578h84ny', 'Evenings', 'live']);
  expect(untitled?.[1]).toBe('-');
  expect(text).toContain('My channel');
  expect(describeState(stream()).destinations).toEqual(['dst-01m8je2ns0000000000000000']);
});

test('a narrow terminal breaks texts and cuts none', () => {
  const why = 'It was not started. It could not start: No destination of the stream exists.';
  const text = lay([{ ...describeState(stream('A very long title of a stream that goes on and on')), why }], 80);
  for (const word of [...why.split(' '), 'str-01m8jesvkcbh7kryr6578h84ny', 'title', 'on']) expect(text).toContain(word);
  expect(text).not.toContain('…');
});

test('streams that nobody wants on air are counted by their state', () => {
  const rows = (...phases: (Phase | null)[]) => phases.map((phase) => ({ phase }));
  expect(countResting(rows('idle', 'live', 'idle', 'stopped', 'ended', null))).toBe(
    '2 idle, 1 stopped, 1 ended; --all lists them',
  );
  expect(countResting(rows('live', 'failed', 'waiting', 'scheduled', 'stopping', null))).toBeUndefined();
});

test('a stream says whether viewers see it, where that is asked', () => {
  const one = stream();
  const seen = (status: string) =>
    describeState({ ...one, status: { ...one.status, conditions: [{ type: 'OnAirForViewers', status }] } } as never);
  expect(lay([describeState(one)])).not.toContain('VIEWERS');
  const [header, ...lines] = lay([seen('True'), seen('False'), seen('Unknown'), describeState(one)]).split('\n');
  const column = header?.split(/ {3,}/).indexOf('VIEWERS') ?? -1;
  expect(lines.map((line) => line.split(/ {3,}/)[column])).toEqual(['see it', 'do not see it', 'unknown', '-']);
  expect(seen('False').onAirForViewers).toBe('False');
});
