/** Tests how a person makes, tests, changes and deletes destinations in the dashboard. */
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  expectForEverybody,
  expectToWaitAndRecover,
  leaveBrowser,
  shareBrowser,
  type Visit,
  visit,
} from '../kit/real/page.ts';
import { type SharedSystem, shareSystem } from '../kit/system/share-system.ts';

let system: SharedSystem;
let browser: Browser;
let at: Visit;

beforeAll(async () => {
  [system, browser] = await Promise.all([shareSystem(), shareBrowser()]);
});
afterAll(() => leaveBrowser(browser));

const open = async () => {
  at = await visit(browser, system, '/destinations');
  return at.page;
};
const leave = async () => {
  expect(at.complaints).toEqual([]);
  await at.close();
};
const all = async () => (await system.client.destinations.list().page()).data;
const remove = async () => {
  for (const { id } of await all()) await system.client.destinations.delete(id);
};

test('an empty page shows the next step; a platform’s address is filled in, and the way to its key is shown', async () => {
  const page = await open();
  await page.getByText('No destination yet').waitFor();
  await expectForEverybody(page);
  await page.getByRole('button', { name: 'Add destination' }).click();
  const dialog = page.getByRole('dialog', { name: 'New destination' });
  await dialog.getByRole('radio', { name: 'Twitch' }).check();
  expect(await dialog.getByLabel('Address').inputValue()).toMatch(/^rtmps:\/\/.*live-video\.net/);
  expect(await dialog.getByLabel('Name').inputValue()).toBe('Twitch');
  expect(await dialog.getByRole('link', { name: /Open Twitch/ }).getAttribute('href')).toContain('dashboard.twitch.tv');
  await expectForEverybody(page);
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
  expect(await page.evaluate(() => document.activeElement?.textContent)).toContain('Add destination');
  expect(await all()).toEqual([]);
  await leave();
});

