/// <reference lib="dom" />
/**
 * Tests that no input is lost in forms that are left and opened again, or changed by two at once. dashboard-forms-input.test.ts tries the
 * possible input of each.
 */
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { closeWindow, expectForEverybody, leaveBrowser, openWindow, shareBrowser } from '../kit/real/page.ts';
import { type SharedSystem, shareSystem } from '../kit/system/share-system.ts';

let system: SharedSystem;
let browser: Browser;
let context: BrowserContext;
let page: Page;
let cookies: Awaited<ReturnType<BrowserContext['cookies']>> = [];
let complaints: string[];
const made = { stream: '', playlist: '', destination: '' };

const site = () => new URL(system.facts.pageUrl).origin;
const button = (name: string | RegExp) => page.getByRole('button', { name });

async function signIn(): Promise<void> {
  await page.getByLabel('E-mail address').fill(system.facts.email ?? '');
  await page.getByLabel('Password', { exact: true }).fill(system.facts.password ?? '');
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
}

/** Opens a browser in which the person is signed in. */
async function open(path: string): Promise<void> {
  context = await openWindow(browser);
  await context.addCookies(cookies);
  page = await context.newPage();
  complaints = [];
  page.on('console', (message) => {
    if (message.text().includes('Content Security Policy')) complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(String(error)));
  await page.goto(`${site()}${path}`);
  await page.getByRole('heading', { level: 1 }).waitFor();
}

beforeAll(async () => {
  [system, browser] = await Promise.all([shareSystem(), shareBrowser()]);
  await open('/');
  await signIn();
  await page.getByTestId('user-email').waitFor();
  cookies = await context.cookies();
  await closeWindow(context);
  const { destinations, playlists } = system.client;
  made.destination = (await destinations.create({ name: 'Here', rtmpUrl: system.facts.rtmpUrl, rtmpKey: 'key' })).id;
  made.playlist = (await playlists.create({ name: 'Evenings', kind: 'video', mode: 'sequential', items: [] })).id;
});
afterAll(() => leaveBrowser(browser));
beforeEach(async () => {
  const picture = { quality: 'q_720p', framerate: 'f_30' } as const;
  const stream = { name: 'Night', ...picture, destinationID: made.destination, playlistIDs: [made.playlist] };
  made.stream = (await system.client.streams.create(stream)).id;
});
afterEach(async () => {
  expect(complaints).toEqual([]);
  await closeWindow(context);
  await system.client.streams.delete(made.stream);
});

const MARKUP = '"><img src=x onerror="window.hacked=1"><script>window.hacked=1</script>';
const dialog = () => page.getByRole('dialog');

test('markup in every name is text wherever it is shown', async () => {
  const { destinations, playlists, streams } = system.client;
  const name = `${MARKUP}'; DROP TABLE users; --`;
  const rtmpKey = 'key';
  const destination = await destinations.create({ name, rtmpUrl: system.facts.rtmpUrl, rtmpKey });
  const playlist = await playlists.create({ name, kind: 'video', mode: 'sequential', items: [] });
  await streams.update(made.stream, { name, destinationIDs: [destination.id], playlistIDs: [playlist.id] });
  await open('/');
  const pages = ['/streams', '/destinations', '/playlists', `/playlists/${playlist.id}`, `/streams/${made.stream}`];
  for (const path of [...pages, `/streams/${made.stream}?form=edit`]) {
    await page.goto(`${site()}${path}`);
    await page.getByText('DROP TABLE').first().waitFor({ state: 'attached' });
    expect(await page.evaluate(() => 'hacked' in window || document.querySelector('img[src=x]') !== null), path).toBe(
      false,
    );
  }
  await streams.update(made.stream, { destinationIDs: [made.destination], playlistIDs: [made.playlist] });
  await Promise.all([destinations.delete(destination.id), playlists.delete(playlist.id)]);
});

test('a session has ended before the page is reloaded: after signing in, the form is open as before, except for its secret', async () => {
  await open('/destinations');
  await button('Add destination').click();
  await dialog().getByLabel('Name').fill('Half typed');
  await dialog().getByRole('textbox', { name: 'Stream key' }).fill('abcd-secret');
  expect(await page.evaluate(() => JSON.stringify(sessionStorage))).not.toContain('abcd-secret');
  await context.clearCookies();
  await page.reload();
  await page.getByRole('heading', { name: 'Sign in to loopstream' }).waitFor();
  await signIn();
  await dialog().waitFor();
  expect(await dialog().getByLabel('Name').inputValue()).toBe('Half typed');
  expect(await dialog().getByRole('textbox', { name: 'Stream key' }).inputValue()).toBe('');
  // The back button closes it, and the forward button opens it again with its input.
  await page.goBack();
  await dialog().waitFor({ state: 'detached' });
  await page.goForward();
  await dialog().waitFor();
  expect(await dialog().getByLabel('Name').inputValue()).toBe('Half typed');
  // A discarded draft is gone.
  await dialog().getByRole('button', { name: 'Cancel' }).click();
  await dialog().waitFor({ state: 'detached' });
  expect(new URL(page.url()).search).toBe('');
  await button('Add destination').click();
  expect(await dialog().getByLabel('Name').inputValue()).toBe('YouTube');
});

test('a key is revoked in the middle: a new key continues with the input; a sign-out clears it', async () => {
  await open('/account/keys?form=new');
  await dialog().getByLabel('Name').fill('Short lived');
  await dialog().getByRole('button', { name: 'Create key' }).click();
  const key = (await page.getByTestId('new-key').textContent()) ?? '';
  await closeWindow(context);
  context = await openWindow(browser);
  page = await context.newPage();
  await page.goto(`${site()}/streams/${made.stream}#key=${key}`);
  await page.getByRole('button', { name: 'Edit', exact: true }).click();
  await dialog().getByLabel('Name').fill('Night and day');
  await revoke(key);
  await dialog().getByRole('button', { name: 'Save' }).click();
  await page.getByText('Your API key is no longer accepted').waitFor();
  await button('Use an API key instead').click();
  await page.getByRole('textbox', { name: 'API key' }).fill(system.facts.apiKey);
  await button(/^Sign in$/).click();
  await dialog().waitFor();
  expect(await dialog().getByLabel('Name').inputValue()).toBe('Night and day');
  await page.keyboard.press('Escape');
  await dialog().waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Edit', exact: true }).click();
  await dialog().getByLabel('Name').fill('Not for others');
  await page.goBack();
  await dialog().waitFor({ state: 'detached' });
  await button('Sign out').click();
  await page.getByRole('heading', { name: 'Sign in to loopstream' }).waitFor();
  expect(await page.evaluate(() => JSON.stringify(sessionStorage))).toBe('{}');
});

/** Revokes the key in the owner's other browser. */
async function revoke(key: string): Promise<void> {
  const owner = await openWindow(browser);
  await owner.addCookies(cookies);
  const tab = await owner.newPage();
  await tab.goto(`${site()}/account/keys`);
  await tab.getByText(key.slice(0, 8)).first().waitFor();
  await tab.getByRole('button', { name: 'Revoke Short lived' }).click();
  await tab.getByRole('button', { name: 'Delete API key' }).click();
  await tab.getByRole('dialog').waitFor({ state: 'detached' });
  await closeWindow(owner);
}

test('a change in another tab: untouched fields are updated, conflicts are shown, and my input is kept', async () => {
  await open(`/streams/${made.stream}?form=edit`);
  await dialog().getByLabel('Name').fill('Mine');
  await system.client.streams.update(made.stream, { name: 'Theirs', framerate: 'f_60' });
  await page.getByTestId('elsewhere').filter({ hasText: 'name' }).waitFor();
  await expect.poll(() => dialog().getByLabel('Frame rate').inputValue()).toBe('f_60');
  expect(await dialog().getByLabel('Name').inputValue()).toBe('Mine');
  await expectForEverybody(page);
  await dialog().getByRole('button', { name: 'Save' }).dblclick();
  await dialog().waitFor({ state: 'detached' });
  expect(await system.client.streams.get(made.stream)).toMatchObject({ name: 'Mine', framerate: 'f_60' });
});

test('a deletion in another tab: the form reports it, and the input can still be read', async () => {
  const { destinations } = system.client;
  const { id } = await destinations.create({ name: 'Soon gone', rtmpUrl: system.facts.rtmpUrl, rtmpKey: 'key' });
  await open(`/destinations?form=edit+${id}`);
  await dialog().getByLabel('Name').fill('Typed with care');
  await destinations.delete(id);
  await page.getByRole('article', { name: 'Soon gone' }).waitFor({ state: 'detached' });
  await dialog().getByRole('button', { name: 'Save' }).click();
  await dialog().getByRole('alert').waitFor();
  expect(await dialog().getByLabel('Name').inputValue()).toBe('Typed with care');
});
