/** Tests that the page of a stream shows its uptime, each outage with its cause, and the badge for other pages. */
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { StreamUptime } from '../../src/service/client/index.ts';
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
  return { page: at.page, panel: at.page.getByRole('region', { name: 'Uptime' }) };
};
const leave = async () => {
  expect(at.complaints).toEqual([]);
  await at.close();
};

test('a stream on air has an uptime, and a badge that shows itself to everyone', async () => {
  const { streams, destinations } = system.client;
  const { id } = await streamLikeDemo(system, 'Always there');
  const own = await destinations.create({ name: 'Own', rtmpUrl: system.facts.rtmpUrl, rtmpKey: 'always-there' });
  await streams.update(id, { destinationIDs: [own.id] });
  const { page, panel } = await open(`/streams/${id}`);
  await panel.getByText('It has not been on air in the last 30 days.').waitFor();
  await streams.start(id, { wait: 60, whenReady: true });
  await page.reload();
  await expect.poll(() => panel.getByTestId('uptime-30d').textContent()).toBe('100 %');
  await panel.getByText('No outage in the last 30 days.').waitFor();
  const badge = panel.getByRole('img');
  await expect.poll(() => badge.evaluate((image) => (image as HTMLImageElement).naturalWidth)).toBeGreaterThan(50);
  const answer = await fetch(new URL((await badge.getAttribute('src')) ?? '', page.url()));
  expect(await answer.text()).toContain('<title>uptime 30d: 100 %</title>');
  await expectForEverybody(page);
  await leave();
  await streams.stop(id, { wait: 60 });
  await streams.delete(id);
  await destinations.delete(own.id);
});

test('outages have their length and cause, those that are left out are counted, and numbers are from one source', async () => {
  const outages = Array.from({ length: 7 }, (_, i): StreamUptime['outages'][number] => ({
    startedAt: new Date(Date.UTC(2027, 0, 20 - i, 12)).toISOString(),
    endedAt: i === 0 ? null : new Date(Date.UTC(2027, 0, 20 - i, 12, 8)).toISOString(),
    seconds: 480,
    code: 'destination_reconnecting',
    message: 'Destination "Main" does not accept the stream.',
    fix: null,
  }));
  const { page, panel } = await open('/streams');
  await page.route('**/uptime?*', (route) => {
    const url = 'https://loops.example.com/v1/badges/none.svg';
    const seconds = { wantedSeconds: 2_592_000, onAirSeconds: 2_588_640, offAirSeconds: 3_360, unknownSeconds: 7_200 };
    const [from, to] = ['2027-01-01T00:00:00Z', '2027-01-31T00:00:00Z'];
    // Nothing was known of the viewers in the last day.
    const asked = new URL(route.request().url()).searchParams.get('from') ?? '';
    const uptime: StreamUptime = {
      from,
      to,
      by: Date.now() - Date.parse(asked) < 2 * 86_400_000 ? 'ingest' : 'viewers',
      ...seconds,
      uptimePercent: 99.998,
      outageCount: 7,
      outages,
      badgeUrl: url,
    };
    return route.fulfill({ json: uptime });
  });
  await page.route('**/badges/*', (route) =>
    route.fulfill({
      body: '<svg xmlns="http://www.w3.org/2000/svg" width="90" height="20"/>',
      contentType: 'image/svg+xml',
    }),
  );
  await page.getByTestId('stream-card').first().getByRole('link').first().click();
  const rows = panel.getByTestId('outage');
  await expect.poll(() => rows.count()).toBe(5);
  expect(await rows.first().textContent()).toMatch(
    /^Off air since .*8 minutesDestination “Main” does not accept the stream\.$/,
  );
  await panel.getByText('2 more in these 30 days. The file has them all.').waitFor();
  await panel.getByText('Nothing is known of 2 hours. That time is not counted.').waitFor();
  // Less than 100 % never reads as that.
  expect(await panel.getByTestId('uptime-30d').textContent()).toBe('99.99 %');
  expect(await panel.getByTestId('uptime-7d').textContent()).toBe('99.99 %');
  expect(await panel.getByTestId('uptime-1d').textContent()).toBe('–');
  await panel.getByText('Time in which viewers did not see the stream counts as off air.').waitFor();
  await expectForEverybody(page);
  await leave();
});
