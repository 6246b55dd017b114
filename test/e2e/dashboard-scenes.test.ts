/** Tests how a person makes a scene out of a stream's layers, shows it in another stream, changes it and deletes it. */
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { expectForEverybody, leaveBrowser, shareBrowser, type Visit, visit } from '../kit/real/page.ts';
import { type SharedSystem, shareSystem } from '../kit/system/share-system.ts';
import { until } from '../kit/wait.ts';

let system: SharedSystem;
let browser: Browser;
let at: Visit;

beforeAll(async () => {
  [system, browser] = await Promise.all([shareSystem(), shareBrowser()]);
});
afterAll(() => leaveBrowser(browser));
afterEach(async () => {
  expect(at.complaints).toEqual([]);
  await at.close();
});

async function open(path: string): Promise<Page> {
  at = await visit(browser, system, path);
  return at.page;
}

async function makeStreams(...names: string[]): Promise<string[]> {
  const { client } = system;
  const destination = { name: 'Somewhere', rtmpUrl: 'rtmp://127.0.0.1:9999/live', rtmpKey: 'k3y' };
  const { id: destinationID } = await client.destinations.create(destination);
  const url = 'http://127.0.0.1:9999/never.mp4';
  const { objectID: videoUploadObjectID } = await client.uploads.fromLink({ type: 'VIDEO', url });
  const body = { quality: 'q_720p', framerate: 'f_30', destinationID, videoUploadObjectID } as const;
  const made = [];
  for (const name of names) made.push((await client.streams.create({ ...body, name })).id);
  return made;
}

const edit = async (page: Page, id: string) => {
  await page.goto(new URL(`/streams/${id}?form=edit`, page.url()).href);
  const dialog = page.getByRole('dialog', { name: 'Edit stream' });
  return { dialog, overlays: dialog.getByRole('group', { name: 'Overlays' }) };
};

test('layers become a scene, which another stream shows, and which changes for both; in use it is not deleted', async () => {
  const [first = '', second = ''] = await makeStreams('Day', 'Night');
  const page = await open('/scenes');
  await page.getByText('No scene yet').waitFor();
  await expectForEverybody(page);

  const one = await edit(page, first);
  await one.overlays.getByRole('button', { name: 'Add text' }).click();
  await one.overlays.getByLabel('Text', { exact: true }).fill('On air');
  await one.overlays.getByRole('button', { name: 'Save these layers as a scene' }).click();
  await one.overlays.getByRole('button', { name: 'Save scene' }).click();
  await one.overlays.getByText('Enter a name.').waitFor();
  await one.overlays.getByLabel('Name of the scene').fill('Evening');
  await one.overlays.getByLabel('Name of the scene').press('Enter');
  await one.overlays.getByRole('link', { name: 'Edit this scene' }).waitFor();
  await one.overlays.getByTestId('overlays-preview').getByText('On air').waitFor();
  await expectForEverybody(page);
  await one.dialog.getByRole('button', { name: 'Save', exact: true }).click();
  await one.dialog.waitFor({ state: 'detached' });
  const [scene] = (await system.client.scenes.list().page()).data;
  expect((await system.client.streams.get(first)).overlays).toMatchObject({ sceneID: scene?.id, layers: [] });

  const two = await edit(page, second);
  await two.overlays.getByLabel('Scene').selectOption({ label: 'Evening' });
  await two.overlays.getByTestId('overlays-preview').getByText('On air').waitFor();
  await two.dialog.getByRole('button', { name: 'Save', exact: true }).click();
  await two.dialog.waitFor({ state: 'detached' });
  await until('both show it', async () => (await system.client.scenes.get(scene?.id ?? '')).streamIDs.length === 2);

  await page.goto(new URL('/scenes', page.url()).href);
  const row = page.getByTestId('scene');
  await row.getByText('1 layer · shown by 2 streams').waitFor();
  await row.getByRole('button', { name: 'Edit' }).click();
  const dialog = page.getByRole('dialog', { name: 'Edit scene' });
  await dialog.getByRole('button', { name: 'Text: On air' }).click();
  await dialog.getByLabel('Text', { exact: true }).fill('Live');
  await dialog.getByText('2 streams show the change where an item next begins').waitFor();
  await expectForEverybody(page);
  // Somebody else changes its name meanwhile: that stays.
  await system.client.scenes.update(scene?.id ?? '', { version: 1, name: 'Late evening' });
  await row.getByText('Late evening').waitFor();
  await dialog.getByRole('button', { name: 'Save', exact: true }).click();
  await dialog.waitFor({ state: 'detached' });
  expect(await system.client.scenes.get(scene?.id ?? '')).toMatchObject({
    ...{ name: 'Late evening', version: 3, layers: [{ text: 'Live' }] },
  });

  await row.getByRole('button', { name: /^More actions/ }).click();
  await page.getByRole('button', { name: 'Delete scene…' }).click();
  const question = page.getByRole('dialog', { name: 'Delete this scene?' });
  await question.getByRole('button', { name: 'Delete scene' }).click();
  for (const name of ['Day', 'Night']) await question.getByRole('link', { name }).waitFor();
  for (const id of [first, second]) await system.client.streams.update(id, { overlays: null });
  await until('none shows it', async () => (await system.client.scenes.get(scene?.id ?? '')).streamIDs.length === 0);
  await question.getByRole('button', { name: 'Delete scene' }).click();
  await page.getByText('No scene yet').waitFor();
});
