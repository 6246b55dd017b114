/** Tests how a person with hundreds of things finds, orders, names and changes them in the dashboard. */
/// <reference lib="dom" />
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createKube } from '../../src/core/kube/client.ts';
import { LOOPSTREAMS } from '../../src/core/resources/stream/resource.ts';
import type { Stream } from '../../src/service/client/index.ts';
import { newId } from '../../src/service/domain/limits/owned-resources.ts';
import { DESK, expectForEverybody, leaveBrowser, shareBrowser, type Visit, visit } from '../kit/real/page.ts';
import { type SharedSystem, shareSystem } from '../kit/system/share-system.ts';
import { until } from '../kit/wait.ts';

const COUNT = 300;
/** Emoji, letters from right to left, a bidirectional override, and the longest names. */
const ODD = [
  '\u{1f525} Night fireplace \u{1f469}\u200d\u{1f680}',
  '\u05e2\u05e8\u05d5\u05e5 \u05e8\u05d0\u05e9\u05d9 and English 123',
  '\u0642\u0646\u0627\u0629',
  'W'.repeat(200),
  'a long name '.repeat(16).trim(),
  '\u202Egnp.exe',
  '<b>bold</b>',
];

let system: SharedSystem;
let browser: Browser;
let at: Visit;

beforeAll(async () => {
  [system, browser] = await Promise.all([shareSystem(), shareBrowser()]);
});
afterAll(() => leaveBrowser(browser));

const open = async (path: string): Promise<Page> => {
  at = await visit(browser, system, path);
  return at.page;
};
const leave = async () => {
  expect(at.complaints).toEqual([]);
  await at.close();
};

async function makeDestination(name: string) {
  const { destinations } = system.client;
  return destinations.create({ name, rtmpUrl: `rtmp://example.com/${encodeURIComponent(name)}`, rtmpKey: 'key-1234' });
}

/** Makes streams as the API does, without its limit of requests a minute: copies of one that it has made. */
async function makeStreams(names: readonly string[]): Promise<void> {
  const { client, facts } = system;
  const { id: destinationID } = await makeDestination('Home');
  const list = await client.playlists.create({ name: 'Evenings', kind: 'video', mode: 'sequential', items: [] });
  const [first = '', ...others] = names;
  const { id } = await client.streams.create({
    name: first,
    quality: 'q_720p',
    framerate: 'f_30',
    destinationID,
    playlistIDs: [list.id],
  });
  const kube = createKube({ kubeconfig: facts.kubeconfig });
  try {
    const model = (await kube.list(LOOPSTREAMS)).find(({ metadata }) => metadata.name === id);
    const { labels = {}, namespace = '' } = model?.metadata ?? {};
    const left = others.values();
    const work = async () => {
      for (const displayName of left) {
        const metadata = { name: newId('str'), namespace, labels };
        await kube.create(LOOPSTREAMS, namespace, {
          ...model,
          metadata,
          spec: { ...model?.spec, displayName },
        } as never);
      }
    };
    await Promise.all(Array.from({ length: 8 }, work));
  } finally {
    await kube.close();
  }
  await until('the API has them all', async () => (await readStreams()).length === names.length);
}

async function readStreams(q = ''): Promise<Stream[]> {
  const found: Stream[] = [];
  for await (const stream of system.client.streams.list(q === '' ? {} : { q })) found.push(stream);
  return found;
}

/** Opens a search as a table, which a browser shows by itself that has seen hundreds of streams before. */
async function openTable(query: string): Promise<Page> {
  const page = await open(`/streams?${query}`);
  await page.getByRole('button', { name: 'Show a table' }).click();
  await page.getByTestId('stream-row').first().waitFor();
  return page;
}

const shownNames = (page: Page) => page.getByTestId('stream-row').getByRole('link').allTextContents();
const count = (page: Page) => page.getByTestId('stream-count').textContent();

