/** Tests that a person says where viewers see a stream, and sees at once when they do not. */
import type { Browser, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { kubectl } from '../kit/kubectl.ts';
import { buildPlatformStatus } from '../kit/make/platform-status.ts';
import { expectForEverybody, leaveBrowser, shareBrowser, type Visit, visit } from '../kit/real/page.ts';
import { shareSystemOnAir } from '../kit/system/share-system.ts';
import { until } from '../kit/wait.ts';

let system: Awaited<ReturnType<typeof shareSystemOnAir>>;
let browser: Browser;
let at: Visit;
let destinationID: string;

beforeAll(async () => {
  [system, browser] = await Promise.all([shareSystemOnAir(), shareBrowser()]);
  [destinationID = ''] = (await system.client.streams.get(system.facts.demoStreamId ?? '')).destinationIDs;
});
afterAll(async () => {
  await leaveBrowser(browser);
  await system?.close();
});

const open = async (path: string) => {
  at = await visit(browser, system, path);
  return at.page;
};
const leave = async () => {
  expect(at.complaints).toEqual([]);
  await at.close();
};
const show = (status: Parameters<typeof buildPlatformStatus>[0]) =>
  kubectl(
    ...([system, 'patch', 'destination', destinationID, '--type=merge', '--subresource=status'] as const),
    ...['-p', JSON.stringify({ status: buildPlatformStatus(status) })],
  );
/** The process that looks may say something else meanwhile, so it is said until it shows. */
const showUntil = (shown: Locator, status: Parameters<typeof buildPlatformStatus>[0]) =>
  until(`${shown} is on the page`, async () => {
    await show(status);
    const wait = shown.first().waitFor({ timeout: 2_000 });
    return wait.then(
      () => true,
      () => false,
    );
  });
const findBadge = (page: Page, word: string) => page.getByTestId('stream-status').getByText(word, { exact: true });

test('a person says where viewers see the stream; a mistake stands at its field', async () => {
  const page = await open(`/destinations?form=edit+${destinationID}`);
  const dialog = page.getByRole('dialog');
  const place = dialog.getByLabel('Where viewers see it');
  await place.selectOption({ label: 'At an address (HLS, HTTP-FLV, RTMP)' });
  const address = dialog.getByLabel('Address that viewers open');
  await address.fill('https://www.youtube.com/watch?v=aqz-KE-bpKQ');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await dialog.getByText('This is a page of YouTube').waitFor();
  // Only the server knows that such an address is never public.
  await address.fill('http://169.254.169.254/live.m3u8');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await dialog.getByText('Must have a public host').waitFor();
  await expectForEverybody(page);
  await address.fill('https://cdn.example.com/live/stream.m3u8');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await dialog.waitFor({ state: 'detached' });
  const { platform } = await system.client.destinations.get(destinationID);
  expect(platform).toMatchObject({ kind: 'watch', url: 'https://cdn.example.com/live/stream.m3u8', hasToken: false });
  await leave();
});

test('a stream on air that viewers do not see is unmistakable on every page, with the cause and the fix', async () => {
  const page = await open('/destinations');
  await showUntil(page.getByText('Viewers see the stream · 7 viewers'), { status: 'True', viewers: 7 });
  const unseen = { status: 'False', reason: 'frozen' } as const;
  await showUntil(page.getByText('Viewers have not seen the stream since'), unseen);
  await page.getByText('Viewers see a picture that stands still').waitFor();
  await expectForEverybody(page);
  await page.goto(new URL(`/streams/${system.facts.demoStreamId}`, page.url()).href);
  await showUntil(findBadge(page, 'Live, not seen'), unseen);
  await page.getByText('Viewers have not seen the stream since').waitFor();
  expect(await page.locator('[data-testid="stream-status"][data-tone="live"]').count()).toBe(0);
  await expectForEverybody(page);
  for (const path of ['/', '/streams']) {
    await page.goto(new URL(path, page.url()).href);
    await showUntil(findBadge(page, 'Live, not seen'), unseen);
  }
  await showUntil(findBadge(page, 'Live'), { status: 'True' });
  await leave();
});

test('a stalled repair goes on when a person asks for it', async () => {
  const platform = { kind: 'youtube', policy: 'Repair', refreshToken: '1//0-secret-token' } as const;
  await system.client.destinations.update(destinationID, { platform });
  const page = await open('/destinations');
  const repair = { phase: 'stalled' as const, inserts: [], stalled: 'limit' as const };
  const stalled = { status: 'False', reason: 'broadcast_ended', repair } as const;
  await showUntil(page.getByRole('button', { name: 'Go on with the repair' }), stalled);
  await page.getByRole('button', { name: 'Go on with the repair' }).click();
  await page.getByRole('button', { name: 'Go on with the repair' }).waitFor({ state: 'detached' });
  expect((await system.client.destinations.get(destinationID)).platformLive?.repairStalled).toBe(false);
  expect(await page.content()).not.toContain('secret-token');
  await system.client.destinations.update(destinationID, { platform: null });
  await leave();
});
