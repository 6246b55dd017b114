/** Looks at every page and form of the dashboard, in both schemes and sizes: one that no other test opens, too. */
import { readFileSync } from 'node:fs';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { expectForEverybody, leaveBrowser, openWindow, shareBrowser, visit } from '../kit/real/page.ts';
import { shareSystemOnAir } from '../kit/system/share-system.ts';

let system: Awaited<ReturnType<typeof shareSystemOnAir>>;
let browser: Browser;
beforeAll(async () => {
  [system, browser] = await Promise.all([shareSystemOnAir(), shareBrowser()]);
});
afterAll(async () => {
  await leaveBrowser(browser);
  await system?.close();
});

const ROUTER = readFileSync(new URL('../../src/dashboard/app/router.tsx', import.meta.url), 'utf8');
const PATHS = [...ROUTER.matchAll(/\.\.\.at\('([^']+)'\)/g)].map(([, path = '']) => path);

/** Pages for people who have not signed in, and what belongs behind their address. */
const OPEN: Record<string, string> = {
  '/sign-in': '',
  '/sign-up': '',
  '/check-mail': '',
  '/verify': '#token=none',
  '/forgot-password': '',
  '/reset-password': '#token=none',
  '/consent': '',
};
const FORMS = [
  ...['/streams/$id?form=edit', '/streams/$id?form=schedule', '/uploads?form=link', '/playlists?form=new'],
  ...[
    '/notifications?form=new',
    '/destinations?form=new',
    '/account/keys?form=new',
    '/billing?form=address',
    '/billing?form=top-up',
  ],
];

test('every page that needs no sign-in is sound and has no giant icon', async () => {
  const context = await openWindow(browser);
  const page = await context.newPage();
  for (const [path, rest] of Object.entries(OPEN)) {
    expect(PATHS).toContain(path);
    await page.goto('about:blank');
    await page.goto(new URL(`${path}${rest}`, system.facts.pageUrl).href);
    await page.getByRole('heading', { level: 1 }).waitFor();
    await expectForEverybody(page);
  }
  await page.close();
});

test('every page and form of an account is sound and has no giant icon', async () => {
  const { client, facts } = system;
  const playlist = await client.playlists.create({ name: 'Evening', kind: 'video', mode: 'sequential', items: [] });
  const ids: Record<string, string> = { '/streams/': facts.demoStreamId ?? '', '/playlists/': playlist.id };
  const inside = PATHS.filter((path) => !(path in OPEN));
  expect(inside.length).toBeGreaterThan(10);
  for (const path of [...inside, ...FORMS]) {
    const [folder = ''] = path.split('$');
    const { page, complaints, close } = await visit(browser, system, path.replace('$id', ids[folder] ?? 'none'));
    if (path.includes('?form='))
      await page
        .getByRole('dialog')
        .or(page.getByRole('heading', { level: 1 }))
        .first()
        .waitFor();
    await page.locator('[aria-busy="true"]').first().waitFor({ state: 'detached' });
    await expectForEverybody(page);
    expect(complaints, path).toEqual([]);
    await close();
  }
});
