/** Tests how a person says who is told of events, confirms, tests and changes it, and sees what was sent. */
import type { Browser } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { startWebhookSink, type WebhookSink } from '../kit/fake/webhook-sink.ts';
import { openMailbox } from '../kit/make/account.ts';
import {
  expectForEverybody,
  expectToWaitAndRecover,
  leaveBrowser,
  shareBrowser,
  type Visit,
  visit,
} from '../kit/real/page.ts';
import { type SharedSystem, shareSystem } from '../kit/system/share-system.ts';
import { until } from '../kit/wait.ts';

let system: SharedSystem;
let browser: Browser;
let sink: WebhookSink;
let at: Visit;

beforeAll(async () => {
  [system, browser, sink] = await Promise.all([shareSystem(), shareBrowser(), startWebhookSink()]);
});
afterAll(async () => {
  await leaveBrowser(browser);
  await sink?.close();
});
beforeEach(() => {
  sink.confirms = true;
  // Media is not found there.
  sink.answer = ({ method }) => ({ status: method === 'POST' ? 200 : 404, body: 'ok' });
});
afterEach(async () => {
  for (const { id } of await all()) await system.client.endpoints.delete(id);
});

const open = async (path = '/notifications') => {
  at = await visit(browser, system, path);
  return at.page;
};
const leave = async () => {
  expect(at.complaints).toEqual([]);
  await at.close();
};
const all = async () => (await system.client.endpoints.list().page()).data;
const makeWebhook = (name: string, path = '/hooks') =>
  system.client.endpoints.create({ kind: 'webhook', name, url: `${sink.url}${path}` });
const failUpload = (name: string) =>
  system.client.uploads.fromLink({ type: 'VIDEO', name, url: `${sink.url}/missing/${name}` });
const countEvents = async () => (await system.client.events.list({ types: 'upload.failed' }).page()).data.length;

test('an empty page shows the next step; a webhook that answers with its code is on at once, and its test arrives', async () => {
  const page = await open();
  await page.getByText('Nobody is told yet').waitFor();
  await expectForEverybody(page);
  await page.getByRole('button', { name: 'Add endpoint' }).click();
  const dialog = page.getByRole('dialog', { name: 'New endpoint' });
  await dialog.getByRole('radio', { name: 'Webhook' }).check();
  await dialog.getByRole('button', { name: 'Add endpoint' }).click();
  await dialog.getByText('Enter the address.').waitFor();
  await dialog.getByLabel('Address').fill('ftp://example.com');
  await dialog.getByRole('button', { name: 'Add endpoint' }).click();
  await dialog.getByText('Must begin with https:// or http://.').waitFor();
  await expectForEverybody(page);
  await dialog.getByLabel('Address').fill(`${sink.url}/first`);
  await dialog.getByLabel('Name').fill('<b>Playout</b> monitor');
  await dialog.getByRole('button', { name: 'Add endpoint' }).dblclick();
  await page.getByRole('heading', { level: 1, name: '<b>Playout</b> monitor' }).waitFor();
  expect(await all()).toMatchObject([{ kind: 'webhook', state: 'active', types: [], objectIDs: [] }]);
  await page.getByRole('button', { name: /^Test / }).click();
  const result = page.getByTestId('test-result');
  await result.getByText('The receiver accepted it.').waitFor();
  expect(sink.received.at(-1)).toMatchObject({ path: '/first', body: { type: 'endpoint.test' } });
  await expectForEverybody(page);
  sink.answer = () => ({ status: 500, body: 'out of paper' });
  await page.getByRole('button', { name: /^Test / }).click();
  await result.getByText('The receiver answered 500 in place of 200.').waitFor();
  await result.getByText('Look at its answer and at its log.').waitFor();
  await result.getByText('out of paper').waitFor();
  await leave();
});

