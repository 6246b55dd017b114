/// <reference lib="dom" />
/** Looks for what a picture does not show: faults of accessibility, giant icons, lost spaces, and what is wider than a small window or out of its reach. */
import type { Page } from 'playwright-core';
import { findFaults, findOverflow } from '../real/page.ts';
import { LAST_WAY } from './take.ts';

/** A small phone, a phone on its side, and a laptop whose reader has doubled the size of all. */
const SMALL = [
  { width: 360, height: 760 },
  { width: 844, height: 390 },
  { width: 720, height: 450 },
];

/** Each theme and each size is in one of them. */
const THOROUGH = ['light', LAST_WAY];

/**
 * Lists the controls that nobody can press, however they scroll: they stay outside the window, behind an edge that cuts them off, or under
 * something else. Nothing behind an open dialog or question is looked at.
 */
const findUnreachable = (page: Page): Promise<string[]> =>
  page.evaluate(() => {
    const open = document.querySelectorAll('dialog[open], .mantine-Popover-dropdown');
    const place = [...open].at(-1) ?? document.body;
    const controls = place.querySelectorAll('a[href]:not([href^="#"]), button:enabled, input:enabled, select:enabled');
    const isCovered = (control: Element): boolean => {
      // The box of a choice may be as large as its words.
      const shown = control.closest('label') ?? control;
      // The end of a long name is cut off, and would be scrolled to.
      (shown.closest('h2, h3') ?? shown).scrollIntoView({ block: 'center', inline: 'center', behavior: 'instant' });
      // A link may go on in the next line.
      const [box] = shown.getClientRects();
      if (!box || Math.min(box.width, box.height) <= 1) return false;
      const takes = (x: number, y: number): boolean => {
        const hit = document.elementFromPoint(x, y);
        return hit !== null && (shown.contains(hit) || hit.closest('label')?.control === control);
      };
      const corner = Math.min(10, box.width / 2, box.height / 2);
      return !takes(box.x + box.width / 2, box.y + box.height / 2) && !takes(box.x + corner, box.y + corner);
    };
    return [...controls]
      .filter((one) => one.checkVisibility({ visibilityProperty: true }) && isCovered(one))
      .map((one) => `${one.getAttribute('aria-label') ?? one.textContent?.trim()} (${one.localName})`);
  });

/** Lists texts that lose the space beside an element: it is at the edge of an item of its own where the box lays out items. */
const findLostSpaces = (page: Page): Promise<string[]> =>
  page.evaluate(() => {
    const lays = (box: Element): boolean => /flex|grid/.test(getComputedStyle(box).display);
    // An icon has its distance from the layout; words beside words have it from the space.
    const hasWords = (node: ChildNode | null): boolean => /\S/.test(node?.textContent ?? '');
    const isNamed = (node: ChildNode | null): boolean => node?.nodeType === Node.ELEMENT_NODE && hasWords(node);
    const loses = (node: ChildNode): boolean =>
      node.nodeType === Node.TEXT_NODE &&
      hasWords(node) &&
      ((/\s$/.test(node.textContent ?? '') && isNamed(node.nextSibling)) ||
        (/^\s/.test(node.textContent ?? '') && isNamed(node.previousSibling)));
    return [...document.body.querySelectorAll('*')]
      .filter((box) => lays(box) && [...box.childNodes].some(loses))
      .map((box) => box.textContent ?? '');
  });

/** Leaves the page in another size than it was after the last of its pictures. */
export async function checkLook(page: Page, way: string): Promise<string[]> {
  const faults = THOROUGH.includes(way) ? await findFaults(page, way) : [];
  if (way !== LAST_WAY) return faults;
  faults.push(...(await findLostSpaces(page)).map((text) => `a space is lost in: ${text}`));
  for (const size of SMALL) {
    await page.setViewportSize(size);
    const wider = await findOverflow(page);
    const where = `${size.width} × ${size.height}`;
    if (wider > 0) faults.push(`${where}: ${wider} pixels wider than the window`);
    faults.push(...(await findUnreachable(page)).map((one) => `${where}: nobody can press ${one}`));
  }
  return faults;
}
