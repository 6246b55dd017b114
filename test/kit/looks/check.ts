/** Looks for what a picture does not show: faults of accessibility, giant icons, and pages wider than a small window. */
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

/** Leaves the page in another size than it was after the last of its pictures. */
export async function checkLook(page: Page, way: string): Promise<string[]> {
  const faults = THOROUGH.includes(way) ? await findFaults(page, way) : [];
  if (way !== LAST_WAY) return faults;
  for (const size of SMALL) {
    await page.setViewportSize(size);
    const wider = await findOverflow(page);
    if (wider > 0) faults.push(`${size.width} × ${size.height}: ${wider} pixels wider than the window`);
  }
  return faults;
}
