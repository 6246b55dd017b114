/// <reference lib="dom" />
/** Drives the dashboard in a real browser, and checks that every page is sound under its own policy and accessible. */
import { createRequire } from 'node:module';
import type { AxeBuilder } from '@axe-core/playwright';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import { expect } from 'vitest';
import type { System } from '../system/system.ts';

const ARGS = [
  ...['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking'],
  ...['--disable-component-update', '--disable-sync', '--autoplay-policy=no-user-gesture-required'],
];
// The same engine without windows: it takes little more than half of the processor time.
const PROGRAM = '/usr/bin/chromium-headless-shell';
const PHONE = { width: 360, height: 760 };
export const DESK = { width: 1280, height: 860 };

export const launchBrowser = (): Promise<Browser> => chromium.launch({ executablePath: PROGRAM, args: ARGS });

/** All test files of a worker share one browser, which ends with it: files of one page are cached for the next. */
let shared: Promise<Browser> | undefined;

/** Returns the running browser, for a test file that needs none of its own. */
export async function shareBrowser(): Promise<Browser> {
  if (!(await shared?.catch(() => undefined))?.isConnected()) shared = launchBrowser();
  return shared as Promise<Browser>;
}

/** Leaves the shared browser instead of closing it. */
export async function leaveBrowser(browser: Browser | undefined): Promise<void> {
  await Promise.all((browser?.contexts() ?? []).map(closeWindow));
}

export interface Visit {
  page: Page;
  context: BrowserContext;
  /** Violations of the page's policy, and uncaught errors. */
  complaints: string[];
  close(): Promise<void>;
}

/** Each account has one session for all visits: a sign-in costs the password's hash. */
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
 * Each browser's kept window, for one visitor after the other. A new one each time took twice the processor time, since it fetches and
 * compiles all scripts anew.
 */
const windows = new WeakMap<Browser, Promise<BrowserContext>>();

async function newWindow(browser: Browser): Promise<BrowserContext> {
  const context = await browser.newContext({ viewport: DESK, reducedMotion: 'reduce' });
  // This limit only ends what would never end: the machine may be slow and run other tests too.
  context.setDefaultTimeout(90_000);
  return context;
}

function getWindow(browser: Browser): Promise<BrowserContext> {
  const opened = windows.get(browser) ?? newWindow(browser);
  windows.set(browser, opened);
  return opened;
}

/** Opens a signed-out window without a trace of the last visitor. Two open windows are never the same. */
export async function openWindow(browser: Browser): Promise<BrowserContext> {
  const context = await getWindow(browser);
  if (context.pages().length > 0) return newWindow(browser);
  await context.clearCookies();
  return context;
}

/** Closes the pages of the kept window and clears their storage; other windows are closed. */
export async function closeWindow(context: BrowserContext): Promise<void> {
  const browser = context.browser();
  if (browser === null || context !== (await windows.get(browser))) return context.close();
  try {
    for (const page of context.pages()) {
      if (page.url().startsWith('http')) await page.evaluate(() => localStorage.clear());
      await page.close();
    }
  } catch {
    // A page in navigation cannot clear its storage: the window is given up.
    windows.delete(browser);
    await context.close();
  }
}

/** Opens a path of the dashboard in a new page, signed in as the account's person, without a trace of the last visitor. */
export async function visit(browser: Browser, { facts }: Pick<System, 'facts'>, path: string): Promise<Visit> {
  const context = await getWindow(browser);
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

/** Expects a page to show the failure of `calls` (a pattern of addresses), and to recover on a retry. */
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

type Findings = Awaited<ReturnType<AxeBuilder['analyze']>>;
/** axe-core's script for pages, as AxeBuilder loads it. */
const { source: AXE } = createRequire(import.meta.resolve('@axe-core/playwright'))('axe-core') as { source: string };

/**
 * Returns axe-core's findings as `rule: element`. Each document gets the script once: AxeBuilder injects it twice for each run, which takes
 * as long as the run itself.
 */
async function findings(page: Page): Promise<string[]> {
  expect(page.frames().length, 'frames, in each of which it would have to be').toBe(1);
  if (!(await page.evaluate(() => 'axe' in window))) await page.evaluate(AXE);
  return page.evaluate(async () => {
    const { axe } = window as unknown as { axe: { run(context: object, options: object): Promise<Findings> } };
    // The colours of overlays are their owner's.
    const { violations } = await axe.run(
      { exclude: [['[data-testid="overlays-preview"]']] },
      { resultTypes: ['violations'] },
    );
    return violations.flatMap(({ id, nodes }) =>
      nodes.map(({ target, failureSummary }) => `${id}: ${target} ${failureSummary}`),
    );
  });
}

/** Returns by how much the page is wider than its window, in pixels. */
export async function findOverflow(page: Page): Promise<number> {
  const measure = () =>
    page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  // A chart is drawn with the old width first.
  for (let tries = 0; tries < 20 && (await measure()) > 0; tries += 1) await page.waitForTimeout(50);
  return measure();
}

const ICON_PX = 200;

/**
 * Returns the pictures that are larger than any icon. Without its style an icon is as large as its parent, and covers the page. A drawing that
 * is content has a name for screen readers, or is a chart.
 */
const giants = (page: Page): Promise<string[]> =>
  page.evaluate(
    (most) =>
      [...document.querySelectorAll('svg:not([role="img"], .recharts-surface, [data-testid="preview"] *)')]
        .map(
          (one) =>
            ({ one, ...one.getBoundingClientRect().toJSON() }) as { one: Element; width: number; height: number },
        )
        .filter(({ width, height }) => Math.max(width, height) > most)
        .map(({ one, width, height }) => `${width} × ${height}: ${one.outerHTML.slice(0, 200)}`),
    ICON_PX,
  );

/** Returns what is wrong with the current screen: findings of axe-core, a page wider than its window, and giant icons. */
export async function findFaults(page: Page, way: string): Promise<string[]> {
  const wider = await findOverflow(page);
  return [
    ...(wider > 0 ? [`${way}: ${wider} pixels wider than the window`] : []),
    ...(await giants(page)).map((one) => `${way}: icon of ${one}`),
    ...(await findings(page)).map((one) => `${way}: ${one}`),
  ];
}

/** Expects the current screen to be accessible, no wider than the window, and without giant icons: light on a desktop, and dark on a phone of 360 pixels. */
export async function expectForEverybody(page: Page): Promise<void> {
  for (const [viewport, colorScheme] of [
    [PHONE, 'dark'],
    [DESK, 'light'],
  ] as const) {
    await page.setViewportSize(viewport);
    await page.emulateMedia({ colorScheme });
    expect(await findFaults(page, `${colorScheme}, ${viewport.width} wide`)).toEqual([]);
  }
}
