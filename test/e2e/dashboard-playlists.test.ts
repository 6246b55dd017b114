/** Tests how a person makes, orders, saves, publishes and reverts playlists in the dashboard. */
import { join } from 'node:path';
import type { Browser, Locator, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import type { Playlist } from '../../src/service/client/index.ts';
import { makeClip } from '../kit/make/media.ts';
import { expectForEverybody, leaveBrowser, shareBrowser, type Visit, visit } from '../kit/real/page.ts';
import { serveDir, type WebServer } from '../kit/serve.ts';
import { type SharedSystem, shareSystem } from '../kit/system/share-system.ts';
import { tempDir } from '../kit/temp-dir.ts';
import { until } from '../kit/wait.ts';

const NAMES = ['Alpha', 'Beta', 'Gamma'] as const;
let system: SharedSystem;
let browser: Browser;
const dir = tempDir();
let server: WebServer;
let at: Visit;
const ids = {} as Record<(typeof NAMES)[number], string>;

beforeAll(async () => {
  await makeClip(join(dir, 'clip.mp4'), { seconds: 2 });
  server = await serveDir(dir);
  [system, browser] = await Promise.all([shareSystem(), shareBrowser()]);
  const url = `${server.url}/clip.mp4`;
  for (const name of NAMES) ids[name] = (await system.client.uploads.fromLink({ type: 'VIDEO', url, name })).objectID;
  await until('the clips are there', async () => (await states()).every((state) => state === 'ready'), 90_000);
});
afterAll(async () => {
  await leaveBrowser(browser);
  await server?.close();
});
afterEach(async () => {
  expect(at.complaints).toEqual([]);
  await at.close();
  for (const { id } of (await system.client.streams.list().page()).data) await system.client.streams.delete(id);
  for (const { id } of (await system.client.playlists.list().page()).data) await system.client.playlists.delete(id);
});

const states = async () => (await system.client.uploads.list().page()).data.map(({ state }) => state);
const items = (...names: (typeof NAMES)[number][]) => names.map((name) => ({ uploadObjectID: ids[name] }));
const getNames = ({ items }: Pick<Playlist, 'items'>) =>
  items.map(({ uploadObjectID }) => NAMES.find((name) => ids[name] === uploadObjectID));
const make = (...names: (typeof NAMES)[number][]) =>
  system.client.playlists.create({ name: 'Evenings', kind: 'video', mode: 'sequential', items: items(...names) });

async function open(path: string): Promise<Page> {
  at = await visit(browser, system, path);
  return at.page;
}
const clip = (page: Page, name: string): Locator => page.getByTestId('clip').filter({ hasText: name });
const order = (page: Page) => page.getByTestId('clip-name').allTextContents();
const total = (page: Page) => page.getByTestId('total');
const bar = (page: Page) => page.getByRole('region', { name: 'Unsaved changes' });

test('an empty page shows the next step; a playlist has its clips in the order of their choice', async () => {
  const page = await open('/playlists');
  await page.getByText('No playlist yet').waitFor();
  await expectForEverybody(page);
  await page.getByRole('button', { name: 'New playlist' }).click();
  const dialog = page.getByRole('dialog', { name: 'New playlist' });
  await dialog.getByRole('button', { name: 'Create playlist' }).click();
  await dialog.getByText('Enter a name.').waitFor();
  await dialog.getByLabel('Name').fill('Evenings <i>&</i> more');
  for (const name of ['Gamma', 'Alpha']) await dialog.getByRole('checkbox', { name }).check();
  await expectForEverybody(page);
  await dialog.getByRole('button', { name: 'Create playlist' }).dblclick();
  await page.getByRole('heading', { level: 1, name: 'Evenings <i>&</i> more' }).waitFor();
  await expect.poll(() => total(page).textContent()).toBe('2 clips · 0:04 in all');
  expect(await order(page)).toEqual(['Gamma', 'Alpha']);
  const { data } = await system.client.playlists.list().page();
  expect(data.map(({ name }) => name)).toEqual(['Evenings <i>&</i> more']);
  await expectForEverybody(page);
  // Nothing plays it yet, and one click makes it the media of a new stream.
  await page.getByText(/no stream plays it yet/i).waitFor();
  await page.getByRole('link', { name: 'New stream with it' }).click();
  await page.getByRole('region', { name: 'Destination' }).waitFor();
  await page.getByRole('button', { name: 'Media' }).click();
  expect(await page.getByRole('radio', { name: /^Evenings/ }).isChecked()).toBe(true);
});

test('put in order by the mouse and by the keyboard, added to and taken from, and saved as one version', async () => {
  const { id } = await make('Alpha', 'Beta', 'Gamma');
  const page = await open(`/playlists/${id}`);
  await expect.poll(() => total(page).textContent()).toContain('3 clips');
  const [from, to] = [clip(page, 'Alpha').getByRole('button', { name: 'Move Alpha' }), clip(page, 'Gamma')];
  const [start, end] = [await from.boundingBox(), await to.boundingBox()];
  await page.mouse.move((start?.x ?? 0) + 10, (start?.y ?? 0) + 10);
  await page.mouse.down();
  await page.mouse.move((start?.x ?? 0) + 10, (end?.y ?? 0) + 10, { steps: 8 });
  await page.mouse.move((start?.x ?? 0) + 10, (end?.y ?? 0) + 30, { steps: 4 });
  await page.mouse.up();
  await expect.poll(() => order(page)).toEqual(['Beta', 'Gamma', 'Alpha']);

  await clip(page, 'Alpha').getByRole('button', { name: 'Move Alpha' }).focus();
  await page.keyboard.press('Space');
  await page.getByText('Alpha is picked up, at place 3 of 3.').waitFor({ state: 'attached' });
  // The library listens for arrow keys from a timer that it sets at the pick-up, some 15 ms that only a machine types in. Timers of one
  // delay fire in the order they were set (HTML, timer initialization steps), so it listens when this one fires.
  await page.evaluate(() => new Promise((fired) => setTimeout(fired)));
  await page.keyboard.press('ArrowUp');
  await page.getByText('Alpha is at place 2 of 3.').waitFor({ state: 'attached' });
  await page.keyboard.press('Space');
  await expect.poll(() => order(page)).toEqual(['Beta', 'Alpha', 'Gamma']);

  await clip(page, 'Beta').getByRole('button', { name: 'Take out Beta' }).click();
  await page.getByRole('button', { name: 'Add clips' }).click();
  await page.getByRole('dialog').getByRole('checkbox', { name: 'Gamma' }).check();
  await page.getByRole('dialog').getByRole('button', { name: 'Add 1 clip' }).click();
  await page.getByRole('radio', { name: 'Shuffled' }).check();
  await expectForEverybody(page);
  await bar(page).getByRole('button', { name: 'Save', exact: true }).dblclick();
  await bar(page).waitFor({ state: 'detached' });
  const saved = await system.client.playlists.get(id);
  expect(getNames(saved)).toEqual(['Alpha', 'Gamma', 'Gamma']);
  expect(saved).toMatchObject({ version: 2, mode: 'shuffle', publishedVersion: 1 });
});

test('unsaved changes outlive a reload, and can be discarded', async () => {
  const { id } = await make('Alpha', 'Beta');
  const page = await open(`/playlists/${id}`);
  await clip(page, 'Alpha').getByRole('button', { name: 'Take out Alpha' }).click();
  await page.getByLabel('Name').fill('Nights');
  await bar(page).waitFor();
  await page.reload();
  await bar(page).waitFor();
  expect(await order(page)).toEqual(['Beta']);
  expect(await page.getByLabel('Name').inputValue()).toBe('Nights');
  await bar(page).getByRole('button', { name: 'Discard' }).click();
  await expect.poll(() => order(page)).toEqual(['Alpha', 'Beta']);
  await page.reload();
  await expect.poll(() => total(page).textContent()).toContain('2 clips');
  expect(await bar(page).count()).toBe(0);
  expect((await system.client.playlists.get(id)).version).toBe(1);
});

test('a change elsewhere is shown, and my changes go on top of it', async () => {
  const { id } = await make('Alpha', 'Beta');
  const page = await open(`/playlists/${id}`);
  await clip(page, 'Alpha').getByRole('button', { name: 'Take out Alpha' }).click();
  await system.client.playlists.update(id, { version: 1, items: items('Alpha', 'Beta', 'Gamma') });
  const conflict = page.getByTestId('conflict');
  await conflict.getByText('“Gamma” added at place 3').waitFor();
  expect(await bar(page).getByRole('button', { name: 'Save', exact: true }).isDisabled()).toBe(true);
  await expectForEverybody(page);
  await conflict.getByRole('button', { name: 'Keep my changes on top of it' }).click();
  await conflict.waitFor({ state: 'detached' });
  // The name of a clip that is new to the page is read apart.
  await expect.poll(() => order(page)).toEqual(['Beta', 'Gamma']);
  await bar(page).getByRole('button', { name: 'Save', exact: true }).click();
  await bar(page).waitFor({ state: 'detached' });
  const after = await system.client.playlists.get(id);
  expect([after.version, ...getNames(after)]).toEqual([3, 'Beta', 'Gamma']);
});

test('two windows save at once: the later one gets a message and loses nothing', async () => {
  const { id } = await make('Alpha', 'Beta');
  const page = await open(`/playlists/${id}`);
  await page.getByLabel('Name').fill('Mine');
  // The page learns of the other version only after its own save.
  let before: Promise<unknown> | undefined;
  await page.route(`**/v1/playlists/${id}`, async (route) => {
    if (route.request().method() === 'PATCH') {
      before ??= system.client.playlists.update(id, { version: 1, mode: 'shuffle' });
      await before;
    }
    await route.continue();
  });
  await bar(page).getByRole('button', { name: 'Save', exact: true }).click();
  await page.getByTestId('conflict').getByText('Played shuffled from then on').waitFor();
  await page.getByRole('button', { name: 'Keep my changes on top of it' }).click();
  await bar(page).getByRole('button', { name: 'Save', exact: true }).click();
  await bar(page).waitFor({ state: 'detached' });
  expect(await system.client.playlists.get(id)).toMatchObject({ name: 'Mine', mode: 'shuffle', version: 3 });
});

test('versions show their changes; one is restored, and published after a question where a stream plays it', async () => {
  const { id } = await make('Alpha', 'Beta');
  await system.client.playlists.update(id, { version: 1, items: items('Beta', 'Gamma') });
  const { playlists, destinations, streams } = system.client;
  const to = await destinations.create({ name: 'Here', rtmpUrl: system.facts.rtmpUrl, rtmpKey: 'night-channel' });
  const picture = { quality: 'q_720p', framerate: 'f_30' } as const;
  await streams.create({ name: 'Night channel', ...picture, destinationID: to.id, playlistIDs: [id] });
  const page = await open(`/playlists/${id}`);
  await page.getByRole('link', { name: 'Night channel' }).waitFor();
  await page.getByRole('button', { name: 'Changes in version 2' }).click();
  const lines = page.getByRole('list', { name: 'Changes in version 2' });
  await lines.getByText('“Alpha” removed from place 1').waitFor();
  await lines.getByText('“Gamma” added at place 2').waitFor();
  await expectForEverybody(page);
  await page.getByRole('button', { name: 'Restore as draft: version 1' }).click();
  await expect.poll(() => order(page)).toEqual(['Alpha', 'Beta']);
  expect(await playlists.get(id)).toMatchObject({ version: 3, publishedVersion: 1 });
  // A restored version is not on air, and the notice offers to publish it.
  const notice = page.getByRole('alert').filter({ hasText: 'Version 1 is restored as version 3' });
  await notice.getByText('streams play what they play until it is published').waitFor();
  await expectForEverybody(page);
  await notice.getByRole('button', { name: 'Publish' }).click();
  await page.getByRole('dialog', { name: 'Publish version 3?' }).waitFor();
  await page.keyboard.press('Escape');

  await page.getByRole('button', { name: 'Publish version 2' }).click();
  const dialog = page.getByRole('dialog', { name: 'Publish version 2?' });
  await expectForEverybody(page);
  await dialog.getByRole('button', { name: 'Publish' }).click();
  await page.getByTestId('version').filter({ hasText: 'Version 2' }).getByText('Published').waitFor();
  expect((await playlists.get(id)).publishedVersion).toBe(2);

  await page.getByRole('button', { name: 'Delete' }).click();
  const deletion = page.getByRole('dialog', { name: 'Delete this playlist?' });
  await deletion.getByRole('button', { name: 'Delete playlist' }).click();
  await deletion.getByRole('link', { name: 'Night channel' }).waitFor();
  for (const stream of (await streams.list().page()).data) await streams.delete(stream.id);
  await deletion.getByRole('button', { name: 'Delete playlist' }).click();
  await page.getByText('No playlist yet').waitFor();
  await destinations.delete(to.id);
});

test('an address without a playlist shows that, and an unavailable server shows the next step', async () => {
  const page = await open('/playlists/pl-none');
  await page.getByRole('heading', { name: 'Playlist not found' }).waitFor();
  await expectForEverybody(page);
  await page.route('**/v1/playlists?**', (route) => route.abort());
  await page.getByRole('link', { name: 'All playlists' }).click();
  await page.getByRole('heading', { name: 'Your playlists could not be loaded' }).waitFor();
  await expectForEverybody(page);
  await page.unroute('**/v1/playlists?**');
  await page.getByRole('button', { name: 'Try again' }).click();
  await page.getByText('No playlist yet').waitFor();
});
