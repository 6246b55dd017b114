/**
 * Measures the pages as people wait for them (`make bench-pages`). One time is from a change to the client and the page that show it;
 * another is from a sign-in to the first page on a throttled Chromium. The table is printed and appended to RESULTS.md.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { Browser } from 'playwright-core';
import { launchBrowser } from '../kit/real/page.ts';
import { ROOT, startSystem } from '../kit/system/system.ts';
import { feedRows } from './pages/feed.ts';
import { firstPageRows } from './pages/first.ts';
import { loadRows } from './pages/load.ts';
import { manyRows } from './pages/many.ts';
import { scheduledStream } from './pages/stream.ts';
import { circumstances, collect, type Row, report, selectParts, whole } from './report.ts';

const PARTS = ['feed', 'first', 'load', 'many'];
const HELP = `Usage: node test/bench/pages.ts [options]

  --changes N    changes of each kind, which take turns (30)
  --visits N     visits of each profile, which take turns (5)
  --streams N    streams of the account with many (10000)
  --only PARTS   some of ${PARTS.join(',')}
  --no-record    print the table, leave RESULTS.md as it is
  --help         this text

Needs the built dashboard (make setup) and Chromium. Takes about three minutes, and six more for
the account with many streams.
`;

const { values } = parseArgs({
  options: {
    changes: { type: 'string', default: '30' },
    visits: { type: 'string', default: '5' },
    streams: { type: 'string', default: '10000' },
    only: { type: 'string', default: PARTS.join(',') },
    'no-record': { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});

async function measure(browser: Browser): Promise<Row[]> {
  const parts = selectParts(values.only, PARTS);
  const say = (text: string) => void process.stderr.write(`${text}\n`);
  const { rows, take } = collect(parts, say);
  // It has a system of its own.
  await take('many', () => manyRows(browser, whole(values.streams), say));
  await using started = new AsyncDisposableStack();
  await take('load', async () => {
    const onAir = await startSystem();
    started.defer(() => onAir.close());
    return loadRows(onAir, browser, whole(values.visits));
  });
  if (parts.every((part) => part === 'many' || part === 'load')) return rows;
  const system = await startSystem(['--no-demo']);
  started.defer(() => system.close());
  await scheduledStream(system);
  await take('feed', () => feedRows(system, browser, whole(values.changes)));
  await take('first', () => firstPageRows(system, browser, whole(values.visits)));
  return rows;
}

async function main(): Promise<void> {
  if (values.help) return void process.stdout.write(HELP);
  if (!existsSync(join(ROOT, 'dist/dashboard/index.html'))) throw new Error('Build the dashboard first: make setup');
  const browser = await launchBrowser();
  try {
    // The circumstances are recorded before our own load.
    const about = circumstances([`Chromium ${browser.version()}`]);
    report(about, await measure(browser), !values['no-record']);
  } finally {
    await browser.close();
  }
}

await main();
