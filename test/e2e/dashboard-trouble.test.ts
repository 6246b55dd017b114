/// <reference lib="dom" />
/** Tests what the page says when a file must be chosen again. A page is the built dashboard without a server, which never answers a file. */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { launchLooksBrowser } from '../kit/looks/browser.ts';
import { newLooksPage, openLook } from '../kit/looks/open.ts';

let browser: Browser;
beforeAll(async () => {
  browser = await launchLooksBrowser();
});
afterAll(() => browser?.close());

const makeFile = (name: string, bytes: number) => ({ name, mimeType: 'video/mp4', buffer: Buffer.alloc(bytes, 1) });
const readLine = (page: Page) => page.getByTestId('draft-file').textContent();

test('after a reload the wizard asks for the same file by its name, and takes no other in its place', async () => {
  const page = await newLooksPage(browser);
  const { complaints, close } = await openLook(page, { path: '/create' });
  let sent = 0;
  await page.route('**/v1/uploads/resumable**', () => {
    sent += 1;
  });
  await page.getByTestId('file-input').setInputFiles(makeFile('Evening.mp4', 4000));
  await page.getByTestId('draft-file').waitFor();
  await expect.poll(() => sent).toBe(1);
  await page.reload();
  await expect.poll(() => readLine(page)).toContain('Choose the same file again to continue where it stopped.');
  const picker = page.getByLabel('The same file');
  await picker.setInputFiles(makeFile('Morning.mp4', 4000));
  await expect.poll(() => readLine(page)).toContain('“Morning.mp4” is another file. Choose “Evening.mp4”.');
  await picker.setInputFiles(makeFile('Evening.mp4', 4001));
  await expect.poll(() => readLine(page)).toContain('This file was changed since.');
  expect(sent).toBe(1);
  expect(complaints).toEqual([]);
  await close();
  await page.context().close();
});
