/** Tests how a person adds, sends, pauses and deletes uploads in the dashboard. */
import { stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { makeMedia } from '../kit/make/made-media.ts';
import { makeClip } from '../kit/make/media.ts';
import {
  expectForEverybody,
  expectToWaitAndRecover,
  leaveBrowser,
  shareBrowser,
  type Visit,
  visit,
} from '../kit/real/page.ts';
import { sendFile, serve, type WebServer } from '../kit/serve.ts';
import { type SharedSystem, shareSystem } from '../kit/system/share-system.ts';
import { tempDir } from '../kit/temp-dir.ts';
import { until } from '../kit/wait.ts';

let system: SharedSystem;
let browser: Browser;
const dir = tempDir();
let server: WebServer;
let link: string;
/** Whether the server has the file `/later.mp4`. */
let isThere = false;
let at: Visit;
let page: Page;

beforeAll(async () => {
  await makeClip(join(dir, 'show.mp4'), { seconds: 2 });
  // The file is a part of a film: only its slow upload matters, not its content.
  await writeFile(join(dir, 'long.mp4'), Buffer.alloc(6_000_000, 'loopstream'));
  await writeFile(join(dir, 'second.mp4'), Buffer.alloc(4_000_000, 'second'));
  server = await serve((request, response) => {
    const isKnown = request.url === '/my%20show.mp4' || (request.url === '/later.mp4' && isThere);
    if (!isKnown) return void response.writeHead(404).end();
    sendFile(join(dir, 'show.mp4'), response);
  });
  [system, browser] = await Promise.all([shareSystem(), shareBrowser()]);
  link = server.url;
});
afterAll(async () => {
  await leaveBrowser(browser);
  await server?.close();
});
beforeEach(async () => {
  at = await visit(browser, system, '/uploads');
  page = at.page;
});
afterEach(async () => {
  expect(at.complaints).toEqual([]);
  await at.close();
  for (const { objectID } of await all()) await system.client.uploads.delete(objectID);
});

const all = async () => (await system.client.uploads.list().page()).data;
const upload = (name: string) => page.getByTestId('upload').and(page.getByRole('article', { name, exact: true }));
const sending = (name: string) => page.getByTestId('sending').and(page.getByRole('article', { name, exact: true }));
const choose = (...names: string[]) =>
  page.getByTestId('file-input').setInputFiles(names.map((name) => join(dir, name)));

/** Limits the page to this many bytes a second, until the returned call. */
async function slow(uploadThroughput: number): Promise<() => Promise<unknown>> {
  const devtools = await at.context.newCDPSession(page);
  await devtools.send('Network.enable');
  const conditions = { offline: false, latency: 0, downloadThroughput: -1 };
  await devtools.send('Network.emulateNetworkConditions', { ...conditions, uploadThroughput });
  return () => devtools.send('Network.emulateNetworkConditions', { ...conditions, uploadThroughput: -1 });
}

test('an empty page shows the next step, and a link becomes a ready upload with its details', async () => {
  await page.getByText('No uploads yet.').waitFor();
  await expectForEverybody(page);
  await page.getByRole('button', { name: 'Add from a link' }).click();
  const dialog = page.getByRole('dialog', { name: 'Add from a link' });
  await dialog.getByLabel('Link').fill('ftp://example.com/x');
  await dialog.getByRole('button', { name: 'Add upload' }).click();
  await dialog.getByText('Must begin with http:// or https://.').waitFor();
  await expectForEverybody(page);
  await dialog.getByLabel('Link').fill(`${link}/my%20show.mp4`);
  await dialog.getByRole('button', { name: 'Add upload' }).dblclick();
  await dialog.waitFor({ state: 'detached' });
  await upload('my show.mp4').and(page.locator('[data-state=ready]')).waitFor({ timeout: 90_000 });
  expect(await upload('my show.mp4').textContent()).toMatch(/0:02 · .* kB · 640×360, 30 fps, H\.264 · AAC mono/);
  expect(await all()).toHaveLength(1);
  await expectForEverybody(page);
});

test('while it loads it says so; where the server is away it says that, and goes on when it is back', async () => {
  await expectToWaitAndRecover(page, '**/v1/uploads?**', {
    loading: 'Loading your uploads',
    failure: 'Your uploads could not be loaded',
  });
  await page.getByText('No uploads yet.').waitFor();
});

test('a failed link shows the reason, and the next step', async () => {
  await system.client.uploads.fromLink({ type: 'VIDEO', url: `${link}/none.mp4`, name: 'Missing' });
  const row = upload('Missing').and(page.locator('[data-state=failed]'));
  await row.waitFor({ timeout: 90_000 });
  await row.getByText('it must lead to the file itself').waitFor();
  await expectForEverybody(page);
});

test('a link that failed is tried again at the press of a button, and becomes ready as the same upload', async () => {
  const { objectID } = await system.client.uploads.fromLink({ type: 'VIDEO', url: `${link}/later.mp4`, name: 'Later' });
  const again = upload('Later').getByRole('button', { name: 'Try again' });
  await again.waitFor({ timeout: 90_000 });
  isThere = true;
  await again.click();
  await upload('Later').and(page.locator('[data-state=ready]')).waitFor({ timeout: 90_000 });
  expect((await all()).map((one) => [one.objectID, one.state])).toEqual([[objectID, 'ready']]);
});

test('files that are chosen are sent, and become uploads', async () => {
  await choose('show.mp4');
  await upload('show.mp4').and(page.locator('[data-state=ready]')).waitFor({ timeout: 90_000 });
  expect((await all())[0]?.sizeBytes).toBe((await stat(join(dir, 'show.mp4'))).size);
});

test('files that are dropped are sent too', async () => {
  const transfer = await page.evaluateHandle(() => {
    const data = new DataTransfer();
    data.items.add(new File([new Uint8Array(2000)], 'dropped.mp3', { type: 'audio/mpeg' }));
    return data;
  });
  await page.getByTestId('drop').dispatchEvent('drop', { dataTransfer: transfer });
  await upload('dropped.mp3').waitFor();
  expect((await all())[0]).toMatchObject({ name: 'dropped.mp3', type: 'AUDIO' });
});

test('a picture that is dropped becomes an image for overlays', async () => {
  const png = join(dir, 'logo.png');
  await makeMedia(png, '-f', 'lavfi', '-i', 'color=c=red:s=64x64', '-frames:v', '1');
  await choose('logo.png');
  await upload('logo.png').and(page.locator('[data-state=ready]')).waitFor({ timeout: 90_000 });
  expect((await all())[0]).toMatchObject({ name: 'logo.png', type: 'IMAGE', video: { width: 64, height: 64 } });
  await upload('logo.png').getByRole('button', { name: 'More actions' }).click();
  await page.getByRole('button', { name: 'Rename…' }).waitFor();
  expect(await page.getByRole('button', { name: /overlays/ }).count()).toBe(0);
});

test('a video is left without overlays at the press of a button, and gets them back in the same way', async () => {
  const { objectID } = await system.client.uploads.fromLink({ type: 'VIDEO', url: `${link}/a.mp4`, name: 'Advert' });
  const setOverlays = async (act: string, wanted: string) => {
    await upload('Advert').getByRole('button', { name: 'More actions' }).click();
    await page.getByRole('button', { name: act }).click();
    await expect.poll(async () => (await system.client.uploads.get(objectID)).overlays).toBe(wanted);
  };
  await setOverlays('Show no overlays over it', 'NONE');
  await upload('Advert').getByText('without overlays').waitFor();
  await expectForEverybody(page);
  await setOverlays('Show overlays over it', 'SHOWN');
  await upload('Advert').getByText('without overlays').waitFor({ state: 'detached' });
});

test('an upload is put in quarantine with a reason, which its row then shows, and is released at the press of a button', async () => {
  const { objectID } = await system.client.uploads.fromLink({ type: 'VIDEO', url: `${link}/a.mp4`, name: 'Claimed' });
  await upload('Claimed').getByRole('button', { name: 'More actions' }).click();
  await page.getByRole('button', { name: 'Put in quarantine…' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('button', { name: 'Put in quarantine' }).click();
  await dialog.getByText('Enter a reason').waitFor();
  await dialog.getByLabel('Reason').fill('A claim is being checked.');
  await dialog.getByLabel('End it at once').check();
  await dialog.getByRole('button', { name: 'Put in quarantine' }).click();
  await upload('Claimed').getByText('In quarantine', { exact: true }).waitFor();
  await upload('Claimed').getByText('A claim is being checked.').waitFor();
  const read = async () => (await system.client.uploads.get(objectID)).quarantine;
  expect(await read()).toMatchObject({ reason: 'A claim is being checked.', cut: true });
  await expectForEverybody(page);
  await upload('Claimed').getByRole('button', { name: 'End the quarantine' }).click();
  await expect.poll(read).toBeNull();
  await expect.poll(() => upload('Claimed').getByText('In quarantine', { exact: true }).count()).toBe(0);
  await system.client.uploads.delete(objectID);
});

test('several at once; a pause stops one and not the other, elsewhere in the dashboard it goes on, and a reload loses nothing', async () => {
  const freely = await slow(200_000);
  await choose('long.mp4', 'second.mp4');
  await sending('long.mp4')
    .getByText(/\/s · .* left/)
    .waitFor();
  await expectForEverybody(page);
  await sending('long.mp4').getByRole('button', { name: 'Pause' }).click();
  const paused = await sending('long.mp4')
    .getByText(/^Paused at/)
    .textContent();
  const before = await sending('second.mp4')
    .locator('progress')
    .evaluate((bar) => (bar as HTMLProgressElement).value);
  await until('the other one goes on', async () => {
    const bar = sending('second.mp4').locator('progress');
    return (await bar.evaluate((now) => (now as HTMLProgressElement).value)) > before;
  });
  expect(
    await sending('long.mp4')
      .getByText(/^Paused at/)
      .textContent(),
  ).toBe(paused);
  await page.getByRole('link', { name: 'Destinations' }).first().click();
  await page.getByRole('heading', { name: 'Destinations', level: 1 }).waitFor();
  await page.getByRole('link', { name: 'Uploads' }).first().click();
  await sending('long.mp4')
    .getByText(/^Paused at/)
    .waitFor();

  page.once('dialog', (dialog) => void dialog.accept());
  await page.reload();
  await page.getByTestId('unfinished').first().waitFor();
  await expectForEverybody(page);
  const offset = async () => {
    const unfinished = (await all()).find(({ name }) => name === 'long.mp4');
    const url = `${system.facts.apiUrl}/uploads/resumable/${unfinished?.objectID}`;
    const headers = { 'x-api-key': system.facts.apiKey, 'tus-resumable': '1.0.0' };
    return Number((await fetch(url, { method: 'HEAD', headers })).headers.get('upload-offset'));
  };
  const kept = await offset();
  expect(kept).toBeGreaterThan(0);
  const patches: number[] = [];
  page.on('request', (request) => {
    if (request.method() === 'PATCH') patches.push(Number(request.headers()['upload-offset']));
  });
  await freely();
  await choose('long.mp4');
  // A complete upload leaves the list of transfers; a request to the server before that would interrupt it.
  await upload('long.mp4').waitFor({ timeout: 90_000 });
  expect(await offset()).toBe(6_000_000);
  expect(patches[0]).toBe(kept);
  expect((await all()).filter(({ name }) => name === 'long.mp4')).toHaveLength(1);

  const second = page.getByTestId('unfinished').and(page.getByRole('article', { name: 'second.mp4' }));
  await second.getByRole('button', { name: /^Give up/ }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete upload' }).click();
  await second.waitFor({ state: 'detached' });
  expect((await all()).map(({ name }) => name)).toEqual(['long.mp4']);
});

test('an upload in use is not deleted, and the playlist is named; then it is, after a question', async () => {
  const made = await system.client.uploads.fromLink({ type: 'VIDEO', url: `${link}/my%20show.mp4`, name: 'Held' });
  const items = [{ uploadObjectID: made.objectID }];
  const playlist = await system.client.playlists.create({ name: 'Evenings', kind: 'video', mode: 'shuffle', items });
  await expect.poll(() => upload('Held').getAttribute('data-state')).toBe('ready');
  await upload('Held').getByRole('button', { name: 'Play Held' }).click();
  // No stream has needed its rendition: the preview makes it.
  const preview = page.getByRole('dialog', { name: 'Held' });
  await preview.getByText('The first minute is being prepared.').waitFor();
  const seconds = () => preview.getByTestId('clip-preview').evaluate((it) => (it as HTMLVideoElement).currentTime);
  await expect.poll(seconds, { timeout: 90_000 }).toBeGreaterThan(0.5);
  await page.keyboard.press('Escape');

  // A failed preview shows the next step.
  await page.route('**/v1/uploads?**', async (route) => {
    const response = await route.fetch();
    const { data, ...rest } = await response.json();
    await route.fulfill({
      response,
      json: { ...rest, data: data.map((upload: object) => ({ ...upload, preview: 'failed' })) },
    });
  });
  const none = { status: 409, contentType: 'application/problem+json', body: '{"code":"upload_not_prepared"}' };
  await page.route('**/preview.flv', (route) => route.fulfill(none));
  await page.reload();
  await upload('Held').getByRole('button', { name: 'Play Held' }).click();
  await preview.getByRole('alert').filter({ hasText: 'could not be prepared' }).waitFor();
  await expectForEverybody(page);
  await page.keyboard.press('Escape');
  await page.unrouteAll();
  await upload('Held').getByRole('button', { name: 'More actions for Held' }).click();
  await page.getByRole('button', { name: 'Delete upload…' }).click();
  const dialog = page.getByRole('dialog', { name: 'Delete this upload?' });
  await dialog.getByRole('button', { name: 'Delete upload' }).click();
  await dialog.getByRole('link', { name: 'Evenings' }).waitFor();
  await expectForEverybody(page);
  await system.client.playlists.delete(playlist.id);
  await dialog.getByRole('button', { name: 'Delete upload' }).click();
  await upload('Held').waitFor({ state: 'detached' });
  expect(await all()).toEqual([]);
});
