/** Tests the command line: flags before and behind arguments, and a sentence for each mistake. */
import { expect, test } from 'vitest';
import { COMMANDS } from '../../../../src/core/kubectl/commands.ts';
import { describeCommand, describePlugin } from '../../../../src/core/kubectl/help.ts';
import { parseCommandLine } from '../../../../src/core/kubectl/parse.ts';
import { type Command, UsageError } from '../../../../src/core/kubectl/shell/call.ts';
import { findKindByPrefix, parseReference } from '../../../../src/core/kubectl/shell/objects.ts';

const parse = (name: string, ...words: string[]) => parseCommandLine(COMMANDS[name] as Command, words);

test('flags may stand anywhere, short or long', () => {
  expect(parse('status', 'a', '-Aw', '-n', 'tv', '--output=wide', 'b')).toEqual({
    args: ['a', 'b'],
    flags: { 'all-namespaces': true, watch: true, namespace: 'tv', output: 'wide' },
  });
});

test('a dry run needs no value, and takes those of kubectl', () => {
  expect(parse('stop', 'a', '--dry-run').flags).toEqual({ 'dry-run': 'server' });
  expect(parse('stop', '--dry-run', 'a')).toEqual({ args: ['a'], flags: { 'dry-run': 'server' } });
  expect(parse('stop', 'a', '--dry-run=client').flags).toEqual({ 'dry-run': 'client' });
  expect(() => parse('stop', 'a', '--dry-run=maybe')).toThrow(UsageError);
});

test.each([
  [['status', '--colour'], /Unknown option '--colour'\./],
  [['status', '-o', 'xml'], /--output is one of table, wide, json, yaml, not "xml"\./],
  [['status', '-n'], /argument missing/],
  [['skip'], /It needs NAME\./],
  [['skip', 'a', 'b'], /not "b" too/],
  [['version', 'x'], /It takes no argument\./],
])('%j is refused', ([name = '', ...words], message) => {
  expect(() => parse(name, ...words)).toThrow(UsageError);
  expect(() => parse(name, ...words)).toThrow(message);
});

test('every command and flag is in the help, which fits a terminal', () => {
  for (const [name, command] of Object.entries(COMMANDS)) {
    const text = describeCommand(name, command);
    expect(describePlugin()).toContain(`  ${name} `);
    for (const flag of Object.keys(command.flags)) expect(text).toContain(`--${flag}`);
    for (const line of `${text}${describePlugin()}`.split('\n')) expect(line.length, line).toBeLessThanOrEqual(110);
    expect(parse(name, '--help').flags.help).toBe(true);
  }
});

test('names may carry their kind, as kubectl writes them', () => {
  expect(parseReference('bunny', 'stream')).toEqual({ kind: 'stream', name: 'bunny' });
  expect(parseReference('loopstream.loopstream.dev/bunny', 'stream')).toEqual({ kind: 'stream', name: 'bunny' });
  expect(parseReference('upl/film', 'stream', ['stream', 'upload'])).toEqual({ kind: 'upload', name: 'film' });
  expect(parseReference('playlist/evening', 'stream', ['stream', 'playlist'])).toEqual({
    kind: 'playlist',
    name: 'evening',
  });
  expect(['str-1', 'upl-1', 'pls-1', 'dst-1', 'upload', 'tv-upl-1'].map(findKindByPrefix)).toEqual([
    ...['stream', 'upload', 'playlist', 'destination'],
    ...[undefined, undefined],
  ]);
  for (const wrong of ['pod/x', 'upl/film', 'loop/', 'loop/a/b'])
    expect(() => parseReference(wrong, 'stream')).toThrow(UsageError);
});
