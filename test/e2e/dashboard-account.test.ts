/// <reference lib="dom" />
/** Tests a person's account in a browser: signing up by mail, keys, sessions, leaving; and failed sign-ins. */
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createAccount, type Mailbox, openMailbox } from '../kit/make/account.ts';
import { closeWindow, expectForEverybody, leaveBrowser, openWindow, shareBrowser } from '../kit/real/page.ts';
import { type SharedSystem, shareSystem } from '../kit/system/share-system.ts';

const PASSWORD = 'seven lamps over water';
const OTHER_PASSWORD = 'a kettle full of stars';

let system: SharedSystem;
let browser: Browser;
let mails: Mailbox;
let context: BrowserContext;
let page: Page;
let complaints: string[];

const site = () => new URL(system.facts.pageUrl).origin;

beforeAll(async () => {
  [system, browser] = await Promise.all([shareSystem(), shareBrowser()]);
  mails = openMailbox(system.facts.mailUrl ?? '');
});
afterAll(() => leaveBrowser(browser));

/** Opens a browser without a session. */
async function open(path: string): Promise<Page> {
  context = await openWindow(browser);
  page = await context.newPage();
  complaints = [];
  page.on('console', (message) => {
    if (message.text().includes('Content Security Policy')) complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(String(error)));
  await page.goto(`${site()}${path}`);
  return page;
}
const leave = async () => {
  expect(complaints).toEqual([]);
  await closeWindow(context);
};
const heading = (name: string | RegExp) => page.getByRole('heading', { name });
const button = (name: string | RegExp) => page.getByRole('button', { name });

async function signIn(email: string, password = PASSWORD): Promise<void> {
  await page.getByLabel('E-mail address').fill(email);
  await page.getByLabel('Password', { exact: true }).fill(password);
  await button(/^Sign in$/).click();
}
/** Signs in, in a browser of its own. */
async function openAs(email: string, path: string): Promise<void> {
  await open(path);
  await signIn(email);
  await page.getByTestId('user-email').waitFor();
}
const me = (key: string) => fetch(`${site()}/v1/me`, { headers: { 'x-api-key': key } });

test('sign up, confirm by mail, sign in, make a key, use it, revoke it', async () => {
  const email = 'mia@example.com';
  await open('/playlists');
  await heading('Sign in to loopstream').waitFor();
  await expectForEverybody(page);
  await page.getByRole('link', { name: 'Create an account' }).click();
  await heading('Create your account').waitFor();
  await expectForEverybody(page);
  await page.getByLabel('First name').fill('<b>Mia</b> 🎬');
  await page.getByLabel('E-mail address').fill(email);
  await page.getByLabel('Password', { exact: true }).fill('password123');
  await button('Create account').click();
  await page.getByText('easy to guess').waitFor();
  await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
  await button('Create account').dblclick();
  await heading('Check your mail').waitFor();
  await page.getByText(email).waitFor();
  await expectForEverybody(page);

  // The password is right, and the address is not confirmed.
  const link = await mails.link(email, /Confirm/);
  expect(await mails.count(email)).toBe(1);
  await page.getByRole('link', { name: 'Back to sign-in' }).click();
  await signIn(email);
  await heading('Check your mail').waitFor();

  await page.goto(link);
  await heading('Confirm your address').waitFor();
  await expectForEverybody(page);
  await button('Confirm my address').click();
  // The browser that signed up is signed in.
  await page.getByTestId('user-email').filter({ hasText: email }).waitFor();

  await page.getByRole('link', { name: 'API keys' }).click();
  await page.getByText('No key yet').waitFor();
  await expectForEverybody(page);
  await button('New API key').click();
  await page.getByLabel('Name').fill('<i>My</i> program');
  // Read only, unless its owner wishes more.
  await page.getByRole('radio', { name: 'Chosen rights' }).check();
  await page.getByRole('checkbox', { name: /^Read:/ }).uncheck();
  await button('Create key').click();
  await page.getByText('Choose at least one right.').waitFor();
  await expectForEverybody(page);
  await page.getByRole('radio', { name: 'Read only' }).check();
  await button('Create key').dblclick();
  const key = (await page.getByTestId('new-key').textContent()) ?? '';
  expect(key).toMatch(/^lsk_/);
  await expectForEverybody(page);
  await button('I have copied it').click();
  await heading('<i>My</i> program').waitFor();
  expect(await page.getByRole('heading', { level: 2 }).count()).toBe(1);
  await expectForEverybody(page);
  expect(await page.content()).not.toContain(key);
  expect(((await (await me(key)).json()) as { firstName: string }).firstName).toBe('<b>Mia</b> 🎬');
  const wish = { method: 'POST', headers: { 'x-api-key': key, 'content-type': 'application/json' }, body: '{}' };
  expect((await fetch(`${site()}/v1/destinations`, wish)).status).toBe(403);
  await page.getByText('read only').waitFor();

  await button('Change limit').click();
  await page.getByRole('radio', { name: '30 days' }).check();
  await expectForEverybody(page);
  await button('Save').click();
  await page.getByText('Keys live for at most 30 days.').waitFor();
  await button('New API key').click();
  await page.getByText('Your account allows keys of at most 30 days.').waitFor();
  expect(await page.getByRole('radio', { name: 'No expiry' }).count()).toBe(0);
  await button('Cancel').click();

  await button('Revoke <i>My</i> program').click();
  await button('Delete API key').click();
  await page.getByText('No key yet').waitFor();
  expect((await me(key)).status).toBe(401);
  await leave();
});

test('a new password by mail: the link works once, ends sessions, and the old password is none', async () => {
  const { email } = await createAccount(site(), mails, PASSWORD);
  await openAs(email, '/account');
  const [before, first] = [context, page];
  await open('/sign-in');
  await page.getByRole('link', { name: 'Forgot your password?' }).click();
  await heading('Choose a new password').waitFor();
  await expectForEverybody(page);
  await page.getByLabel('E-mail address').fill(email);
  await button('Send the link').click();
  await heading('Check your mail').waitFor();
  const link = await mails.link(email, /Choose a new password/);
  await page.goto(link);
  await page.getByRole('textbox', { name: 'New password' }).fill(OTHER_PASSWORD);
  await expectForEverybody(page);
  await button('Set the new password').click();
  await page.getByText('Your new password is set').waitFor();
  await signIn(email);
  await page.getByText('is wrong').waitFor();
  await expectForEverybody(page);
  await signIn(email, OTHER_PASSWORD);
  await page.getByTestId('user-email').waitFor();
  await mails.link(email, /was changed/);

  await page.goto(link);
  await page.getByRole('textbox', { name: 'New password' }).fill(PASSWORD);
  await button('Set the new password').click();
  await page.getByText('was already used').waitFor();

  // The earlier session is over: the page asks for a sign-in above its content.
  await first.reload();
  await first.getByRole('heading', { name: 'Sign in to loopstream' }).waitFor();
  await closeWindow(before);
  await leave();
});

test('an unknown address gets the answer of a known one, and no mail', async () => {
  await open('/forgot-password');
  await page.getByLabel('E-mail address').fill('nobody@example.com');
  await button('Send the link').click();
  await heading('Check your mail').waitFor();
  await page.goto(`${site()}/sign-in`);
  await signIn('nobody@example.com');
  await page.getByText('is wrong').waitFor();
  const { email } = await createAccount(site(), mails, PASSWORD);
  await page.goto(`${site()}/sign-up`);
  await page.getByLabel('First name').fill('Another');
  await page.getByLabel('E-mail address').fill(email.toUpperCase());
  await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
  await button('Create account').click();
  await heading('Check your mail').waitFor();
  await mails.link(email, /already have a loopstream account/);
  expect(await mails.count('nobody@example.com')).toBe(0);
  await leave();
});

test('a session that ends in the middle resumes on the same page, with its input', async () => {
  const { email } = await createAccount(site(), mails, PASSWORD);
  await openAs(email, '/destinations');
  await button('Add destination').click();
  const form = page.getByRole('dialog', { name: 'New destination' });
  await form.getByLabel('Name').fill('Half typed');
  await form.getByRole('textbox', { name: 'Stream key' }).fill('abcd-efgh');
  await context.clearCookies();
  await form.getByRole('button', { name: 'Add destination' }).click();
  const again = page.getByRole('dialog', { name: 'Sign in again' });
  await again.waitFor();
  const refused: string[] = [];
  page.on('response', (answer) => answer.status() === 401 && refused.push(answer.url()));
  await expectForEverybody(page);
  // The page behind asks for nothing meanwhile.
  expect(refused).toEqual([]);
  await again.getByLabel('Password', { exact: true }).fill(PASSWORD);
  await again.getByRole('button', { name: 'Sign in', exact: true }).click();
  await again.waitFor({ state: 'detached' });
  expect(await form.getByLabel('Name').inputValue()).toBe('Half typed');
  await form.getByRole('button', { name: 'Add destination' }).click();
  await page.getByText('Half typed').waitFor();
  await leave();
});

test('two tabs: signing out in one reaches the other; the back button shows nothing of the earlier user', async () => {
  const { email } = await createAccount(site(), mails, PASSWORD);
  await openAs(email, '/account');
  const other = await context.newPage();
  await other.goto(`${site()}/account/apps`);
  await other.getByText('No app is connected').waitFor();
  await button('Sign out').click();
  await heading('Sign in to loopstream').waitFor();
  await other.getByRole('heading', { name: 'Sign in to loopstream' }).waitFor();
  await other.getByText('You signed out in another tab.').waitFor();
  // A sign-in reaches it, too.
  await signIn(email);
  await other.getByText('No app is connected').waitFor();
  await button('Sign out').click();
  await other.getByRole('heading', { name: 'Sign in to loopstream' }).waitFor();
  await page.goBack().catch(() => undefined);
  await page.goForward().catch(() => undefined);
  expect(await page.getByText(email).count()).toBe(0);
  await leave();
});

test('profile, password and sessions; the account is taken along as a file, and deleted with the password alone', async () => {
  const { email } = await createAccount(site(), mails, PASSWORD);
  await openAs(email, '/');
  const [second, secondPage] = [context, page];
  await openAs(email, '/account');
  await heading('Sessions').waitFor();
  await expectForEverybody(page);
  await page.getByLabel('First name').fill('');
  await button('Save').click();
  await page.getByText('Enter your first name.').waitFor();
  await page.getByLabel('First name').fill('"><script>alert(1)</script>');
  await button('Save').click();
  await page.getByText('Your name is saved.').waitFor();
  expect(await page.getByRole('button', { name: /End the session of Chrome/ }).count()).toBe(1);

  await page.getByLabel('Current password').fill('not it at all');
  await page.getByRole('textbox', { name: 'New password' }).fill(OTHER_PASSWORD);
  await button('Change password').click();
  await page.getByText('This is not your password').waitFor();
  await page.getByLabel('Current password').fill(PASSWORD);
  await button('Change password').click();
  await page.getByText('Your password is changed').waitFor();
  await mails.link(email, /was changed/);
  await secondPage.reload();
  await secondPage.getByRole('heading', { name: 'Sign in to loopstream' }).waitFor();
  await closeWindow(second);

  const download = page.waitForEvent('download');
  await button('Download').click();
  const file = await (await download).createReadStream();
  const text = Buffer.concat(await file.toArray()).toString();
  expect(JSON.parse(text)).toMatchObject({ user: { email }, streams: [], apiKeys: [] });

  await button('Delete account…').click();
  await expectForEverybody(page);
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel(/Type .* to confirm/).fill(email);
  await dialog.getByLabel('Your password').fill(PASSWORD);
  await dialog.getByRole('button', { name: 'Delete everything' }).click();
  await page.getByText('password does not match the account').waitFor();
  await dialog.getByLabel('Your password').fill(OTHER_PASSWORD);
  await dialog.getByRole('button', { name: 'Delete everything' }).click();
  await page.getByText('Your account is deleted').waitFor();
  await signIn(email, OTHER_PASSWORD);
  await page.getByText('is wrong').waitFor();
  await leave();
});

test('an API key replaces a password, and shows nothing that is for the owner alone', async () => {
  await open('/account/keys');
  await button('Use an API key instead').click();
  await expectForEverybody(page);
  await page.getByRole('textbox', { name: 'API key' }).fill('lsk_wrong');
  await button(/^Sign in$/).click();
  await page.getByText('This key is not accepted').waitFor();
  await page.getByRole('textbox', { name: 'API key' }).fill(system.facts.apiKey);
  await button(/^Sign in$/).click();
  await heading('Sign in as yourself').waitFor();
  await expectForEverybody(page);
  await leave();
});
