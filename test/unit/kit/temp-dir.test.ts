import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { tempDir } from '../../kit/temp-dir.ts';

// Hooks end in reverse order: one that is here before the directory looks after that has gone.
afterAll(() => expect(existsSync(ofFile)).toBe(false));
const ofFile = tempDir();

test("a test's directory is empty, its own, and gone with all in it when the test is over; a file's stays", () => {
  onTestFinished(() => {
    expect(existsSync(dir)).toBe(false);
    expect(existsSync(ofFile)).toBe(true);
  });
  const dir = tempDir();
  expect(readdirSync(dir)).toEqual([]);
  expect(dir).not.toBe(tempDir());
  writeFileSync(join(dir, 'left'), 'text');
});
