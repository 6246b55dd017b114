/// <reference lib="dom" />
/** Tests the pages for developers in a browser: the reference of the API, and what explains GraphQL and the agents' tools. */
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { findHtmlErrors } from '../../kit/make/html.ts';
import { type Person, startTestSite, type TestSite } from '../../kit/make/oauth.ts';
import { closeWindow, DESK, findFaults, findOverflow, launchBrowser, openWindow, visit } from '../../kit/real/page.ts';
import { ROOT } from '../../kit/system/system.ts';

const PHONE = { width: 390, height: 844 };
const PATHS = ['/docs', '/graphql', '/mcp', '/docs/errors', '/docs/errors/stream_not_ready'];
/** Faults of the library that remain: Scalar's field of a key is a combobox that does not say whether it is open. */
const LIBRARY_FAULTS = ['aria-required-attr: .code-input-lite__editor'];

let browser: Browser;
let site: TestSite;
let ada: Person;
beforeAll(async () => {
  [browser, site] = await Promise.all([launchBrowser(), startTestSite({ dashboardDir: join(ROOT, 'dist/dashboard') })]);
  ada = await site.person('ada');
});
afterAll(async () => {
  await browser?.close();
  await site?.stop();
});

/** Records what a page must not do: requests to other origins, violations of its policy, failures of its script. */
function watch(page: Page): string[] {
  const complaints: string[] = [];
  page.on('request', (request) => {
    if (!/^(data|blob):/.test(request.url()) && new URL(request.url()).origin !== site.url)
      complaints.push(request.url());
  });
  page.on('console', (message) => {
    if (message.text().includes('Content Security Policy')) complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(String(error)));
  return complaints;
}

/** Waits for the page, and for what it shows later. */
async function open(page: Page, path: string): Promise<void> {
  await page.goto(`${site.url}${path}`);
  await page.getByRole('heading', { level: 1 }).first().waitFor();
  if (path === '/docs') await page.getByText('/v1/streams').first().waitFor();
}

const asAda = (path: string) =>
  visit(browser, { facts: { email: ada.email, password: ada.password, pageUrl: `${site.url}/` } as never }, path);

describe.each(PATHS)('%s', (path) => {
  test('makes no request to another origin, breaks no policy, and is for everybody in both themes and sizes', async () => {
    const context = await openWindow(browser);
    for (const [viewport, colorScheme] of [
      [DESK, 'light'],
      [DESK, 'dark'],
      [PHONE, 'light'],
      [PHONE, 'dark'],
    ] as const) {
      const page = await context.newPage();
      const complaints = watch(page);
      await page.setViewportSize(viewport);
      await page.emulateMedia({ colorScheme });
      await open(page, path);
      const faults = await findFaults(page, `${colorScheme}, ${viewport.width} wide`);
      expect(faults.filter((fault) => !LIBRARY_FAULTS.some((known) => fault.includes(known)))).toEqual([]);
      expect(await findOverflow(page)).toBe(0);
      expect(complaints).toEqual([]);
      await page.close();
    }
    await closeWindow(context);
  });

  test('is valid HTML with a title of its own, as it is sent', async () => {
    const html = await (await fetch(`${site.url}${path}`, { headers: { accept: 'text/html' } })).text();
    expect(html).toMatch(/<title>[^<]+ · loopstream<\/title>/);
    expect(await findHtmlErrors(html)).toEqual([]);
  });
});

describe('requests from the reference', () => {
  test('carry the session of whoever has signed in, and no script of the page sees a key', async () => {
    const { page, complaints, close } = await asAda('/docs');
    const seen = watch(page);
    await page.getByText(`Requests from this page are those of ${ada.email}.`).waitFor();
    await page.goto(`${site.url}/docs#tag/account/GET/v1/me`);
    await page
      .getByRole('button', { name: /Test Request.*\/v1\/me/i })
      .first()
      .click();
    const answered = page.waitForResponse(`${site.url}/v1/me`);
    await page.getByRole('button', { name: /^Send/ }).first().click();
    expect((await (await answered).json()).email).toBe(ada.email);
    expect(await page.evaluate(() => JSON.stringify({ ...localStorage, ...sessionStorage }))).not.toContain('lsk_');
    expect([...complaints, ...seen]).toEqual([]);
    await close();
  });

  test('a query of GraphQL is answered on its page', async () => {
    const { page, complaints, close } = await asAda('/graphql');
    await page.getByText(`Requests from this page are those of ${ada.email}.`).waitFor();
    await page.getByRole('button', { name: 'Send' }).click();
    await page.getByRole('region', { name: 'Answer' }).getByText(ada.email).waitFor();
    expect(complaints).toEqual([]);
    await close();
  });

  test('a person who signs in from there comes back', async () => {
    const context = await openWindow(browser);
    const page = await context.newPage();
    await open(page, '/docs');
    await page.getByRole('status').getByRole('link', { name: 'Sign in' }).click();
    await page.getByLabel('E-mail address').fill(ada.email);
    await page.getByLabel('Password', { exact: true }).fill(ada.password);
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    // Its load may be cut off by a second one, of the same page.
    await page.waitForURL(`${site.url}/docs`, { waitUntil: 'commit' });
    await page.getByText(`Requests from this page are those of ${ada.email}.`).waitFor();
    await closeWindow(context);
  });
});

describe('the theme', () => {
  test('chosen on the dashboard holds on these pages, and the other way round', async () => {
    const context = await openWindow(browser);
    const page = await context.newPage();
    await page.emulateMedia({ colorScheme: 'light' });
    await page.goto(`${site.url}/sign-in`);
    await page.getByRole('button', { name: /^Theme:/ }).click();
    await page.getByRole('button', { name: /^Theme: light/ }).click();
    await open(page, '/docs');
    const scheme = () => page.evaluate(() => document.documentElement.dataset.mantineColorScheme);
    expect(await scheme()).toBe('dark');
    await page.locator('body.dark-mode').waitFor();
    await page.getByRole('button', { name: 'Theme: dark' }).click();
    await page.locator('body.light-mode').waitFor();
    await page.goto(`${site.url}/sign-in`);
    await page.getByRole('button', { name: /^Theme: as your system/ }).waitFor();
    await closeWindow(context);
  });
});

test('an address where nothing is says so, to somebody who has not signed in too', async () => {
  const context = await openWindow(browser);
  const page = await context.newPage();
  for (const path of ['/nowhere', '/streams/str-1/more', '/docs/nowhere']) {
    const answer = await page.goto(`${site.url}${path}`);
    expect(answer?.status(), path).toBe(404);
    await page.getByRole('heading', { name: 'Page not found' }).waitFor();
    await expect.poll(() => page.title()).toBe('Page not found · loopstream');
    expect(await findFaults(page, path)).toEqual([]);
  }
  expect((await page.goto(`${site.url}/sign-in`))?.status()).toBe(200);
  await expect.poll(() => page.title()).toBe('Sign in · loopstream');
  await closeWindow(context);
});

test.each([
  ['/robots.txt', 'text/plain', /^Disallow: \/$/m],
  ['/favicon.svg', 'image/svg+xml', /^<svg/],
  ['/favicon.ico', 'image/vnd.microsoft.icon', /PNG/],
  ['/apple-touch-icon.png', 'image/png', /PNG/],
  ['/manifest.webmanifest', 'application/manifest+json', /"name": "loopstream"/],
  ['/schema.graphql', 'text/plain', /^type Query/m],
])('%s is what its name says, for programs and browsers', async (path, type, content) => {
  for (const accept of ['*/*', 'text/html,*/*;q=0.8']) {
    const answer = await fetch(`${site.url}${path}`, { headers: { accept } });
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, expect.stringContaining(type)]);
    expect(await answer.text()).toMatch(content);
  }
});
