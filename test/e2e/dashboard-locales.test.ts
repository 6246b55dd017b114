/// <reference lib="dom" />
/**
 * Tests the dashboard in browsers of other languages and zones: the page speaks one language, times are the reader's, and names that people
 * typed have a direction of their own. A page is the built dashboard with the records of `test/kit/looks/account.ts`.
 */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { live, playlist, streams } from '../kit/looks/account.ts';
import { launchLooksBrowser } from '../kit/looks/browser.ts';
import { LOOKS } from '../kit/looks/looks.ts';
import { newLooksPage, openLook } from '../kit/looks/open.ts';
import { readOwnWords } from '../kit/looks/own-words.ts';
import { findOverflow } from '../kit/real/page.ts';

let browser: Browser;
beforeAll(async () => {
  browser = await launchLooksBrowser();
});
afterAll(() => browser?.close());

const idle = streams.find(({ status }) => status === 'idle') ?? live;
const scheduled = streams.find(({ status }) => status === 'scheduled') ?? live;
const PATHS = [
  ...['/', '/streams', `/streams/${live.id}`, `/streams/${idle.id}?form=schedule`, `/streams/${idle.id}?form=edit`],
  ...['/create', '/uploads', '/playlists', `/playlists/${playlist.id}`, '/destinations'],
  ...['/billing', '/account', '/account/keys', '/account/apps'],
];

/** Letters that are not Latin, and digits that are not those of the page. */
const FOREIGN = /(?!\p{Script=Latin})\p{L}|(?![0-9])\p{Nd}/u;
/** German words for months, days and times, and numbers as German writes them. */
const GERMAN =
  /\b(?:Januar|Februar|Jan\.|Mai|Okt|Dez|Mo|Di|Mi|Do|Fr|Sa|So)\b[.,]|\b(?:Uhr|Sonntag|Montag)\b|(?<![$.\d])\d{1,3}\.\d{3}(?![.\d])/;

/** 31 January 2027, 21:35 in UTC, as the overview shows it. */
const READERS = [
  { locale: 'de-DE', timezoneId: 'Pacific/Auckland', starts: 'Mon 1 Feb, 10:35' },
  { locale: 'ar', timezoneId: 'Pacific/Tongatapu', starts: 'Mon 1 Feb, 10:35 AM' },
  { locale: 'ja-JP', timezoneId: 'Pacific/Apia', starts: 'Mon 1 Feb, 10:35' },
  { locale: 'en-US', timezoneId: 'America/New_York', starts: 'Sun 31 Jan, 4:35 PM' },
];

describe.each(READERS)('a browser in $locale, in $timezoneId', ({ locale, timezoneId, starts }) => {
  let page: Page;
  beforeAll(async () => {
    page = await newLooksPage(browser, { locale, timezoneId });
  });
  afterAll(() => page?.context().close());

  test('shows pages in one language, no wider than a small phone', async () => {
    const faults: string[] = [];
    for (const path of PATHS) {
      const { complaints, settle, close } = await openLook(page, { path });
      await page.setViewportSize({ width: 1440, height: 900 });
      await settle();
      const words = await readOwnWords(page);
      faults.push(
        ...words.filter((text) => FOREIGN.test(text) || GERMAN.test(text)).map((text) => `${path}: ${text}`),
        ...complaints.map((text) => `${path}: ${text}`),
      );
      await page.setViewportSize({ width: 360, height: 760 });
      const wider = await findOverflow(page);
      if (wider > 0) faults.push(`${path}: ${wider} pixels wider than the window`);
      await close();
    }
    expect(faults).toEqual([]);
  });

  test('shows times on the clock of its reader', async () => {
    const { close } = await openLook(page, { path: '/' });
    const time = page.locator('time[datetime="2027-01-31T21:35:00.000Z"]').first();
    expect(await time.textContent()).toContain(starts);
    await close();
  });

  test('takes a time in a form as one of its own clock, and shows it again so', async () => {
    let sent: { scheduleStartAt?: string } = {};
    const { close } = await openLook(page, {
      path: `/streams/${scheduled.id}?form=schedule`,
      answers: { getStream: { ...scheduled, scheduleStartAt: '2027-01-31T21:35:00Z', scheduleEndAt: null } },
    });
    const field = page.getByLabel('Goes on air');
    const shown = await page.evaluate(() => {
      const at = new Date('2027-01-31T21:35:00Z');
      return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
    });
    expect(await field.inputValue()).toBe(shown);
    await page.route('**/schedule*', (route) => {
      sent = route.request().postDataJSON();
      return route.fulfill({ json: { ...scheduled, takesOffAir: false, lostDestinationIDs: [], effect: '' } });
    });
    await field.fill(shown.replace(/\d\d:\d\d$/, '23:30'));
    await page.getByRole('button', { name: 'Save schedule' }).click();
    await expect.poll(() => sent.scheduleStartAt).toBeDefined();
    const instant = new Date(sent.scheduleStartAt ?? '');
    const clock = new Intl.DateTimeFormat('en-GB', { timeZone: timezoneId, hour: '2-digit', minute: '2-digit' });
    expect(clock.format(instant)).toBe('23:30');
    await close();
  });
});

/** A sign that turns what follows around, letters from right to left, and a sign that must not leave its place. */
const TURNED = 'שם \u202E(1)! ';
const HEBREW = /[\u0590-\u05ff]/;
/** Nouns of answers whose name a person typed; its other names are the page's. */
const rename = (json: unknown): unknown => {
  if (Array.isArray(json)) return json.map(rename);
  if (typeof json !== 'object' || json === null) return json;
  return Object.fromEntries(
    Object.entries(json).map(([field, value]) => [
      field,
      (field === 'name' || field === 'client_name') && typeof value === 'string' ? `${TURNED}${value}` : rename(value),
    ]),
  );
};

test('a name that a person typed has a direction of its own, on every page, in every form and question', async () => {
  const page = await newLooksPage(browser);
  const faults: string[] = [];
  let seen = 0;
  for (const look of LOOKS.filter(({ isPrinted }) => !isPrinted)) {
    const { settle, close } = await openLook(page, { ...look, change: rename });
    await look.act?.(page);
    await settle();
    const words = await readOwnWords(page);
    seen += await page.locator('bdi').count();
    faults.push(...words.filter((text) => HEBREW.test(text)).map((text) => `${look.name}: ${text}`));
    await close();
  }
  expect(faults).toEqual([]);
  expect(seen).toBeGreaterThan(200);
  await page.context().close();
});
