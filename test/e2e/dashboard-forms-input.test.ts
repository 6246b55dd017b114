/// <reference lib="dom" />
/**
 * Tests every field of every form with each wrong value, and every form sent twice. An error names the field, the input stays, none of it
 * is markup, and one object is made.
 */
import type { Browser, BrowserContext, Locator, Page, Request, Route } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { openMailbox } from '../kit/make/account.ts';
import {
  type Field,
  FORMS,
  type Form,
  type Made,
  NEW_PASSWORD,
  OPEN_FORMS,
  SEARCHES,
  WORDS,
} from '../kit/make/forms.ts';
import { leaveBrowser, openWindow, shareBrowser, visit } from '../kit/real/page.ts';
import { type SharedSystem, shareSystem } from '../kit/system/share-system.ts';

let system: SharedSystem;
let browser: Browser;
let made: Made;
/** One page in which the owner is signed in, and one without a session. */
const pages = {} as { owner: Page; nobody: Page };
const contexts: BrowserContext[] = [];
const complaints: string[] = [];

const site = () => new URL(system.facts.pageUrl).origin;

beforeAll(async () => {
  [system, browser] = await Promise.all([shareSystem(), shareBrowser()]);
  const { destinations, endpoints, playlists, streams, uploads } = system.client;
  await uploads.fromLink({ type: 'VIDEO', url: 'http://127.0.0.1:1024/never.mp4' });
  const { id: destination } = await destinations.create({
    name: 'Here',
    rtmpUrl: 'rtmp://example.com/here',
    rtmpKey: 'key',
  });
  const { id: playlist } = await playlists.create({ name: 'Evenings', kind: 'video', mode: 'sequential', items: [] });
  // Rules play it.
  await playlists.create({ name: 'Jingles', kind: 'video', mode: 'sequential', items: [] });
  const { id: stream } = await streams.create({
    name: 'Night',
    quality: 'q_720p',
    framerate: 'f_30',
    destinationID: destination,
    playlistIDs: [playlist],
  });
  const { id: endpoint } = await endpoints.create({
    kind: 'template',
    name: 'Phone',
    url: 'http://127.0.0.1:1024/never',
    template: { body: '{{text}}' },
  });
  made = { destination, playlist, stream, endpoint, facts: system.facts };
  const { context, page } = await visit(browser, system, '/account');
  const without = await openWindow(browser);
  contexts.push(context, without);
  Object.assign(pages, { owner: page, nobody: await without.newPage() });
  for (const one of Object.values(pages)) {
    one.setDefaultTimeout(30_000);
    one.on('console', (message) => {
      if (message.text().includes('Content Security Policy')) complaints.push(message.text());
    });
    one.on('pageerror', (error) => complaints.push(String(error)));
  }
});
afterAll(() => leaveBrowser(browser));
afterEach(async () => {
  for (const page of Object.values(pages)) {
    await page.unrouteAll({ behavior: 'ignoreErrors' });
    expect(await page.evaluate(() => 'hacked' in window || document.querySelector('img[src=x]') !== null)).toBe(false);
  }
  expect(complaints.splice(0)).toEqual([]);
});

async function show(page: Page, { path, prepare, open, form }: Form): Promise<void> {
  await prepare?.(page);
  // A change of the fragment alone does not reload the page, so the test does.
  if (page.url() === `${site()}${path(made)}`) await page.reload();
  else await page.goto(`${site()}${path(made)}`);
  await open?.(page, made);
  await form(page).waitFor();
}

const fieldIn = (form: Locator, { label }: Field): Locator =>
  // The list of a field that is searched has the same label.
  form.getByLabel(label, { exact: true }).and(form.locator('input, textarea, select'));
const findButton = (page: Page, { form, submit }: Form): Locator =>
  // The bar that saves changes is outside of the form.
  form(page).getByRole('button', { name: submit, exact: true });

/** Returns the form's own messages: errors by field, other errors, and whether it is at work. */
const readState = (form: Locator) =>
  form.evaluate((node) => {
    const readText = (id: string) => document.getElementById(id)?.textContent ?? '';
    const wrong = [...node.querySelectorAll<HTMLInputElement>('[aria-invalid="true"]')].map((one) => {
      const said = (one.getAttribute('aria-describedby') ?? '').split(' ').map(readText).join(' ');
      return [one.labels?.[0]?.textContent ?? '', said.trim()] as const;
    });
    const besides = [...node.querySelectorAll('[role="alert"]')].map((one) => one.textContent ?? '');
    return { wrong, besides, busy: node.querySelector('[data-loading]') !== null };
  });

