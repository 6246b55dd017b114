import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { findAmbiguity } from '../../../../tools/expressions/ambiguity.ts';
import { PROJECT_ROOT } from '../../../../tools/process/root.ts';
import { tempDir } from '../../../kit/temp-dir.ts';

describe('the time of an expression is', () => {
  test.each([
    [/^(?:<!--[\s\S]*?-->\s*)*<x/],
    [/(a*)*b/],
    [/^(a|a)*$/],
    [/^(a+)+$/],
    [/^(?:\w+\s?)+:/],
    [/^(?:a|b|ab)*c/],
  ])('exponential: %s', (expression) => {
    expect(findAmbiguity(expression.source, expression.flags)).toBe('exponential');
  });

  test.each([
    // A search begins anew at each sign.
    [/=+$/],
    [/<[^>]*>/],
    [/\s+(?=x)/],
    [/^\s*\s*$/],
    [/^[^/]*[^?]*x/],
    [/^(?=.*a.*b)/s],
    // A line feed keeps this one from its end.
    [/#.*$/],
  ])('polynomial: %s', (expression) => {
    expect(findAmbiguity(expression.source, expression.flags)).toBe('polynomial');
  });

  test.each([
    [/^\s*(\S+\s*)?$/],
    [/<[^<>]*>/],
    [/\.\d+Z$/],
    [/^[^:]+:[^?]*(.*)$/s],
    [/^(?=.{1,253}$)[a-z]([a-z-]{0,61}[a-z])?(\.[a-z]([a-z-]{0,61}[a-z])?)*$/],
    [/^(?:\s|<!--[\s\S]*?-->)*/],
    [/\d{1,3}x/],
    [/=+$/y],
    [/[\p{L}--[a-z]]+/v],
  ])('linear: %s', (expression) => {
    expect(findAmbiguity(expression.source, expression.flags)).toBeUndefined();
  });
});

describe('the check', () => {
  const check = (text: string) => {
    const dir = tempDir();
    writeFileSync(join(dir, 'file.ts'), text);
    const program = join(PROJECT_ROOT, 'tools/expressions/check.ts');
    const { status, stderr } = spawnSync(process.execPath, [program, join(dir, 'file.ts')], { encoding: 'utf8' });
    return { status, stderr };
  };

  test.each([
    ['a literal', 'export const END = /=+$/;'],
    ['one that is made', "const SLASHES = '/+';\nexport const END = new RegExp([SLASHES, '$'].join(''));"],
    ['a pattern of a schema', "export const Key = { type: 'string', pattern: '^\\\\s*\\\\s*$' };"],
  ])('fails on %s, with its line', (_, text) => {
    expect(check(text)).toMatchObject({ status: 1, stderr: expect.stringMatching(/file\.ts:\d: .* takes polynomial/) });
  });

  test('fails on an expression that is not constant, and takes a reason for it', () => {
    const text = 'export const find = (name: string) => new RegExp(name);';
    expect(check(text).status).toBe(1);
    expect(check(`// linear-time: the names are our own.\n${text}`)).toEqual({ status: 0, stderr: '' });
  });

  test('fails on a reason that nothing needs any more', () => {
    expect(check('// linear-time: it is short.\nexport const A = /a/;')).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('explains no expression'),
    });
  });
});
