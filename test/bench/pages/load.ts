/// <reference lib="dom" />
/** Measures how the first page and the page of a live stream load: requests, the time of the largest element, and how much moves. */
import type { Browser, Page } from 'playwright-core';
import { DESK, visit } from '../../kit/real/page.ts';
import type { System } from '../../kit/system/system.ts';
import { median, type Row } from '../report.ts';

const MOST_REQUESTS = 15;
/** https://web.dev/articles/cls and https://web.dev/articles/lcp, stricter. */
const MOST_SHIFT = 0.05;
const MOST_PAINT_MS = 1000;
/** The numbers of a live stream come every two seconds. */
const SETTLED_MS = 5000;

async function countRequests(browser: Browser, { facts }: System): Promise<number> {
  const context = await browser.newContext({ viewport: DESK });
  const page = await context.newPage();
  let requests = 0;
  page.on('request', () => (requests += 1));
  await page.goto(new URL('/sign-in', facts.pageUrl).href);
  await page.waitForLoadState('networkidle');
  await context.close();
  return requests;
}

interface Load {
  paintMs: number;
  shift: number;
}

/** Observes a page from its navigation on. */
async function observeLoad(page: Page): Promise<Load> {
  await page.reload();
  await page.waitForTimeout(SETTLED_MS);
  return page.evaluate(
    () =>
      new Promise<Load>((resolve) => {
        const load = { paintMs: 0, shift: 0 };
        const observe = (type: string, take: (entry: PerformanceEntry & { value: number }) => void) =>
          new PerformanceObserver((list) => {
            for (const entry of list.getEntries()) take(entry as PerformanceEntry & { value: number });
          }).observe({ type, buffered: true });
        observe('largest-contentful-paint', ({ startTime }) => (load.paintMs = startTime));
        observe('layout-shift', ({ value }) => (load.shift += value));
        setTimeout(() => resolve(load), 200);
      }),
  );
}

/** The system has its demo stream on air. */
export async function loadRows(system: System, browser: Browser, visits: number): Promise<Row[]> {
  const id = system.facts.demoStreamId ?? '';
  const requests = await countRequests(browser, system);
  const { page, close } = await visit(browser, system, `/streams/${id}`);
  await page.locator('[data-testid="stream-status"][data-phase="live"]').waitFor();
  const loads: Load[] = [];
  for (let n = 0; n < visits; n += 1) loads.push(await observeLoad(page));
  await close();
  const [paints, shifts] = [loads.map(({ paintMs }) => paintMs), loads.map(({ shift }) => shift)];
  const row = (what: string, ours: string, holds: boolean, bar: string): Row => ({
    ...{ what, ours, peer: '–', beside: '–' },
    ...{ result: holds ? 'holds' : 'misses', bar },
  });
  const most = Math.max(...shifts);
  return [
    row('requests of the page of signing in, empty cache', `${requests}`, requests <= MOST_REQUESTS, '≤ 15'),
    row(
      `page of a live stream: largest contentful paint, ${visits} visits`,
      `median ${(median(paints) / 1000).toFixed(2)} s, longest ${(Math.max(...paints) / 1000).toFixed(2)} s`,
      median(paints) <= MOST_PAINT_MS,
      '≤ 1.00 s',
    ),
    row('… cumulative layout shift, the largest', most.toFixed(3), most <= MOST_SHIFT, '≤ 0.05'),
  ];
}
