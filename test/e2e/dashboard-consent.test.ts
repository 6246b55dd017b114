/// <reference lib="dom" />
/** Tests a program's request to act for a person: a stock client, a real browser, and the page on which the person decides. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import * as openid from 'openid-client';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createAccount, openMailbox } from '../kit/make/account.ts';
import { expectForEverybody, leaveBrowser, shareBrowser } from '../kit/real/page.ts';
import { type SharedSystem, shareSystem } from '../kit/system/share-system.ts';
import { until } from '../kit/wait.ts';

const PASSWORD = 'seven lamps over water';
const SCOPE = 'openid offline_access service:read service:destructive';

let system: SharedSystem;
let browser: Browser;
let email: string;
/** The program's server, which waits for the browser's return. */
let program: Server;
let redirectUri: string;
const cameBack: URL[] = [];
let config: openid.Configuration;
let context: BrowserContext;
let page: Page;
const complaints: string[] = [];

const site = () => new URL(system.facts.pageUrl).origin;

beforeAll(async () => {
  program = createServer((request, response) => {
    if (request.url?.startsWith('/callback')) cameBack.push(new URL(request.url, redirectUri));
    response.setHeader('content-type', 'text/html').end('<title>The program</title><h1>Welcome back</h1>');
  });
  await new Promise<void>((resolve) => program.listen(0, '127.0.0.1', resolve));
  redirectUri = `http://127.0.0.1:${(program.address() as AddressInfo).port}/callback`;
  [system, browser] = await Promise.all([shareSystem(), shareBrowser()]);
  ({ email } = await createAccount(site(), openMailbox(system.facts.mailUrl ?? ''), PASSWORD));
  config = await openid.dynamicClientRegistration(
    new URL(site()),
    {
      client_name: '<img src=x onerror=alert(1)> Scheduler 🎬',
      redirect_uris: [redirectUri],
      grant_types: ['authorization_code', 'refresh_token'],
      token_endpoint_auth_method: 'none',
    },
    openid.None(),
    { execute: [openid.allowInsecureRequests] },
  );
  context = await browser.newContext({ reducedMotion: 'reduce' });
  page = await context.newPage();
  page.on('console', (message) => {
    if (message.text().includes('Content Security Policy')) complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(String(error)));
});
afterAll(async () => {
  await leaveBrowser(browser);
  program?.closeAllConnections();
  program?.close();
});

/** Sends the browser to loopstream, as the program does. Returns a function that takes the code. */
async function begin() {
  const [pkceCodeVerifier, expectedState] = [openid.randomPKCECodeVerifier(), openid.randomState()];
  const address = openid.buildAuthorizationUrl(config, {
    redirect_uri: redirectUri,
    scope: SCOPE,
    state: expectedState,
    code_challenge_method: 'S256',
    code_challenge: await openid.calculatePKCECodeChallenge(pkceCodeVerifier),
    resource: site(),
  });
  const before = cameBack.length;
  await page.goto(address.href);
  const back = () => until('the browser comes back', () => cameBack[before]);
  return {
    back,
    tokens: async () =>
      openid.authorizationCodeGrant(config, await back(), { pkceCodeVerifier, expectedState, idTokenExpected: true }),
  };
}
const me = (token: string) => fetch(`${site()}/v1/me`, { headers: { authorization: `Bearer ${token}` } });
const consentAsked = () => page.getByRole('heading', { name: 'An app asks for access' }).waitFor();

test('the person signs in, sees the program and its scopes, and declines: the program gets an error, and no code', async () => {
  const { back } = await begin();
  await page.getByText('An app wants to use your account').waitFor();
  expect(await page.getByText('Use an API key instead').count()).toBe(0);
  await page.getByLabel('E-mail address').fill(email);
  await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
  await page.getByRole('button', { name: 'Sign in', exact: true }).dblclick();
  await consentAsked();
  await page.getByText('<img src=x onerror=alert(1)> Scheduler 🎬').waitFor();
  for (const told of ['Unverified', 'never a stream key', 'permanently', 'a program on this device', email])
    await page.getByText(told).first().waitFor();
  await expectForEverybody(page);
  await page.getByRole('button', { name: 'Deny' }).click();
  const answer = await back();
  expect(answer.searchParams.get('error')).toBe('access_denied');
  expect(answer.searchParams.get('code')).toBeNull();
  await page.getByText('Welcome back').waitFor();
});

test('they say yes: the program acts for them, is listed, and is cut off', async () => {
  const { tokens } = await begin();
  await consentAsked();
  await page.getByRole('button', { name: 'Allow' }).dblclick();
  const { access_token, refresh_token } = await tokens();
  expect(((await (await me(access_token)).json()) as { email: string }).email).toBe(email);
  await page.getByText('Welcome back').waitFor();

  await page.goto(`${site()}/account/apps`);
  await page.getByRole('heading', { name: /Scheduler/ }).waitFor();
  await expectForEverybody(page);
  await page.getByRole('button', { name: /^Disconnect/ }).click();
  await page.getByRole('button', { name: 'Delete connection' }).click();
  await page.getByText('No app is connected').waitFor();
  expect((await me(access_token)).status).toBe(401);
  await expect(openid.refreshTokenGrant(config, refresh_token ?? '')).rejects.toMatchObject({ error: 'invalid_grant' });
});

test('a request that was changed on its way is not answered, and nothing of it is shown', async () => {
  await begin();
  await consentAsked();
  const changed = new URL(page.url());
  changed.searchParams.set('scope', 'service:read service:write');
  await page.goto(changed.href);
  await consentAsked();
  await page.getByRole('button', { name: 'Allow' }).click();
  await page.getByText('was changed on its way').waitFor();
  await page.goto(`${site()}/consent?error=%3Cb%3Ebad&error_description=call+%2B1-555-0100`);
  await page.getByRole('heading', { name: 'is not valid' }).waitFor();
  expect(await page.getByText('555').count()).toBe(0);
  await expectForEverybody(page);
  expect(complaints).toEqual([]);
});
