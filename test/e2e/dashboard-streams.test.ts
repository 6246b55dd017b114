/** Tests how a person finds, watches, changes, schedules and deletes streams in the dashboard. */
/// <reference lib="dom" />
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createKube } from '../../src/core/kube/client.ts';
import { LOOPSTREAMS } from '../../src/core/resources/stream/resource.ts';
import { expectForEverybody, leaveBrowser, shareBrowser, type Visit, visit } from '../kit/real/page.ts';
import { shareSystemOnAir } from '../kit/system/share-system.ts';
import { streamLikeDemo } from '../kit/system/system.ts';
import { until } from '../kit/wait.ts';

let system: Awaited<ReturnType<typeof shareSystemOnAir>>;
let browser: Browser;
let at: Visit;

beforeAll(async () => {
  [system, browser] = await Promise.all([shareSystemOnAir(), shareBrowser()]);
});
afterAll(async () => {
  await leaveBrowser(browser);
  await system?.close();
});

const open = async (path: string) => {
  at = await visit(browser, system, path);
  return at.page;
};
const leave = async () => {
  expect(at.complaints).toEqual([]);
  await at.close();
};
const demo = () => system.facts.demoStreamId ?? '';

const makeStream = (name: string) => streamLikeDemo(system, name);
const withStream = async (name: string, use: (id: string) => Promise<void>) => {
  const { id } = await makeStream(name);
  try {
    await use(id);
  } finally {
    await system.client.streams.delete(id).catch(() => undefined);
  }
};

test('streams are found by name and state; the address keeps the search', () =>
  withStream('Lighthouse', async () => {
    const page = await open('/streams');
    const cards = page.getByTestId('stream-card');
    await expect.poll(() => cards.count()).toBe(2);
    await expectForEverybody(page);
    await page.getByRole('searchbox', { name: 'Find streams by name' }).fill('lightH');
    await expect.poll(() => cards.count()).toBe(1);
    await expect.poll(() => page.url()).toContain('q=lightH');
    await page.getByRole('combobox', { name: 'Only streams in this state' }).selectOption('live');
    await page.getByText('No stream matches').waitFor();
    await expectForEverybody(page);
    await page.goBack();
    await cards.getByRole('link', { name: 'Lighthouse' }).waitFor();
    await page.reload();
    expect(await page.getByRole('searchbox').inputValue()).toBe('lightH');
    await leave();
  }));

test('a search keeps each key that is pressed, while streams change and lists are on their way', () =>
  withStream('Lighthouse', async (id) => {
    const page = await open('/streams?q=nothing+at+all');
    await page.getByText('No stream matches').waitFor();
    const { promise: held, resolve: answer } = Promise.withResolvers<void>();
    const isAll = (url: URL) => url.pathname === '/v1/streams' && !url.searchParams.has('q');
    await page.route(isAll, async (route) => {
      await held;
      await route.continue();
    });
    const field = page.getByRole('searchbox', { name: 'Find streams by name' });
    const cards = page.getByTestId('stream-card');
    const asked = page.waitForRequest((request) => isAll(new URL(request.url())));
    await field.fill('');
    await asked;
    // The account's first list is on its way, and nobody knows whether it has any streams.
    await field.press('L');
    answer();
    await expect.poll(() => cards.count()).toBe(1);
    for (const [times, key] of [...'ighthouse'].entries())
      await Promise.all([page.keyboard.press(key), system.client.streams.update(id, { name: `Lighthouse ${times}` })]);
    await expect.poll(() => new URL(page.url()).searchParams.get('q')).toBe('Lighthouse');
    expect(await field.inputValue()).toBe('Lighthouse');
    await cards.getByRole('link', { name: 'Lighthouse 8' }).waitFor();
    await leave();
  }));

