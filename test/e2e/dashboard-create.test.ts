/** Tests a new stream as a person makes it: three steps, and then live. */
/// <reference lib="dom" />
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { expectForEverybody, leaveBrowser, shareBrowser, type Visit, visit } from '../kit/real/page.ts';
import { type SharedSystem, shareSystem } from '../kit/system/share-system.ts';
import { ROOT } from '../kit/system/system.ts';

let system: SharedSystem;
let browser: Browser;
let at: Visit;
let files: Server;
let film: string;

beforeAll(async () => {
  const bytes = readFileSync(join(ROOT, 'tools/local/demo/bigbuckbunny.mp4'));
  files = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'video/mp4', 'content-length': bytes.length }).end(bytes);
  });
  await new Promise<void>((resolve) => files.listen(0, '127.0.0.1', resolve));
  film = `http://127.0.0.1:${(files.address() as AddressInfo).port}/night_train.mp4`;
  [system, browser] = await Promise.all([shareSystem(), shareBrowser()]);
});
afterAll(async () => {
  await leaveBrowser(browser);
  files?.close();
});

const open = async (path: string) => {
  at = await visit(browser, system, path);
  return at.page;
};
const leave = async () => {
  expect(at.complaints).toEqual([]);
  await at.close();
};
const next = (page: Page) => page.getByRole('button', { name: 'Next' }).click();

test('the empty page leads to the first stream: a link, a channel, a name, and it is live; by keyboard alone at the end', async () => {
  const page = await open('/');
  await page.getByRole('link', { name: 'New stream' }).first().waitFor();
  await expectForEverybody(page);
  await page.getByRole('link', { name: 'New stream' }).first().click();

  await next(page);
  await page.getByText('Paste the link to a video file.').waitFor();
  await expectForEverybody(page);
  await page.getByLabel('Link to the video').fill('ftp://example.com/a.mp4');
  await next(page);
  await expect.poll(() => page.getByLabel('Link to the video').getAttribute('aria-invalid')).toBe('true');
  await page.getByLabel('Link to the video').fill(film);
  await next(page);

  await page.getByRole('button', { name: 'New destination' }).click();
  const dialog = page.getByRole('dialog', { name: 'New destination' });
  await dialog.getByRole('radio', { name: 'Custom' }).check();
  await dialog.getByLabel('Name').fill('My channel');
  await dialog.getByLabel('Address').fill(system.facts.rtmpUrl);
  await dialog.getByRole('textbox', { name: 'Stream key' }).fill('night-train');
  await dialog.getByRole('button', { name: 'Add destination' }).click();
  await dialog.waitFor({ state: 'detached' });
  expect(await page.getByRole('radio', { name: /My channel/ }).isChecked()).toBe(true);
  await expectForEverybody(page);
  await next(page);

  const name = page.getByRole('textbox', { name: 'Name' });
  expect(await name.inputValue()).toMatch(/^Night train/);
  await name.fill('<i>Night</i> train');
  await page.getByRole('combobox', { name: 'Quality' }).selectOption('q_720p');
  await expectForEverybody(page);
  await page.getByRole('button', { name: 'Create and start' }).focus();
  await page.keyboard.press('Enter');
  await page.keyboard.press('Enter');

  const progress = page.getByTestId('create-progress');
  await progress.getByText('Fetch the media').waitFor();
  await expectForEverybody(page);
  await progress.getByRole('heading', { name: /is live$/ }).waitFor({ timeout: 150_000 });
  await expectForEverybody(page);
  const { data } = await system.client.streams.list().page();
  expect(data).toMatchObject([{ name: '<i>Night</i> train', status: 'live', quality: 'q_720p' }]);
  await progress.getByRole('link', { name: 'Open the stream' }).click();
  await page.getByRole('heading', { level: 1, name: '<i>Night</i> train' }).waitFor();
  // The prepared part of the upload has a preview from now on.
  await page.getByRole('link', { name: 'Uploads' }).click();
  await page.getByRole('button', { name: /^Play / }).click();
  await page.locator('[data-testid="clip-preview"][data-state="there"]').waitFor();
  await expectForEverybody(page);
  await leave();
});

test('the form’s back button, a reload and the browser’s back button lose nothing; existing objects can be chosen', async () => {
  const page = await open('/create');
  await page.getByRole('radio', { name: 'An upload' }).check();
  await page.getByRole('radio', { name: /night_train/i }).check();
  await next(page);
  await page.getByRole('radio', { name: /My channel/ }).check();
  await next(page);
  await page.getByRole('textbox', { name: 'Name' }).fill('Another one');
  await page.reload();
  await page.getByRole('textbox', { name: 'Name' }).waitFor();
  expect(await page.getByRole('textbox', { name: 'Name' }).inputValue()).toBe('Another one');
  await page.goBack();
  expect(await page.getByRole('radio', { name: /My channel/ }).isChecked()).toBe(true);
  await page.getByRole('button', { name: 'Media' }).click();
  expect(await page.getByRole('radio', { name: 'An upload' }).isChecked()).toBe(true);
  await next(page);
  await next(page);
  await page.getByRole('textbox', { name: 'Name' }).fill(' ');
  await page.getByRole('button', { name: 'Create only' }).click();
  await page.getByText('Enter a name.').waitFor();
  await page.getByRole('textbox', { name: 'Name' }).fill('Another one');
  await page.getByRole('button', { name: 'Create only' }).dblclick();
  await page.getByRole('heading', { level: 1, name: 'Another one' }).waitFor();
  const { data } = await system.client.streams.list({ q: 'another' }).page();
  expect(data).toMatchObject([{ name: 'Another one', status: 'idle' }]);
  await leave();
});

test('an address that names a step too far leads to the first that is open; one of a stream that is gone says so', async () => {
  const page = await open('/create?step=stream');
  await page.getByLabel('Link to the video').waitFor();
  await page.goto(new URL('/create?stream=str-none', page.url()).href);
  await page.getByRole('heading', { name: 'Stream not found' }).waitFor();
  await expectForEverybody(page);
  await leave();
});
