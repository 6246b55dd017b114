/**
 * Tests every page of the dashboard without any optional setting. No request fails on the server, which would log an error, and an
 * independent validator finds no fault in the HTML.
 */
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readNotices } from '../../../scripts/notices.ts';
import { findHtmlErrors } from '../../kit/make/html.ts';
import { type Person, startTestSite, type TestSite } from '../../kit/make/oauth.ts';
import { launchBrowser, visit } from '../../kit/real/page.ts';
import { ROOT } from '../../kit/system/system.ts';

const PATHS = [
  ...[
    '/',
    '/streams',
    '/create',
    '/uploads',
    '/destinations',
    '/playlists',
    '/scenes',
    '/billing',
    '/billing/deposits/dep-1',
  ],
  ...['/account', '/account/keys', '/account/apps', '/streams/str-1', '/playlists/pls-1', '/nowhere'],
];

let browser: Browser;
beforeAll(async () => {
  browser = await launchBrowser();
});
afterAll(() => browser?.close());

describe.each([true, false])('with billing: %s, and no way to pay', (billing) => {
  let site: TestSite;
  let ada: Person;
  beforeAll(async () => {
    site = await startTestSite({ billing, dashboardDir: join(ROOT, 'dist/dashboard') });
    ada = await site.person('ada');
  });
  afterAll(() => site?.stop());

  test('no page requests a missing part, and each is sound', async () => {
    const { email, password } = ada;
    const failures: string[] = [];
    for (const path of PATHS) {
      const at = await visit(browser, { facts: { email, password, pageUrl: `${site.url}/` } as never }, path);
      at.page.on('response', (answer) => {
        if (answer.status() >= 500) failures.push(`${path}: ${answer.status()} ${answer.url()}`);
      });
      await at.page.reload();
      await at.page.getByRole('heading').first().waitFor();
      await expect.poll(() => at.page.locator('[aria-busy="true"]').count(), { timeout: 60_000 }).toBe(0);
      expect(await findHtmlErrors(await at.page.content()), path).toEqual([]);
      await at.close();
    }
    expect(failures).toEqual([]);
  });
});

test('readers of the page are shown the notices of the packages in it', async () => {
  const site = await startTestSite({ dashboardDir: join(ROOT, 'dist/dashboard') });
  try {
    const answer = await fetch(`${site.url}/third-party-notices.txt`);
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, expect.stringContaining('text/plain')]);
    const text = await answer.text();
    expect(text).toMatch(/^react \d/m);
    // The script of the reference contains others' works: their notices, and none of its code.
    const reference = readNotices(text).find(({ name }) => name === '@scalar/fastify-api-reference')?.text ?? '';
    expect(reference).toContain('Evan) You and Vue contributors');
    expect(Math.max(...reference.split('\n').map(({ length }) => length))).toBeLessThan(200);
  } finally {
    await site.stop();
  }
});
