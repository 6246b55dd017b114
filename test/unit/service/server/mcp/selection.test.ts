import { describe, expect, test } from 'vitest';
import { isSelected, readSelection } from '../../../../../src/service/server/mcp/selection.ts';
import { describedTools } from '../../../../../src/service/server/mcp/tools.ts';

const KNOWN = ['streams', 'uploads'];
const tools = [...describedTools().values()];

describe('the query of an address', () => {
  test.each([
    [{}, undefined, false],
    [{ toolsets: 'streams' }, ['streams'], false],
    [{ toolsets: 'streams, uploads' }, ['streams', 'uploads'], false],
    [{ toolsets: ['streams', 'uploads'], readOnly: 'true' }, ['streams', 'uploads'], true],
    [{ readOnly: 'false', session: 'x' }, undefined, false],
  ])('%j is read', (query, toolsets, readOnly) => {
    const read = readSelection(query, KNOWN);
    expect([read.toolsets && [...read.toolsets], read.readOnly]).toEqual([toolsets, readOnly]);
  });

  test.each([
    [{ toolsets: 'streams,nonsense' }, '/toolsets', 'streams, uploads'],
    [{ toolsets: '' }, '/toolsets', 'streams, uploads'],
    [{ readOnly: 'yes' }, '/readOnly', 'true or false'],
    [{ readOnly: '' }, '/readOnly', 'true or false'],
  ])('%j is refused with what is allowed', (query, path, allowed) => {
    expect(() => readSelection(query, KNOWN)).toThrow(
      expect.objectContaining({
        code: 'validation_failed',
        extras: { errors: [{ path, message: expect.stringContaining(allowed) }] },
      }),
    );
  });
});

test('read-only mode has no tool that changes or deletes anything', () => {
  const shown = tools.filter((tool) => isSelected({ toolsets: undefined, readOnly: true }, tool));
  expect(shown.length).toBeGreaterThan(20);
  for (const { name, listed } of shown)
    expect([name, listed.annotations]).toMatchObject([name, { readOnlyHint: true }]);
  expect(shown.map(({ name }) => name).filter((name) => !/^(get|list|diagnose|diff|watch)_/.test(name))).toEqual([]);
});

test('every tool is in one toolset, which the guide names', () => {
  const toolsets = [
    'account',
    'billing',
    'crypto',
    'destinations',
    'endpoints',
    'events',
    'playlists',
    'scenes',
    'streams',
    'uploads',
  ];
  expect([...new Set(tools.map(({ toolset }) => toolset))].sort()).toEqual(toolsets);
});
