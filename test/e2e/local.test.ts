/// <reference lib="dom" />
/** Tests `make run` as a person uses it: the demo on air, a page that plays it, a crash, a restart, Ctrl-C. */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { anvilProgram } from '../../tools/local/chain.ts';
import { kubectl } from '../kit/kubectl.ts';
import { signIn } from '../kit/make/oauth.ts';
import { expectForEverybody, launchBrowser, visit } from '../kit/real/page.ts';
import { run } from '../kit/run.ts';
import { LOCAL_MAIN } from '../kit/system/app.ts';
import { type System, startSystem, streamLikeDemo } from '../kit/system/system.ts';
import { until } from '../kit/wait.ts';
import { metricsSuite } from './metrics.ts';

const noChain = anvilProgram() === undefined;
const CHAIN = noChain ? [] : ['--crypto'];
let system: System;
let browser: Browser;

beforeAll(async () => {
  [system, browser] = await Promise.all([startSystem(CHAIN), launchBrowser()]);
});

afterAll(async () => {
  await browser?.close();
  await system?.close();
});

/** Returns processes with this system's state directory in their arguments or environment, other than `except`. */
function listProcesses(stateDir: string, except: number[] = []): string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && !except.includes(Number(name)))
    .flatMap((name) => {
      try {
        const command = readFileSync(`/proc/${name}/cmdline`, 'utf8').replaceAll('\0', ' ');
        const environment = readFileSync(`/proc/${name}/environ`, 'utf8');
        return command.includes(stateDir) || environment.includes(stateDir) ? [`${name} ${command}`] : [];
      } catch {
        return [];
      }
    });
}

const status = async (id: string) => (await system.client.streams.get(id)).status;

// The metrics come first: they are those of an unused system.
describe('the numbers', () => metricsSuite(() => system));

