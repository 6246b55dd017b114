/** Tests how a person makes, orders, changes and removes the rules of a playlist in the dashboard, and sees on a stream what they do. */
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, onTestFinished, test } from 'vitest';
import { makeClip } from '../kit/make/media.ts';
import { expectForEverybody, leaveBrowser, shareBrowser, type Visit, visit } from '../kit/real/page.ts';
import { serveDir, type WebServer } from '../kit/serve.ts';
import { type SharedSystem, shareSystem } from '../kit/system/share-system.ts';
import { tempDir } from '../kit/temp-dir.ts';
import { until } from '../kit/wait.ts';

const NAMES = ['Film', 'Jingle'] as const;
const ids = { Film: '', Jingle: '' };
const dir = tempDir();
let system: SharedSystem;
let browser: Browser;
let server: WebServer;
let at: Visit;
let jingles: string;

beforeAll(async () => {
  await makeClip(join(dir, 'clip.mp4'), { seconds: 2 });
  server = await serveDir(dir);
  [system, browser] = await Promise.all([shareSystem(), shareBrowser()]);
  const { playlists, uploads } = system.client;
  for (const name of NAMES) {
    const { objectID } = await uploads.fromLink({ type: 'VIDEO', url: `${server.url}/clip.mp4`, name });
    ids[name] = objectID;
    await until('it is imported', async () => (await uploads.get(objectID)).state === 'ready', 180_000);
  }
  const items = [{ uploadObjectID: ids.Jingle }];
  jingles = (await playlists.create({ name: 'Jingles', kind: 'video', mode: 'sequential', items })).id;
});
afterAll(async () => {
  await leaveBrowser(browser);
  await server?.close();
});
afterEach(async () => {
  expect(at.complaints).toEqual([]);
  await at.close();
});

const make = () =>
  system.client.playlists.create({
    ...{ name: 'Evenings', kind: 'video', mode: 'sequential' },
    items: [{ uploadObjectID: ids.Film }],
  });
async function open(path: string): Promise<Page> {
  at = await visit(browser, system, path);
  return at.page;
}
const rules = (page: Page) => page.getByRole('region', { name: 'Rules' });
const bar = (page: Page) => page.getByRole('region', { name: 'Unsaved changes' });
const field = (page: Page, name: string) =>
  rules(page).getByLabel(name, { exact: true }).and(page.locator('input, select'));

async function save(page: Page): Promise<void> {
  await bar(page).getByRole('button', { name: 'Save', exact: true }).click();
  await bar(page).waitFor({ state: 'detached' });
}

async function addRule(page: Page, name: string): Promise<void> {
  await rules(page).getByRole('button', { name: 'Add rule' }).click();
  await field(page, 'Name of the rule').fill(name);
  await field(page, 'Playlist').fill('Jingles');
}

test('rules are made, put in order by the keyboard, changed and removed, and each save is one version', async () => {
  const { playlists } = system.client;
  const { id } = await make();
  const page = await open(`/playlists/${id}`);
  await addRule(page, 'jingle');
  await rules(page).getByText('Every 30 minutes, at the end of the clip that plays, one clip of “Jingles”.').waitFor();
  await page.getByRole('radio', { name: 'After some clips' }).check();
  await addRule(page, 'news');
  await page.getByRole('radio', { name: 'One upload' }).check();
  await field(page, 'Upload').fill('Film');
  await page.getByRole('radio', { name: 'At times' }).check();
  await field(page, 'At').fill('18:30');
  await field(page, 'Starts').selectOption({ label: 'At once: the clip that plays is cut' });
  await expect.poll(() => page.getByTestId('rule-times').getByRole('listitem').count()).toBe(3);
  await expectForEverybody(page);
  const up = rules(page).getByRole('button', { name: 'Move news up' });
  await up.focus();
  await page.keyboard.press('Enter');
  await page.getByText('“news” is at place 1 of 2.').waitFor({ state: 'attached' });
  // It goes no further up, so the focus is on the way down.
  const down = rules(page).getByRole('button', { name: 'Move news down' });
  await expect.poll(() => down.evaluate((button) => button === document.activeElement)).toBe(true);
  await save(page);
  const zone = await page.evaluate(() => Intl.DateTimeFormat().resolvedOptions().timeZone);
  const usual = { lateSeconds: 120, after: 'Resume', count: 1, pick: 'Next' };
  const news = { ...usual, name: 'news', start: 'Cut', uploadObjectID: ids.Film };
  const jingle = { ...usual, name: 'jingle', start: 'Border', playlistID: jingles, when: { eachItems: 5 } };
  expect(await playlists.get(id)).toMatchObject({
    version: 2,
    rules: [{ ...news, when: { at: { cron: '30 18 * * *', timeZone: zone } } }, jingle],
  });

  await rules(page).getByRole('button', { name: 'jingle', exact: true }).click();
  await field(page, 'Clips in between').fill('3');
  await rules(page).getByText('After every 3 clips, one clip of “Jingles”.').waitFor();
  await rules(page).getByRole('button', { name: 'Remove news' }).click();
  await save(page);
  expect(await playlists.get(id)).toMatchObject({ version: 3, rules: [{ ...jingle, when: { eachItems: 3 } }] });
  await page.getByRole('button', { name: 'Changes in version 3' }).click();
  await page.getByText('Other rules from then on').waitFor();
});

