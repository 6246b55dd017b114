/// <reference lib="dom" />
/**
 * Compares every page with kept pictures, in both themes and sizes: tests of elements do not see what covers them. A page is the built
 * dashboard with the records of `test/kit/looks/account.ts`, in a browser and with fonts that are the same on every machine.
 * `make screenshots ARGS=--keep` renews the pictures and shows what it renews.
 */
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { live } from '../kit/looks/account.ts';
import { away } from '../kit/looks/answers.ts';
import { launchLooksBrowser } from '../kit/looks/browser.ts';
import { checkLook } from '../kit/looks/check.ts';
import { judge, listKept } from '../kit/looks/kept.ts';
import { LOOKS } from '../kit/looks/looks.ts';
import { newLooksPage, openLook } from '../kit/looks/open.ts';
import { type Taken, takeLooks } from '../kit/looks/take.ts';

const ROUTER = readFileSync('src/dashboard/app/router.tsx', 'utf8');
const PATHS = [...ROUTER.matchAll(/\.\.\.at\('([^']+)'\)/g)].map(([, path = '']) => path);

const taken = new Map<string, Taken>();
let browser: Awaited<ReturnType<typeof launchLooksBrowser>>;
beforeAll(async () => {
  browser = await launchLooksBrowser();
  await takeLooks(browser, LOOKS, (one) => taken.set(one.look.name, one), checkLook);
});
afterAll(() => browser?.close());

test.each(LOOKS.map(({ name }) => name))('%s looks as it is kept, and is sound', (name) => {
  const { pictures, complaints } = taken.get(name) ?? {
    pictures: new Map<string, Buffer>(),
    complaints: ['not taken'],
  };
  const judged = [...pictures].map(([file, png]) => judge(file, png));
  const different = judged.filter(({ fails }) => fails).map(({ sentence }) => sentence);
  expect(complaints, name).toEqual([]);
  expect(different, `If it should look so: make screenshots ARGS="--keep ${name}"`).toEqual([]);
});

test('each page has a look, and each kept picture is of one', () => {
  const shown = LOOKS.map(({ path }) => new URL(path, 'http://page').pathname);
  const patterns = PATHS.map((path) => ({ path, pattern: new RegExp(`^${path.replace('$id', '[^/]+')}$`) }));
  expect(patterns.length).toBeGreaterThan(15);
  expect(patterns.filter(({ pattern }) => !shown.some((path) => pattern.test(path))).map(({ path }) => path)).toEqual(
    [],
  );
  const names = new Set([...taken.values()].flatMap(({ pictures }) => [...pictures.keys()]));
  expect(listKept().filter((name) => !names.has(name))).toEqual([]);
});

test('the first page takes few requests, for each of which a slow connection waits', async () => {
  const page = await newLooksPage(browser);
  const asked: string[] = [];
  page.on('request', (request) => asked.push(request.url()));
  await openLook(page, { path: '/sign-in', isOpen: true });
  expect(asked.length, asked.join('\n')).toBeLessThanOrEqual(15);
  await page.context().close();
});

test('a page that found no server does not blink while it asks again', async () => {
  const page = await newLooksPage(browser);
  let asked = 0;
  page.on('request', (request) => {
    asked += new URL(request.url()).pathname === '/v1/streams' ? 1 : 0;
  });
  await openLook(page, { path: '/streams', answers: { listStreams: away } });
  const alert = page.getByRole('alert').filter({ hasText: 'could not be loaded' });
  await alert.waitFor();
  await alert.evaluate((element) => {
    document.documentElement.dataset.blinked = 'false';
    new MutationObserver(() => {
      if (!element.isConnected) document.documentElement.dataset.blinked = 'true';
    }).observe(document, { subtree: true, childList: true });
  });
  const before = asked;
  await expect.poll(() => asked - before, { timeout: 60_000 }).toBeGreaterThanOrEqual(3);
  expect(await page.evaluate(() => document.documentElement.dataset.blinked)).toBe('false');
  await page.context().close();
});

test('nothing on the page of a live stream jumps while it loads', async () => {
  const page = await newLooksPage(browser);
  await page.addInitScript(() => {
    let moved = 0;
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) moved += (entry as PerformanceEntry & { value: number }).value;
      document.documentElement.dataset.moved = String(moved);
    }).observe({ type: 'layout-shift', buffered: true });
  });
  await openLook(page, { path: `/streams/${live.id}` });
  // Cumulative layout shift: https://web.dev/articles/cls
  expect(await page.evaluate(() => Number(document.documentElement.dataset.moved ?? 0))).toBeLessThanOrEqual(0.05);
  await page.context().close();
});