/** Sends the form with this one wrong field, and waits for the error. */
async function expectRefusal(page: Page, formUnderTest: Form, field: Field, value: string): Promise<void> {
  const form = formUnderTest.form(page);
  const input = fieldIn(form, field);
  await input.fill(value);
  // Browsers correct numbers and addresses during typing.
  const typed = await input.inputValue();
  await findButton(page, formUnderTest).dispatchEvent('click');
  const isSaid = async () => {
    const { wrong, besides, busy } = await readState(form);
    const atField = wrong.some(([label, said]) => label === field.label && said !== '');
    return !busy && (atField || besides.some((text) => field.called?.test(text)));
  };
  const what = `${field.label}: ${value.slice(0, 40)}`;
  await expect.poll(isSaid, { message: what, timeout: 20_000 }).toBe(true);
  expect(await input.inputValue(), what).toBe(typed);
}

async function tryAll(page: Page, formUnderTest: Form): Promise<void> {
  await show(page, formUnderTest);
  const form = formUnderTest.form(page);
  const fields = formUnderTest.fields(made);
  for (const field of fields) await fieldIn(form, field).fill(field.right);
  for (const field of fields) {
    for (const value of field.wrong) await expectRefusal(page, formUnderTest, field, value);
    for (const other of fields)
      if (other !== field) expect(await fieldIn(form, other).inputValue(), other.label).toBe(other.right);
    await fieldIn(form, field).fill(field.right);
  }
}

/** Nothing of it stays: a dry run, or the test of a new destination. */
const isTrial = (request: Request): boolean => {
  const { pathname, searchParams } = new URL(request.url());
  return searchParams.get('dryRun') === 'true' || /^\/v1\/destinations\/[^/]+\/test$/.test(pathname);
};
/** A page on this machine also has the browser forget a kept key whenever a session ends. */
const isCleanUp = (request: Request): boolean => new URL(request.url()).pathname === '/api/auth/key-session/end';

/**
 * Records requests of `method path`, except for dry runs, which change nothing. The first of them waits for `release`; with `loses`, it
 * is then done, and its answer is lost.
 */
async function follow(page: Page, sends: string, loses = false) {
  const [method, path = ''] = sends.split(' ');
  const asked: Request[] = [];
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const pass = async (route: Route) => {
    if (route.request().method() !== method || isTrial(route.request())) return route.fallback();
    const isFirst = asked.push(route.request()) === 1;
    if (isFirst) await released;
    if (!isFirst || !loses) return route.continue();
    await route.fetch();
    return route.abort();
  };
  await page.route((url) => url.pathname.startsWith(path), pass);
  return { asked, release };
}

/** Presses twice before a redraw, and again by mouse and keyboard while the request is on its way. */
async function pressAgainAndAgain(page: Page, form: Form, asked: readonly Request[]): Promise<void> {
  const button = findButton(page, form);
  const twice = (one: HTMLElement | SVGElement) => {
    for (let i = 0; i < 2; i += 1) (one as HTMLElement).click();
  };
  await button.evaluate(twice);
  await expect.poll(() => asked.length).toBe(1);
  await page.keyboard.press('Enter');
  await button.evaluate(twice);
  await page.keyboard.press('Enter');
}

async function sendTwice(page: Page, formUnderTest: Form, mine = made): Promise<void> {
  const { client } = system;
  const before = await formUnderTest.count?.(client, page, mine);
  const form = formUnderTest.form(page);
  const fields = formUnderTest.fields(mine);
  for (const field of fields) await fieldIn(form, field).fill(field.right);
  // Earlier messages are gone, so the next ones belong to this request.
  if (formUnderTest.keyed || formUnderTest.refused) expect((await readState(form)).besides).toEqual([]);
  const { asked, release } = await follow(page, formUnderTest.sends, formUnderTest.keyed);
  const all: Request[] = [];
  const note = (request: Request) => all.push(request);
  page.on('request', note);
  await pressAgainAndAgain(page, formUnderTest, asked);
  release();
  if (formUnderTest.keyed || formUnderTest.refused) {
    await form.getByRole('alert').first().waitFor();
    for (const field of fields) expect(await fieldIn(form, field).inputValue(), field.label).toBe(field.right);
  }
  if (formUnderTest.keyed) await findButton(page, formUnderTest).click();
  if (formUnderTest.done) await formUnderTest.done(page).first().waitFor();
  else if (!formUnderTest.refused) await form.waitFor({ state: 'detached' });
  page.off('request', note);
  const changes = all.filter((request) => request.method() !== 'GET' && !isTrial(request) && !isCleanUp(request));
  const others = changes.filter((request) => !asked.includes(request));
  if (!formUnderTest.sends.startsWith('GET')) expect(asked.length).toBe(formUnderTest.keyed ? 2 : 1);
  expect(others.map((request) => request.url())).toEqual([]);
  const keys = new Set(asked.map((request) => request.headers()['idempotency-key']));
  expect(keys.size).toBe(1);
  if (before !== undefined) expect(await formUnderTest.count?.(client, page, mine)).toBe(before + 1);
}

