/** Tests that the page of a stream shows when it was on air, for how long, at what cost, and why each session ended. */
import { readFile } from 'node:fs/promises';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { StreamSession } from '../../src/service/client/index.ts';
import { expectForEverybody, leaveBrowser, shareBrowser, type Visit, visit } from '../kit/real/page.ts';
import { shareSystemOnAir } from '../kit/system/share-system.ts';
import { streamLikeDemo } from '../kit/system/system.ts';

let system: Awaited<ReturnType<typeof shareSystemOnAir>>;
let browser: Browser;
let at: Visit;

beforeAll(async () => {
  [system, browser] = await Promise.all([shareSystemOnAir(), shareBrowser()]);
});
afterAll(async () => {
  await leaveBrowser(browser);
  await system?.close();
});

const open = async (path: string) => {
  at = await visit(browser, system, path);
  return { page: at.page, panel: at.page.getByRole('region', { name: 'Sessions' }) };
};
const leave = async () => {
  expect(at.complaints).toEqual([]);
  await at.close();
};

test('the session on air stands first, with its cost so far; one that ended says why; a file has them all', async () => {
  const { streams, destinations } = system.client;
  const { id } = await streamLikeDemo(system, 'Comes and goes');
  const own = await destinations.create({ name: 'Own', rtmpUrl: system.facts.rtmpUrl, rtmpKey: 'comes-and-goes' });
  await streams.update(id, { destinationIDs: [own.id] });
  expect(await streams.start(id, { wait: 60, whenReady: true })).toMatchObject({ status: 'live' });
  const { page, panel } = await open(`/streams/${id}`);
  const rows = panel.getByTestId('session');
  await expect.poll(() => rows.allTextContents()).toEqual([expect.stringMatching(/^On air since .*\$[\d.]+ so far$/)]);
  await expectForEverybody(page);
  await streams.stop(id, { wait: 60 });
  // The page hears of it by itself.
  await expect
    .poll(() => rows.allTextContents(), { timeout: 30_000 })
    .toEqual([expect.stringContaining('Somebody stopped the stream.')]);
  await expect.poll(() => panel.getByTestId('session-total').textContent()).toMatch(/^Total/);
  await expectForEverybody(page);

  const download = page.waitForEvent('download');
  await panel.getByRole('button', { name: 'Download CSV' }).click();
  const file = await download;
  expect(file.suggestedFilename()).toBe(`sessions-${id}.csv`);
  const [session] = (await streams.sessions(id).page()).data;
  expect(await readFile(await file.path(), 'utf8')).toContain(
    `\r\n1,${session?.startedAt},${session?.endedAt},${session?.onAirSeconds},`,
  );
  await leave();
  await streams.delete(id);
  await destinations.delete(own.id);
});

test('a stream that was never on air says so, and offers no file', async () => {
  const { id } = await streamLikeDemo(system, 'Never on air');
  const { page, panel } = await open(`/streams/${id}`);
  await panel.getByText('It has not been on air yet.').waitFor();
  expect(await panel.getByRole('button').count()).toBe(0);
  await expectForEverybody(page);
  await leave();
  await system.client.streams.delete(id);
});

test('three hundred sessions come as they are asked for, with the total of those that are shown', async () => {
  const sessions = Array.from({ length: 300 }, (_, i): StreamSession => {
    const startedAt = Date.UTC(2027, 0, 1) - i * 50_000_000;
    return {
      number: 300 - i,
      startedAt: new Date(startedAt).toISOString(),
      endedAt: new Date(startedAt + 3_600_000).toISOString(),
      onAirSeconds: 3_600,
      credits: '200',
      creditsEstimated: i === 0,
      end: { code: 'end_unknown', message: 'Nobody recorded why the session ended.', fix: '' },
    };
  });
  const { page, panel } = await open('/streams');
  await page.route('**/sessions?*', (route) => {
    const query = new URL(route.request().url()).searchParams;
    const [first, limit] = [Number(query.get('cursor') ?? 0), Number(query.get('limit'))];
    const next = first + limit;
    const nextCursor = next < sessions.length ? String(next) : null;
    return route.fulfill({
      json: { data: sessions.slice(first, next), page: { hasMore: nextCursor !== null, nextCursor } },
    });
  });
  await page.getByTestId('stream-card').first().getByRole('link').first().click();
  const [rows, total] = [panel.getByTestId('session'), panel.getByTestId('session-total')];
  await expect.poll(() => rows.count()).toBe(20);
  expect(await rows.first().textContent()).toContain('about $0.02');
  expect(await total.textContent()).toBe('Total of the latest 2020 h$0.40');
  const more = panel.getByRole('button', { name: 'Show more' });
  for (const shown of [120, 220, 300]) {
    await more.click();
    await expect.poll(() => rows.count()).toBe(shown);
  }
  await more.waitFor({ state: 'detached' });
  expect(await total.textContent()).toBe('Total of all 30012 days 12 h$6.00');
  await expectForEverybody(page);
  await leave();
});
