/// <reference lib="dom" />
/** Reads pages as people in other countries see them: the words that are the page's own, and names that people typed. */
import type { Page } from 'playwright-core';

/** A text of the page, and whether it has a direction of its own. */
interface Found {
  text: string;
  isApart: boolean;
}

/** Each visible text of the page, without what is code or the text of a form's field. The window's title is one, too. */
const readTexts = (page: Page): Promise<Found[]> =>
  page.evaluate(() => {
    const found: Found[] = [{ text: document.title, isApart: false }];
    const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walk.nextNode()) {
      const { parentElement: parent, textContent: text } = walk.currentNode;
      if (!parent || !text?.trim() || parent.closest('script, style, pre, code, noscript')) continue;
      const { width, height } = parent.getBoundingClientRect();
      // Words of one pixel are for screen readers alone.
      if (!parent.checkVisibility() || Math.min(width, height) <= 1) continue;
      // An option, as of a form's field, is drawn by the browser, each in its own direction.
      found.push({ text, isApart: parent.closest('bdi, option') !== null });
    }
    return found;
  });

/** Names within a text (https://www.unicode.org/reports/tr9/, section 2.5). */
const ISOLATED = /\u2068[^\u2069]*\u2069/g;

/** The texts of a page without the names in them. */
export const readOwnWords = async (page: Page): Promise<string[]> =>
  (await readTexts(page)).filter(({ isApart }) => !isApart).map(({ text }) => text.replace(ISOLATED, ''));