test('a receiver that does not answer with its code is confirmed by hand; a wrong code says so, another one can be sent', async () => {
  sink.confirms = false;
  await makeWebhook('Silent', '/silent');
  const page = await open();
  const row = page.getByRole('article', { name: 'Silent' });
  await row.getByText('Not confirmed').waitFor();
  await row.getByRole('link', { name: 'Confirm Silent' }).click();
  const panel = page.getByRole('region', { name: 'Confirm this endpoint' });
  await panel.getByRole('button', { name: 'Confirm' }).click();
  await panel.getByText('Enter the code.', { exact: true }).waitFor();
  await panel.getByLabel('Code').fill('1');
  await panel.getByRole('button', { name: 'Confirm' }).click();
  await panel.getByText('This is not the code that was sent last.').waitFor();
  await expectForEverybody(page);
  const before = sink.verifications.length;
  await panel.getByRole('button', { name: 'Send another code' }).click();
  await panel.getByText('Another code is on its way.').waitFor();
  expect(sink.verifications.length).toBe(before + 1);
  await panel.getByLabel('Code').fill(` ${sink.verifications.at(-1)?.body.data?.code} `);
  await page.keyboard.press('Enter');
  await panel.waitFor({ state: 'detached' });
  expect(await all()).toMatchObject([{ state: 'active' }]);
  await leave();
});

test('the own mailbox needs no code, and its test arrives there', async () => {
  const page = await open('/notifications?form=new');
  const dialog = page.getByRole('dialog', { name: 'New endpoint' });
  const { email, mailUrl } = system.facts;
  expect(await dialog.getByLabel('E-mail address').inputValue()).toBe(email);
  await dialog.getByRole('button', { name: 'Add endpoint' }).click();
  await page.getByRole('button', { name: /^Test / }).click();
  await page.getByTestId('test-result').waitFor();
  expect(await all()).toMatchObject([{ kind: 'mail', state: 'active', rule: { offAirSeconds: 30 } }]);
  await until('the mail', async () => (await openMailbox(mailUrl ?? '').count(email ?? '')) > 0);
  await expectForEverybody(page);
  await leave();
});

test('a request of one’s own is checked where it is written, and confirmed by the code that it has', async () => {
  const page = await open('/notifications?form=new');
  const dialog = page.getByRole('dialog', { name: 'New endpoint' });
  await dialog.getByRole('radio', { name: 'Other' }).check();
  await dialog.getByLabel('Address').fill(`${sink.url}/own?topic={{name}}`);
  await dialog.getByLabel('Name').fill('Phone');
  await dialog.getByLabel('Headers').fill('X-Title: {{title}}');
  await dialog.getByLabel('Body').fill('{"text": {{text}}}');
  await dialog.getByRole('button', { name: 'Add endpoint' }).click();
  await dialog.getByText(/^Is no JSON once its placeholders are filled in/).waitFor();
  await expectForEverybody(page);
  await dialog.getByLabel('Body').fill('{"text": "{{text}}"}');
  await dialog.getByLabel('Seconds off air before a message').fill('90');
  await dialog.getByRole('button', { name: 'Add endpoint' }).click();
  const panel = page.getByRole('region', { name: 'Confirm this endpoint' });
  await panel.waitFor();
  const [, code = ''] = /(\d{8})/.exec(sink.received.at(-1)?.headers['x-title'] ?? '') ?? [];
  await panel.getByLabel('Code').fill(code);
  await panel.getByRole('button', { name: 'Confirm' }).click();
  await panel.waitFor({ state: 'detached' });
  expect(await all()).toMatchObject([{ kind: 'template', state: 'active', rule: { offAirSeconds: 90 } }]);
  await page.getByRole('button', { name: 'Change', exact: true }).click();
  const change = page.getByRole('dialog', { name: 'Change endpoint' });
  await change.getByLabel('Name').fill('My phone');
  await expectForEverybody(page);
  await change.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('heading', { level: 1, name: 'My phone' }).waitFor();
  expect(await all()).toMatchObject([{ name: 'My phone', state: 'active' }]);
  await leave();
});

