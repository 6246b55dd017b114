/** Tests the dashboard in browsers that change it: they translate it, and move and remove its elements. */
/// <reference lib="dom" />
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { leaveBrowser, openWindow, shareBrowser, visit } from '../kit/real/page.ts';
import { shareSystem } from '../kit/system/share-system.ts';

let system: Awaited<ReturnType<typeof shareSystem>>;
let browser: Browser;
beforeAll(async () => {
  [system, browser] = await Promise.all([shareSystem(), shareBrowser()]);
});
afterAll(() => leaveBrowser(browser));

/** The ways in which translators put a `<font>` in the place of a text. */
const WAYS = [
  'in one step',
  'with the text removed last',
  'with the text removed first',
  'by the parent’s HTML',
] as const;

/** Puts each text into `<font>`, now and whenever one comes. */
const translate = (page: Page, way: (typeof WAYS)[number]) =>
  page.evaluate((how) => {
    const done = new WeakSet<Node>();
    const replace = (text: Text, font: HTMLElement) => {
      const { parentElement, nextSibling } = text;
      if (how === 'in one step') text.replaceWith(font);
      else if (how === 'with the text removed last') {
        text.before(font);
        text.remove();
      } else if (how === 'with the text removed first') {
        text.remove();
        parentElement?.insertBefore(font, nextSibling);
      } else if (parentElement?.childElementCount === 0) parentElement.innerHTML = font.outerHTML;
    };
    const turn = (root: Node) => {
      const walk = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
      const texts = root instanceof Text ? [root] : [];
      while (walk.nextNode()) texts.push(walk.currentNode as Text);
      for (const text of texts) {
        const isLeft = text.parentElement?.closest('script, style, pre, svg, font');
        if (done.has(text) || !/\p{L}/u.test(text.data) || isLeft || !text.isConnected) continue;
        const font = document.createElement('font');
        font.append(`»${text.data}«`);
        replace(text, font);
      }
    };
    turn(document.body);
    new MutationObserver((records) => {
      for (const { addedNodes } of records) for (const node of addedNodes) if (node.isConnected) turn(node);
    }).observe(document.body, { childList: true, subtree: true });
  }, way);

test.each(WAYS)('a page translated %s goes on, and shows what changes', async (way) => {
  const { client } = system;
  const { page, complaints, close } = await visit(browser, system, '/playlists');
  await translate(page, way);
  await page.getByText('»').first().waitFor();
  const { id } = await client.playlists.create({ name: 'Evening', kind: 'video', mode: 'sequential', items: [] });
  await page.getByText('»Evening«').first().waitFor();
  await client.playlists.update(id, { version: 1, name: 'Morning' });
  await page.getByText('»Morning«').first().waitFor();
  expect(await page.getByText('»Evening«').count()).toBe(0);
  await client.playlists.delete(id);
  await page.getByText('Morning').first().waitFor({ state: 'detached' });
  for (const name of ['Streams', 'Destinations', 'Uploads', 'Playlists']) {
    await page.getByRole('navigation').getByRole('link', { name }).first().click();
    await page.getByRole('heading', { level: 1, name: new RegExp(name) }).waitFor();
  }
  expect(await page.getByText('This page has failed').count()).toBe(0);
  expect(complaints).toEqual([]);
  await close();
});

test('a text that others replaced shows its next words alone, beside its neighbours', async () => {
  const page = await (await openWindow(browser)).newPage();
  await page.goto(new URL('/sign-in', system.facts.pageUrl).href);
  await page.getByRole('heading', { level: 1 }).waitFor();
  const shown = await page.evaluate(async () => {
    const parent = document.body.appendChild(document.createElement('p'));
    const [name, strong, rest] = [new Text('Evening'), document.createElement('b'), new Text(' is off')];
    strong.append('now');
    parent.append(name, strong, rest);
    await Promise.resolve();
    parent.innerHTML = '<font>Abend</font><b>jetzt</b><font> ist aus</font>';
    await Promise.resolve();
    rest.nodeValue = ' is on';
    const once = parent.innerHTML;
    name.nodeValue = 'Morning';
    return [once, parent.innerHTML];
  });
  expect(shown).toEqual(['Evening<b>now</b> is on', 'Morning<b>now</b> is on']);
  await page.close();
});

test('React’s nodes that others moved or removed are removed, and new ones are put where they belong', async () => {
  const page = await (await openWindow(browser)).newPage();
  await page.goto(new URL('/sign-in', system.facts.pageUrl).href);
  await page.getByRole('heading', { level: 1 }).waitFor();
  const result = await page.evaluate(() => {
    const [parent, moved, gone, fresh] = [0, 1, 2, 3].map((n) =>
      Object.assign(document.createElement('div'), { id: `n${n}` }),
    );
    if (!parent || !moved || !gone || !fresh) return 'none';
    document.body.append(parent);
    const wrapper = document.createElement('section');
    parent.append(wrapper, gone);
    wrapper.append(moved);
    parent.insertBefore(fresh, moved);
    const order = [...parent.children].map(({ tagName, id }) => id || tagName).join(' ');
    gone.remove();
    parent.removeChild(gone);
    parent.removeChild(moved);
    return `${order}; ${wrapper.children.length}`;
  });
  expect(result).toBe('n3 SECTION n2; 0');
  await page.close();
});
