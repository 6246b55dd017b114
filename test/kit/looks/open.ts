/// <reference lib="dom" />
/**
 * Opens pages of the built dashboard without a server: its files come from `dist/dashboard`, and the API's answers from `answers.ts`. The
 * clock, the zone and the language are the same everywhere, and nothing moves.
 */
import { existsSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import type { Browser, Page, Route } from 'playwright-core';
import { exampleUser } from '../../../src/service/domain/accounts/examples.ts';
import { NOW, SITE } from './account.ts';
import { type Answers, answerApi } from './answers.ts';
import { writePng } from './pictures.ts';

const DIST = join(import.meta.dirname, '../../../dist/dashboard');
const TYPES: Record<string, string> = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
};
/** This limit only ends what would never end. */
const PATIENCE_MS = 60_000;
/** A page that has not changed for this long is drawn. */
const QUIET_MS = 60;

const AUTH: Record<string, unknown> = {
  '/get-session': { user: exampleUser },
  '/passkey/list-user-passkeys': [
    { id: '01234567-89ab-4def-8123-456789abcdef', name: 'Laptop', createdAt: '2027-01-30T18:00:00.000Z' },
    { id: '11234567-89ab-4def-8123-456789abcdef', name: 'Phone', createdAt: '2027-01-11T18:00:00.000Z' },
  ],
  '/oauth2/public-client': { client_name: 'Scheduler', client_uri: 'https://scheduler.example.com' },
};

/** A poster: a horizon. */
const PICTURE = writePng({
  width: 160,
  height: 90,
  data: Uint8Array.from({ length: 160 * 90 * 4 }, (_, n) => (n % 4 === 3 ? 255 : n < 160 * 55 * 4 ? 150 : 70)),
});

export interface Visit {
  path: string;
  /** In place of those of the full account. */
  answers?: Answers;
  /** Nobody has signed in. */
  isOpen?: boolean;
  /** Changes each answer of the API. */
  change?: (json: unknown) => unknown;
}

const files = new Map<string, Buffer>();
function readDist(path: string): Buffer | undefined {
  const file = join(DIST, path);
  if (!files.has(file) && file.startsWith(DIST) && extname(file) !== '' && existsSync(file))
    files.set(file, readFileSync(file));
  return files.get(file);
}

async function fulfill(route: Route, { answers = {}, isOpen = false, change = (json) => json }: Visit): Promise<void> {
  const request = route.request();
  const url = new URL(request.url());
  if (url.origin !== SITE) return route.abort();
  const authPath = /^\/api\/auth(\/.*)/.exec(url.pathname)?.[1];
  if (authPath === '/get-session' && isOpen) return route.fulfill({ json: null });
  if (authPath !== undefined) return route.fulfill({ json: change(AUTH[authPath] ?? {}) });
  // Neither news nor events come: a picture is of one moment.
  if (request.headers().accept === 'text/event-stream') return;
  if (url.pathname.startsWith('/v1/')) {
    const given = answerApi(answers, request.method(), url);
    if (given === 'later') return;
    if (given === 'away') return route.abort();
    if (typeof given === 'object' && 'svg' in given)
      return route.fulfill({ body: given.svg, contentType: 'image/svg+xml' });
    if (given === 'picture') return route.fulfill({ body: PICTURE, contentType: 'image/png' });
    if ('json' in given) return route.fulfill({ json: change(given.json) });
    const { status, code, detail = '' } = given;
    const problem = { type: `/docs/errors/${code}`, title: '', status, detail, code };
    return route.fulfill({ status, contentType: 'application/problem+json', body: JSON.stringify(problem) });
  }
  const path = readDist(url.pathname) ? url.pathname : '/index.html';
  const body = readDist(path);
  if (!body) throw new Error('The dashboard is not built: run `make setup`.');
  return route.fulfill({ body, contentType: TYPES[extname(path)] ?? 'text/plain' });
}

/** Resolves when the page has not changed for a moment. */
async function waitUntilDrawn(page: Page): Promise<void> {
  await page.evaluate(
    (quietMs) =>
      document.fonts.ready.then(
        () =>
          new Promise<void>((resolve) => {
            const end = () => {
              changes.disconnect();
              requestAnimationFrame(() => requestAnimationFrame(() => resolve()));
            };
            let timer = setTimeout(end, quietMs);
            const changes = new MutationObserver(() => {
              clearTimeout(timer);
              timer = setTimeout(end, quietMs);
            });
            changes.observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
          }),
      ),
    QUIET_MS,
  );
}

/** Returns a page for one look after the other. */
export async function newLooksPage(
  browser: Browser,
  reader: { locale: string; timezoneId: string } = { locale: 'en-GB', timezoneId: 'Europe/Berlin' },
): Promise<Page> {
  const context = await browser.newContext({
    ...reader,
    reducedMotion: 'reduce',
    serviceWorkers: 'block',
  });
  context.setDefaultTimeout(PATIENCE_MS);
  const page = await context.newPage();
  await page.clock.setFixedTime(NOW);
  return page;
}

export interface OpenedLook {
  /** Uncaught errors so far. */
  complaints: string[];
  /** Resolves when all that the page has asked for is there and drawn. */
  settle: () => Promise<void>;
  close: () => Promise<void>;
}

/** Goes to a look, and waits until the page shows what it will. */
export async function openLook(page: Page, visit: Visit): Promise<OpenedLook> {
  const complaints: string[] = [];
  const complain = (error: Error) => void complaints.push(String(error));
  page.on('pageerror', complain);
  let open = 0;
  await page.route('**/*', async (route) => {
    open += 1;
    await fulfill(route, visit);
    open -= 1;
  });
  const settle = async () => {
    do await waitUntilDrawn(page);
    while (open > 0);
  };
  const close = async () => {
    page.off('pageerror', complain);
    await page.evaluate(() => {
      localStorage.clear();
      sessionStorage.clear();
    });
    await page.unrouteAll({ behavior: 'ignoreErrors' });
    await page.goto('about:blank');
  };
  try {
    await page.goto(`${SITE}${visit.path}`, { waitUntil: 'load' });
    await page.getByRole('heading', { level: 1 }).first().waitFor();
    await settle();
  } catch (error) {
    await close();
    throw error;
  }
  return { complaints, settle, close };
}