test('events and streams are chosen by name, and all is the default again', async () => {
  const destination = await system.client.destinations.create({
    rtmpUrl: system.facts.rtmpUrl,
    rtmpKey: 'key',
    name: 'To',
  });
  const stream = await system.client.streams.create({
    name: 'Night channel',
    quality: 'q_720p',
    framerate: 'f_30',
    destinationID: destination.id,
    playlistIDs: [(await system.client.playlists.create({ kind: 'video', mode: 'sequential', items: [] })).id],
  });
  const { id } = await makeWebhook('Chosen');
  const page = await open(`/notifications/${id}`);
  await page.getByRole('button', { name: 'Change', exact: true }).click();
  const dialog = page.getByRole('dialog', { name: 'Change endpoint' });
  await dialog.getByRole('group', { name: 'Events' }).getByLabel('Only some').check();
  await dialog.getByRole('group', { name: 'Streams' }).getByLabel('Only some').check();
  await dialog.getByRole('button', { name: 'Save' }).click();
  await dialog.getByText('Choose at least one event.').waitFor();
  await dialog.getByLabel('A stream is off air').check();
  await dialog.getByLabel('A stream starts soon').check();
  await dialog.getByLabel('Night channel').check();
  await expectForEverybody(page);
  await dialog.getByRole('button', { name: 'Save' }).click();
  await dialog.waitFor({ state: 'detached' });
  await page.getByRole('link', { name: 'Night channel' }).waitFor();
  const read = () => system.client.endpoints.get(id);
  expect(await read()).toMatchObject({
    types: ['stream.off_air', 'schedule.upcoming'],
    objectIDs: [stream.id],
    state: 'active',
  });
  await page.getByRole('button', { name: 'Change', exact: true }).click();
  await dialog.getByLabel('All events').check();
  await dialog.getByLabel('All streams').check();
  await dialog.getByRole('button', { name: 'Save' }).click();
  await dialog.waitFor({ state: 'detached' });
  expect(await read()).toMatchObject({ types: [], objectIDs: [], name: 'Chosen' });
  await system.client.streams.delete(stream.id);
  await leave();
});

test('the secret is shown when asked for alone; after it was replaced, both sign for a day', async () => {
  const { id } = await makeWebhook('Signed');
  const { secret } = await system.client.endpoints.secret(id);
  const page = await open(`/notifications/${id}`);
  const panel = page.getByRole('region', { name: 'Secret', exact: true });
  await panel.waitFor();
  expect(await page.content()).not.toContain('whsec_');
  await panel.getByRole('button', { name: 'Show the secret' }).click();
  await panel.getByText(secret).waitFor();
  await expectForEverybody(page);
  await panel.getByRole('button', { name: 'Replace the secret…' }).click();
  const question = page.getByRole('dialog', { name: 'Replace the secret?' });
  await expectForEverybody(page);
  await question.getByRole('button', { name: 'Replace the secret' }).click();
  await panel.getByText('Requests are signed with the previous secret as well').waitFor();
  await panel.getByText(secret).waitFor({ state: 'detached' });
  await panel.getByText((await system.client.endpoints.secret(id)).secret).waitFor();
  await page.getByRole('button', { name: /^Test / }).click();
  await page.getByTestId('test-result').waitFor();
  const sent = sink.received.at(-1);
  if (!sent) throw new Error('no test arrived');
  sink.check(sent, secret);
  await panel.getByRole('button', { name: 'Hide the secret' }).click();
  expect(await page.content()).not.toContain('whsec_');
  await leave();
});