describe('300 streams', () => {
  beforeAll(() => makeStreams([...ODD, ...Array.from({ length: COUNT - ODD.length }, (_, i) => `Channel ${i}`)]));

  test('stand in a table that counts them, sorts them, and holds the oddest names', async () => {
    const page = await open('/streams');
    await expect.poll(() => count(page)).toBe('300 streams, 0 on air');
    const table = page.getByRole('table', { name: 'Streams' });
    expect(await table.getAttribute('aria-rowcount')).toBe('301');
    await expectForEverybody(page);
    await page.setViewportSize(DESK);
    await table.getByRole('button', { name: 'Name', exact: true }).click();
    await expect.poll(() => new URL(page.url()).searchParams.get('sort')).toBe('name');
    const first = await shownNames(page);
    expect(first.indexOf('Channel 2')).toBeLessThan(first.indexOf('Channel 10'));
    await table.getByRole('button', { name: 'Name', exact: true }).click();
    await expect.poll(async () => (await shownNames(page))[0]).not.toBe(first[0]);
    await page.reload();
    await expect.poll(() => page.getByRole('combobox', { name: 'Order of the streams' }).inputValue()).toBe('-name');
    await page.getByTestId('stream-row').first().waitFor();
    // The name is cut by the style alone: the whole of it is text and tooltip.
    await page.getByRole('searchbox', { name: 'Find streams by name' }).fill('WWWW');
    const long = page.getByRole('link', { name: 'W'.repeat(200) });
    await long.waitFor();
    expect(await long.getAttribute('title')).toBe('W'.repeat(200));
    expect(await count(page)).toBe('1 found, 0 on air');
    await leave();
  });

  test('are shown as cards for somebody who wants that, also after a reload', async () => {
    const page = await open('/streams');
    await page.getByTestId('stream-row').first().waitFor();
    await page.getByRole('button', { name: 'Show cards' }).click();
    await page.getByTestId('stream-card').first().waitFor();
    await page.reload();
    await page.getByTestId('stream-card').first().waitFor();
    await page.getByRole('button', { name: 'Show a table' }).click();
    await page.getByTestId('stream-row').first().waitFor();
    await leave();
  });

  test('are ticked one by one, in a row with the shift key, and all at once', async () => {
    const page = await openTable('sort=name&q=Channel+1');
    const found = (await readStreams('Channel 1')).length;
    await expect.poll(() => count(page)).toBe(`${found} found, 0 on air`);
    const tick = (name: string) => page.getByRole('checkbox', { name: `Select ${name}`, exact: true });
    const bar = page.getByRole('region', { name: 'Selected streams' });
    await tick('Channel 10').click();
    await tick('Channel 14').click({ modifiers: ['Shift'] });
    await bar.getByText('5 streams selected').waitFor();
    await expectForEverybody(page);
    await page.setViewportSize(DESK);
    await page.getByRole('checkbox', { name: `Select all ${found} streams` }).click();
    await bar.getByText(`${found} streams selected`).waitFor();
    await bar.getByRole('button', { name: 'Select none' }).click();
    await bar.waitFor({ state: 'detached' });
    await leave();
  });

  test('are deleted together after one question; of the one that is refused the reason is said, and it is tried again', async () => {
    const page = await openTable('sort=name&q=Channel+20');
    await expect.poll(() => count(page)).toBe('11 found, 0 on air');
    const [held] = await readStreams('Channel 203');
    const address = `**/v1/streams/${held?.id}`;
    const detail = 'Another request changed the stream at the same moment. Read it, and try again.';
    const problem = { type: '/docs/errors/conflict', title: 'Conflict', status: 409, code: 'conflict', detail };
    await page.route(address, (route) =>
      route.request().method() === 'DELETE'
        ? route.fulfill({ status: 409, contentType: 'application/problem+json', json: problem })
        : route.continue(),
    );
    await page.getByRole('checkbox', { name: 'Select all 11 streams' }).click();
    await page.getByRole('button', { name: 'Delete 11' }).click();
    const question = page.getByRole('dialog', { name: 'Delete 11 streams?' });
    await question.getByText('None of them is on air.').waitFor();
    await expectForEverybody(page);
    await page.setViewportSize(DESK);
    await question.getByRole('button', { name: 'Delete 11 streams' }).click();
    const result = page.getByRole('dialog', { name: /^1 stream of 11? was not deleted$/ });
    await result.getByRole('alert').getByText(detail).waitFor();
    await result.getByRole('alert').getByText('Channel 203').waitFor();
    await expectForEverybody(page);
    await page.setViewportSize(DESK);
    expect((await readStreams('Channel 20')).map(({ name }) => name)).toEqual(['Channel 203']);
    // It stays ticked, and nothing else is.
    await result.getByText('Close', { exact: true }).click();
    await page.getByText('1 stream selected').waitFor();
    await page.getByRole('button', { name: 'Delete 1' }).click();
    await page.getByTestId('bulk-confirm').click();
    await page.getByRole('dialog', { name: '1 stream of 1 was not deleted' }).waitFor();
    await page.unroute(address);
    await result.getByRole('button', { name: 'Try it again' }).click();
    await page.getByText('1 stream was deleted.').waitFor();
    await result.waitFor({ state: 'detached' });
    expect(await readStreams('Channel 20')).toEqual([]);
    await leave();
  });

  test('start together, and each that cannot says why', async () => {
    const page = await openTable('sort=name&q=Channel+21');
    await page.getByRole('checkbox', { name: 'Select all 11 streams' }).click();
    await page.getByRole('button', { name: 'Start 11' }).click();
    const result = page.getByRole('dialog', { name: '11 streams of 11 were not started' });
    // The playlist is empty.
    await result.getByRole('alert').getByText('Channel 210').waitFor();
    await result.getByRole('alert').getByText('and 3 more').waitFor();
    await result.getByText('Close', { exact: true }).click();
    await page.getByText('11 streams selected').waitFor();
    await leave();
  });

  test('one is duplicated for another destination, and stays off air', async () => {
    const other = await makeDestination('Elsewhere');
    const page = await openTable('q=Channel+77');
    await page.getByRole('button', { name: 'More actions for Channel 77' }).click();
    await page.getByRole('button', { name: 'Duplicate…' }).click();
    const dialog = page.getByRole('dialog', { name: 'Duplicate stream' });
    await dialog.getByText('“Channel 77” is sent there').waitFor();
    await dialog.getByRole('button', { name: 'Duplicate' }).click();
    await dialog.getByText('Choose a destination.').waitFor();
    await expectForEverybody(page);
    await page.setViewportSize(DESK);
    await dialog.getByRole('checkbox', { name: /Elsewhere/ }).check();
    await dialog.getByRole('button', { name: 'Duplicate' }).click();
    await page.getByRole('heading', { level: 1, name: 'Copy of Channel 77' }).waitFor();
    const [copy] = await readStreams('Copy of Channel 77');
    const [original] = await readStreams('Channel 77');
    expect(copy).toMatchObject({ status: 'idle', destinationIDs: [other.id], recurrence: null });
    expect(copy?.playlistIDs).toEqual(original?.playlistIDs);
    await leave();
  });

  test('a key opens what finds any of them, and a field keeps its keys', async () => {
    const page = await open('/billing');
    await page.keyboard.press('Control+k');
    const field = page.getByRole('combobox', { name: /^Find a stream/ });
    await field.fill('fireplace');
    await page.getByRole('option', { name: /Night fireplace/ }).waitFor();
    await expectForEverybody(page);
    await page.setViewportSize(DESK);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: /Night fireplace/ }).waitFor();
    await page.keyboard.press('?');
    await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor();
    await expectForEverybody(page);
    await page.keyboard.press('Escape');
    await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Streams' }).click();
    await page.getByTestId('stream-row').first().waitFor();
    await page.keyboard.press('/');
    const search = page.getByRole('searchbox', { name: 'Find streams by name' });
    await expect.poll(() => search.evaluate((one) => one === document.activeElement)).toBe(true);
    await page.keyboard.type('a/b?');
    expect(await search.inputValue()).toBe('a/b?');
    await page.keyboard.press('Control+k');
    expect(await page.getByRole('dialog').count()).toBe(0);
    await leave();
  });
});