test('a mistake stands at its field, whoever finds it, and goes with the change', async () => {
  const page = await open(`/playlists/${(await make()).id}`);
  await rules(page).getByRole('button', { name: 'Add rule' }).click();
  await bar(page).getByRole('button', { name: 'Save', exact: true }).click();
  await rules(page).getByText('Choose a playlist.').waitFor();
  await expectForEverybody(page);
  await field(page, 'Name of the rule').fill('never');
  await field(page, 'Playlist').fill('Jingles');
  await page.getByRole('radio', { name: 'At times' }).check();
  await page.getByRole('radio', { name: 'Cron' }).check();
  const cron = field(page, 'Cron expression');
  await cron.fill('0 0 30 2 *');
  await bar(page).getByRole('button', { name: 'Save', exact: true }).click();
  await expect.poll(() => cron.getAttribute('aria-invalid')).toBe('true');
  await bar(page).getByText('A rule has a mistake.').waitFor();
  await cron.fill('0 * * * *');
  await expect.poll(() => cron.getAttribute('aria-invalid')).not.toBe('true');
  await save(page);
});

test('my rules and those that were saved elsewhere meanwhile are both kept', async () => {
  const { playlists } = system.client;
  const { id } = await make();
  const page = await open(`/playlists/${id}`);
  await addRule(page, 'mine');
  await playlists.update(id, { version: 1, rules: [{ name: 'theirs', when: { eachItems: 9 }, playlistID: jingles }] });
  await page.getByTestId('conflict').getByText('Other rules from then on').waitFor();
  await page.getByRole('button', { name: 'Keep my changes on top of it' }).click();
  await save(page);
  expect((await playlists.get(id)).rules.map(({ name }) => name).sort()).toEqual(['mine', 'theirs']);
});

test('artists are kept apart where clips are shuffled', async () => {
  const { playlists } = system.client;
  const { id } = await make();
  const page = await open(`/playlists/${id}`);
  const apart = page.getByLabel('Clips between two of one artist');
  expect(await apart.count()).toBe(0);
  await page.getByRole('radio', { name: 'Shuffled' }).check();
  await apart.fill('3');
  await save(page);
  expect(await playlists.get(id)).toMatchObject({ mode: 'shuffle', notWithin: { sameArtist: 3 } });
});

test('a rule that is published on air is in the ruler of the day and says when it comes; its public address has what plays', async () => {
  const { destinations, streams } = system.client;
  const { id } = await make();
  const to = await destinations.create({ name: 'Here', rtmpUrl: system.facts.rtmpUrl, rtmpKey: 'ruled-by-page' });
  const wish = { quality: '720p' as const, framerate: 30 as const, destinationID: to.id, playlistIDs: [id] };
  const stream = (await streams.create({ name: 'Ruled', ...wish })).id;
  onTestFinished(() => streams.delete(stream));
  await until('it is ready', async () => (await streams.readiness(stream)).ready, 180_000);
  expect((await streams.start(stream, { wait: 60 })).status).toBe('live');
  const page = await open(`/playlists/${id}`);
  await addRule(page, 'jingle');
  await page.getByRole('radio', { name: 'After some clips' }).check();
  await field(page, 'Clips in between').fill('2');
  await bar(page).getByRole('button', { name: 'Save and publish' }).click();
  await page.getByRole('dialog', { name: 'Publish version 2?' }).getByRole('button', { name: 'Publish' }).click();
  const isRuled = async () => (await streams.timeline(stream)).items.some(({ rule }) => rule === 'jingle');
  await until('the rule is on air', isRuled, 180_000);
  await page.reload();
  await page
    .getByTestId('moments')
    .getByText(/^On air next: .+, .+, .+$/)
    .waitFor();

  await page.getByRole('link', { name: 'Ruled' }).click();
  await page.getByTestId('day-ruler').locator('[title$=": Jingle"]').first().waitFor();
  // It is checked once the server has done it.
  const isPublic = page.getByRole('checkbox', { name: 'Public address' });
  await isPublic.click();
  const address = await page.getByText(/\/public\/now\/lsn_/).textContent();
  expect((await fetch(address ?? '')).status).toBe(200);
  await isPublic.click();
  await until('it is gone', async () => (await fetch(address ?? '')).status === 404);
});
