/**
 * Pictures of every page, light and dark on a desk and on a phone of 360 pixels, from a running `make run`:
 * `node scripts/screenshots.ts [state directory] [only pages with this in their name]`. They go to `screenshots/` in the state
 * directory, which git ignores.
 */
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import { createClient } from '../src/client/index.ts';
import type { LocalFacts } from '../src/local/state.ts';

const [stateDir = '.loopstream', only = ''] = process.argv.slice(2);
const facts = JSON.parse(readFileSync(join(stateDir, 'local.json'), 'utf8')) as LocalFacts;
const out = join(stateDir, 'screenshots');

const WAYS = [
  { name: 'light', viewport: { width: 1440, height: 900 }, colorScheme: 'light' },
  { name: 'dark', viewport: { width: 1440, height: 900 }, colorScheme: 'dark' },
  { name: 'phone', viewport: { width: 360, height: 780 }, colorScheme: 'light' },
  { name: 'phone-dark', viewport: { width: 360, height: 780 }, colorScheme: 'dark' },
] as const;

interface Shot {
  name: string;
  path: string;
  /** What is done on the page first. */
  act?: (page: Page) => Promise<unknown>;
  /** Without being signed in. */
  open?: boolean;
}

/** Something is still being loaded or drawn. */
const settled = async (page: Page): Promise<void> => {
  await page.locator('[aria-busy="true"]').first().waitFor({ state: 'detached' });
  await page.waitForLoadState('networkidle', { timeout: 3_000 }).catch(() => undefined);
};

/** Moving pictures begin a moment after the page. */
const playing = (page: Page): Promise<unknown> =>
  page
    .locator('[data-testid="preview"][data-state="playing"], [data-testid="thumbnail"][data-drawn="true"]')
    .first()
    .waitFor({ timeout: 30_000 })
    .catch(() => undefined);

async function shotsOf(): Promise<Shot[]> {
  const client = createClient({ baseUrl: facts.apiUrl ?? '', apiKey: facts.apiKey ?? '' });
  const streams = (await client.streams.list().page()).data;
  const stream = streams.find(({ status }) => status === 'live') ?? streams[0];
  const playlist = (await client.playlists.list().page()).data[0];
  const press = (name: string | RegExp) => (page: Page) => page.getByRole('button', { name }).first().click();
  return [
    { name: 'sign-in', path: '/sign-in', open: true },
    { name: 'sign-up', path: '/sign-up', open: true },
    { name: 'forgot-password', path: '/forgot-password', open: true },
    { name: 'overview', path: '/', act: playing },
    { name: 'streams', path: '/streams' },
    { name: 'streams-none', path: '/streams?q=nothing+is+called+this' },
    ...(stream
      ? [
          { name: 'stream', path: `/streams/${stream.id}`, act: playing },
          { name: 'stream-edit', path: `/streams/${stream.id}`, act: press('Edit') },
          { name: 'stream-schedule', path: `/streams/${stream.id}`, act: press(/the schedule|a schedule/) },
          { name: 'create-progress', path: `/create?stream=${stream.id}` },
        ]
      : []),
    { name: 'stream-missing', path: '/streams/str-none' },
    { name: 'create', path: '/create' },
    { name: 'uploads', path: '/uploads' },
    { name: 'playlists', path: '/playlists' },
    ...(playlist ? [{ name: 'playlist', path: `/playlists/${playlist.id}` }] : []),
    { name: 'destinations', path: '/destinations' },
    { name: 'account', path: '/account' },
    { name: 'keys', path: '/account/keys' },
    { name: 'not-found', path: '/nothing/here' },
  ];
}

async function take(context: BrowserContext, way: (typeof WAYS)[number], shot: Shot): Promise<void> {
  const page = await context.newPage();
  try {
    const address = new URL(shot.path, facts.pageUrl ?? '');
    await page.goto(shot.open ? address.href : `${address}#key=${facts.apiKey}`);
    await page.getByRole('heading', { level: 1 }).first().waitFor({ timeout: 15_000 });
    await settled(page);
    await shot.act?.(page);
    await settled(page);
    const isDialog = (await page.locator('dialog[open]').count()) > 0;
    await page.screenshot({ path: join(out, `${shot.name}.${way.name}.png`), fullPage: !isDialog });
  } catch (error) {
    process.stderr.write(
      `${shot.name}, ${way.name}: ${error instanceof Error ? error.message.split('\n')[0] : error}\n`,
    );
    process.exitCode = 1;
  } finally {
    await page.close();
  }
}

async function takeAll(browser: Browser): Promise<void> {
  const shots = (await shotsOf()).filter(({ name }) => name.includes(only));
  for (const way of WAYS) {
    const { viewport, colorScheme } = way;
    const context = await browser.newContext({ viewport, colorScheme, reducedMotion: 'reduce' });
    for (const shot of shots) await take(context, way, shot);
    await context.close();
    process.stdout.write(`${way.name}: ${shots.length} pages in ${out}\n`);
  }
}

mkdirSync(out, { recursive: true });
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-gpu', '--autoplay-policy=no-user-gesture-required'],
});
try {
  await takeAll(browser);
} finally {
  await browser.close();
}
