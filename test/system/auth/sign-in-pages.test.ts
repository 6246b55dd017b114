/// <reference lib="dom" />
/**
 * Tests the ways to sign in other than a password in a browser, with a program's request through all of them: an outside provider,
 * passkeys, mails opened in another tab. The site is at `localhost`, since devices keep passkeys for names only.
 */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { reserveFreePort } from '../../../tools/process/ports.ts';
import { type RealOidc, startOidc } from '../../kit/fake/oidc.ts';
import { findMailLink, startSmtp, type TestSmtp } from '../../kit/fake/smtp.ts';
import { begin, type OAuthClient, register, signIn, startTestSite, type TestSite } from '../../kit/make/oauth.ts';
import { DESK, expectForEverybody, launchBrowser } from '../../kit/real/page.ts';
import { plugIn } from '../../kit/real/passkeys.ts';
import { run } from '../../kit/run.ts';
import { MAIN, ROOT } from '../../kit/system/app.ts';
import { until } from '../../kit/wait.ts';
import { endWhileTyping, signUp } from './person.ts';

const PASSWORD = 'seven lamps over water';
const OTHER_PASSWORD = 'a kettle full of stars';

let site: TestSite;
let url: string;
let oidc: RealOidc;
let smtp: TestSmtp;
let browser: Browser;
/** The program's server, which waits for the browser's return. */
let program: Server;
let client: OAuthClient;
const cameBack: URL[] = [];
let context: BrowserContext;
let page: Page;
let complaints: string[];

beforeAll(async () => {
  const port = await reserveFreePort();
  url = `http://localhost:${port}`;
  program = createServer((request, response) => {
    if (request.url?.startsWith('/callback')) cameBack.push(new URL(request.url, url));
    response.setHeader('content-type', 'text/html').end('<title>The program</title><h1>Welcome back</h1>');
  });
  await new Promise<void>((resolve) => program.listen(0, '127.0.0.1', resolve));
  [oidc, smtp, browser] = await Promise.all([startOidc(`${url}/api/auth/callback/oidc`), startSmtp(), launchBrowser()]);
  site = await startTestSite({
    port,
    publicUrl: url,
    outside: oidc.settings,
    dashboardDir: join(ROOT, 'dist/dashboard'),
    mail: { smtpUrl: smtp.url, from: 'loops@example.com' },
  });
  const redirect = `http://127.0.0.1:${(program.address() as AddressInfo).port}/callback`;
  client = await register(url, { client_name: 'Scheduler', redirect_uris: [redirect] });
});
afterAll(async () => {
  await browser?.close();
  await site?.stop();
  await Promise.all([oidc?.close(), smtp?.close()]);
  program?.closeAllConnections();
  program?.close();
});