test('a stream on air shows its numbers as they move, its destination, and how to do the same elsewhere', async () => {
  const page = await open(`/streams/${demo()}`);
  const numbers = page.getByRole('region', { name: 'Live statistics' });
  await numbers.getByRole('img', { name: /^Bitrate: .* to .*/ }).waitFor();
  await numbers.getByRole('img', { name: /^Sound and picture: / }).waitFor();
  await page.getByRole('region', { name: 'Destinations' }).getByText('connected', { exact: true }).waitFor();
  const snippets = page.getByRole('region', { name: 'API and kubectl' });
  const text = await snippets.locator('pre').textContent();
  expect(text).toContain(demo());
  expect(text).not.toContain(system.facts.apiKey);
  await snippets.getByRole('button', { name: 'kubectl' }).click();
  expect(await snippets.locator('pre').textContent()).toContain(`kubectl scale loopstream ${demo()} --replicas=0`);
  await expectForEverybody(page);
  const skipped = page.waitForResponse((response) => response.url().endsWith('/skip'));
  await page.getByTestId('stream-skip').click();
  expect((await skipped).status()).toBeLessThan(300);
  await leave();
});

test('a stream is changed in place; an error stands at its field, and changes of another tab stay', () =>
  withStream('Draft', async (id) => {
    const page = await open(`/streams/${id}`);
    await page.getByRole('button', { name: 'Edit', exact: true }).click();
    const dialog = page.getByRole('dialog', { name: 'Edit stream' });
    await dialog.getByRole('checkbox').first().waitFor();
    await expectForEverybody(page);
    await dialog.getByLabel('Name').fill('');
    await dialog.getByRole('checkbox', { checked: true }).uncheck();
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.getByText('Enter a name.').waitFor();
    await dialog.getByText('Choose a destination.').waitFor();
    await expectForEverybody(page);
    await dialog.getByLabel('Name').fill('A'.repeat(201));
    await dialog.getByRole('checkbox').first().check();
    await dialog.getByRole('button', { name: 'Save' }).click();
    await expect.poll(() => dialog.getByLabel('Name').getAttribute('aria-invalid')).toBe('true');
    await dialog.getByLabel('Name').fill('Final <cut>');
    await system.client.streams.update(id, { quality: 'q_1080p' });
    await dialog.getByRole('button', { name: 'Save' }).dblclick();
    await dialog.waitFor({ state: 'detached' });
    await page.getByRole('heading', { level: 1, name: 'Final <cut>' }).waitFor();
    expect(await system.client.streams.get(id)).toMatchObject({ name: 'Final <cut>', quality: 'q_1080p' });
    await leave();
  }));

test('a text is put over the items of a stream, seen in a preview, and told what it takes before it is saved', () =>
  withStream('Titled', async (id) => {
    const page = await open(`/streams/${id}`);
    await page.getByRole('button', { name: 'Edit', exact: true }).click();
    const dialog = page.getByRole('dialog', { name: 'Edit stream' });
    const overlays = dialog.getByRole('group', { name: 'Overlays' });
    await overlays.getByRole('button', { name: 'Add text' }).click();
    await overlays.getByLabel('Text', { exact: true }).fill('On ');
    await overlays.getByRole('button', { name: 'Stream', exact: true }).click();
    await overlays.getByTestId('overlays-preview').getByText('On Titled').waitFor();
    await overlays.getByRole('radio', { name: 'Top right' }).check();
    await overlays.getByLabel('Shown').selectOption({ label: 'Again and again' });
    await expectForEverybody(page);
    await dialog.getByText(/^It takes about .* more of your storage\.$/).waitFor();
    await dialog.getByRole('button', { name: 'Save', exact: true }).click();
    await dialog.waitFor({ state: 'detached' });
    const { overlays: saved } = await system.client.streams.get(id);
    expect(saved).toMatchObject({
      layers: [{ text: 'On {{stream.name}}', anchor: 'TopRight', show: { everySeconds: 300, forSeconds: 10 } }],
    });
    await page.getByRole('button', { name: 'Edit', exact: true }).click();
    await overlays.getByRole('button', { name: 'Text: On {{stream.name}}' }).click();
    await overlays.getByRole('button', { name: 'Remove layer' }).click();
    await dialog.getByRole('button', { name: 'Save', exact: true }).click();
    await dialog.waitFor({ state: 'detached' });
    expect((await system.client.streams.get(id)).overlays).toBeNull();
    await leave();
  }));

