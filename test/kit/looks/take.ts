/// <reference lib="dom" />
/** Takes the pictures of looks: light and dark, on a desktop and on a phone. */
import type { Browser, Page } from 'playwright-core';
import type { Look } from './looks.ts';
import { newLooksPage, type OpenedLook, openLook } from './open.ts';

const DESK = { name: '', width: 1440, height: 900 };
const PHONE = { name: 'phone-', width: 390, height: 844 };
const PAPER = { name: '', width: 794, height: 1123 };
const SCHEMES = ['light', 'dark'] as const;
/** The page is not needed any more after it. */
export const LAST_WAY = 'phone-dark';

/** Moving pictures are masked. A gradient is dithered, which would be most of a picture's bytes. */
const MASK = `
  video, canvas { visibility: hidden !important; }
  :has(> video), :has(> canvas) { background: #101316 !important; }
  :has(> video) *, main { background-image: none !important; }
`;
/** Pages that are drawn side by side: while one waits, the other draws. */
const AT_ONCE = 2;

export interface Taken {
  look: Look;
  /** By the names of their files, such as `stream.phone-dark`. */
  pictures: Map<string, Buffer>;
  /** Uncaught errors of the page, and findings of `check`. */
  complaints: string[];
}

/** Makes the window as high as the page: the bar of a phone would stand amid a longer picture. */
async function showWhole(
  page: Page,
  { shown }: Look,
  { settle }: OpenedLook,
  { width, height }: typeof DESK,
): Promise<void> {
  await page.setViewportSize({ width, height });
  await shown?.(page);
  await settle();
  // A dialog scrolls by itself.
  if ((await page.locator('dialog[open]').count()) > 0) return;
  const whole = await page.evaluate(() => document.documentElement.scrollHeight);
  if (whole <= height) return;
  await page.setViewportSize({ width, height: whole });
  await settle();
}

/** Looks for what a picture does not show, while the page is drawn in one of the ways. */
export type Check = (page: Page, way: string) => Promise<string[]>;

async function takeLook(page: Page, look: Look, check: Check): Promise<Taken> {
  const taken: Taken = { look, pictures: new Map(), complaints: [] };
  let opened: OpenedLook | undefined;
  try {
    opened = await openLook(page, look);
    await look.act?.(page);
    // An element under the mouse looks another way.
    await page.mouse.move(0, 0);
    await opened.settle();
    await page.emulateMedia({ media: look.isPrinted ? 'print' : 'screen' });
    for (const size of look.isPrinted ? [PAPER] : [DESK, PHONE]) {
      await showWhole(page, look, opened, size);
      for (const colorScheme of SCHEMES) {
        await page.emulateMedia({ colorScheme });
        await opened.settle();
        const way = `${size.name}${colorScheme}`;
        taken.pictures.set(`${look.name}.${way}`, await page.screenshot({ animations: 'disabled', style: MASK }));
        taken.complaints.push(...(await check(page, way)));
      }
    }
  } catch (error) {
    taken.complaints.push(error instanceof Error ? error.message : String(error));
  }
  taken.complaints.push(...(opened?.complaints ?? []));
  await opened?.close();
  return taken;
}

/** Takes the pictures of all looks; `onTaken` gets each as it comes. */
export async function takeLooks(
  browser: Browser,
  looks: readonly Look[],
  onTaken: (taken: Taken) => void,
  check: Check = async () => [],
): Promise<void> {
  const waiting = [...looks];
  const work = async () => {
    const page = await newLooksPage(browser);
    for (let look = waiting.shift(); look; look = waiting.shift()) onTaken(await takeLook(page, look, check));
    await page.context().close();
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
}
