/**
 * Takes pictures of every page and its states, light and dark, on a desktop and on a phone, from the built dashboard and the records of
 * `test/kit/looks/account.ts`, without a server. It prints what differs from the pictures that
 * `test/e2e/looks.test.ts` compares with, and what else that test would find.
 *
 *     make screenshots                            compares all
 *     make screenshots ARGS="stream billing"      compares looks with one of these in their names
 *     make screenshots ARGS="--keep stream"       keeps what differs, and shows it beside what was kept
 */
import { relative } from 'node:path';
import { parseArgs } from 'node:util';
import { launchLooksBrowser } from '../test/kit/looks/browser.ts';
import { checkLook } from '../test/kit/looks/check.ts';
import { judge, keep, removeOthers } from '../test/kit/looks/kept.ts';
import { LOOKS } from '../test/kit/looks/looks.ts';
import { type Taken, takeLooks } from '../test/kit/looks/take.ts';

const { values, positionals } = parseArgs({
  options: { keep: { type: 'boolean', default: false } },
  allowPositionals: true,
});
const say = (line: string) => void process.stdout.write(`${line}\n`);
const looks = LOOKS.filter(({ name }) => positionals.length === 0 || positionals.some((part) => name.includes(part)));
const taken = new Set<string>();
let different = 0;

function report({ look, pictures, complaints }: Taken): void {
  for (const complaint of complaints) {
    say(`${look.name}: ${complaint}`);
    process.exitCode = 1;
  }
  for (const [name, png] of pictures) {
    taken.add(name);
    const { part, sentence } = judge(name, png);
    if (part === 0) continue;
    different += 1;
    say(sentence);
    const beside = values.keep ? keep(name, png) : undefined;
    if (beside) say(`  kept; before, now and what differs: ${relative('.', beside)}`);
  }
}

const browser = await launchLooksBrowser();
try {
  await takeLooks(browser, looks, report, checkLook);
} finally {
  await browser.close();
}
if (values.keep && positionals.length === 0)
  for (const name of removeOthers(taken)) say(`${name} is removed: no look has this name.`);
say(`${taken.size} pictures, ${different} of them different${values.keep ? ', which are kept now' : ''}.`);
