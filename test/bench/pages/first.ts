/// <reference lib="dom" />
/**
 * Measures the time from a sign-in to the first page with its streams, on a Chromium that DevTools slows down. The processor is slower by a
 * factor, each request by a latency, and all of them together by a bandwidth.
 */
import type { Browser, BrowserContext, Page } from 'playwright-core';
import type { System } from '../../kit/system/system.ts';
import { median, type Row } from '../report.ts';

interface Profile {
  name: string;
  latencyMs: number;
  downKbps: number;
  upKbps: number;
  cpuTimes: number;
  /** Undefined where the time has no limit. */
  barMs?: number;
}

/** The presets of DevTools, which Lighthouse uses too: https://github.com/GoogleChrome/lighthouse/blob/main/docs/throttling.md */
const PROFILES: Profile[] = [
  { name: 'Fast 4G, processor ÷ 4', latencyMs: 165, downKbps: 8100, upKbps: 1350, cpuTimes: 4, barMs: 1500 },
  { name: 'Slow 4G, processor ÷ 4', latencyMs: 562.5, downKbps: 1440, upKbps: 675, cpuTimes: 4 },
];
const DESK = { width: 1280, height: 860 };
const LIMIT_MS = 60_000;

async function throttle(page: Page, { latencyMs, downKbps, upKbps, cpuTimes }: Profile): Promise<void> {
  const cdp = await page.context().newCDPSession(page);
  await cdp.send('Network.enable');
  await cdp.send('Network.emulateNetworkConditions', {
    offline: false,
    latency: latencyMs,
    downloadThroughput: (downKbps * 1000) / 8,
    uploadThroughput: (upKbps * 1000) / 8,
  });
  await cdp.send('Emulation.setCPUThrottlingRate', { rate: cpuTimes });
}

/** Returns the time of the selector's first appearance, by the page's own clock, from the navigation on. */
const whenShown = (page: Page, selector: string): Promise<number> =>
  page
    .waitForFunction((one) => (document.querySelector(one) ? performance.now() : false), selector, { polling: 'raf' })
    .then(async (found) => (await found.jsonValue()) as number);

const FORM = 'form[aria-label="Sign in"] input[type="password"]';
/** The first page's link to a stream. */
const NEWS = '#content a[href^="/streams/str-"]';

interface Times {
  /** An empty cache, from the address → until the form can be filled in. */
  form: number;
  /** From the press of the button → until the first page shows. */
  first: number;
  /** Another day, from the address → until the first page shows. */
  again: number;
}

async function visitOnce(context: BrowserContext, { facts }: System, profile: Profile): Promise<Times> {
  const page = await context.newPage();
  await throttle(page, profile);
  const site = new URL('/', facts.pageUrl).href;
  await page.goto(site, { waitUntil: 'commit' });
  const form = await whenShown(page, FORM);
  await page.getByLabel('E-mail address').fill(facts.email ?? '');
  await page.locator(FORM).fill(facts.password ?? '');
  // The page's clock times both: from the event of the button to the first picture with a stream.
  const pressed = page.evaluate(
    () => new Promise<number>((resolve) => addEventListener('submit', () => resolve(performance.now()), true)),
  );
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  const [since, shown] = await Promise.all([pressed, whenShown(page, NEWS)]);
  await page.close();
  const later = await context.newPage();
  await throttle(later, profile);
  await later.goto(site, { waitUntil: 'commit' });
  const again = await whenShown(later, NEWS);
  await later.close();
  return { form, first: shown - since, again };
}

/** The profiles alternate. */
export async function firstPageRows(system: System, browser: Browser, visits: number): Promise<Row[]> {
  const all = PROFILES.map((): Times[] => []);
  for (let n = 0; n < visits; n++) {
    for (const [i, profile] of PROFILES.entries()) {
      const context = await browser.newContext({ viewport: DESK, reducedMotion: 'reduce' });
      context.setDefaultTimeout(LIMIT_MS);
      all[i]?.push(await visitOnce(context, system, profile));
      await context.close();
    }
  }
  return PROFILES.flatMap(({ name, barMs }, i) => {
    const pick = (which: keyof Times) => (all[i] ?? []).map((times) => times[which]);
    const seconds = (ms: number) => `${(ms / 1000).toFixed(2)} s`;
    const range = (times: number[]) =>
      `${seconds(median(times))} (${seconds(Math.min(...times))}–${seconds(Math.max(...times))})`;
    const row = (what: string, which: keyof Times, bar?: number): Row => ({
      what,
      ours: range(pick(which)),
      peer: '–',
      beside: '–',
      result: bar === undefined ? 'stated' : median(pick(which)) <= bar ? 'holds' : 'misses',
      bar: bar === undefined ? '–' : `≤ ${seconds(bar)}`,
    });
    return [
      row(`${name}: sign in pressed → the first page is shown`, 'first', barMs),
      row('… address entered, empty cache → the form to sign in', 'form'),
      row('… address entered by who has signed in, full cache → the first page is shown', 'again'),
    ];
  });
}