/** Opens a browser without a session. */
async function open(path: string): Promise<Page> {
  context = await browser.newContext({ viewport: DESK, reducedMotion: 'reduce' });
  context.setDefaultTimeout(90_000);
  page = await context.newPage();
  complaints = [];
  page.on('console', (message) => {
    if (message.text().includes('Content Security Policy')) complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(String(error)));
  await page.goto(`${url}${path}`);
  return page;
}
const leave = async () => {
  expect(complaints).toEqual([]);
  await context.close();
};
const heading = (name: string | RegExp) => page.getByRole('heading', { name });
const button = (name: string | RegExp) => page.getByRole('button', { name });
const isIn = (email: string) => page.getByTestId('user-email').filter({ hasText: email }).waitFor();

async function typePassword(email: string, password = PASSWORD): Promise<void> {
  await page.getByLabel('E-mail address').fill(email);
  await page.getByLabel('Password', { exact: true }).fill(password);
  await button('Sign in').first().click();
}

/** Opens a browser without a session, with a program's request. */
async function openForProgram() {
  const { location, state } = await begin(url, {}, client);
  expect(location.pathname).toBe('/sign-in');
  const before = cameBack.length;
  await open(`${location.pathname}${location.search}`);
  await page.getByText('An app wants to use your account').waitFor();
  return async () => {
    await heading('An app asks for access').waitFor();
    await button('Allow').click();
    const back = await until('the browser comes back', () => cameBack[before]);
    expect(back.searchParams.get('state')).toBe(state);
    expect(back.searchParams.get('code')).toBeTruthy();
  };
}

describe('an outside provider', () => {
  test('signs people in and returns them to their page; a person who declines gets a message', async () => {
    oidc.people.set('pia', { email: 'pia@example.com', email_verified: true, name: 'Pia Pilot' });
    oidc.next = 'pia';
    await open('/account');
    await button('Continue with Example Company').click();
    await page.getByRole('link', { name: 'no' }).click();
    await page.getByText('You did not allow the sign-in there').waitFor();
    expect(await page.content()).not.toContain('555');
    await expectForEverybody(page);
    await button('Continue with Example Company').dblclick();
    await page.getByRole('link', { name: 'yes' }).click();
    await heading('Account').first().waitFor();
    await isIn('pia@example.com');
    await expectForEverybody(page);
    const { again, goOn } = await endWhileTyping(page, url);
    await expectForEverybody(page);
    await again.getByRole('button', { name: 'Continue with Example Company' }).click();
    await page.getByRole('link', { name: 'yes' }).click();
    await page.getByRole('dialog', { name: 'New destination' }).waitFor();
    await goOn();
    await leave();
  });

  test('keeps a program’s request', async () => {
    oidc.people.set('per', { email: 'per@example.com', email_verified: true });
    oidc.next = 'per';
    const allowed = await openForProgram();
    await button('Continue with Example Company').click();
    await page.getByRole('link', { name: 'no' }).click();
    await page.getByText('You did not allow the sign-in there').waitFor();
    await button('Continue with Example Company').click();
    await page.getByRole('link', { name: 'yes' }).click();
    await allowed();
    await leave();
  });
});

describe('a passkey', () => {
  test('is made, named, signs in here and for a program, confirms the account’s end, and is removed', async () => {
    const { email, password } = await site.person('keyed');
    await open('/account');
    const device = await plugIn(page);
    await typePassword(email, password);
    await heading('Passkeys').waitFor();
    await button('Add a passkey…').click();
    await expectForEverybody(page);
    await page.getByLabel('Name', { exact: true }).fill('<b>My</b> laptop');
    await button('Continue').dblclick();
    await page.getByText('<b>My</b> laptop').first().waitFor();
    expect(await device.count()).toBe(1);
    await smtp.mailTo(email, /passkey was added/);
    await expectForEverybody(page);

    // The device knows its passkey already.
    await button('Add a passkey…').click();
    await button('Continue').click();
    await page.getByText('already has a passkey for your account').waitFor();
    await button('Cancel').click();

    await button(/^Rename/).click();
    await page.getByLabel('Name', { exact: true }).fill('Desk');
    await button('Save').last().click();
    await button('Rename Desk').waitFor();

    await button('Sign out').click();
    await button('Sign in with a passkey').waitFor();
    await device.recognizes(false);
    await button('Sign in with a passkey').click();
    await page.getByText('No passkey was chosen').waitFor();
    await device.recognizes(true);
    await button('Sign in with a passkey').dblclick();
    await isIn(email);
    const mine = await endWhileTyping(page, url);
    await mine.again.getByRole('button', { name: 'Sign in with a passkey' }).click();
    await mine.goOn();

    // The owner of the passkey does not see another user's page.
    await context.clearCookies();
    await page.goto(url);
    const other = await site.person('other');
    await typePassword(other.email, other.password);
    await isIn(other.email);
    const { again } = await endWhileTyping(page, url);
    await again.getByRole('button', { name: 'Sign in with a passkey' }).click();
    await again.getByText('belongs to another account').waitFor();
    await again.getByRole('button', { name: 'Leave' }).click();
    await button('Sign in with a passkey').waitFor();

    const { location, state } = await begin(url, {}, client);
    const before = cameBack.length;
    await page.goto(location.href);
    await button('Sign in with a passkey').click();
    await heading('An app asks for access').waitFor();
    await button('Allow').click();
    const back = await until('the browser comes back', () => cameBack[before]);
    expect([back.searchParams.get('state'), back.searchParams.has('code')]).toEqual([state, true]);

    await heading('Welcome back').waitFor();
    await page.goto(`${url}/account`);
    await button('Remove Desk').click();
    await button('Delete passkey').click();
    await button('Remove Desk').waitFor({ state: 'detached' });
    await button('Sign out').click();
    await button('Sign in with a passkey').click();
    await page.getByText('no longer known here').waitFor();
    await leave();
  });

  test('does where the password is asked for: the account is deleted with it', async () => {
    const { email, password } = await site.person('leaving');
    await open('/account');
    await plugIn(page);
    await typePassword(email, password);
    await button('Add a passkey…').click();
    await button('Continue').click();
    await button(/^Rename/).waitFor();
    await button('Delete account…').click();
    await page.getByLabel(/Type .* to confirm/).fill(email);
    await button('Delete everything').click();
    await page.getByText('Your account is deleted').waitFor();
    await expect(signIn(url, { email, password })).rejects.toThrow('401');
    await leave();
  });
});

describe('a program', () => {
  const clients = (...args: string[]) => run(process.execPath, [MAIN, 'clients', ...args], { env: site.environment });

  test('that staff have verified is marked so; the command shows its redirect addresses', async () => {
    const one = await register(url, { client_name: 'Checked \u0435', redirect_uris: ['https://app.example.com/cb'] });
    const { cookie } = await site.person('asked');
    const consentPage = async () => {
      const { location } = await begin(url, { cookie }, one);
      const [name = '', value = ''] = cookie.split('=');
      await open('/sign-in');
      await context.addCookies([{ name, value, url }]);
      await page.goto(location.href);
      await heading('An app asks for access').waitFor();
    };
    await consentPage();
    await page.getByText('Unverified', { exact: true }).waitFor();
    await leave();

    expect((await clients('list')).stdout).toMatch(new RegExp(`${one.client_id}.*unverified`));
    const { stdout } = await clients('verify', one.client_id);
    expect(stdout).toMatch(/ verified/);
    expect(stdout).toContain('https://app.example.com/cb');
    await consentPage();
    await page.getByText('Verified', { exact: true }).waitFor();
    await page.getByText('verified the app’s developer').waitFor();
    await expectForEverybody(page);
    await leave();

    expect((await clients('unverify', one.client_id)).stdout).toMatch(/unverified/);
    expect((await clients('--help')).stdout).toContain('loopstream clients verify');
    await expect(clients('verify', 'nobody')).rejects.toMatchObject({ code: 2 });
    await expect(clients('verify')).rejects.toMatchObject({ code: 2 });
  });
});

test('the link of a sign-up, opened on another device, asks for a password, and says so when it was used', async () => {
  const email = 'two-devices@example.com';
  await open('/sign-up');
  await signUp(page, { firstName: 'Stranger', email, password: OTHER_PASSWORD });
  await leave();
  const link = findMailLink(await smtp.mailTo(email, /Confirm/));
  await open(link.slice(url.length));
  await button('Confirm my address').click();
  await heading('Choose your password').waitFor();
  expect(await page.getByLabel('E-mail address').inputValue()).toBe(email);
  expect(await page.getByLabel('First name').inputValue()).toBe('');
  await expectForEverybody(page);
  await button('Confirm and create account').click();
  await page.getByText('Enter your first name.').waitFor();
  await page.getByLabel('First name').fill('Tova');
  await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
  await button('Confirm and create account').dblclick();
  await page.getByText('Your address is confirmed').waitFor();
  expect(await page.getByLabel('E-mail address').inputValue()).toBe(email);
  await typePassword(email, OTHER_PASSWORD);
  await page.getByText('is wrong').waitFor();
  await typePassword(email);
  await isIn(email);
  await leave();
  await open(link.slice(url.length));
  await button('Confirm my address').click();
  await page.getByText('was already used').waitFor();
  await expectForEverybody(page);
  await leave();
});

describe('a program’s request survives every way to sign in', () => {
  test('when the person signs up first, and opens the mail in another tab', async () => {
    const email = 'newcomer@example.com';
    const allowed = await openForProgram();
    await page.getByRole('link', { name: 'Create an account' }).click();
    await signUp(page, { firstName: 'New', email, password: PASSWORD });
    const link = findMailLink(await smtp.mailTo(email, /Confirm/));
    page = await context.newPage();
    await page.goto(link);
    await button('Confirm my address').click();
    await heading('Your address is confirmed').waitFor();
    await expectForEverybody(page);
    // The confirmation has signed them in.
    await page.getByRole('link', { name: 'Continue' }).click();
    await allowed();
    await leave();
  });

  test('when the address has an account already: the mail leads back to the program, the page reveals no more than the mail', async () => {
    const { email, password } = await site.person('known');
    const allowed = await openForProgram();
    await page.getByRole('link', { name: 'Create an account' }).click();
    await signUp(page, { firstName: 'Known', email, password: PASSWORD });
    const link = findMailLink(await smtp.mailTo(email, /already have a loopstream account/));
    page = await context.newPage();
    await page.goto(link);
    await heading('You already have an account').waitFor();
    await page.getByRole('link', { name: 'Continue' }).click();
    await page.getByText('An app wants to use your account').waitFor();
    await typePassword(email, password);
    await allowed();
    await leave();
    // Another browser knows nothing of a program.
    await open(link.slice(url.length));
    await typePassword(email, password);
    await isIn(email);
    await leave();
  });

  test('when the person has forgotten the password, and chooses a new one in another tab', async () => {
    const { email } = await site.person('forgetful');
    const allowed = await openForProgram();
    await page.getByRole('link', { name: 'Forgot your password?' }).click();
    await page.getByLabel('E-mail address').fill(email);
    await button('Send the link').click();
    await heading('Check your mail').waitFor();
    const link = findMailLink(await smtp.mailTo(email, /Choose a new password/));
    page = await context.newPage();
    await page.goto(link);
    await page.getByRole('textbox', { name: 'New password' }).fill(OTHER_PASSWORD);
    await button('Set the new password').click();
    await heading('Your new password is set').waitFor();
    await page.getByRole('link', { name: 'Continue' }).click();
    await page.getByText('An app wants to use your account').waitFor();
    await typePassword(email, OTHER_PASSWORD);
    await allowed();
    await leave();
  });

  test('but a confirmation without a program leads to none', async () => {
    const email = 'alone@example.com';
    await openForProgram();
    await page.getByRole('link', { name: 'Create an account' }).waitFor();
    await page.goto(`${url}/sign-up`);
    await signUp(page, { firstName: 'Alone', email, password: PASSWORD });
    await page.goto(findMailLink(await smtp.mailTo(email, /Confirm/)));
    await button('Confirm my address').click();
    await isIn(email);
    await leave();
  });
});