const OF_OWNER = Object.entries(FORMS);

describe('an error stands at its field, and the input stays', () => {
  test.each(OF_OWNER.filter(([, { alone }]) => alone))('%s', (_, form) => tryAll(pages.owner, form));
  test.each(Object.entries(OPEN_FORMS))('%s', (_, form) => tryAll(pages.nobody, form));
});

// The form is sent in the state after these errors: people send such forms too.
describe('so it is here, and sent twice, it is done once; sent again after its answer was lost, too', () => {
  test.each(OF_OWNER.filter(([, { alone }]) => !alone))('%s', async (_, form) => {
    await tryAll(pages.owner, form);
    await sendTwice(pages.owner, form);
  });
});

describe('sent twice, it is done once', () => {
  test('a new stream that is made and not started is not made again', async () => {
    const page = pages.owner;
    const form = FORMS['a new stream’s name'] as Form;
    const count = async () => (await system.client.streams.list({ limit: 100 }).page()).data.length;
    const before = await count();
    await show(page, form);
    await page.getByLabel('Name', { exact: true }).fill('Made once');
    await page.route('**/start**', (route) => route.abort());
    const start = page.getByRole('button', { name: 'Create and start' });
    await start.click();
    await page.getByText('does not respond').first().waitFor();
    await page.unroute('**/start**');
    const detail = 'The credit is used up.';
    const refusal = {
      type: '/docs/errors/credit_exhausted',
      title: 'No credit',
      status: 402,
      code: 'credit_exhausted',
    };
    await page.route('**/start**', (route) =>
      route.fulfill({ status: 402, contentType: 'application/problem+json', json: { ...refusal, detail } }),
    );
    await start.click();
    await page.getByText('“Made once” did not start').waitFor();
    await page.getByText(detail).waitFor();
    await page.getByRole('heading', { level: 1, name: 'Made once' }).waitFor();
    expect(await count()).toBe(before + 1);
  });

  test('an account, from its first form to its last', async () => {
    const page = pages.nobody;
    const email = `${Date.now()}.twice@example.com`;
    const mine: Made = { ...made, facts: { ...system.facts, email, password: NEW_PASSWORD } };
    const mails = openMailbox(system.facts.mailUrl ?? '');
    const fill = async (name: string, more: Partial<Form>) => {
      const form = { ...OPEN_FORMS, ...FORMS }[name] as Form;
      await show(page, { ...form, ...more });
      await sendTwice(page, { ...form, ...more }, mine);
    };
    const signUp = OPEN_FORMS['signing up'] as Form;
    await fill('signing up', {
      fields: (all) =>
        signUp.fields(all).map((field) => (field.source === 'AddressField' ? { ...field, right: email } : field)),
    });
    await page.goto(await mails.link(email, /Confirm/));
    const { asked, release } = await follow(page, 'POST /api/auth/verify-email');
    const confirm = { form: (one: Page) => one.getByRole('main'), submit: 'Confirm my address' } as Form;
    await pressAgainAndAgain(page, confirm, asked);
    release();
    const isIn = (one: Page) => one.getByTestId('user-email').filter({ hasText: email });
    await isIn(page).waitFor();
    expect([asked.length, await mails.count(email)]).toEqual([1, 1]);

    await fill('a password that is forgotten', {});
    const link = new URL(await mails.link(email, /Choose a new password/));
    expect(await mails.count(email)).toBe(2);
    await fill('a password that is chosen anew', { path: () => `${link.pathname}${link.hash}` });
    await fill('signing in', { done: isIn });
    await fill('another password', {});
    await fill('leaving for good', {});
    await fill('a key instead', { done: (one) => one.getByTestId('user-email') });
  });
});

describe('search fields accept text of any kind', () => {
  test.each(SEARCHES)('$label', async ({ label, path, press, most }) => {
    const page = pages.owner;
    await page.goto(`${site()}${path}`);
    await page.getByRole('heading', { level: 1 }).waitFor();
    if (press) await page.keyboard.press(press);
    const field = page.getByLabel(label, { exact: true });
    const none = page.getByText(/^(No \w+ matches|Nothing has this name|No upload has this|No uploads to choose from)/);
    const rows = page.locator('article, [role="option"]');
    const found = rows.or(page.getByRole('checkbox')).or(none);
    for (const word of WORDS) {
      await field.fill('');
      await field.fill(word);
      await found.first().waitFor();
      expect(await field.inputValue()).toBe(word.slice(0, most));
    }
  });
});