test('a picture for each song is turned on in the form of a stream with songs, and off again', () =>
  withStream('Radio', async (id) => {
    const { client } = system;
    const songs = await client.playlists.create({ name: 'Songs', kind: 'audio', mode: 'sequential', items: [] });
    await client.streams.update(id, { audioPlaylistIDs: [songs.id] });
    const page = await open(`/streams/${id}`);
    const dialog = page.getByRole('dialog', { name: 'Edit stream' });
    for (const isShown of [true, false]) {
      await page.getByRole('button', { name: 'Edit', exact: true }).click();
      await dialog.getByLabel('Show a picture for each song').setChecked(isShown);
      await dialog.getByRole('button', { name: 'Save' }).click();
      await dialog.waitFor({ state: 'detached' });
      const { cards } = await client.streams.get(id);
      expect(cards).toEqual(isShown ? { imageUploadObjectID: null } : null);
    }
    await leave();
    await client.streams.delete(id);
    await until('the playlist is free', () =>
      client.playlists.delete(songs.id).then(
        () => true,
        () => false,
      ),
    );
  }));

test('a schedule is set in days and a time, shows its next five starts in words, and is taken away', () =>
  withStream('Evenings', async (id) => {
    // The window is in the other half of the day, in summer too: within its hours the stream would be on air and not scheduled.
    const [hour, at, end, words] =
      new Date().getUTCHours() < 12
        ? [
            14,
            '14:30',
            '00:30',
            /^Mon–Fri, from (14:30|2:30 PM) to (00:30|12:30 AM) \(next day\), in the time zone Eur/,
          ]
        : [2, '02:30', '12:30', /^Mon–Fri, from (02:30|2:30 AM) to (12:30|12:30 PM), in the time zone Europe\/Berlin/];
    const page = await open(`/streams/${id}`);
    await page.getByRole('button', { name: 'Set a schedule' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: 'Save schedule' }).click();
    await dialog.getByText('Choose when it goes on air.').waitFor();
    await expectForEverybody(page);
    await dialog.getByRole('radio', { name: 'On days' }).check();
    await dialog.getByRole('button', { name: 'Weekdays' }).click();
    for (const day of ['Sat', 'Sun'])
      expect(await dialog.getByRole('checkbox', { name: day }).isChecked(), day).toBe(false);
    await dialog.getByLabel('From').fill(at);
    await dialog.getByLabel('To', { exact: true }).fill(end);
    await dialog.getByRole('combobox', { name: 'Time zone' }).fill('calcutta');
    await dialog.getByRole('option', { name: 'Asia/Kolkata' }).waitFor();
    await expectForEverybody(page);
    await dialog.getByRole('combobox', { name: 'Time zone' }).fill('berl');
    await dialog.getByRole('option', { name: 'Europe/Berlin' }).click();
    await dialog.getByText('On air Mon–Fri, 10 h each time.').waitFor();
    const preview = dialog.getByTestId('window-preview').getByRole('listitem');
    await expect.poll(() => preview.count()).toBe(3);
    await expect.poll(() => preview.first().textContent()).toContain('In your zone: ');
    await dialog.getByText('Times are those of Europe/Berlin').waitFor();
    const promised = await preview.locator('time').evaluateAll((all) => all.map((one) => one.getAttribute('datetime')));
    await expectForEverybody(page);
    await dialog.getByRole('button', { name: 'Save schedule' }).click();
    await dialog.waitFor({ state: 'detached' });
    const starts = page.getByTestId('next-starts').getByRole('listitem');
    await expect.poll(() => starts.count()).toBe(5);
    const { recurrence, windows } = await system.client.streams.windows(id);
    expect(recurrence).toEqual({
      cron: `30 ${hour} * * 1,2,3,4,5`,
      timeZone: 'Europe/Berlin',
      durationSeconds: 36_000,
    });
    const times = await starts.locator('time').evaluateAll((all) => all.map((one) => one.getAttribute('datetime')));
    expect(times).toEqual(windows.map(({ startAt }) => startAt));
    expect(promised).toEqual(times.slice(0, 3));
    await page.getByText(words).waitFor();
    await page.getByText('Scheduled', { exact: true }).first().waitFor();
    await page.getByRole('button', { name: 'Change the schedule' }).click();
    await dialog.getByRole('radio', { name: 'Cron' }).check();
    await dialog.getByLabel('Cron expression').fill('61 25 * * *');
    await dialog.getByRole('button', { name: 'Save schedule' }).click();
    await expect.poll(() => dialog.getByLabel('Cron expression').getAttribute('aria-invalid')).toBe('true');
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Remove the schedule' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Remove schedule' }).click();
    await page.getByText('No schedule. You start and stop the stream yourself.').waitFor();
    expect((await system.client.streams.get(id)).recurrence).toBeNull();
    await leave();
  }));

