/**
 * Takes pictures of every page, light and dark, on a desktop and on a phone of 360 pixels, from a running `make run`:
 * `node scripts/screenshots.ts [state directory] [only pages with one of these in their name …]`. They go to `screenshots/` in
 * the state directory, which git ignores. Each page is also taken while it loads, when it is empty, and without a
 * server.
 */
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Browser, type BrowserContext, chromium, type Page, type Route } from 'playwright-core';
import { createClient } from '../src/service/client/index.ts';
import type { LocalFacts } from '../tools/local/state.ts';
import { SAMPLE_UPLOADS } from './screenshot-uploads.ts';

const [stateDir = '.loopstream', ...only] = process.argv.slice(2);
const factsFile = join(stateDir, 'local.json');
if (!existsSync(factsFile)) {
  process.stderr.write(
    `${factsFile} does not exist, because nothing is running. Start loopstream with \`make run\`.\n`,
  );
  process.exit(1);
}
const facts = JSON.parse(readFileSync(factsFile, 'utf8')) as LocalFacts;
const out = join(stateDir, 'screenshots');
const site = new URL(facts.pageUrl ?? '').origin;

const DESK = { width: 1440, height: 900 };
const PHONE = { width: 360, height: 780 };
const WAYS = [
  { name: 'light', viewport: DESK, colorScheme: 'light' },
  { name: 'dark', viewport: DESK, colorScheme: 'dark' },
  { name: 'phone', viewport: PHONE, colorScheme: 'light' },
  { name: 'phone-dark', viewport: PHONE, colorScheme: 'dark' },
] as const;
/** Nothing on a page takes longer; what does is a picture of its own. */
const PATIENCE_MS = 15_000;

interface Shot {
  name: string;
  path: string;
  /** Runs on the page before the picture. */
  act?: (page: Page) => Promise<unknown>;
  /** Without being signed in. */
  open?: boolean;
  /** Replaces the answers to calls whose paths begin with `path`. */
  calls?: readonly [path: string, how: keyof typeof ANSWERS];
}

const ANSWERS = {
  /** Never: it is being loaded. */
  later: () => new Promise<void>(() => undefined),
  nothing: (route: Route) => route.fulfill({ json: { data: [], page: { hasMore: false, nextCursor: null } } }),
  away: (route: Route) => route.abort(),
  samples: (route: Route) =>
    change(route, ([first]) => SAMPLE_UPLOADS.map((sample, at) => ({ ...first, objectID: `upl-${at}`, ...sample }))),
  another: (route: Route) =>
    change(route, (data) => [...data, { ...data[0], id: 'dst-none', name: 'A channel elsewhere' }]),
  withLogin: (route: Route) => change(route, (data) => data.map((one) => ({ ...one, hasLogin: true }))),
};

/** Changes a list of the server; what is read by its id stays. */
async function change(route: Route, map: (data: object[]) => object[]): Promise<void> {
  const response = await route.fetch();
  const { data, ...rest } = await response.json();
  await route.fulfill(Array.isArray(data) ? { response, json: { ...rest, data: map(data) } } : { response });
}

/** Nothing is being drawn or loaded any more, but for what is kept waiting. */
async function settled(page: Page, { calls, act }: Shot): Promise<void> {
  await page.getByRole('heading', { level: 1 }).first().waitFor();
  if (calls?.[1] !== 'later') await page.locator('[aria-busy="true"]').first().waitFor({ state: 'detached' });
  await act?.(page);
  await page.evaluate(() => document.fonts.ready);
  await page.waitForTimeout(250);
}

/** Moving pictures begin a moment after the page; a browser without them does too. */
const playing = (page: Page): Promise<unknown> =>
  page
    .locator('[data-testid="preview"][data-state="playing"], [data-testid="thumbnail"][data-drawn="true"]')
    .first()
    .waitFor()
    .catch(() => undefined);

/** The chart of what was used comes after the page, where anything was. */
const drawn = (page: Page): Promise<unknown> =>
  page
    .locator('[data-testid="usage-chart"] path')
    .first()
    .waitFor()
    .catch(() => undefined);

const press = (name: string | RegExp) => (page: Page) => page.getByRole('button', { name }).first().click();

const refuse = (page: Page, url: string, status: number, code: string, detail = '') =>
  page.route(url, (route) =>
    route.fulfill({
      status,
      contentType: 'application/problem+json',
      body: JSON.stringify({ type: `/docs/errors/${code}`, title: '', status, detail, code }),
    }),
  );