describe.each([
  {
    nouns: 'uploads',
    make: (name: string) => system.client.uploads.fromLink({ type: 'VIDEO', url: 'http://127.0.0.1:1024/x.mp4', name }),
  },
  {
    nouns: 'playlists',
    make: (name: string) => system.client.playlists.create({ name, kind: 'video', mode: 'sequential', items: [] }),
  },
  { nouns: 'destinations', make: makeDestination },
])('the list of $nouns', ({ nouns, make }) => {
  const noun = nouns.slice(0, -1);

  test('is searched and ordered by the server, and a thing gets another name in its menu', async () => {
    for (const name of ['Zebra \u{1f993}', 'apple', 'Mango']) await make(name);
    const page = await open(`/${nouns}`);
    const titles = () => page.getByTestId(noun).getByRole('heading').allTextContents();
    await expect.poll(async () => (await titles()).slice(0, 3)).toEqual(['Mango', 'apple', 'Zebra \u{1f993}']);
    await expectForEverybody(page);
    await page.setViewportSize(DESK);
    await page.getByRole('combobox', { name: `Order of the ${nouns}` }).selectOption('name');
    await expect.poll(async () => (await titles())[0]).toBe('apple');
    await page.getByRole('searchbox', { name: `Find ${nouns} by name` }).fill('\u{1f993}');
    await expect.poll(titles).toEqual(['Zebra \u{1f993}']);
    await expect.poll(() => new URL(page.url()).searchParams.get('q')).toBe('\u{1f993}');

    await page.getByRole('button', { name: /^More actions for Zebra/ }).click();
    await page.getByRole('button', { name: 'Rename…' }).click();
    const dialog = page.getByRole('dialog', { name: `Rename ${noun}` });
    await dialog.getByLabel('New name').fill('  ');
    await dialog.getByRole('button', { name: 'Rename' }).click();
    await dialog.getByText('Enter a name.').waitFor();
    await expectForEverybody(page);
    await page.setViewportSize(DESK);
    await dialog.getByLabel('New name').fill('Okapi \u{1f993}');
    await dialog.getByRole('button', { name: 'Rename' }).click();
    await expect.poll(titles).toEqual(['Okapi \u{1f993}']);

    await page.getByRole('searchbox').fill('nothing has this name');
    await page.getByText(`No ${noun} matches`).waitFor();
    await page.getByRole('button', { name: `Show all ${nouns}` }).click();
    await expect.poll(async () => (await titles()).length).toBeGreaterThanOrEqual(3);
    await leave();
  });
});
