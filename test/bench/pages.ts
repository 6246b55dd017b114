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
import { scheduledStream } from './pages/stream.ts';
import { circumstances, collect, type Row, report, whole } from './report.ts';

const PARTS = ['feed', 'first'];
const HELP = `Usage: node test/bench/pages.ts [options]

  --changes N    changes of each kind, which take turns (30)
  --visits N     visits of each profile, which take turns (5)
  --only PARTS   some of ${PARTS.join(',')}
  --no-record    print the table, leave RESULTS.md as it is
  --help         this text

Needs the built dashboard (make setup) and Chromium. Takes about three minutes.
`;

const { values } = parseArgs({
  options: {
    changes: { type: 'string', default: '30' },
    visits: { type: 'string', default: '5' },
    only: { type: 'string', default: PARTS.join(',') },
    'no-record': { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});

async function measure(browser: Browser): Promise<Row[]> {
  await using started = new AsyncDisposableStack();
  const system = await startSystem(['--no-demo']);
  started.defer(() => system.close());
  await scheduledStream(system);
  const { rows, take } = collect(values.only.split(','), (text) => void process.stderr.write(`${text}\n`));
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