/** Ends the session while the page is open. */
async function endSession(page: Page): Promise<void> {
  await refuse(page, '**/v1/**', 401, 'unauthenticated');
  await page.route('**/api/auth/get-session', (route) => route.fulfill({ json: null }));
  // Something of the page may have asked before, and then the dialog is in the way.
  const link = page.getByRole('link', { name: 'Playlists' }).first();
  await link.click({ timeout: 2000 }).catch(() => undefined);
  await page.getByRole('dialog').waitFor();
}

async function signInTooOften(page: Page): Promise<void> {
  const detail = 'Too many attempts from this address. Try again in 582 seconds.';
  await refuse(page, '**/api/auth/sign-in/email', 429, 'rate_limited', detail);
  await page.getByLabel('E-mail address').fill('somebody@example.com');
  await page.getByLabel('Password', { exact: true }).fill('not the password');
  await press('Sign in')(page);
  await page.getByText(detail).waitFor();
}

/** A schedule, and an edit, that would end the broadcast. */
async function scheduleLater(page: Page): Promise<void> {
  await page.getByRole('radio', { name: 'On days' }).check();
  // A day and a time that are not now.
  const day = new Date(Date.now() + 2 * 24 * 3600_000);
  const name = new Intl.DateTimeFormat('en', { weekday: 'short' }).format(day);
  for (const tick of await page.getByRole('dialog').getByRole('checkbox').all()) await tick.uncheck();
  await page.getByRole('checkbox', { name }).check();
  await press('Save schedule')(page);
  await page.getByRole('dialog', { name: /off air\?$/ }).waitFor();
}
async function moveElsewhere(page: Page): Promise<void> {
  const group = page.getByRole('dialog').getByRole('group', { name: 'Destinations' });
  await group.getByLabel('A channel elsewhere').check();
  for (const tick of await group.getByRole('checkbox').all())
    if ((await tick.getAttribute('value')) !== 'dst-none') await tick.uncheck();
  await press('Save')(page);
  await page.getByRole('dialog', { name: /off air\?$/ }).waitFor();
}

async function addWithoutKey(page: Page): Promise<void> {
  await page.getByRole('radio', { name: 'Custom' }).check();
  await page.getByLabel('Name').fill('My own server');
  await page.getByLabel('Address').fill('rtmp://media.example/mystream');
  await page.getByRole('dialog').getByRole('button', { name: 'Add destination' }).click();
  await page.getByRole('dialog', { name: /without a stream key/ }).waitFor();
}

/** Loading, empty and away, for the pages of lists. */
const LISTS = ['streams', 'uploads', 'playlists', 'destinations'].flatMap((noun): Shot[] =>
  (['later', 'nothing', 'away'] as const).map((how) => ({
    name: `${noun}-${how}`,
    path: `/${noun}`,
    calls: [`/v1/${noun}`, how],
  })),
);

const OPEN: Shot[] = [
  ...['sign-in', 'sign-up', 'forgot-password'].map((name) => ({ name, path: `/${name}`, open: true })),
  { name: 'sign-in-too-often', path: '/sign-in', open: true, act: signInTooOften },
];

function streamShots(id: string): Shot[] {
  const path = `/streams/${id}`;
  return [
    { name: 'stream', path, act: playing },
    { name: 'stream-edit', path: `${path}?form=edit` },
    {
      name: 'stream-edit-off-air',
      path: `${path}?form=edit`,
      calls: ['/v1/destinations', 'another'],
      act: moveElsewhere,
    },
    { name: 'stream-schedule', path: `${path}?form=schedule` },
    { name: 'stream-schedule-days', path: `${path}?form=schedule`, act: (page) => page.getByLabel('On days').check() },
    { name: 'stream-schedule-off-air', path: `${path}?form=schedule`, act: scheduleLater },
    { name: 'stream-stop', path, act: press(/^Stop /) },
    { name: 'stream-later', path, calls: [`/v1${path}`, 'later'] },
    { name: 'stream-away', path, calls: [`/v1${path}`, 'away'] },
    { name: 'create-progress', path: `/create?stream=${id}` },
  ];
}

