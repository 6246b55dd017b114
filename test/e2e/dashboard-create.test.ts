/** Tests a new stream as a person makes it: three steps, and then live. */
/// <reference lib="dom" />
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeTone } from '../kit/make/media.ts';
import { expectForEverybody, leaveBrowser, shareBrowser, type Visit, visit } from '../kit/real/page.ts';
import { serve, type WebServer } from '../kit/serve.ts';
import { type SharedSystem, shareSystem } from '../kit/system/share-system.ts';
import { ROOT } from '../kit/system/system.ts';
import { tempDir } from '../kit/temp-dir.ts';

let system: SharedSystem;
let browser: Browser;
let at: Visit;
let files: WebServer;
let film: string;
const dir = tempDir();
const FILM = join(ROOT, 'tools/local/demo/bigbuckbunny.mp4');

beforeAll(async () => {
  const bytes = readFileSync(FILM);
  files = await serve((_request, response) => {
    response.writeHead(200, { 'content-type': 'video/mp4', 'content-length': bytes.length }).end(bytes);
  });
  film = `${files.url}/night_train.mp4`;
  [system, browser] = await Promise.all([shareSystem(), shareBrowser()]);
});
afterAll(async () => {
  await leaveBrowser(browser);
  await files?.close();
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

/** Limits the page to this many bytes a second, until the returned call. */
async function slow(uploadThroughput: number): Promise<() => Promise<unknown>> {
  const devtools = await at.context.newCDPSession(at.page);
  const conditions = { offline: false, latency: 0, downloadThroughput: -1 };
  await devtools.send('Network.enable');
  await devtools.send('Network.emulateNetworkConditions', { ...conditions, uploadThroughput });
  return () => devtools.send('Network.emulateNetworkConditions', { ...conditions, uploadThroughput: -1 });
}

async function fillDestination(page: Page, key: string, address = system.facts.rtmpUrl): Promise<void> {
  await page.getByRole('radio', { name: 'Custom' }).check();
  await page.getByLabel('Address').fill(address);
  await page.getByRole('textbox', { name: 'Stream key' }).fill(key);
  await next(page);
}

test('the empty page leads to the first stream: a file that is sent meanwhile, a channel, and the picture is live', async () => {
  const page = await open('/');
  await page.getByRole('link', { name: 'New stream' }).first().waitFor();
  await expectForEverybody(page);
  await page.getByRole('link', { name: 'New stream' }).first().click();

  await next(page);
  await page.getByText('Choose a file first.').waitFor();
  await expectForEverybody(page);
  const freely = await slow(30_000);
  await page.getByTestId('file-input').setInputFiles(FILM);

  // One file leaves nothing to choose in this step, and it is sent in all that follow.
  await page.getByRole('radio', { name: 'YouTube' }).waitFor();
  const sent = page.getByTestId('draft-file').getByRole('progressbar');
  const getSent = () => sent.evaluate((bar) => (bar as HTMLProgressElement).value);
  await expect.poll(getSent).toBeGreaterThan(0);
  await expectForEverybody(page);
  await next(page);
  await page.getByText('Enter the stream key.').waitFor();
  await expectForEverybody(page);
  await fillDestination(page, 'night-train');

  const name = page.getByRole('textbox', { name: 'Name' });
  expect(await name.inputValue()).toBe('Bigbuckbunny');
  expect(await page.getByRole('combobox', { name: 'Quality' }).inputValue()).toBe('q_720p');
  await name.fill('<i>Night</i> train');
  await expectForEverybody(page);
  await page.getByRole('button', { name: 'Create and start' }).focus();
  await page.keyboard.press('Enter');
  await page.keyboard.press('Enter');

  const progress = page.getByTestId('create-progress');
  await progress.getByRole('heading', { name: '“<i>Night</i> train” is on its way' }).waitFor();
  await progress.getByText('Keep this window open until the file is sent.').waitFor();
  expect(await getSent()).toBeLessThan(1);
  await expectForEverybody(page);
  await freely();
  await page.waitForURL(/\/streams\/str-/, { timeout: 150_000 });
  await page.getByRole('heading', { level: 1, name: '<i>Night</i> train' }).waitFor();
  await page.locator('[data-testid="preview"][data-state="playing"]').waitFor();
  const { data } = await system.client.streams.list().page();
  expect(data).toMatchObject([{ name: '<i>Night</i> train', status: 'live', quality: 'q_720p', framerate: 'f_30' }]);
  expect(await system.client.destinations.list().page()).toMatchObject({ data: [{ name: '127.0.0.1' }] });
  // The prepared part of the upload has a preview from now on.
  await page.getByRole('link', { name: 'Uploads' }).click();
  await page.getByRole('button', { name: /^Play / }).click();
  await page.locator('[data-testid="clip-preview"][data-state="there"]').waitFor();
  await expectForEverybody(page);
  await leave();
});

test('a link is imported once, however often one goes on with it; another link takes its place', async () => {
  const page = await open('/create');
  await page.getByRole('radio', { name: 'A link' }).check();
  const link = page.getByLabel('Link to the video');
  await next(page);
  await page.getByText('Paste the link to a video file.').waitFor();
  await link.fill('ftp://example.com/a.mp4');
  await next(page);
  await expect.poll(() => link.getAttribute('aria-invalid')).toBe('true');
  const names = async () => (await system.client.uploads.list().page()).data.map((upload) => upload.name);
  const back = () => page.getByRole('button', { name: 'Media' }).click();
  const others = await names();
  const added = async () => (await names()).slice(0, -others.length);
  await link.fill(film);
  for (const _ of [1, 2]) {
    await next(page);
    await page.getByRole('button', { name: 'New destination' }).waitFor();
    await back();
  }
  expect(await added()).toEqual(['night_train.mp4']);
  await link.fill(film.replace('night_train', 'day_train'));
  await next(page);
  await page.getByRole('button', { name: 'New destination' }).waitFor();
  await expect.poll(added).toEqual(['day_train.mp4']);
  await page.getByRole('radio', { name: /127\.0\.0\.1/ }).check();
  await next(page);
  expect(await page.getByRole('textbox', { name: 'Name' }).inputValue()).toBe('Day train');
  await leave();
});

test('several files become a playlist, with sound and a text over them; whatever is no media is named and left out', async () => {
  const page = await open('/create');
  const files = page.getByTestId('file-input');
  await files.setInputFiles([
    { name: 'notes.txt', mimeType: 'text/plain', buffer: Buffer.from('a') },
    { name: 'empty.mp4', mimeType: 'video/mp4', buffer: Buffer.alloc(0) },
  ]);
  await page.getByText('“notes.txt”: This is no video, picture or sound. Choose a media file.').waitFor();
  await page.getByText('“empty.mp4”: This file is empty. Choose another one.').waitFor();
  await expectForEverybody(page);
  const song = join(dir, 'song.m4a');
  await makeTone(song, { seconds: 2, hertz: 440 });
  await files.setInputFiles([song]);
  await next(page);
  await page.getByText('Add a video or a picture first.').waitFor();
  const bytes = readFileSync(FILM);
  await files.setInputFiles(['one.mp4', 'two.mp4'].map((name) => ({ name, mimeType: 'video/mp4', buffer: bytes })));
  await page.getByText('These 2 play in turn, as a playlist, and “song.m4a” plays over them.').waitFor();
  await expectForEverybody(page);
  await next(page);
  await page.getByRole('radio', { name: /127\.0\.0\.1/ }).check();
  await next(page);
  const overlays = page.getByRole('group', { name: 'Overlays' });
  await overlays.getByRole('button', { name: 'Add text' }).click();
  const text = overlays.getByLabel('Text', { exact: true });
  await text.fill('Next: {{next.title}}');
  await page.getByRole('button', { name: 'Create only' }).click();
  await overlays.getByText('The text must not have {{ but for a field: {{item.title}}').waitFor();
  expect(await text.getAttribute('aria-invalid')).toBe('true');
  await expectForEverybody(page);
  await text.fill('{{item.title}}');
  await page.getByRole('button', { name: 'Create only' }).click();
  await page.getByRole('heading', { level: 1, name: 'One' }).waitFor();
  const {
    data: [stream],
  } = await system.client.streams.list({ q: 'One' }).page();
  const items = async (id: string | undefined) => {
    const { items } = await system.client.playlists.get(id ?? '');
    return Promise.all(items.map(async (one) => (await system.client.uploads.get(one.uploadObjectID)).name));
  };
  expect(await items(stream?.playlistIDs[0])).toEqual(['one.mp4', 'two.mp4']);
  expect(await items(stream?.audioPlaylistIDs[0])).toEqual(['song.m4a']);
  expect(stream?.overlays).toMatchObject({ layers: [{ text: '{{item.title}}' }], required: false });
  await leave();
});

test('a file that cannot be played is named where it failed, and replaced there; the stream goes live with the other', async () => {
  await system.client.destinations.create({ name: 'Elsewhere', rtmpUrl: 'rtmp://example.com/live', rtmpKey: 'key' });
  const page = await open('/create');
  const bad = { name: 'broken.mp4', mimeType: 'video/mp4', buffer: Buffer.alloc(50_000, 'no film') };
  await page.getByTestId('file-input').setInputFiles([bad]);
  await page.getByRole('button', { name: 'New destination' }).click();
  await fillDestination(page, 'replaced');
  await page.getByRole('button', { name: 'Create and start' }).click();
  const progress = page.getByTestId('create-progress');
  await progress.getByRole('heading', { name: '“Broken” needs you' }).waitFor({ timeout: 150_000 });
  const failed = progress.locator('[data-testid="stage"][data-state="failed"]');
  expect(await failed.getByText('Check the media').count()).toBe(1);
  await expectForEverybody(page);
  await failed.getByRole('button', { name: 'Replace the file' }).click();
  await expectForEverybody(page);
  await page.getByRole('dialog').getByTestId('file-input').setInputFiles(FILM);
  await page.waitForURL(/\/streams\/str-/, { timeout: 150_000 });
  await page.getByRole('heading', { level: 1, name: 'Broken' }).waitFor();
  await leave();
});

test('a destination that cannot be reached needs the person, who edits it there', async () => {
  const page = await open('/create');
  await page.getByRole('radio', { name: 'An upload' }).check();
  await page
    .getByRole('radio', { name: /bigbuckbunny/ })
    .first()
    .check();
  await next(page);
  await page.getByRole('button', { name: 'New destination' }).click();
  await fillDestination(page, 'nobody', 'rtmp://127.0.0.1:9/live');
  // It is tested as soon as it is there, and the person may go on all the same.
  const tested = page.getByTestId('test-result');
  await tested.waitFor({ timeout: 90_000 });
  expect(await tested.getAttribute('data-ok')).toBe('false');
  await page.getByRole('link', { name: 'Edit destination' }).waitFor();
  await expectForEverybody(page);
  await page.getByRole('button', { name: 'Create and start' }).click();
  const failed = page.locator('[data-testid="stage"][data-state="failed"]');
  await failed.getByText('Connect to the destination').waitFor({ timeout: 150_000 });
  await page.getByRole('heading', { name: '“Bigbuckbunny” needs you' }).waitFor();
  await failed.getByRole('button', { name: 'Edit destination' }).click();
  const dialog = page.getByRole('dialog', { name: 'Change destination' });
  await dialog.getByLabel('Address').fill(system.facts.rtmpUrl);
  await dialog.getByRole('button', { name: 'Save' }).click();
  const question = page.getByRole('dialog', { name: /on air\?$/ });
  await question.getByRole('button', { name: 'Save' }).click();
  await page.waitForURL(/\/streams\/str-/, { timeout: 150_000 });
  await leave();
});

test('pressed before the server knows the file, it is made as soon as that is so', async () => {
  await system.client.destinations.create({ name: 'Early', rtmpUrl: 'rtmp://example.com/live', rtmpKey: 'key' });
  const page = await open('/create');
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const isCreation = (url: URL) => url.pathname.startsWith('/v1/uploads');
  await page.route(isCreation, async (route) => {
    if (route.request().method() === 'POST') await released;
    await route.continue();
  });
  await page.getByTestId('file-input').setInputFiles(FILM);
  await page.getByRole('radio', { name: /^Early/ }).check();
  await next(page);
  await page.getByRole('textbox', { name: 'Name' }).fill('Pressed early');
  await page.getByRole('button', { name: 'Create only' }).click();
  await page.getByText('has not begun to be sent yet').waitFor();
  release();
  await page.getByRole('heading', { level: 1, name: 'Pressed early' }).waitFor();
  await page.unrouteAll({ behavior: 'wait' });
  await leave();
});

test('the form’s back button, a reload and the browser’s back button lose nothing; existing objects can be chosen', async () => {
  const page = await open('/create');
  await page.getByRole('radio', { name: 'An upload' }).check();
  await page.getByRole('radio', { name: /day_train/i }).check();
  await next(page);
  await page.getByRole('radio', { name: /^127\.0\.0\.1 rtmp/ }).check();
  await next(page);
  await page.getByRole('textbox', { name: 'Name' }).fill('Another one');
  await page.reload();
  await page.getByRole('textbox', { name: 'Name' }).waitFor();
  expect(await page.getByRole('textbox', { name: 'Name' }).inputValue()).toBe('Another one');
  await page.goBack();
  expect(await page.getByRole('radio', { name: /^127\.0\.0\.1 rtmp/ }).isChecked()).toBe(true);
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
  await page.getByRole('button', { name: 'Choose a file' }).waitFor();
  await page.goto(new URL('/create?stream=str-none', page.url()).href);
  await page.getByRole('heading', { name: 'Stream not found' }).waitFor();
  await expectForEverybody(page);
  await leave();
});
