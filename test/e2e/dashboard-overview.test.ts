/** Tests the first page, and that every page shows a change of a stream at once, from any source. */
/// <reference lib="dom" />
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { Browser, Page, Request } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { kubectl } from '../kit/kubectl.ts';
import { expectForEverybody, launchBrowser, type Visit, visit } from '../kit/real/page.ts';
import { shareSystemOnAir } from '../kit/system/share-system.ts';
import { ROOT, streamLikeDemo } from '../kit/system/system.ts';

let system: Awaited<ReturnType<typeof shareSystemOnAir>>;
let browser: Browser;
let at: Visit;

beforeAll(async () => {
  [system, browser] = await Promise.all([shareSystemOnAir(), launchBrowser()]);
});
afterAll(async () => {
  await browser?.close();
  await system?.close();
});

const open = async (path = '/') => {
  at = await visit(browser, system, path);
  return at.page;
};
const leave = async () => {
  expect(at.complaints).toEqual([]);
  await at.close();
};

const makeStream = (name: string) => streamLikeDemo(system, name);

/** Records the page's requests to the API, and the unanswered ones, except for the feed, which has no end. */
function traffic(page: Page) {
  const paths: string[] = [];
  const atWork = new Set<Request>();
  page.on('request', (request) => {
    const { pathname } = new URL(request.url());
    if (!pathname.startsWith('/v1/')) return;
    paths.push(pathname);
    if (pathname !== '/v1/changes') atWork.add(request);
  });
  for (const over of ['requestfinished', 'requestfailed'] as const)
    page.on(over as 'requestfinished', (request) => void atWork.delete(request));
  return { paths, atWork };
}

test('a stream on air has a picture, its time and its rate; scheduled ones are in order', async () => {
  const [later, sooner] = [await makeStream('Later'), await makeStream('Sooner')];
  const inHours = (hours: number) => ({ scheduleStartAt: new Date(Date.now() + hours * 3_600_000).toISOString() });
  await system.client.streams.schedule(later.id, inHours(30));
  await system.client.streams.schedule(sooner.id, inHours(2));
  const page = await open();
  const card = page.getByTestId('on-air-card');
  await card.locator('[data-testid="thumbnail"][data-drawn="true"]').waitFor({ timeout: 90_000 });
  const colours = await card.locator('canvas').evaluate((canvas) => {
    const { data } = (canvas as HTMLCanvasElement).getContext('2d')?.getImageData(0, 0, 480, 270) ?? { data: [] };
    return new Set(Array.from(data)).size;
  });
  expect(colours).toBeGreaterThan(20);
  await card.getByText(/Mbps|kbps/).waitFor();
  const next = page.getByRole('region', { name: 'Next starts' }).getByRole('link');
  await expect.poll(() => next.allTextContents()).toEqual(['Sooner', 'Later']);
  await page.getByText('Nothing needs your attention.').waitFor();
  await expectForEverybody(page);
  for (const { id } of [later, sooner]) await system.client.streams.delete(id);
  await leave();
});

test('a stream in trouble shows the reason and the next step', async () => {
  const destination = await system.client.destinations.create({
    name: 'Nobody there',
    rtmpUrl: 'rtmp://127.0.0.1:9/live',
    rtmpKey: 'key-of-nobody',
  });
  const { id } = await makeStream('Cannot get through');
  await system.client.streams.update(id, { destinationIDs: [destination.id] });
  await system.client.streams.start(id, { whenReady: true });
  const page = await open();
  const need = page.getByTestId('needs-you').filter({ hasText: 'Cannot get through' });
  await need.getByText('refuses connections').waitFor({ timeout: 90_000 });
  await expectForEverybody(page);
  await need.getByRole('link').click();
  await page.getByRole('heading', { level: 1, name: 'Cannot get through' }).waitFor();
  await system.client.streams.delete(id);
  await leave();
});

test('kubectl’s changes show without a reload, and no timer sends requests meanwhile', async () => {
  const { id } = await makeStream('Before');
  const page = await open('/streams');
  await page.getByRole('link', { name: 'Before' }).waitFor();
  const patch = JSON.stringify({ spec: { displayName: 'After' } });
  await kubectl(system, 'patch', 'loopstream', id, '--type=merge', '-p', patch);
  await page.getByRole('link', { name: 'After' }).click();
  await page.getByRole('heading', { level: 1, name: 'After' }).waitFor();
  await kubectl(system, 'delete', 'loopstream', id);
  await page.getByRole('heading', { name: '“After” was deleted' }).waitFor();
  await expectForEverybody(page);
  await page.getByRole('link', { name: 'All streams' }).click();
  await page.getByRole('heading', { level: 1, name: 'Streams' }).waitFor();
  await leave();
});

test('a page that nothing happens on asks for nothing', async () => {
  const { id } = await makeStream('Quiet');
  await expect.poll(async () => (await system.client.streams.readiness(id)).ready).toBe(true);
  const page = await open(`/streams/${id}`);
  const { paths, atWork } = traffic(page);
  await page.clock.install();
  await page.reload();
  await page.getByTestId('readiness').waitFor();
  await expect.poll(() => paths.includes('/v1/changes') && atWork.size === 0).toBe(true);
  // The requests after the first change are over.
  await page.clock.runFor(4_000);
  await expect.poll(() => atWork.size).toBe(0);
  const before = paths.length;
  // The time is shorter than the silence after which a feed counts as dead, and longer than any polling interval.
  await page.clock.runFor(9_000);
  expect(paths.slice(before)).toEqual([]);
  await system.client.streams.delete(id);
  await leave();
});

test('the first load of a page is at most 300 kB of scripts and styles, compressed, and has no player', async () => {
  const page = await browser.newPage();
  const loaded = new Set<string>();
  page.on('request', (request) => {
    const { pathname } = new URL(request.url());
    if (/^\/assets\/.*\.(js|css)$/.test(pathname)) loaded.add(pathname);
  });
  const { pageUrl, apiKey } = system.facts;
  await page.goto(`${new URL('/streams', pageUrl)}#key=${apiKey}`);
  await page.getByTestId('stream-card').first().waitFor();
  await page.close();
  const size = (path: string) => gzipSync(readFileSync(join(ROOT, 'dist/dashboard', path))).length;
  const sizes = [...loaded].map(size);
  expect(sizes.length).toBeGreaterThan(3);
  expect(sizes.reduce((sum, bytes) => sum + bytes, 0)).toBeLessThanOrEqual(300_000);
  expect([...loaded].join(' ')).not.toMatch(/mpegts|cronstrue/);
});