async function listShots(): Promise<Shot[]> {
  const client = createClient({ baseUrl: facts.apiUrl ?? '', apiKey: facts.apiKey ?? '' });
  const streams = (await client.streams.list().page()).data;
  const stream = streams.find(({ status }) => status === 'live') ?? streams[0];
  const [playlist] = (await client.playlists.list().page()).data;
  const [destination] = (await client.destinations.list().page()).data;
  return [
    ...OPEN,
    { name: 'overview', path: '/', act: playing },
    { name: 'overview-nothing', path: '/', calls: ['/v1/streams', 'nothing'] },
    { name: 'streams', path: '/streams' },
    { name: 'streams-none', path: '/streams?q=nothing+is+called+this' },
    ...(stream ? streamShots(stream.id) : []),
    { name: 'stream-missing', path: '/streams/str-none' },
    { name: 'create', path: '/create' },
    { name: 'uploads', path: '/uploads' },
    { name: 'uploads-samples', path: '/uploads', calls: ['/v1/uploads', 'samples'] },
    { name: 'upload-link', path: '/uploads?form=link' },
    { name: 'upload-play', path: '/uploads', act: press(/^Play /) },
    { name: 'upload-delete', path: '/uploads', act: press(/^Delete /) },
    { name: 'playlists', path: '/playlists' },
    { name: 'playlist-new', path: '/playlists?form=new' },
    ...(playlist ? [{ name: 'playlist', path: `/playlists/${playlist.id}` }] : []),
    { name: 'destinations', path: '/destinations' },
    { name: 'destination-new', path: '/destinations?form=new' },
    { name: 'destination-no-key', path: '/destinations?form=new', act: addWithoutKey },
    ...(destination
      ? [
          {
            name: 'destination-edit',
            path: `/destinations?form=edit+${destination.id}`,
            calls: ['/v1/destinations', 'withLogin'] as const,
          },
        ]
      : []),
    { name: 'destination-missing', path: '/destinations?form=edit+dst-none' },
    { name: 'sign-in-again', path: '/destinations', act: endSession },
    ...LISTS,
    { name: 'billing', path: '/billing', act: drawn },
    { name: 'billing-top-up', path: '/billing?form=top-up' },
    { name: 'billing-deposit', path: '/billing?form=deposit' },
    { name: 'billing-later', path: '/billing', calls: ['/v1/billing', 'later'] },
    { name: 'billing-away', path: '/billing', calls: ['/v1/billing', 'away'] },
    { name: 'account', path: '/account' },
    { name: 'keys', path: '/account/keys' },
    { name: 'key-new', path: '/account/keys?form=new' },
    { name: 'apps', path: '/account/apps' },
    { name: 'not-found', path: '/nothing/here' },
  ];
}

/** Makes the window as high as the page. */
async function showWhole(page: Page): Promise<void> {
  const { width, height } = page.viewportSize() ?? DESK;
  const whole = await page.evaluate(() => document.documentElement.scrollHeight);
  await page.setViewportSize({ width, height: Math.max(height, whole) });
}

async function take(context: BrowserContext, way: string, shot: Shot): Promise<void> {
  const page = await context.newPage();
  page.setDefaultTimeout(PATIENCE_MS);
  try {
    const { calls } = shot;
    if (calls) await page.route(({ pathname }) => pathname.startsWith(calls[0]), ANSWERS[calls[1]]);
    await page.goto(`${site}${shot.path}`, { waitUntil: 'domcontentloaded' });
    await settled(page, shot);
    const isDialog = (await page.locator('dialog[open]').count()) > 0;
    // A picture longer than the window would have the bar of the phone amid it.
    if (!isDialog) await showWhole(page);
    await page.screenshot({ path: join(out, `${shot.name}.${way}.png`) });
  } catch (error) {
    const [why] = (error instanceof Error ? error.message : String(error)).split('\n');
    process.stderr.write(`${shot.name}, ${way}: ${why}\n`);
    process.exitCode = 1;
  } finally {
    await page.unrouteAll({ behavior: 'ignoreErrors' });
    await page.close();
  }
}

/** Signed in as the person whose account `make run` has, once for all pictures. */
async function signIn(browser: Browser) {
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(`${site}/sign-in`);
  await page.getByLabel('E-mail address').fill(facts.email ?? '');
  await page.getByLabel('Password', { exact: true }).fill(facts.password ?? '');
  await page.getByRole('button', { name: 'Sign in' }).first().click();
  await page.getByTestId('user-email').waitFor();
  const state = await context.storageState();
  await context.close();
  return state;
}

async function takeAll(browser: Browser): Promise<void> {
  const shots = (await listShots()).filter(({ name }) => only.length === 0 || only.some((part) => name.includes(part)));
  const storageState = await signIn(browser);
  for (const { name, ...look } of WAYS) {
    const signedIn = await browser.newContext({ ...look, storageState, reducedMotion: 'reduce' });
    const nobody = await browser.newContext({ ...look, reducedMotion: 'reduce' });
    for (const shot of shots) await take(shot.open ? nobody : signedIn, name, shot);
    await Promise.all([signedIn.close(), nobody.close()]);
    process.stdout.write(`${name}: ${shots.length} pages in ${out}\n`);
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