test('an error stands at its field, the server’s too; a double click makes one; its key is never shown', async () => {
  const page = await open();
  await page.getByRole('button', { name: 'Add destination' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('radio', { name: 'Custom' }).check();
  await dialog.getByRole('button', { name: 'Add destination' }).click();
  await dialog.getByText('Enter the stream key.').waitFor();
  await dialog.getByLabel('Name').fill('<b>My</b> own server');
  await dialog.getByLabel('Address').fill('https://example.com/app');
  // Leaving the field is enough.
  await dialog.getByRole('textbox', { name: 'Stream key' }).fill('sECRet-stream-key-wxyz');
  await dialog.getByText('Must begin with rtmp://, rtmps:// or srt://.').waitFor();
  await dialog.getByRole('button', { name: 'Add destination' }).click();
  expect(await all()).toEqual([]);
  expect(await dialog.getByLabel('Address').getAttribute('aria-invalid')).toBe('true');
  await expectForEverybody(page);
  await dialog.getByLabel('Address').fill(system.facts.rtmpUrl);
  await dialog.getByRole('button', { name: 'Add destination' }).dblclick();
  const row = page.getByRole('article', { name: '<b>My</b> own server' });
  await row.getByText('Key ends in wxyz').waitFor();
  await dialog.waitFor({ state: 'detached' });
  expect((await all()).map(({ name }) => name)).toEqual(['<b>My</b> own server']);
  expect(await page.content()).not.toContain('sECRet');
  await leave();
});

test('a key is asked for where one is needed; for an address that may be complete, a question precedes', async () => {
  const page = await open();
  await page.getByRole('button', { name: 'Add destination' }).click();
  const dialog = page.getByRole('dialog', { name: 'New destination' });
  const add = dialog.getByRole('button', { name: 'Add destination' });
  await add.click();
  await dialog.getByText('Enter the stream key.').waitFor();
  await dialog.getByRole('radio', { name: 'Custom' }).check();
  await dialog.getByLabel('Name').fill('Takes its path as the name');
  await dialog.getByLabel('Address').fill(system.facts.rtmpUrl);
  await dialog.getByText('it may stay empty').waitFor();
  await add.click();
  const question = page.getByRole('dialog', { name: 'Add it without a stream key?' });
  await expectForEverybody(page);
  await question.getByRole('button', { name: 'Enter the key' }).click();
  expect(await all()).not.toContainEqual(expect.objectContaining({ name: 'Takes its path as the name' }));
  await add.click();
  await question.getByRole('button', { name: 'Add without a key' }).click();
  await page.getByRole('article', { name: 'Takes its path as the name' }).waitFor();
  const made = (await all()).find(({ name }) => name === 'Takes its path as the name');
  expect(made).toMatchObject({ rtmpUrl: system.facts.rtmpUrl });
  await system.client.destinations.delete(made?.id ?? '');
  await leave();
});

test('a test shows each passed step, or the failed one and the next step', async () => {
  const page = await open();
  const row = page.getByTestId('destination').first();
  await row.getByRole('button', { name: /^Test / }).click();
  const result = row.getByTestId('test-result');
  await result.waitFor({ timeout: 90_000 });
  expect(await result.getAttribute('data-ok')).toBe('true');
  expect(await result.getByText(': passed').count()).toBe(4);
  await expectForEverybody(page);

  await row.getByRole('button', { name: /^Change / }).click();
  const dialog = page.getByRole('dialog', { name: 'Change destination' });
  await dialog.getByLabel('Address').fill('rtmp://127.0.0.1:1/live');
  await dialog.getByText('The address has changed.').waitFor();
  await dialog.getByRole('button', { name: 'Save' }).click();
  await dialog.waitFor({ state: 'detached' });
  // The result of the test belonged to the old address.
  await result.waitFor({ state: 'detached' });
  await row.getByText('Key ends in wxyz').waitFor();
  await row.getByRole('button', { name: /^Test / }).click();
  await result.waitFor({ timeout: 90_000 });
  expect(await result.getAttribute('data-ok')).toBe('false');
  expect(await result.getByRole('listitem').filter({ hasText: 'Connect' }).textContent()).toContain('failed');
  await expectForEverybody(page);
  await leave();
});

test('a login is asked for where somebody opens it, kept secret, changed and removed', async () => {
  const page = await open();
  await page.getByRole('button', { name: 'Add destination' }).click();
  const made = page.getByRole('dialog');
  await made.getByRole('radio', { name: 'Custom' }).check();
  await made.getByLabel('Name').fill('Behind a login');
  // The address is as pasted, with the placeholder of the key in it.
  await made.getByLabel('Address').fill(`${system.facts.rtmpUrl}/{stream_key}`);
  await made.getByRole('textbox', { name: 'Stream key' }).fill('stream-key-5678');
  expect(await made.getByLabel('User').isVisible()).toBe(false);
  await made.getByText('This server requires a login').click();
  await made.getByLabel('User').fill('sECRet-user');
  await expectForEverybody(page);
  await made.getByRole('button', { name: 'Add destination' }).click();
  await made.getByText('Is missing: a user name needs a password.').waitFor();
  await made.getByRole('textbox', { name: 'Password' }).fill('sECRet-password');
  await made.getByRole('button', { name: 'Add destination' }).click();
  await made.waitFor({ state: 'detached' });
  const find = async () => (await all()).find(({ name }) => name === 'Behind a login');
  expect(await find()).toMatchObject({ rtmpUrl: system.facts.rtmpUrl, hasLogin: true });
  expect(await page.content()).not.toContain('sECRet');

  const row = page.getByRole('article', { name: 'Behind a login' });
  await row.getByRole('button', { name: /^Change / }).click();
  const dialog = page.getByRole('dialog', { name: 'Change destination' });
  expect(await dialog.getByLabel('User').inputValue()).toBe('');
  await dialog.getByLabel(/^Remove the login/).check();
  const least = dialog.getByLabel('Least bitrate in kbit/s');
  expect(await least.isVisible()).toBe(false);
  await dialog.getByText('Least bitrate of stills').click();
  await least.fill('60000');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await dialog.getByText('Enter a whole number from 0 to 50,000, or leave it empty.').waitFor();
  await least.fill('3000');
  await expectForEverybody(page);
  await dialog.getByRole('button', { name: 'Save' }).click();
  await dialog.waitFor({ state: 'detached' });
  const destination = await find();
  expect(destination).toMatchObject({ hasLogin: false, rtmpKeyHint: '5678', leastBitrateKbps: 3000 });
  await system.client.destinations.delete(destination?.id ?? '');
  await leave();
});

test('a destination in use is not deleted, and the stream is named; then it is, after a question', async () => {
  const [destination] = await all();
  const stream = await system.client.streams.create({
    name: 'Night channel',
    quality: 'q_720p',
    framerate: 'f_30',
    destinationID: destination?.id ?? '',
    playlistIDs: [(await system.client.playlists.create({ kind: 'video', mode: 'sequential', items: [] })).id],
  });
  const page = await open();
  const row = page.getByTestId('destination').first();
  const askToDelete = async () => {
    await row.getByRole('button', { name: /^More actions for / }).click();
    await page.getByRole('button', { name: 'Delete destination…' }).click();
  };
  await askToDelete();
  const dialog = page.getByRole('dialog', { name: 'Delete this destination?' });
  await dialog.getByRole('button', { name: 'Delete destination' }).click();
  await dialog.getByRole('link', { name: 'Night channel' }).waitFor();
  await expectForEverybody(page);
  await dialog.getByRole('button', { name: 'Keep it' }).click();
  await system.client.streams.delete(stream.id);
  await askToDelete();
  await dialog.getByRole('button', { name: 'Delete destination' }).click();
  await page.getByText('No destination yet').waitFor();
  expect(await all()).toEqual([]);
  await leave();
});

test('while it loads it says so; where the server is away it says that, and goes on when it is back', async () => {
  const page = await open();
  await expectToWaitAndRecover(page, '**/v1/destinations?**', {
    loading: 'Loading your destinations',
    failure: 'Your destinations could not be loaded',
  });
  await page.getByText('No destination yet').waitFor();
  await leave();
});

test('by keyboard alone: a destination is added without a mouse', async () => {
  const page = await open();
  await page.getByRole('button', { name: 'Add destination' }).focus();
  await page.keyboard.press('Enter');
  const dialog = page.getByRole('dialog');
  await dialog.waitFor();
  // The choice of a platform comes first, by the arrow keys.
  await page.keyboard.press('ArrowRight');
  expect(await dialog.getByRole('radio', { name: 'Twitch' }).isChecked()).toBe(true);
  await page.keyboard.press('Tab');
  await page.keyboard.press('Tab');
  await page.keyboard.press('Tab');
  await page.keyboard.type('live_key_of_mine');
  await page.keyboard.press('Enter');
  await page.getByRole('article', { name: 'Twitch' }).waitFor();
  await remove();
  await leave();
});

test('a deletion elsewhere shows at once in an open form, which keeps its input; an unknown address leads nowhere', async () => {
  const { destinations } = system.client;
  const { id } = await destinations.create({ name: 'Soon gone', rtmpUrl: system.facts.rtmpUrl, rtmpKey: 'key' });
  const page = await open();
  await page.getByRole('button', { name: 'Change Soon gone' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name').fill('Typed with care');
  await destinations.delete(id);
  await dialog.getByRole('alert').filter({ hasText: 'was deleted elsewhere' }).waitFor();
  expect(await dialog.getByLabel('Name').inputValue()).toBe('Typed with care');
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  await dialog.waitFor({ state: 'detached' });
  await page.goto(new URL(`/destinations?form=edit+${id}`, page.url()).href);
  await page.getByRole('dialog', { name: 'Destination not found' }).waitFor();
  await expectForEverybody(page);
  await page.getByRole('button', { name: 'Show my destinations' }).click();
  await page.getByText('No destination yet').waitFor();
  await leave();
});
