/// <reference lib="dom" />
/** Tests the first minutes of a stranger at a system of `make run`: the address that is printed, and what works there. */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openMailbox } from '../kit/make/account.ts';
import { closeWindow, expectForEverybody, leaveBrowser, openWindow, shareBrowser, visit } from '../kit/real/page.ts';
import { plugIn } from '../kit/real/passkeys.ts';
import { run } from '../kit/run.ts';
import { LOCAL_MAIN } from '../kit/system/app.ts';
import { type SharedSystem, shareSystem } from '../kit/system/share-system.ts';

let system: SharedSystem;
let browser: Browser;

beforeAll(async () => {
  [system, browser] = await Promise.all([shareSystem(), shareBrowser()]);
});
afterAll(() => leaveBrowser(browser));

/** Opens a path in a browser without a session, at the address that `make run` prints, or at another one of the machine. */
async function open(path: string, hostname = new URL(system.facts.pageUrl).hostname): Promise<Page> {
  const context = await openWindow(browser);
  const page = await context.newPage();
  const address = new URL(path, system.facts.pageUrl);
  address.hostname = hostname;
  await page.goto(address.href);
  return page;
}

async function signIn(page: Page): Promise<void> {
  await page.getByLabel('E-mail address').fill(system.facts.email ?? '');
  await page.getByLabel('Password', { exact: true }).fill(system.facts.password ?? '');
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.getByTestId('user-email').waitFor();
}

test('passkeys work at the address that is printed, and at another one the page names the address where they do', async () => {
  expect(new URL(system.facts.pageUrl).hostname).toBe('localhost');
  const page = await open('/account');
  const device = await plugIn(page);
  await signIn(page);
  await page.getByRole('button', { name: 'Add a passkey…' }).click();
  await page.getByRole('button', { name: 'Continue' }).click();
  await page.getByText('The passkey is added').waitFor();
  expect(await device.count()).toBe(1);
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByRole('button', { name: 'Sign in with a passkey' }).click();
  await page.getByTestId('user-email').waitFor();
  await closeWindow(page.context());

  const other = await open('/sign-in?next=%2Faccount', '127.0.0.1');
  const link = other.getByRole('link', { name: new URL(system.facts.pageUrl).host });
  await link.waitFor();
  expect(await other.getByRole('button', { name: 'passkey' }).count()).toBe(0);
  await expectForEverybody(other);
  await signIn(other);
  await other.getByText('This page is at 127.0.0.1').waitFor();
  await link.click();
  await other.waitForURL(/^http:\/\/localhost:\d+\/account$/);
  await closeWindow(other.context());
});

test('a person who signs up is signed in by the confirmation, and has credit; the prices stand beside the choices', async () => {
  const email = `first-${Date.now()}@example.com`;
  const page = await open('/sign-up');
  await page.getByLabel('First name').fill('Mia');
  await page.getByLabel('E-mail address').fill(email);
  const password = page.getByLabel('Password', { exact: true });
  for (const common of ['password12345', 'Qwerty2024!']) {
    await password.fill(common);
    await page.getByRole('button', { name: 'Create account' }).click();
    await page.getByText(/easy to guess.*several words/).waitFor();
  }
  await password.fill('seven lamps over water');
  await page.getByRole('button', { name: 'Create account' }).click();
  await page.getByRole('heading', { name: 'Check your mail' }).waitFor();
  await page.goto(await openMailbox(system.facts.mailUrl ?? '').link(email, /Confirm/));
  await page.getByRole('button', { name: 'Confirm my address' }).click();
  await page.getByTestId('user-email').filter({ hasText: email }).waitFor();
  expect(await page.getByTestId('credit-banner').count()).toBe(0);

  await page.goto(new URL('/billing', system.facts.pageUrl).href);
  await page.getByTestId('balance').filter({ hasText: '$5.00' }).waitFor();
  await page.getByText('Welcome credit').waitFor();
  await page.getByRole('row', { name: '1080p · 24–30 fps $0.03 $21.60' }).waitFor();
  await expectForEverybody(page);
  // As it is in the help of `make run`, and the same a second time.
  for (const sum of ['$15.00', '$17.50']) {
    const more = sum === '$15.00' ? [] : ['2.50'];
    const words = [LOCAL_MAIN, 'grant', email, ...more, '--state-dir', system.stateDir];
    const { stdout } = await run(process.execPath, words);
    expect(stdout).toMatch(/^Booked a grant of \d+ credits .*USD\) for first-/);
    await page.getByTestId('balance').filter({ hasText: sum }).waitFor();
  }
  await closeWindow(page.context());
});