test('a stream that waits for its time is started now, and its schedule is called off after a question', () =>
  withStream('Waits', async (id) => {
    const { client } = system;
    const hour = new Date().getUTCHours() < 12 ? 18 : 6;
    const recurrence = { cron: `0 ${hour} * * *`, timeZone: 'UTC', durationSeconds: 3600 };
    await client.streams.schedule(id, { recurrence });
    const page = await open(`/streams/${id}`);
    const status = async () => (await client.streams.get(id)).status;
    const cancel = page.getByRole('button', { name: 'Cancel the schedule of Waits' });
    await cancel.click();
    await page.getByText('The times stay, so that you can change them.').waitFor();
    await page.getByRole('button', { name: 'Keep it' }).click();
    expect(await status()).toBe('scheduled');
    await page.getByRole('button', { name: 'Start now Waits' }).hover();
    await page.getByText('On air at once, and by its schedule from its next time on.').waitFor();
    await expectForEverybody(page);

    // The table has the same words and asks the same.
    await page.goto(new URL('/streams?q=Waits', page.url()).href);
    await page.getByRole('button', { name: 'Show a table' }).click();
    // The card, which goes then, has such a button too.
    await page.getByRole('table').getByRole('button', { name: 'Cancel the schedule of Waits' }).click();
    const question = page.getByRole('dialog', { name: 'Cancel the schedule of this stream?' });
    await question.getByText('It is scheduled, and no longer goes on air by itself.').waitFor();
    await question.getByTestId('bulk-confirm').click();
    await expect.poll(status).toBe('idle');
    expect((await client.streams.get(id)).recurrence).toEqual(recurrence);

    await client.streams.schedule(id, { recurrence });
    await page.getByRole('button', { name: 'Start now Waits' }).click();
    // Its destination takes the stream of the demo.
    await expect.poll(status, { timeout: 60_000 }).toBe('starting');
    const ahead = await client.streams.get(id);
    expect(ahead.recurrence).toEqual(recurrence);
    expect(ahead.scheduleOnAirUntil).not.toBeNull();
    await leave();
  }));