test('what was sent is listed with the answers, filtered, and sent again; what was missed is sent on request', async () => {
  const { id } = await makeWebhook('Watched', '/watched');
  const received = () => sink.received.filter(({ path }) => path === '/watched');
  await failUpload('evening.mp4');
  const page = await open(`/notifications/${id}`);
  const item = page.getByTestId('delivery').first();
  await item.getByText('An upload cannot be used').waitFor();
  await item.getByText('Accepted', { exact: true }).waitFor();
  await expectForEverybody(page);
  const { id: eventId } = received()[0] ?? {};
  await item.getByRole('button', { name: /^Send again/ }).click();
  await until('the second request', () => received().length === 2);
  expect(received()[1]?.id).toBe(eventId);

  await page.getByRole('button', { name: 'More actions for Watched' }).click();
  await page.getByRole('button', { name: 'Turn off' }).click();
  await page.getByText('Nothing is sent while it is off.').waitFor();
  await expectForEverybody(page);
  await failUpload('night.mp4');
  await until('the event', async () => (await countEvents()) === 2);
  await page.getByRole('button', { name: 'Turn on' }).click();
  await page.getByRole('button', { name: 'Send what was missed…' }).click();
  const dialog = page.getByRole('dialog', { name: 'Send again what was missed?' });
  await expectForEverybody(page);
  await dialog.getByRole('button', { name: 'Send again' }).click();
  await page.getByText('One event is sent again.').waitFor();
  await until('the missed event', () => received().length === 3);
  await page.getByLabel('Show in this state').selectOption('Failed');
  await page.getByText('Nothing is in this state.').waitFor();
  await leave();
});

test('events appear as they happen, with cause and fix, and lead to what they are about', async () => {
  const page = await open('/notifications');
  await page.getByRole('navigation', { name: 'Notifications' }).getByRole('link', { name: 'Events' }).click();
  await page.getByLabel('Events to show').waitFor();
  await page.locator('[aria-busy="true"]').waitFor({ state: 'detached' });
  await failUpload('late.mp4');
  const event = page.getByTestId('event').filter({ hasText: 'late.mp4' });
  await event.getByText('Upload “late.mp4” cannot be used').waitFor();
  const [newest] = (await system.client.events.list({ types: 'upload.failed', sort: '-recorded', limit: 1 }).page())
    .data;
  expect(newest?.data).toMatchObject({ name: 'late.mp4', message: expect.any(String), fix: expect.any(String) });
  await event.getByText(newest?.data.fix ?? '').waitFor();
  await expectForEverybody(page);
  await page.getByLabel('Events to show').selectOption('Billing and keys');
  await event.waitFor({ state: 'detached' });
  await page.getByLabel('Events to show').selectOption('Uploads and playlists');
  await event.getByRole('link').click();
  await page.getByRole('heading', { level: 1, name: 'Uploads' }).waitFor();
  await leave();
});

test('an address that the server refuses is an error at its field, and nothing is made', async () => {
  const page = await open('/notifications?form=new');
  const dialog = page.getByRole('dialog', { name: 'New endpoint' });
  await dialog.getByRole('radio', { name: 'Webhook' }).check();
  await dialog.getByLabel('Address').fill('https://user:password@example.com:99999/');
  await dialog.getByRole('button', { name: 'Add endpoint' }).click();
  await dialog.getByText('Must be an address that begins with https:// or http://.').waitFor();
  expect(await dialog.getByLabel('Address').getAttribute('aria-invalid')).toBe('true');
  expect(await all()).toEqual([]);
  await leave();
});

test('an endpoint is deleted after a question; one that is not there says so', async () => {
  await makeWebhook('Soon gone');
  const page = await open();
  await page.getByRole('button', { name: 'More actions for Soon gone' }).click();
  await page.getByRole('button', { name: 'Delete endpoint…' }).click();
  const dialog = page.getByRole('dialog', { name: 'Delete this endpoint?' });
  await expectForEverybody(page);
  await dialog.getByRole('button', { name: 'Delete endpoint' }).click();
  await page.getByText('Nobody is told yet').waitFor();
  expect(await all()).toEqual([]);
  await page.goto(new URL('/notifications/end-none', page.url()).href);
  await page.getByRole('heading', { name: 'Endpoint not found' }).waitFor();
  await expectForEverybody(page);
  await leave();
});

test('while it loads it says so; where the server is away it says that, and goes on when it is back', async () => {
  const page = await open();
  await expectToWaitAndRecover(page, '**/v1/endpoints?**', {
    loading: 'Loading your endpoints',
    failure: 'Your endpoints could not be loaded',
  });
  await page.getByText('Nobody is told yet').waitFor();
  await leave();
});