test('an account that never had credit is told to add some, once, and whom to ask; its stream says the same', async () => {
  const poor = await shareSystem({ credit: false });
  const { client } = poor;
  const { id: destinationID } = await client.destinations.create({
    name: 'My channel',
    rtmpUrl: poor.facts.rtmpUrl,
    rtmpKey: 'never-had-credit',
  });
  const { objectID } = await client.uploads.fromLink({
    type: 'VIDEO',
    url: new URL('/media/bigbuckbunny.mp4', poor.facts.playUrl).href,
  });
  const stream = await client.streams.create({
    name: 'Waits for credit',
    quality: 'q_1080p',
    framerate: 'f_30',
    destinationID,
    videoUploadObjectID: objectID,
  });
  const isJudged = async () => (await client.streams.readiness(stream.id)).issues.map(({ message }) => message);
  await expect.poll(isJudged, { timeout: 30_000 }).toContain('The account has no credit yet.');
  const start = client.streams.start(stream.id);
  await expect(start).rejects.toMatchObject({
    code: 'insufficient_credits',
    message: expect.stringMatching(/^The account has no credit yet\. Add credit; the stream then goes on air/),
  });

  // It is wanted from now on, and starts by itself where credit comes.
  await client.streams.start(stream.id, { whenReady: true });
  const { page, close } = await visit(browser, poor, `/streams/${stream.id}`);
  const banner = page.getByTestId('credit-banner');
  await banner.filter({ hasText: 'Add credit to prepare media and go on air.' }).waitFor();
  await banner.filter({ hasText: 'Ask the operators of this service for credit.' }).waitFor();
  await page.getByTestId('price').filter({ hasText: '$0.03/h, about $21.60 a month' }).waitFor();
  await page.getByTestId('readiness').getByText('missing').waitFor();
  // The banner says what to do, and the reason stands once.
  expect(await page.getByText(/no credit yet|used up/).count()).toBeLessThanOrEqual(1);
  await expectForEverybody(page);
  await page.goto(new URL('/', poor.facts.pageUrl).href);
  await page.getByTestId('needs-you').filter({ hasText: 'Waits for credit.' }).waitFor();
  await close();
});

test('the link that is printed signs in every tab of the browser; a sign-out ends that for all of them', async () => {
  const page = await open('/streams');
  await page.getByRole('heading', { name: 'Sign in to loopstream' }).waitFor();
  const exchanged = page.waitForResponse(
    (response) => response.url().endsWith('/api/auth/key-session') && response.ok(),
  );
  await page.goto(system.facts.pageUrl);
  await exchanged;
  await page
    .getByTestId('user-email')
    .filter({ hasText: system.facts.email ?? '' })
    .waitFor();
  expect(page.url()).not.toContain('key');

  const byHand = await page.context().newPage();
  await byHand.goto(new URL('/account/keys', system.facts.pageUrl).href);
  await byHand
    .getByTestId('user-email')
    .filter({ hasText: system.facts.email ?? '' })
    .waitFor();
  // A key opens nothing that is for the owner alone.
  await byHand.getByRole('heading', { name: 'Sign in as yourself' }).waitFor();
  expect(
    await byHand.evaluate(() => JSON.stringify({ ...localStorage, ...sessionStorage, cookie: document.cookie })),
  ).not.toMatch(/lsk_/);
  await byHand.getByRole('button', { name: 'Sign out' }).click();
  await byHand.getByRole('heading', { name: 'Sign in to loopstream' }).waitFor();
  await expect
    .poll(async () => (await byHand.context().cookies()).map(({ name }) => name))
    .not.toContain('loopstream.key');
  await byHand.reload();
  await byHand.getByRole('heading', { name: 'Sign in to loopstream' }).waitFor();
  await closeWindow(page.context());
});