test('an edit that would end a broadcast asks first, and keeps it on air where that is chosen', () =>
  withStream('On air', async (id) => {
    const { client, facts } = system;
    const own = await client.destinations.create({ name: 'Own', rtmpUrl: facts.rtmpUrl, rtmpKey: id });
    await client.streams.update(id, { destinationIDs: [own.id] });
    expect(await client.destinations.test(own.id)).toMatchObject({ ok: true });
    await client.streams.start(id, { wait: 30 });
    const status = async () => (await client.streams.get(id)).status;
    await expect.poll(status, { timeout: 60_000, interval: 500 }).toBe('live');
    const hour = new Date().getUTCHours() < 12 ? 18 : 6;
    const page = await open(`/streams/${id}`);
    const schedule = page.getByRole('dialog', { name: 'Schedule of' });
    const question = page.getByRole('dialog', { name: 'off air?' });
    await page.getByRole('button', { name: 'Set a schedule' }).click();
    await schedule.getByRole('radio', { name: 'On days' }).check();
    await schedule.getByLabel('From').fill(`${hour < 10 ? '0' : ''}${hour}:00`);
    // The end of the next hour: no window that crosses midnight is open now.
    await schedule.getByLabel('To', { exact: true }).fill(`${hour < 9 ? '0' : ''}${hour + 1}:00`);
    await schedule.getByRole('combobox', { name: 'Time zone' }).fill('utc');
    await schedule.getByRole('option', { name: 'UTC', exact: true }).click();
    await schedule.getByRole('button', { name: 'Save schedule' }).click();
    await question.getByText('This takes the stream off air now. It starts again').waitFor();
    await expectForEverybody(page);
    await page.keyboard.press('Escape');
    await question.waitFor({ state: 'detached' });
    expect((await client.streams.get(id)).recurrence).toBeNull();
    await schedule.getByRole('button', { name: 'Save schedule' }).click();
    await question.getByRole('button', { name: 'Keep on air until then' }).click();
    await schedule.waitFor({ state: 'detached' });
    const kept = await client.streams.get(id);
    expect(kept).toMatchObject({ status: 'live', scheduleOnAirUntil: kept.nextStartAt });
    await page.getByText('the stream is on air outside these times, too').waitFor();
    // The operator has decided about it, and the stream has been on air all the time.
    const kube = createKube({ kubeconfig: facts.kubeconfig });
    const resource = await until('the operator decides about the schedule', async () => {
      const one = (await kube.list(LOOPSTREAMS)).find(({ metadata }) => metadata.name === id);
      return one?.status?.observedGeneration === one?.metadata.generation && one;
    });
    expect(resource.status?.phase).toBe('live');
    expect((await client.streams.get(id)).liveSince).toBe(kept.liveSince);
    const { id: other } = await client.destinations.create({
      name: 'Elsewhere',
      rtmpUrl: 'rtmp://127.0.0.1:9/x',
      rtmpKey: 'k',
    });
    await page.getByRole('button', { name: 'Edit', exact: true }).click();
    const edit = page.getByRole('dialog', { name: 'Edit stream' });
    await edit.getByRole('checkbox', { name: 'Elsewhere' }).check();
    await edit.getByRole('checkbox', { name: /^Own/ }).uncheck();
    await edit.getByRole('button', { name: 'Save' }).click();
    await question.getByText('receives this stream. Saving ends it there.').waitFor();
    await expectForEverybody(page);
    await question.getByRole('button', { name: 'Keep on air' }).click();
    await page.keyboard.press('Escape');
    expect((await client.streams.get(id)).destinationIDs).not.toContain(other);

    await page.goto(new URL('/destinations', page.url()).href);
    const change = page.getByRole('dialog', { name: 'Change destination' });
    const interrupt = page.getByRole('dialog', { name: 'Change “Own” on air?' });
    // A test would interrupt the stream, so the last result stands in for one.
    const row = page.getByRole('article', { name: 'Own' });
    await row.getByRole('button', { name: 'Test Own' }).click();
    await row.getByText('No test was needed').waitFor();
    await row.getByText(/^Last test, /).waitFor();
    expect(await row.getByTestId('test-result').getAttribute('data-ok')).toBe('true');
    await expectForEverybody(page);
    await page.getByRole('button', { name: 'Change Own' }).click();
    await change.getByRole('textbox', { name: 'New stream key' }).fill('another-key');
    await change.getByRole('button', { name: 'Save' }).click();
    await interrupt.getByText('“On air” is on air here.').waitFor();
    await expectForEverybody(page);
    await interrupt.getByRole('button', { name: 'Keep it as it is' }).click();
    expect(await change.getByRole('textbox', { name: 'New stream key' }).inputValue()).toBe('another-key');
    expect((await client.destinations.get(own.id)).rtmpKeyHint).toBe(own.rtmpKeyHint);
    await change.getByRole('button', { name: 'Save' }).click();
    await interrupt.getByRole('button', { name: 'Save' }).click();
    await change.waitFor({ state: 'detached' });
    expect((await client.destinations.get(own.id)).rtmpKeyHint).toBe('-key');
    // A name is nothing that viewers notice.
    await page.getByRole('button', { name: 'Change Own' }).click();
    await change.getByLabel('Name').fill('Own server');
    await change.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('article', { name: 'Own server' }).waitFor();
    await expect.poll(status, { timeout: 60_000, interval: 500 }).toBe('live');
    await page.goto(new URL(`/streams/${id}`, page.url()).href);

    await page.getByRole('button', { name: 'Change the schedule' }).click();
    await schedule.getByRole('button', { name: 'Save schedule' }).click();
    await question.getByTestId('off-air-save').click();
    await schedule.waitFor({ state: 'detached' });
    await expect.poll(status, { timeout: 60_000, interval: 500 }).toBe('scheduled');
    await client.destinations.delete(other);
    await leave();
  }));

