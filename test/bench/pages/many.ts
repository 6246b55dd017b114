/// <reference lib="dom" />
/**
 * Measures the page of streams for an account with many: how long it takes to answer a person who scrolls and filters while ten streams
 * a second change, and how many lists it reads meanwhile.
 */
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Browser, Page, Request, Response } from 'playwright-core';
import type { Kube } from '../../../src/core/kube/types.ts';
import { LOOPSTREAMS } from '../../../src/core/resources/stream/resource.ts';
import { NAMESPACE } from '../../../tools/local/rights.ts';
import { DESK } from '../../kit/real/page.ts';
import { ROOT } from '../../kit/system/system.ts';
import { makeMedia, makeStreams, observe } from '../api/objects.ts';
import { startSystem } from '../api/system.ts';
import { inParallel } from '../operator/objects.ts';
import { median, type Row } from '../report.ts';

const DASHBOARD = join(ROOT, 'dist/dashboard');

const SHOWN = 2_000;
const CHANGES_A_SECOND = 10;
const REST_MS = 20_000;
const WORDS = ['Channel 12', 'Channel 123', 'Channel 9', 'nothing at all', 'Channel 4567'];
/** A hundred words a minute. */
const KEY_MS = 120;

/** Makes the streams of an account, oldest first. The newest ones could start, as a page of them mostly can. */
async function makeAll(kube: Kube, accountId: string, count: number): Promise<string[]> {
  const ids = await makeStreams(kube, accountId, await makeMedia(kube, accountId), count);
  const newest = ids.toSorted().slice(-SHOWN - 100);
  await inParallel(newest.length, (n) => observe(kube, newest[n] ?? '', new Date()));
  return ids;
}

/** Renames one stream after the other until it is stopped. Rejects with the first error of Kubernetes. */
function keepChanging(kube: Kube, ids: readonly string[]): { stop(): Promise<number> } {
  const stopping = new AbortController();
  let changes = 0;
  const run = async () => {
    for (const since = performance.now(); !stopping.signal.aborted; changes++) {
      // All over the list, in an order that a run repeats.
      const id = ids[(changes * 7_919) % ids.length] ?? '';
      await kube.mergePatch(LOOPSTREAMS, NAMESPACE, id, { spec: { displayName: `Channel ${changes} renamed` } });
      await sleep(Math.max(0, ((changes + 1) * 1000) / CHANGES_A_SECOND - (performance.now() - since)));
    }
  };
  const running = run();
  // `stop` reports a failure.
  running.catch(() => undefined);
  return {
    async stop() {
      stopping.abort();
      await running;
      return changes;
    },
  };
}

/** Collects the duration of each interaction in the page, as INP counts it. */
const observeInteractions = (page: Page): Promise<void> =>
  page.evaluate(() => {
    const took = new Map<number, number>();
    Object.assign(window, { took });
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) {
        const { interactionId = 0, duration } = entry as PerformanceEntry & { interactionId?: number };
        if (interactionId) took.set(interactionId, Math.max(took.get(interactionId) ?? 0, duration));
      }
    }).observe({ type: 'event', durationThreshold: 16, buffered: true } as PerformanceObserverInit);
  });

/** Returns the durations since the last call. */
const takeInteractions = (page: Page): Promise<number[]> =>
  page.evaluate(() => {
    const { took } = window as unknown as { took: Map<number, number> };
    const all = [...took.values()];
    took.clear();
    return all;
  });

/**
 * Measures each key from its press until the server's list for it is painted. A key is left out if the next one comes before, or if it
 * changes nothing about the search.
 */
const observeAnswers = (page: Page): Promise<void> =>
  page.evaluate(() => {
    const answers: number[] = [];
    let pressedAt: number | undefined;
    let isSearching = false;
    addEventListener(
      'keydown',
      ({ timeStamp }) => {
        pressedAt = timeStamp;
        isSearching = false;
      },
      true,
    );
    new MutationObserver(() => {
      const isBusy = document.querySelector('[data-testid="stream-list"]')?.ariaBusy === 'true';
      if (isBusy) isSearching = true;
      if (isBusy || !isSearching || pressedAt === undefined) return;
      const from = pressedAt;
      pressedAt = undefined;
      requestAnimationFrame(() => {
        const painted = new MessageChannel();
        painted.port1.onmessage = () => void answers.push(performance.now() - from);
        painted.port2.postMessage(undefined);
      });
    }).observe(document.body, { subtree: true, childList: true, attributes: true });
    Object.assign(window, { answers });
  });

const readAnswers = (page: Page): Promise<number[]> =>
  page.evaluate(() => (window as unknown as { answers: number[] }).answers);

/** INP leaves out one interaction of fifty (https://web.dev/articles/inp). */
function computeInp(durations: readonly number[]): number {
  const sorted = durations.toSorted((a, b) => b - a);
  return sorted[Math.floor(sorted.length / 50)] ?? 0;
}

