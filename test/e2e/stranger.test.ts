/// <reference lib="dom" />
/** Counts the clicks and fields of a stranger on the way from the front page to a stream of a file of their own on air. */
import { join } from 'node:path';
import type { Browser, BrowserContext } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openMailbox } from '../kit/make/account.ts';
import { closeWindow, leaveBrowser, openWindow, shareBrowser } from '../kit/real/page.ts';
import { type SharedSystem, shareSystem } from '../kit/system/share-system.ts';
import { ROOT } from '../kit/system/system.ts';

const FILM = join(ROOT, 'tools/local/demo/bigbuckbunny.mp4');
const MOST = { clicks: 12, fields: 6 };

let system: SharedSystem;
let browser: Browser;

beforeAll(async () => {
  [system, browser] = await Promise.all([shareSystem(), shareBrowser()]);
});
afterAll(() => leaveBrowser(browser));

/** Notes each press of the pointer and each field that is written into, on all pages of a window. */
async function watchHands(context: BrowserContext): Promise<{ clicks: string[]; fields: string[] }> {
  const seen = { clicks: [] as string[], fields: [] as string[] };
  await context.exposeBinding('note', (_source, kind: 'clicks' | 'fields', what: string) => void seen[kind].push(what));
  await context.addInitScript(() => {
    const { note } = window as unknown as { note: (kind: string, what: string) => void };
    const written = new WeakSet<EventTarget>();
    const name = (target: EventTarget | null) =>
      target instanceof HTMLElement ? (target.closest('button, a, label')?.textContent ?? target.tagName).trim() : '';
    addEventListener('pointerdown', ({ target }) => note('clicks', name(target)), true);
    addEventListener(
      'input',
      ({ target }) => {
        const isText = target instanceof HTMLInputElement && !['radio', 'checkbox', 'file'].includes(target.type);
        if (!isText || written.has(target)) return;
        written.add(target);
        note('fields', target.labels?.[0]?.textContent ?? target.name);
      },
      true,
    );
  });
  return seen;
}

test('a stranger is on air with a file of their own after few clicks and fields', async () => {
  const email = `stranger-${Date.now()}@example.com`;
  const context = await openWindow(browser);
  const hands = await watchHands(context);
  const page = await context.newPage();
  const press = (name: string | RegExp) => page.getByRole('button', { name }).first().click();
  const write = (label: string, text: string) => page.getByLabel(label, { exact: true }).fill(text);

  await page.goto(new URL('/', system.facts.pageUrl).href);
  await page.getByRole('link', { name: 'Create an account' }).click();
  await write('First name', 'Sam');
  await write('E-mail address', email);
  await write('Password', 'seven lamps over water');
  await press('Create account');
  await page.getByRole('heading', { name: 'Check your mail' }).waitFor();

  const mailbox = system.facts.mailUrl ?? '';
  const link = await openMailbox(mailbox).link(email, /Confirm/);
  await page.goto(mailbox);
  await page.locator(`a[href="${link}"]`).click();
  await press('Confirm my address');

  await page.getByRole('link', { name: 'New stream' }).first().click();
  const chooser = page.waitForEvent('filechooser');
  await press('Choose a file');
  await (await chooser).setFiles(FILM);
  await page.getByRole('radio', { name: 'Custom' }).check();
  await page.getByLabel('Address').fill(system.facts.rtmpUrl);
  await page.getByRole('textbox', { name: 'Stream key' }).fill(`stranger-${Date.now()}`);
  await press('Next');
  await page.getByTestId('price').filter({ hasText: 'a month' }).waitFor();
  await press('Create and start');
  await page.locator('[data-testid="preview"][data-state="playing"]').waitFor({ timeout: 150_000 });

  // A start that goes well warns of nothing.
  const events = await page.evaluate(async () => {
    const { data } = await (await fetch(`/v1/streams/${location.pathname.split('/').at(-1)}/events`)).json();
    return (data as { reason: string }[]).map(({ reason }) => reason);
  });
  expect(events).toContain('Live');
  expect(events).not.toContain('DestinationReconnecting');

  expect(hands.fields.length, hands.fields.join(', ')).toBeLessThanOrEqual(MOST.fields);
  expect(hands.clicks.length, hands.clicks.join(', ')).toBeLessThanOrEqual(MOST.clicks);
  // Something was counted at all.
  expect(hands.fields).toContain('Password');
  expect(hands.clicks).toContain('Create and start');
  await closeWindow(context);
});