test('readiness is ticked off, with the remedy beside each gap', async () => {
  const upload = await system.client.uploads.fromLink({
    type: 'VIDEO',
    url: new URL('/none.mp4', system.facts.apiUrl).href,
  });
  const { id } = await makeStream('No media');
  await system.client.streams.update(id, { videoUploadObjectID: upload.objectID });
  const page = await open(`/streams/${id}`);
  const checklist = page.getByTestId('readiness');
  await checklist.getByRole('button', { name: 'Edit the stream' }).waitFor({ timeout: 120_000 });
  await checklist.getByText('Destination ready').waitFor();
  await expectForEverybody(page);
  await page.getByTestId('stream-start').click();
  await page.getByText('“No media” did not start').waitFor();
  await checklist.getByRole('button', { name: 'Edit the stream' }).click();
  await page.getByRole('dialog', { name: 'Edit stream' }).waitFor();
  await page.keyboard.press('Escape');
  await system.client.streams.delete(id);
  await leave();
});

test('a list names its unplayable items, and waits for all of them where that is chosen', async () => {
  const { client, facts } = system;
  const { destinationID, videoUploadObjectID } = await client.streams.get(demo());
  const url = new URL('/none.mp4', facts.apiUrl).href;
  const broken = await client.uploads.fromLink({ type: 'VIDEO', url, name: 'Torn <reel>' });
  const items = [{ uploadObjectID: videoUploadObjectID ?? '' }, { uploadObjectID: broken.objectID }];
  const list = await client.playlists.create({ name: 'Mixed', kind: 'video', mode: 'sequential', items });
  const { id } = await client.streams.create({
    name: 'With a gap',
    destinationID,
    playlistIDs: [list.id],
    quality: 'q_720p',
    framerate: 'f_30',
  });
  const page = await open(`/streams/${id}`);
  const readiness = page.getByTestId('readiness');
  const leftOut = readiness.getByTestId('left-out').filter({ hasText: 'Torn <reel>' });
  await leftOut.getByText('clip 2 of the playlist').waitFor({ timeout: 120_000 });
  await readiness.and(page.locator('[data-ready=true]')).waitFor({ timeout: 120_000 });
  await expectForEverybody(page);
  await page.getByRole('button', { name: 'Edit', exact: true }).click();
  const dialog = page.getByRole('dialog', { name: 'Edit stream' });
  await dialog.getByLabel('Items that cannot be played').selectOption('Block');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await dialog.waitFor({ state: 'detached' });
  expect(await client.streams.get(id)).toMatchObject({ onItemFailure: 'Block', playlistIDs: [list.id] });
  await readiness.and(page.locator('[data-ready=false]')).getByText('Torn <reel>').waitFor();
  expect(await leftOut.count()).toBe(0);
  await client.streams.delete(id);
  await client.playlists.delete(list.id);
  await leave();
});

test('deleting asks first, takes it off air, and leads back to the list', async () => {
  const { id } = await makeStream('Soon gone');
  const page = await open(`/streams/${id}`);
  await page.getByRole('button', { name: 'More actions' }).click();
  await page.getByRole('button', { name: 'Delete stream…' }).click();
  const dialog = page.getByRole('dialog', { name: 'Delete this stream?' });
  await expectForEverybody(page);
  await dialog.getByRole('button', { name: 'Keep it' }).click();
  await dialog.waitFor({ state: 'detached' });
  expect((await system.client.streams.get(id)).name).toBe('Soon gone');
  await page.getByRole('button', { name: 'More actions' }).click();
  await page.getByRole('button', { name: 'Delete stream…' }).click();
  await dialog.getByRole('button', { name: 'Delete stream' }).dblclick();
  await page.getByRole('heading', { level: 1, name: 'Streams' }).waitFor();
  await page.getByRole('link', { name: 'Soon gone' }).waitFor({ state: 'detached' });
  await expect(system.client.streams.get(id)).rejects.toMatchObject({ code: 'stream_not_found' });
  await leave();
});