const isList = (url: string): boolean => new URL(url).pathname === '/v1/streams';
const isSearch = (url: string, words: string): boolean => isList(url) && new URL(url).searchParams.get('q') === words;

/** The page reads this many by itself, and a page of the list at each request for more. */
const READ_AT_ONCE = 1_000;
const PAGE_SIZE = 100;

/** Shows more and scrolls there until so many streams are loaded. */
async function scroll(page: Page, shown: number): Promise<void> {
  const more = page.getByRole('button', { name: 'Show more' });
  for (let loaded = READ_AT_ONCE; loaded < shown; loaded += PAGE_SIZE) {
    const isNext = (response: Response) => isList(response.url()) && response.url().includes('cursor=');
    const [answer] = await Promise.all([page.waitForResponse(isNext), more.click()]);
    await answer.finished();
    await page.mouse.wheel(0, 20_000);
  }
}

/** Returns how many lists the page reads in a second while nobody does anything. */
async function countLists(page: Page): Promise<number> {
  let lists = 0;
  const count = (request: Request) => {
    if (isList(request.url())) lists++;
  };
  page.on('request', count);
  await sleep(REST_MS);
  page.off('request', count);
  return lists / (REST_MS / 1000);
}

/** Returns how long the API took for each search that the page made. */
async function filter(page: Page): Promise<number[]> {
  const field = page.getByRole('searchbox', { name: 'Find streams by name' });
  const took: number[] = [];
  for (const words of WORDS) {
    await field.fill('');
    const [response] = await Promise.all([
      page.waitForResponse((one) => isSearch(one.url(), words)),
      field.pressSequentially(words, { delay: KEY_MS }),
    ]).catch(async (error: unknown) => {
      throw new Error(`No search for "${words}"; the field has "${await field.inputValue()}".`, { cause: error });
    });
    await response.finished();
    const { requestStart, responseEnd } = response.request().timing();
    took.push(responseEnd - requestStart);
  }
  return took;
}

/** Without an operator: no stream is on air, and each change is one write. */
export async function manyRows(browser: Browser, count: number, say: (text: string) => void): Promise<Row[]> {
  await using stack = new AsyncDisposableStack();
  const system = await startSystem();
  stack.defer(() => system.stop());
  const { kube } = system;
  const { accountId, key } = await system.account('many');
  const ids = await makeAll(kube, accountId, count);
  const { url } = await system.startApi([], { LOOPSTREAM_DASHBOARD_DIR: DASHBOARD });
  const context = await browser.newContext({ viewport: DESK, reducedMotion: 'reduce' });
  stack.defer(() => context.close());
  context.setDefaultTimeout(90_000);
  const page = await context.newPage();
  await page.goto(`${url}/streams#key=${key}`);
  await page.getByTestId('stream-row').first().waitFor();
  await observeInteractions(page);
  const changing = keepChanging(kube, ids);
  stack.defer(async () => void (await changing.stop().catch(() => undefined)));
  const shown = Math.min(SHOWN, count);
  await scroll(page, shown);
  const whileScrolling = await takeInteractions(page);
  const scrolling = computeInp(whileScrolling);
  const perSecond = await countLists(page);
  say(`INP ${Math.round(scrolling)} ms while scrolling, ${perSecond} lists a second at rest`);
  await observeAnswers(page);
  const searches = await filter(page);
  const keys = await takeInteractions(page);
  const answers = await readAnswers(page);
  await page.goto(`${url}/`);
  await page.getByRole('heading', { name: 'Needs you' }).waitFor();
  const onOverview = await countLists(page);
  const changes = await changing.stop();
  const row = (what: string, ours: string, holds: boolean, bar: string): Row => ({
    what: `${count} streams, ${CHANGES_A_SECOND} changes a second: ${what}`,
    ours,
    peer: '–',
    beside: '–',
    result: holds ? 'holds' : 'misses',
    bar,
  });
  const longest = Math.max(0, ...whileScrolling, ...keys);
  const ms = (value: number) => `${Math.round(value)} ms`;
  const spread = (all: readonly number[]) => `median ${ms(median(all))}, longest ${ms(Math.max(...all))}`;
  return [
    row(`INP while a person scrolls to ${shown}`, ms(scrolling), scrolling <= 200, '≤ 200 ms'),
    row(
      `lists read by the page at rest (${changes} changes in all)`,
      `${perSecond.toFixed(2)}/s`,
      perSecond <= 1,
      '≤ 1/s',
    ),
    row('lists read by the overview at rest', `${onOverview.toFixed(2)}/s`, onOverview <= 1, '≤ 1/s'),
    row('longest of all interactions', ms(longest), longest <= 200, '≤ 200 ms'),
    row('INP while a person types a filter', ms(computeInp(keys)), computeInp(keys) <= 200, '≤ 200 ms'),
    row(`from a key to the list on screen (${answers.length} keys)`, spread(answers), median(answers) <= 50, '≤ 50 ms'),
    row('… of which the API takes', spread(searches), Math.max(...searches) <= 50, '≤ 50 ms'),
  ];
}
