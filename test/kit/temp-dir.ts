/** Makes temporary directories of tests. */
import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, onTestFinished, TestRunner } from 'vitest';

/**
 * Makes an empty directory, and removes it after the test that calls this (also from `beforeEach`), or after the file or `describe` that
 * calls it outside of tests. Hooks end in reverse order: what is started later is stopped before its directory goes. Never call it in
 * `beforeAll`, where vitest takes no more hooks.
 */
export function tempDir(): string {
  const dir = mkdtempSync(join(tmpdir(), 'loopstream-test-'));
  const remove = () => rm(dir, { recursive: true, force: true });
  if (TestRunner.getCurrentTest() === undefined) afterAll(remove);
  else onTestFinished(remove);
  return dir;
}
