/// <reference lib="dom" />
/** The dashboard in a real browser, and what every page of it has to be: sound under its own policy, and for everybody. */
import { AxeBuilder } from '@axe-core/playwright';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import { expect } from 'vitest';
import type { System } from './system.ts';

const ARGS = [
  ...['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking'],
  ...['--disable-component-update', '--disable-sync', '--autoplay-policy=no-user-gesture-required'],
];
// The same engine without a window's weight: it takes little more than half of the processor time.
const PROGRAM = '/usr/bin/chromium-headless-shell';
const PHONE = { width: 360, height: 760 };
export const DESK = { width: 1280, height: 860 };

export const launchBrowser = (): Promise<Browser> => chromium.launch({ executablePath: PROGRAM, args: ARGS });

export interface Visit {
  page: Page;
  context: BrowserContext;
  /** What the browser refused under the page's policy, and errors that nobody caught. */
  complaints: string[];
  close(): Promise<void>;
}

/** One session for all visits of an account: what it costs is the password's hash. */
const sessions = new WeakMap<object, Promise<{ name: string; value: string }>>();

async function signIn({ email, password, pageUrl }: System['facts']): Promise<{ name: string; value: string }> {
  const { origin } = new URL(pageUrl);
  const answer = await fetch(`${origin}/api/auth/sign-in/email`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin },
    body: JSON.stringify({ email, password }),
  });
  const [, name, value] = /^([^=]+)=([^;]+)/.exec(answer.headers.getSetCookie()[0] ?? '') ?? [];
  if (!name || !value) throw new Error(`${email} could not sign in: ${answer.status} ${await answer.text()}`);
  return { name, value };
}

/**
 * The window of each browser's visits, which come one after the other. To have another one for each took twice the processor
 * time: it fetches and compiles all scripts anew.
 */
const windows = new WeakMap<Browser, Promise<BrowserContext>>();

async function openWindow(browser: Browser): Promise<BrowserContext> {
  const context = await browser.newContext({ viewport: DESK, reducedMotion: 'reduce' });
  // Only ends what would never end: the machine may be a slow one that runs other tests as well.
  context.setDefaultTimeout(90_000);
  return context;
}

function windowOf(browser: Browser): Promise<BrowserContext> {
  const opened = windows.get(browser) ?? openWindow(browser);
  windows.set(browser, opened);
  return opened;
}

/** A new page, in which the person whose account it is has signed in, at a path of the dashboard; nothing is left of the last. */
export async function visit(browser: Browser, { facts }: Pick<System, 'facts'>, path: string): Promise<Visit> {
  const context = await windowOf(browser);
  await context.clearCookies();
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on('console', (message) => {
    if (message.text().includes('Content Security Policy')) complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(String(error)));
  const session = sessions.get(facts) ?? signIn(facts);
  sessions.set(facts, session);
  const address = new URL(path, facts.pageUrl);
  await context.addCookies([{ ...(await session), url: address.origin, httpOnly: true, sameSite: 'Lax' }]);
  await page.goto(address.href);
  await page.getByRole('heading', { level: 1 }).waitFor();
  const close = async () => {
    await page.evaluate(() => localStorage.clear());
    await page.close();
  };
  return { page, context, complaints, close };
}

/** A page while it reads `calls` (a pattern of addresses), when that fails, and when it is tried again and does not. */
export async function expectToWaitAndRecover(page: Page, calls: string, names: { loading: string; failure: string }) {
  const { promise: held, resolve: fail } = Promise.withResolvers<void>();
  await page.route(calls, async (route) => {
    await held;
    await route.abort();
  });
  await page.reload();
  await page.getByText(names.loading).waitFor({ state: 'attached' });
  await expectForEverybody(page);
  fail();
  await page.getByRole('heading', { name: names.failure }).waitFor();
  await expectForEverybody(page);
  await page.unroute(calls);
  await page.getByRole('button', { name: 'Try again' }).click();
  await page.getByRole('heading', { name: names.failure }).waitFor({ state: 'detached' });
}

/** What axe-core finds wrong, as `rule: element`. */
async function findings(page: Page): Promise<string[]> {
  // Of frames of other origins, for which it would open another page, there are none.
  const axe = new AxeBuilder({ page }).setLegacyMode().options({ resultTypes: ['violations'] });
  const { violations } = await axe.analyze();
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ target, failureSummary }) => `${id}: ${target} ${failureSummary}`),
  );
}

const overflow = (page: Page): Promise<number> =>
  page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);

/** What is on the screen now, light on a desk and dark on a phone of 360 pixels: accessible, and no wider than the screen. */
export async function expectForEverybody(page: Page): Promise<void> {
  for (const [viewport, colorScheme] of [
    [PHONE, 'dark'],
    [DESK, 'light'],
  ] as const) {
    await page.setViewportSize(viewport);
    await page.emulateMedia({ colorScheme });
    expect(await overflow(page)).toBeLessThanOrEqual(0);
    expect(await findings(page), `${colorScheme}, ${viewport.width} wide`).toEqual([]);
  }
}