describe('make run', () => {
  test('the demo is on air and its facts are private to their owner', async () => {
    const { facts, stateDir } = system;
    expect(statSync(join(stateDir, 'local.json')).mode & 0o777).toBe(0o600);
    expect(await status(facts.demoStreamId ?? '')).toBe('live');
    const { stdout } = await run('ffprobe', [
      ...['-v', 'error', '-show_entries', 'stream=codec_name,width,height', '-of', 'csv=p=0', `${facts.rtmpUrl}/demo`],
    ]);
    expect(stdout).toContain('h264,1280,720');
    expect(stdout).toContain('aac');
    for (const fact of [facts.pageUrl, facts.apiKey, facts.email, facts.password, facts.kubeconfig, facts.rtmpUrl])
      expect(system.output()).toContain(fact);
    const { origin } = new URL(facts.pageUrl);
    expect(await signIn(origin, { email: facts.email ?? '', password: facts.password ?? '' })).toContain('session=');
  });

  test('the page plays the stream: the time of its video advances; nothing on it or /docs breaks their own policy', async () => {
    const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
    // This limit only ends what would never end.
    page.setDefaultTimeout(90_000);
    const refused: string[] = [];
    page.on('console', (message) => {
      if (message.text().includes('Content Security Policy')) refused.push(message.text());
    });
    await page.goto(system.facts.pageUrl);
    await page
      .getByRole('link', { name: /Big Buck Bunny/ })
      .first()
      .click();
    const video = page.getByTestId('preview');
    await video.waitFor({ timeout: 90_000 });
    const time = () => video.evaluate((element) => (element as HTMLVideoElement).currentTime);
    const first = await until('the video plays', async () => (await time()) || undefined, 30_000);
    await until('its time advances by two seconds', async () => (await time()) > first + 2, 30_000);
    expect(page.url()).not.toContain('lsk_');
    await page.goto(new URL('/docs', system.facts.pageUrl).href);
    await page.getByRole('heading', { name: 'loopstream', level: 1 }).waitFor();
    expect(refused).toEqual([]);
    await page.close();
  });

  test('on a phone nothing is wider than the screen, and stop and start work', async () => {
    const page = await browser.newPage({ viewport: { width: 390, height: 844 }, hasTouch: true });
    page.setDefaultTimeout(90_000);
    await page.goto(system.facts.pageUrl);
    await page.getByText('Big Buck Bunny').first().waitFor();
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
    await page
      .getByRole('link', { name: /Big Buck Bunny/ })
      .first()
      .click();
    const id = system.facts.demoStreamId ?? '';
    await page.getByTestId('stream-stop').click();
    await page.getByTestId('stream-stop-confirm').click();
    await until('the stream is stopped', async () => (await status(id)) === 'stopped', 40_000);
    await page.getByTestId('stream-start').click();
    await until('the stream is live again', async () => (await status(id)) === 'live', 40_000);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
    await page.close();
  });

  test('a page shows the death of the API server, and then the changes in between, by itself', async () => {
    const { stateDir } = system;
    const { id } = await streamLikeDemo(system, 'Meanwhile');
    const { page, complaints, close } = await visit(browser, system, '/streams');
    await page.getByRole('link', { name: 'Meanwhile' }).waitFor();
    const [api = ''] = listProcesses(stateDir).filter((line) => line.includes('main.js api '));
    process.kill(Number.parseInt(api, 10), 'SIGKILL');
    await page.getByText('Connection lost').waitFor();
    await expectForEverybody(page);
    await kubectl(system, 'patch', 'loopstream', id, '--type=merge', '-p', '{"spec":{"displayName":"Changed"}}');
    await page.getByRole('link', { name: 'Changed' }).waitFor();
    await page.getByText('Connection lost').waitFor({ state: 'detached' });
    await system.client.streams.delete(id);
    expect(complaints).toEqual([]);
    await close();
  });

  test('a page says that a server hangs, that its numbers are old and its picture waits, and recovers by itself', async () => {
    const { page, complaints, close } = await visit(browser, system, `/streams/${system.facts.demoStreamId}`);
    await page.locator('video[data-state="playing"]').waitFor();
    await page.getByTestId('outdated').waitFor({ state: 'detached' });
    const [api = ''] = listProcesses(system.stateDir).filter((line) => line.includes('main.js api '));
    const pid = Number.parseInt(api, 10);
    process.kill(pid, 'SIGSTOP');
    try {
      await page.getByText('Waiting for the picture…').waitFor();
      await page.getByText('Not up to date.').waitFor();
      await page.getByText('Connection lost').waitFor();
      await expectForEverybody(page);
    } finally {
      process.kill(pid, 'SIGCONT');
    }
    await page.getByText('Connection lost').waitFor({ state: 'detached' });
    await page.getByText('Not up to date.').waitFor({ state: 'detached' });
    await page.locator('video[data-state="playing"]').waitFor();
    expect(complaints).toEqual([]);
    await close();
  });

  /** Pays to a new deposit's address, and waits for the credit. */
  async function payDeposit(ether: string, credits: string): Promise<string> {
    const { client, stateDir } = system;
    const wish = { asset: 'ETH', network: 'local' };
    // The API gives no address before a scanner reads the chain.
    const { id, address } = await until('an address', () => client.crypto.create(wish).catch(() => undefined));
    await run(process.execPath, [LOCAL_MAIN, 'pay', address, ether, '--state-dir', stateDir]);
    await expect.poll(() => client.crypto.get(id)).toMatchObject({ state: 'credited', credits });
    return address;
  }
  const paidTo: string[] = [];

  test.skipIf(noChain)('with a local chain a deposit is paid by one command, and credited', async () => {
    expect(system.output()).toContain(system.facts.chainUrl);
    paidTo.push(await payDeposit('0.01', '300000'));
  });

  test('killed without warning, the next start cleans up and goes on with the same stream', async () => {
    const { stateDir, facts } = system;
    await system.kill();
    system = await startSystem(CHAIN, stateDir);
    expect(system.facts.demoStreamId).toBe(facts.demoStreamId);
    expect(system.facts).toMatchObject({ apiKey: facts.apiKey, email: facts.email, password: facts.password });
    expect(await status(facts.demoStreamId ?? '')).toBe('live');
    const streamers = listProcesses(stateDir).filter((line) => line.includes('streamer'));
    expect(streamers).toHaveLength(1);
    // The chain continues too: earlier payments are there, and the next deposit has another address.
    for (const address of paidTo) {
      const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_getBalance', params: [address, 'latest'] });
      const headers = { 'content-type': 'application/json' };
      const answer = await fetch(system.facts.chainUrl ?? '', { method: 'POST', headers, body });
      expect(await answer.json()).toMatchObject({ result: '0x2386f26fc10000' });
      expect(await payDeposit('1.5', '45000000')).not.toBe(address);
    }
  });

  test('Ctrl-C ends every process within ten seconds', async () => {
    const { stateDir } = system;
    const since = performance.now();
    await system.interrupt();
    expect(performance.now() - since).toBeLessThan(10_000);
    expect(listProcesses(stateDir, [process.pid])).toEqual([]);
  });
});
